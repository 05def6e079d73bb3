package supervise

import "time"

// patience measures how long we have really watched for something. A machine
// that slept, or a daemon that was stopped, finds its deadlines passed when it
// resumes although nobody was watching; so one look counts for at most half of
// the limit.
type patience struct {
	limit time.Duration
	pause time.Duration // planned between two looks
	last  time.Time
	spent time.Duration
}

// looks is into how many looks a limit is divided.
const looks = 8

func newPatience(limit time.Duration, now time.Time) *patience {
	return &patience{limit: limit, pause: max(limit/looks, time.Millisecond), last: now}
}

// next returns how long to wait before the next look.
func (p *patience) next() time.Duration { return max(min(p.pause, p.limit-p.spent), 0) }

// look counts the time since the last look and reports whether the limit is reached.
func (p *patience) look(now time.Time) bool {
	p.spent += max(min(now.Sub(p.last), p.limit/2), 0)
	p.last = now
	return p.spent >= p.limit
}

// restart begins anew, for a wait that extends while something moves.
func (p *patience) restart(now time.Time) { p.spent, p.last = 0, now }

// expiry is a channel that ends the wait for a ready server; nil does not.
func (l *Lease) expiry() (late <-chan time.Time, stop func()) {
	if l.until.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(l.until))
	return t.C, func() { t.Stop() }
}
