package serve

import (
	"context"
	"net"
	"slices"
	"sync"
)

// outbox holds the messages that wait for the client to read them. It is safe
// for concurrent use; one goroutine takes.
type outbox struct {
	// now writes what the client takes at once and returns how much that was.
	now   func([]byte) int
	limit int // bytes that may wait before a further message counts as too much

	mu     sync.Mutex // guards what follows
	items  []outItem
	bytes  int
	taken  bool // somebody writes: what was taken goes first
	closed bool

	wake  chan struct{} // something was put or the box was closed
	space chan struct{} // something was taken; for the scheduler
	room  chan struct{} // something was taken; one of those in waitRoom takes it and hands it on
}

type outItem struct {
	key  string // a later notification with the same key replaces one that still waits
	data []byte
}

func newOutbox(limit int, now func([]byte) int) *outbox {
	return &outbox{now: now, limit: limit, wake: make(chan struct{}, 1), space: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put adds a framed message and reports whether there was room: false means
// that the client does not read.
func (o *outbox) put(key string, data []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true // nobody waits for it
	}
	if key != "" {
		for i := range o.items {
			if o.items[i].key == key {
				o.bytes += len(data) - len(o.items[i].data)
				o.items[i].data = data
				return true
			}
		}
	}
	if o.bytes > o.limit {
		return false
	}
	if o.now != nil && len(o.items) == 0 && !o.taken {
		data = o.direct(data)
	}
	if len(data) > 0 {
		o.items = append(o.items, outItem{key, data})
		o.bytes += len(data)
	}
	if len(o.items) > 0 || o.closed {
		signal(o.wake)
	}
	return true
}

// direct writes a message that nothing is ahead of, which spares the way over
// the writer, and returns what the client did not take at once, unless it has
// put that first in line. mu is held.
func (o *outbox) direct(data []byte) []byte {
	o.taken = true
	o.mu.Unlock()
	n := o.now(data)
	o.mu.Lock()
	o.taken = false
	if n == 0 || n == len(data) {
		return data[n:]
	}
	// No longer to be replaced, and ahead of what came meanwhile.
	o.items = slices.Insert(o.items, 0, outItem{"", data[n:]})
	o.bytes += len(data) - n
	return nil
}

// take waits for messages and returns all of them; ok is false when the box is
// closed and empty.
func (o *outbox) take() (bufs net.Buffers, ok bool) {
	for {
		o.mu.Lock()
		if len(o.items) > 0 && !o.taken {
			o.taken = true
			for _, it := range o.items {
				bufs = append(bufs, it.data)
			}
			o.items = o.items[:0]
			o.mu.Unlock()
			return bufs, true
		}
		closed := o.closed && !o.taken
		o.mu.Unlock()
		if closed {
			return nil, false
		}
		<-o.wake
	}
}

// written frees the room of what take returned.
func (o *outbox) written(n int) {
	o.mu.Lock()
	o.bytes -= n
	o.taken = false
	o.mu.Unlock()
	signal(o.space)
	signal(o.room)
}

// waitRoom returns when a message can be put, or when ctx is done. Those who
// wait go one after another, so that not all of them fill the same room.
func (o *outbox) waitRoom(ctx context.Context) {
	for {
		o.mu.Lock()
		full := !o.closed && o.bytes > o.limit/2
		o.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-o.room:
		}
	}
}

// crowded reports whether half of the room is taken: no further request starts then.
func (o *outbox) crowded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.closed && o.bytes > o.limit/2
}

// close lets take return what is left and then end.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	signal(o.wake)
	signal(o.space)
	signal(o.room)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
