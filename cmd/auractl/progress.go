package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

const (
	progressDelay = 300 * time.Millisecond // before anything is drawn
	progressFrame = 120 * time.Millisecond
)

// progress is the line that a call draws on a terminal while it waits. In a
// pipe it prints nothing, unless verbose asks for plain lines. The zero of the
// pointer type draws nothing.
type progress struct {
	out     io.Writer
	paint   palette
	draws   bool // on a terminal
	lines   bool // verbose in a pipe
	width   int
	later   *time.Timer   // starts to draw; most calls end before
	once    sync.Once     // stops it
	stopped chan struct{} // draw must end
	drawn   chan struct{} // draw has ended

	mu   sync.Mutex // guards text
	text string
}

func (a *app) startProgress() *progress {
	p := &progress{out: a.err, paint: a.errPaint, draws: a.errTTY && !a.global.quiet, lines: a.global.verbose && !a.errTTY, width: a.width()}
	if p.draws {
		p.stopped, p.drawn = make(chan struct{}), make(chan struct{})
		p.later = time.AfterFunc(progressDelay, p.draw)
	}
	return p
}

// wanted reports whether the daemon is to send progress.
func (p *progress) wanted() bool { return p != nil && (p.draws || p.lines) }

func (p *progress) set(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	changed := p.text != text
	p.text = text
	p.mu.Unlock()
	if changed && p.lines {
		fmt.Fprintln(p.out, escape(text))
	}
}

func (p *progress) report(r api.Progress) {
	text := r.Message
	if r.Percent > 0 {
		text = fmt.Sprintf("%s %.0f%%", text, r.Percent)
	}
	p.set(text)
}

// draw runs in the timer's goroutine; stop waits for it.
func (p *progress) draw() {
	defer close(p.drawn)
	start := time.Now().Add(-progressDelay)
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	tick := time.NewTicker(progressFrame)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-p.stopped:
			fmt.Fprint(p.out, "\r\x1b[K")
			return
		case <-tick.C:
		}
		p.mu.Lock()
		text := p.text
		p.mu.Unlock()
		line := fmt.Sprintf("%s… %ds", escape(cmpOr(text, "working")), int(time.Since(start).Seconds()))
		fmt.Fprintf(p.out, "\r\x1b[K%s %s", p.paint.cyan(string(frames[i%len(frames)])), clip(line, p.width-3))
	}
}

// stop wipes the line; it is called before anything else is printed.
func (p *progress) stop() {
	if p == nil || p.stopped == nil {
		return
	}
	p.once.Do(func() {
		close(p.stopped)
		if !p.later.Stop() {
			<-p.drawn
		}
	})
}

// clip shortens text to a number of characters.
func clip(s string, width int) string {
	r := []rune(strings.ReplaceAll(s, "\t", " "))
	if width < 1 || len(r) <= width {
		return string(r)
	}
	return string(r[:width-1]) + "…"
}
