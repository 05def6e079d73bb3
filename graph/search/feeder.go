package search

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// ErrLeftOut says that a file is not one to be searched.
var ErrLeftOut = errors.New("left out of the search")

// ErrLater says that a file is just changing: it stays as it is known until it is
// asked for again.
var ErrLater = errors.New("the file is changing")

// ErrClosed says that a Feeder ended before its work did.
var ErrClosed = errors.New("the workspace was closed while it was being read for the search")

// Load returns the current text of a path with its hash; have is that of the
// content that the index knows, and when it is still so the file needs no more.
// The error is ErrLeftOut or fs.ErrNotExist for a file that is not to be found.
type Load func(ctx context.Context, path string, have Hash) (File, Hash, error)

// Feeder keeps an Index as new as what it is told of.
type Feeder struct {
	index   *Index
	load    Load
	workers int
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu      sync.Mutex // guards what follows
	queue   []string
	items   map[string]*item // what is to be looked at or in hand
	added   int              // files ever asked for
	running int
	closed  bool
	waiters map[*waiter]bool
	failed  map[string]error
}

// item is a file that is not looked at yet.
type item struct {
	number int // in order of being asked for
	inHand bool
	again  bool // it changed while it was in hand
}

// waiter waits for the items up to a number.
type waiter struct {
	until, left int
	done        chan struct{}
}

// NewFeeder returns a Feeder without work. Close ends it.
func NewFeeder(x *Index, workers int, load Load) *Feeder {
	f := &Feeder{index: x, load: load, workers: max(workers, 1), items: map[string]*item{}, waiters: map[*waiter]bool{}, failed: map[string]error{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// Close breaks off what is being done and waits for the workers.
func (f *Feeder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.wg.Wait()
}

// Add has files looked at, in order.
func (f *Feeder) Add(paths ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	for _, p := range paths {
		it := f.items[p]
		if it == nil {
			f.added++
			f.items[p] = &item{number: f.added}
			f.queue = append(f.queue, p)
			continue
		}
		it.again = it.inHand
	}
	for f.running < min(f.workers, len(f.queue)) {
		f.running++
		f.wg.Go(f.work)
	}
}

func (f *Feeder) work() {
	for {
		f.mu.Lock()
		if len(f.queue) == 0 || f.ctx.Err() != nil {
			f.running--
			f.mu.Unlock()
			return
		}
		path := f.queue[0]
		f.queue = f.queue[1:]
		it := f.items[path]
		it.inHand, it.again = true, false
		f.mu.Unlock()
		err := f.bring(path)
		f.mu.Lock()
		if it.again {
			it.inHand = false
			f.queue = append(f.queue, path)
		} else {
			f.finish(path, it)
		}
		if err != nil {
			f.failed[path] = err
		} else {
			delete(f.failed, path)
		}
		f.mu.Unlock()
	}
}

// finish takes an item off; mu is held.
func (f *Feeder) finish(path string, it *item) {
	delete(f.items, path)
	for w := range f.waiters {
		if it.number > w.until {
			continue
		}
		if w.left--; w.left == 0 {
			close(w.done)
			delete(f.waiters, w)
		}
	}
}

// bring puts the current text of a path into the index. The error is of a file
// that should be in it and cannot be.
func (f *Feeder) bring(path string) error {
	have, known := f.index.Hash(path)
	file, hash, err := f.load(f.ctx, path, have)
	switch {
	case f.ctx.Err() != nil || errors.Is(err, ErrLater):
		return nil
	case err != nil:
		f.index.Drop(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrLeftOut) {
			err = nil
		}
		return err
	case known && hash == have:
		return nil
	}
	file.Path = path
	f.index.Put(file, hash)
	return nil
}

// Failed returns how many files should be in the index and are not, and one of
// the reasons.
func (f *Feeder) Failed() (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := ""
	for p, e := range f.failed {
		if first == "" || p < first {
			first, err = p, e
		}
	}
	return len(f.failed), err
}

// tellEvery is how often a waiting client hears how far it is.
const tellEvery = 500 * time.Millisecond

// Wait returns when everything that was added before is in the index; tell, if
// not nil, hears from time to time how many files are. When ctx ends first, left
// is how many files are missing.
func (f *Feeder) Wait(ctx context.Context, tell func(done, total int)) (left int, err error) {
	f.mu.Lock()
	w := &waiter{until: f.added, left: len(f.items), done: make(chan struct{})}
	if w.left == 0 {
		f.mu.Unlock()
		return 0, nil
	}
	f.waiters[w] = true
	total := w.left
	f.mu.Unlock()
	remaining := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return w.left
	}
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiters, w)
	}()
	var ticks <-chan time.Time
	if tell != nil {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		ticks = tick.C
	}
	for {
		select {
		case <-w.done:
			return 0, nil
		case <-ticks:
			tell(total-remaining(), total)
		case <-ctx.Done():
			return remaining(), ctx.Err()
		case <-f.ctx.Done():
			return remaining(), ErrClosed
		}
	}
}
