package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Rules are what the user of a root decides. They must not call the Watcher or
// the Root. Busy and Deliver are called by one goroutine.
type Rules struct {
	// Ignore keeps a file, or a folder with everything below it, out. It is asked
	// about a folder each time that it is entered, by several goroutines at once,
	// but never before the folder around it; of the root the answer does not count.
	Ignore func(path string, dir bool) bool
	// Busy holds batches back while it returns true, for Options.BusyWait at
	// most: while git rewrites the tree, for instance. Barrier does not wait for it.
	Busy func() bool
	// Deliver takes a batch. It must return soon.
	Deliver func(Batch)
}

// Batch is a list of places at which something may have changed.
type Batch struct {
	// Paths are absolute, in no order, each once. A path may be a file that was
	// made, changed or deleted, or a folder that is gone or was replaced: then
	// whatever was known below it is to be looked at.
	Paths []string
	// Full says that Paths are all files below the root, symbolic links among
	// them: what else was known is gone or ignored now. The first batch is Full,
	// and those after lost notifications, Refresh, or the return of a lost root.
	Full bool
	// Lost says that the root folder is gone or was replaced; the next batch is
	// Full and comes when it is back.
	Lost bool
}

// Root is one followed folder.
type Root struct {
	w     *Watcher
	path  string
	id    ID
	rules Rules
	ctx   context.Context
	end   context.CancelFunc
	done  chan struct{}
	wake  chan struct{} // one token: there is something in the fields below

	mu     sync.Mutex // guards what follows; taken by drain
	queue  []fsnotify.Event
	rescan bool // look at everything again
	asked  []chan struct{}
	idle   bool // run is waiting and owes no delivery
	status RootStatus

	tree // owned by run
}

// maxQueue bounds the notifications that wait for run; beyond, everything is
// looked at again instead.
const maxQueue = 1 << 18

func newRoot(w *Watcher, path string, id ID, rules Rules) *Root {
	r := &Root{w: w, path: path, id: id, rules: rules, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	r.ctx, r.end = context.WithCancel(w.ctx)
	r.rescan = true
	r.status = RootStatus{Root: path}
	r.tree = tree{r: r, byPath: map[string]*node{}, pending: map[string]struct{}{}}
	if r.rules.Ignore == nil {
		r.rules.Ignore = func(string, bool) bool { return false }
	}
	return r
}

// Close ends the root and waits for its goroutine; no batch comes after it.
func (r *Root) Close() error {
	r.w.drop(r)
	r.end()
	<-r.done
	return nil
}

// Status returns the coverage of the root.
func (r *Root) Status() RootStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Refresh asks Rules.Ignore about everything again; a Full batch follows.
func (r *Root) Refresh() { r.mark(func() { r.rescan = true }) }

// Barrier returns when everything that changed below the root before the call
// was delivered. Errors: ErrRootLost, ErrClosed, that of ctx.
func (r *Root) Barrier(ctx context.Context) error {
	if r.w.cookie != nil {
		if err := r.w.cookie.wait(ctx); err != nil {
			return r.closed(err)
		}
	}
	if there, err := Lstat(r.path); err != nil || there.ID != r.id {
		r.Refresh() // run finds out and tells its user
		return errors.Join(r.flush(ctx), fmt.Errorf("%s: %w", r.path, ErrRootLost))
	}
	r.mu.Lock()
	quiet := r.idle && !r.status.Lost && r.status.Polled == 0
	r.mu.Unlock()
	if quiet && r.ctx.Err() == nil {
		return nil
	}
	return r.flush(ctx)
}

// flush makes run deliver what it knows and waits for that.
func (r *Root) flush(ctx context.Context) error {
	ack := make(chan struct{})
	r.mark(func() { r.asked = append(r.asked, ack) })
	select {
	case <-ack:
		return nil
	case <-r.done:
		return ErrClosed
	case <-ctx.Done():
		return r.closed(ctx.Err())
	}
}

// closed prefers ErrClosed to err when the root has ended.
func (r *Root) closed(err error) error {
	if r.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

func (r *Root) holds(path string) bool { return path == r.path || below(path, r.path) }

// push is called by drain.
func (r *Root) push(ev fsnotify.Event) {
	r.mark(func() {
		n := len(r.queue)
		switch {
		case r.rescan:
			// Everything will be looked at, and by then ev has happened.
		case n > 0 && r.queue[n-1] == ev:
		case n >= maxQueue:
			r.queue, r.rescan = nil, true
		default:
			r.queue = append(r.queue, ev)
		}
	})
}

// mark changes the guarded fields and wakes run.
func (r *Root) mark(change func()) {
	r.mu.Lock()
	change()
	r.idle = false
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run follows the root until it ends.
func (r *Root) run() {
	defer close(r.done)
	defer r.tree.drop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r.work()
		timer.Reset(r.nextTick())
		select {
		case <-r.wake:
		case <-timer.C:
		case <-r.ctx.Done():
			return
		}
	}
}

// work does all that waits to be done.
func (r *Root) work() {
	for {
		r.mu.Lock()
		queue, rescan, asked := r.queue, r.rescan, r.asked
		r.queue, r.rescan, r.asked = nil, false, nil
		r.mu.Unlock()
		if rescan {
			queue = nil // all of it has happened by now
			r.rebuild()
		}
		for _, ev := range queue {
			r.handle(ev)
		}
		if len(asked) > 0 || r.pollDue() {
			r.poll(len(asked) == 0)
		}
		if len(asked) > 0 || r.settled() {
			r.deliver()
		}
		r.mu.Lock()
		r.status = r.report()
		for _, ack := range asked {
			close(ack)
		}
		if r.ctx.Err() != nil || len(r.queue) == 0 && !r.rescan && len(r.asked) == 0 {
			r.idle = !r.owes()
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// settled reports whether what is pending should be delivered now.
func (r *Root) settled() bool {
	if !r.owes() {
		return false
	}
	busy := r.busy() // asked early: what makes it so may end before the changes settle
	now, opts := time.Now(), r.w.opts
	switch waited := now.Sub(r.firstAt); {
	case r.full, r.lostNow:
		return true
	case waited >= opts.BusyWait:
		return true
	case now.Sub(r.lastAt) < opts.Settle && waited < opts.MaxWait:
		return false
	}
	if busy {
		return false
	}
	if r.held {
		// The last of what was busy may not have been seen yet.
		r.held, r.firstAt, r.lastAt = false, now, now
		r.poll(false)
		return false
	}
	return true
}

// busy asks whether the tree is being rewritten, and remembers if it is.
func (r *Root) busy() bool {
	if r.rules.Busy == nil || !r.rules.Busy() {
		return false
	}
	r.held = true
	return true
}

// nextTick is the time until run must look by itself.
func (r *Root) nextTick() time.Duration {
	wait := time.Hour
	if r.owes() {
		wait = r.w.opts.Settle
	}
	if r.polls() {
		wait = min(wait, time.Until(r.nextPoll))
	}
	return max(wait, time.Millisecond)
}

// deliver hands the pending paths over.
func (r *Root) deliver() {
	if !r.owes() {
		return
	}
	b := Batch{Full: r.full, Lost: r.lostNow, Paths: make([]string, 0, len(r.pending))}
	for path := range r.pending {
		b.Paths = append(b.Paths, path)
	}
	clear(r.pending)
	r.full, r.lostNow, r.held = false, false, false
	if r.rules.Deliver != nil {
		r.rules.Deliver(b)
	}
}
