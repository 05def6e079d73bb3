package supervise

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/auralsp/aura/adapters"
)

// Restart is the restart policy of an instance. The zero value takes the
// defaults named at each field.
type Restart struct {
	// First is the delay after the second crash in Window, doubling with each
	// further one up to Max. The first crash of a server that had been ready is
	// followed by a start at once. (0.5 s, 60 s)
	First, Max time.Duration
	// Crashes within Window make the instance Failed. (5 in 5 minutes)
	Crashes int
	Window  time.Duration
}

func (r Restart) withDefaults() Restart {
	if r.First <= 0 {
		r.First = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = time.Minute
	}
	if r.Crashes <= 0 {
		r.Crashes = 5
	}
	if r.Window <= 0 {
		r.Window = 5 * time.Minute
	}
	return r
}

// crash is one unexpected end of a server.
type crash struct {
	at          time.Time
	wasReady    bool // it had answered before
	outOfMemory bool
}

// decide says what follows the last of the crashes, which are in order of time:
// the delay before the next start, or that there is none, and why in words.
// jitter is in [0,1).
func (r Restart) decide(crashes []crash, jitter float64) (delay time.Duration, again bool, why string) {
	if len(crashes) == 0 {
		return 0, true, ""
	}
	last := crashes[len(crashes)-1]
	n := 0
	for _, c := range crashes {
		if last.at.Sub(c.at) < r.Window {
			n++
		}
	}
	if n >= r.Crashes {
		return 0, false, fmt.Sprintf("it ended %d times within %s", n, words(r.Window))
	}
	if n == 1 && last.wasReady && !last.outOfMemory {
		return 0, true, "it had been ready, so it is started again at once"
	}
	delay = r.First
	for range n - 1 {
		delay = min(2*delay, r.Max)
	}
	if last.wasReady && n > 1 {
		delay = max(delay/2, r.First) // the first crash had no delay
	}
	if last.outOfMemory {
		delay = min(2*delay, r.Max)
	}
	// Up to a fifth less, so that servers that fell together do not rise together.
	delay -= time.Duration(jitter * float64(delay) / 5)
	return delay, true, fmt.Sprintf("end %d of at most %d within %s", n, r.Crashes, words(r.Window))
}

func jitter() float64 { return rand.Float64() }

// words prints a duration for people: "5 minutes", "30 s", "500 ms".
func words(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		if d == time.Minute {
			return "1 minute"
		}
		return fmt.Sprintf("%d minutes", d/time.Minute)
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// ending reports whether the driver gave the process up, so that its answers
// are none any more.
func (g *generation) ending() bool {
	belief, _ := g.belief()
	return givenUp(belief)
}

// givenUp reports whether a conclusion is the last one about a process.
func givenUp(r adapters.Readiness) bool {
	return r.State == adapters.Lost || r.State == adapters.Outdated
}
