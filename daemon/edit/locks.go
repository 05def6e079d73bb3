package edit

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// locks are the daemon's locks on paths: shared for what a plan has read,
// exclusive for what it writes. Every transaction takes its locks in the order
// of their names and each name hands out its lock in the order of asking, so
// that no two can wait for each other.
type locks struct {
	mu sync.Mutex
	m  map[string]*pathLock
}

type pathLock struct {
	readers int
	writer  bool
	queue   []*waiter
}

type waiter struct {
	exclusive bool
	ready     chan struct{} // closed when the lock is its
}

// want is one lock to take.
type want struct {
	name      string
	exclusive bool
}

// acquire takes all the locks or, when ctx ends first, none.
func (l *locks) acquire(ctx context.Context, wants []want) (release func(), err error) {
	slices.SortFunc(wants, func(a, b want) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return boolInt(b.exclusive) - boolInt(a.exclusive)
	})
	// The exclusive one of two on a name came first and holds for both.
	wants = slices.CompactFunc(wants, func(a, b want) bool { return a.name == b.name })
	for i, w := range wants {
		if err := l.lock(ctx, w); err != nil {
			l.unlock(wants[:i])
			return nil, err
		}
	}
	return sync.OnceFunc(func() { l.unlock(wants) }), nil
}

func (l *locks) lock(ctx context.Context, w want) error {
	l.mu.Lock()
	if l.m == nil {
		l.m = map[string]*pathLock{}
	}
	p := l.m[w.name]
	if p == nil {
		p = &pathLock{}
		l.m[w.name] = p
	}
	if len(p.queue) == 0 && p.grant(w.exclusive) {
		l.mu.Unlock()
		return nil
	}
	me := &waiter{exclusive: w.exclusive, ready: make(chan struct{})}
	p.queue = append(p.queue, me)
	l.mu.Unlock()
	select {
	case <-me.ready:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(p.queue, me); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	} else {
		p.drop(me.exclusive) // it was granted at the same moment
	}
	l.settle(w.name, p)
	return ctx.Err()
}

func (l *locks) unlock(wants []want) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range slices.Backward(wants) {
		p := l.m[w.name]
		p.drop(w.exclusive)
		l.settle(w.name, p)
	}
}

// settle gives a lock to those who may have it now.
func (l *locks) settle(name string, p *pathLock) {
	for len(p.queue) > 0 && p.grant(p.queue[0].exclusive) {
		close(p.queue[0].ready)
		p.queue = p.queue[1:]
	}
	if len(p.queue) == 0 && p.readers == 0 && !p.writer {
		delete(l.m, name)
	}
}

func (p *pathLock) grant(exclusive bool) bool {
	if p.writer || exclusive && p.readers > 0 {
		return false
	}
	if exclusive {
		p.writer = true
	} else {
		p.readers++
	}
	return true
}

func (p *pathLock) drop(exclusive bool) {
	if exclusive {
		p.writer = false
	} else {
		p.readers--
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
