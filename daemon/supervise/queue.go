package supervise

import (
	"context"
	"errors"
	"sync"
)

// Class orders the requests for one server.
type Class uint8

// The classes of a request.
const (
	Interactive Class = iota // somebody waits for it
	Batch                    // background work
)

// errOverloaded says that a client has more requests queued than it may.
var errOverloaded = errors.New("queue is full")

// interactiveRun is how many interactive requests may pass a waiting batch
// request before it gets its turn.
const interactiveRun = 16

// queue grants the use of one server: at most width requests at once,
// interactive before batch, clients of a class in turn, an exclusive request
// alone. It starts no goroutine: a grant is made by whoever leaves or arrives.
type queue struct {
	width     int
	perClient int // waiting requests of one client
	total     int // waiting requests of all

	mu        sync.Mutex // guards all below
	running   int
	exclusive bool // the one that runs is exclusive
	next      *ticket
	classes   [2]class
	passed    int // interactive grants since a batch request began to wait
	waiting   int
	arrived   chan struct{} // closed when an interactive request arrives; see interrupt
}

// class holds the waiting tickets of one class: clients in turn, each in order.
type class struct {
	clients []string // those that have tickets, in turn
	tickets map[string][]*ticket
}

type ticket struct {
	client    string
	class     Class
	exclusive bool
	granted   chan struct{}
}

func newQueue(width, perClient, total int) *queue {
	q := &queue{width: max(width, 1), perClient: perClient, total: total, arrived: make(chan struct{})}
	for c := range q.classes {
		q.classes[c].tickets = make(map[string][]*ticket)
	}
	return q
}

// enter waits for a grant; the returned function gives it back and must be
// called once. A context that ends first leaves the queue without a trace: the
// error is then its cause. errOverloaded comes at once.
func (q *queue) enter(ctx context.Context, client string, c Class, exclusive bool) (leave func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	t := &ticket{client: client, class: c, exclusive: exclusive, granted: make(chan struct{})}
	q.mu.Lock()
	cl := &q.classes[c]
	if len(cl.tickets[client]) >= q.perClient || q.waiting >= q.total {
		q.mu.Unlock()
		return nil, errOverloaded
	}
	if len(cl.tickets[client]) == 0 {
		cl.clients = append(cl.clients, client)
	}
	cl.tickets[client] = append(cl.tickets[client], t)
	q.waiting++
	if c == Interactive {
		close(q.arrived)
		q.arrived = make(chan struct{})
	}
	q.grant()
	q.mu.Unlock()

	select {
	case <-t.granted:
		return func() { q.leave(t) }, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-t.granted: // granted meanwhile: give it back
		q.release(t)
	default:
		q.remove(t)
	}
	q.grant()
	return nil, context.Cause(ctx)
}

// interrupt returns a channel that is closed when the next interactive request arrives.
func (q *queue) interrupt() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.arrived
}

// sizes returns how many requests wait and how many run.
func (q *queue) sizes() (waiting, running int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting, q.running
}

func (q *queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(t)
	q.grant()
}

func (q *queue) release(t *ticket) {
	q.running--
	if t.exclusive {
		q.exclusive = false
	}
}

// grant lets in whoever may run now. An exclusive request whose turn it is
// holds the others back until what runs has ended, so that it is not starved.
func (q *queue) grant() {
	for !q.exclusive && q.running < q.width {
		if q.next == nil {
			q.next = q.take()
		}
		if q.next == nil || (q.next.exclusive && q.running > 0) {
			return
		}
		t := q.next
		q.next = nil
		q.waiting--
		q.running++
		q.exclusive = t.exclusive
		close(t.granted)
	}
}

// take picks the next ticket by class and turn.
func (q *queue) take() *ticket {
	inter, batch := &q.classes[Interactive], &q.classes[Batch]
	switch {
	case len(batch.clients) == 0:
		q.passed = 0
		return inter.take()
	case len(inter.clients) == 0 || q.passed >= interactiveRun:
		q.passed = 0
		return batch.take()
	}
	q.passed++
	return inter.take()
}

func (c *class) take() *ticket {
	if len(c.clients) == 0 {
		return nil
	}
	client := c.clients[0]
	c.clients = c.clients[1:]
	list := c.tickets[client]
	t := list[0]
	if list = list[1:]; len(list) > 0 {
		c.tickets[client] = list
		c.clients = append(c.clients, client)
	} else {
		delete(c.tickets, client)
	}
	return t
}

// remove drops a ticket that was not granted.
func (q *queue) remove(t *ticket) {
	q.waiting--
	if q.next == t {
		q.next = nil
		return
	}
	c := &q.classes[t.class]
	list := c.tickets[t.client]
	for i, have := range list {
		if have == t {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(list) > 0 {
		c.tickets[t.client] = list
		return
	}
	delete(c.tickets, t.client)
	for i, client := range c.clients {
		if client == t.client {
			c.clients = append(c.clients[:i:i], c.clients[i+1:]...)
			break
		}
	}
}
