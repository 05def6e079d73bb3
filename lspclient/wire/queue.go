package wire

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// EventKind says what an Event tells of.
type EventKind uint8

// The kinds of an Event.
const (
	Posted       EventKind = iota // by Post
	Notification                  // from the peer
	Request                       // from the peer; it is answered apart
	Sent                          // a notification to the peer
	Replied                       // an answer arrived; Method is the call's, Params the result
)

// Event is something that happened on the connection.
type Event struct {
	Seq    uint64 // rises by one with each event that is queued
	Time   time.Time
	Kind   EventKind
	Method string
	Params []byte // JSON; valid during the call of Handler.Event only
	Err    error  // Replied: the *CallError

	call   *pending // Replied: who waits for the answer
	answer answer
}

// Bounds of the queue of events.
const (
	maxEvents     = 8192
	maxEventBytes = 32 << 20
	eventOverhead = 64
)

// queue holds events between the reader and the consumer. When it is full, the
// diagnostics of one document and the reports of one progress replace their
// predecessors in place, log output is dropped, and anything else makes the
// reader wait for the consumer, which depends on nobody.
type queue struct {
	mu      sync.Mutex
	room    *sync.Cond // a place became free, or closed
	ready   *sync.Cond // an event arrived, or closed
	ring    []*Event
	head    int
	count   int
	bytes   int
	next    uint64 // Seq of the next event
	handled uint64 // Seq below which all are handled
	waiters []waiter
	byKey   map[string]*Event // queued events that may be replaced; nil while there is room
	busy    bool              // an event is being handled
	ended   bool              // nothing arrives any more
	stopped bool              // nothing is handled any more

	coalesced, dropped *counter
}

type waiter struct {
	mark uint64
	done chan struct{}
}

func newQueue(coalesced, dropped *counter) *queue {
	q := &queue{ring: make([]*Event, 64), coalesced: coalesced, dropped: dropped}
	q.room, q.ready = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// push appends e, and waits for room only when wait is set.
func (q *queue) push(e *Event, wait bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.full(e) && !q.ended {
		if q.squeeze(e) {
			return
		}
		if !wait {
			break
		}
		q.room.Wait()
	}
	if q.ended {
		return
	}
	e.Seq = q.next
	q.next++
	if q.count == len(q.ring) {
		grown := make([]*Event, 2*len(q.ring))
		n := copy(grown, q.ring[q.head:])
		copy(grown[n:], q.ring[:q.head])
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.count)%len(q.ring)] = e
	q.count++
	q.bytes += len(e.Params) + eventOverhead
	if q.byKey != nil {
		if key := coalesceKey(e); key != "" {
			q.byKey[key] = e
		}
	}
	q.ready.Signal()
}

func (q *queue) full(e *Event) bool {
	return q.count >= maxEvents || q.count > 0 && q.bytes+len(e.Params) > maxEventBytes
}

// squeeze makes e cost no place, and reports whether it could.
func (q *queue) squeeze(e *Event) bool {
	if q.byKey == nil {
		q.byKey = make(map[string]*Event)
		for i := range q.count {
			old := q.ring[(q.head+i)%len(q.ring)]
			if key := coalesceKey(old); key != "" {
				q.byKey[key] = old
			}
		}
	}
	if key := coalesceKey(e); key != "" {
		old := q.byKey[key]
		if old == nil {
			return false
		}
		q.bytes += len(e.Params) - len(old.Params)
		old.Params, old.Time = e.Params, e.Time
		q.coalesced.add(1)
		return true
	}
	if e.Kind == Notification && informational(e.Method) {
		q.dropped.add(1)
		return true
	}
	return false
}

// pop waits for the next event; nil means that there will be none.
func (q *queue) pop() *Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.busy || q.count == 0 && !q.ended && !q.stopped {
		q.ready.Wait()
	}
	if q.count == 0 || q.stopped {
		return nil
	}
	q.busy = true
	e := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.count--
	q.bytes -= len(e.Params) + eventOverhead
	if q.byKey != nil {
		if key := coalesceKey(e); key != "" && q.byKey[key] == e {
			delete(q.byKey, key)
		}
		if q.count < maxEvents/2 && q.bytes < maxEventBytes/2 {
			q.byKey = nil
		}
	}
	q.room.Broadcast()
	return e
}

// claim gives e its turn at once if nothing is queued or being handled; the
// caller then handles it. Else e is to be pushed.
func (q *queue) claim(e *Event) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy || q.count > 0 || q.ended || q.stopped {
		return false
	}
	q.busy = true
	e.Seq = q.next
	q.next++
	return true
}

// done says that all events up to e have been handled.
func (q *queue) done(e *Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handled = e.Seq + 1
	q.busy = false
	q.ready.Signal() // of the reader's event; the consumer may wait for its end
	kept := q.waiters[:0]
	for _, w := range q.waiters {
		if w.mark <= q.handled {
			close(w.done)
		} else {
			kept = append(kept, w)
		}
	}
	clear(q.waiters[len(kept):])
	q.waiters = kept
}

// tail returns the mark of everything that is queued now.
func (q *queue) tail() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.next
}

// wait returns once all events below mark have been handled or none will be.
func (q *queue) wait(ctx context.Context, mark uint64) error {
	q.mu.Lock()
	if mark <= q.handled || q.stopped {
		q.mu.Unlock()
		return nil
	}
	w := waiter{mark: mark, done: make(chan struct{})}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end lets the consumer handle what is queued and then stop.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.room.Broadcast()
	q.ready.Broadcast()
}

// stop discards what is queued.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.stopped = true, true
	for _, w := range q.waiters {
		close(w.done)
	}
	q.waiters = nil
	q.room.Broadcast()
	q.ready.Broadcast()
}

func informational(method string) bool {
	return method == "window/logMessage" || method == "telemetry/event" || method == "$/logTrace"
}

// coalesceKey returns what names the events of which only the last one counts, or "".
func coalesceKey(e *Event) string {
	if e.Kind != Notification {
		return ""
	}
	switch e.Method {
	case "textDocument/publishDiagnostics":
		var p struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(e.Params, &p) != nil {
			return ""
		}
		return "d" + p.URI
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(e.Params, &p) != nil || p.Value.Kind != "report" {
			return ""
		}
		return "p" + string(p.Token)
	}
	return ""
}
