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
	stopped chan struct{}
	done    sync.WaitGroup

	mu   sync.Mutex // guards text
	text string
}

func (a *app) startProgress() *progress {
	p := &progress{out: a.err, paint: a.errPaint, draws: a.errTTY && !a.global.quiet, lines: a.global.verbose && !a.errTTY, width: a.width()}
	if !p.draws {
		return p
	}
	p.stopped = make(chan struct{})
	p.done.Go(p.draw)
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

func (p *progress) draw() {
	start := time.Now()
	frames := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	tick := time.NewTicker(progressFrame)
	defer tick.Stop()
	drawn := false
	for i := 0; ; i++ {
		select {
		case <-p.stopped:
			if drawn {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case <-tick.C:
		}
		waited := time.Since(start)
		if waited < progressDelay {
			continue
		}
		p.mu.Lock()
		text := p.text
		p.mu.Unlock()
		if text == "" {
			text = "working"
		}
		line := fmt.Sprintf("%s… %ds", escape(text), int(waited.Seconds()))
		fmt.Fprintf(p.out, "\r\x1b[K%s %s", p.paint.cyan(string(frames[i%len(frames)])), clip(line, p.width-3))
		drawn = true
	}
}

// stop wipes the line; it is called before anything else is printed.
func (p *progress) stop() {
	if p == nil || p.stopped == nil {
		return
	}
	select {
	case <-p.stopped:
	default:
		close(p.stopped)
	}
	p.done.Wait()
}

// clip shortens text to a number of characters.
func clip(s string, width int) string {
	r := []rune(strings.ReplaceAll(s, "\t", " "))
	if width < 1 || len(r) <= width {
		return string(r)
	}
	return string(r[:width-1]) + "…"
}
