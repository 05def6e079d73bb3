package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/auralsp/aura/daemon/api"
)

// flight is one request on its way, for one client id or, when a client asked
// the same again before it started, for several.
type flight struct {
	id     string // for logs
	spec   api.Spec
	params json.RawMessage
	key    string // equal for requests that may share an answer; empty: never
	ctx    context.Context
	cancel context.CancelFunc

	askers []asker // guarded by the queue's mutex
}

// asker is one request that a flight answers.
type asker struct {
	id    json.RawMessage // empty for a notification
	reply func([]byte)
}

// queue holds the requests of one connection in the order in which they came.
type queue struct {
	limit, slots int
	wake         chan struct{} // something may start
	ended        chan struct{} // something ended

	mu      sync.Mutex // guards what follows
	waiting []*flight
	running []*flight
	held    int // askers of both
}

func newQueue(l Limits) *queue {
	return &queue{limit: l.Queued, slots: l.Running, wake: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
}

// add appends a flight, or joins its asker to an equal one that has not
// started: an answer made after both were asked is as fresh as either needs.
// It reports whether there was room, and whether the caller is to start the
// flight now, as nothing is ahead of it.
func (q *queue) add(f *flight, crowded func() bool) (room, now bool) {
	busy := crowded()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held >= q.limit {
		return false, false
	}
	q.held++
	if len(q.waiting) == 0 && len(q.running) < q.slots && !busy && !f.spec.Ordered && !slices.ContainsFunc(q.running, ordered) {
		q.running = append(q.running, f)
		return true, true
	}
	if f.key != "" {
		// Only those behind the last ordered request: what it does must be seen.
		for _, w := range slices.Backward(q.waiting) {
			if w.spec.Ordered {
				break
			}
			if w.key == f.key {
				w.askers = append(w.askers, f.askers...)
				f.cancel()
				return true, false
			}
		}
	}
	q.waiting = append(q.waiting, f)
	signal(q.wake)
	return true, false
}

func ordered(f *flight) bool { return f.spec.Ordered }

// next returns the next flight to start; nil when ctx is done. crowded says
// that the client has enough to read.
func (q *queue) next(ctx context.Context, crowded func() bool, space <-chan struct{}) *flight {
	for {
		busy := crowded()
		q.mu.Lock()
		if len(q.waiting) > 0 && !busy && (len(q.running) < q.slots || q.waiting[0].spec.Ordered) {
			f := q.waiting[0]
			q.waiting = slices.Delete(q.waiting, 0, 1)
			q.running = append(q.running, f)
			q.mu.Unlock()
			return f
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-q.wake:
		case <-space:
		}
	}
}

// done takes a flight out and returns those who asked.
func (q *queue) done(f *flight) []asker {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = slices.DeleteFunc(q.running, func(r *flight) bool { return r == f })
	askers := f.askers
	f.askers = nil
	q.held -= len(askers)
	signal(q.wake)
	signal(q.ended)
	return askers
}

// asked returns the ids of those who wait for a flight.
func (q *queue) asked(f *flight) []json.RawMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	var ids []json.RawMessage
	for _, a := range f.askers {
		if len(a.id) > 0 {
			ids = append(ids, a.id)
		}
	}
	return ids
}

// cancelID cancels the requests with an id. One that waits, or shares its
// flight with others, is answered at once; one that runs ends as its handler does.
func (q *queue) cancelID(id json.RawMessage) {
	var answer []asker
	q.mu.Lock()
	for _, f := range append(slices.Clone(q.waiting), q.running...) {
		waits := slices.Contains(q.waiting, f)
		if !slices.ContainsFunc(f.askers, func(a asker) bool { return bytes.Equal(a.id, id) }) {
			continue
		}
		if !waits && len(f.askers) == 1 {
			f.cancel()
			continue
		}
		f.askers = slices.DeleteFunc(f.askers, func(a asker) bool {
			if !bytes.Equal(a.id, id) {
				return false
			}
			answer = append(answer, a)
			return true
		})
		if len(f.askers) == 0 {
			f.cancel()
			q.waiting = slices.DeleteFunc(q.waiting, func(w *flight) bool { return w == f })
		}
	}
	q.held -= len(answer)
	q.mu.Unlock()
	signal(q.ended)
	for _, a := range answer { // by the reader, which may wait: what it reads next waits too
		a.reply(errorMessage(a.id, cancelled, api.Errorf(api.Cancelled, "the request was cancelled")))
	}
}

// idle reports whether nothing waits or runs.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) == 0 && len(q.running) == 0
}

// size returns how many requests wait or run.
func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}
