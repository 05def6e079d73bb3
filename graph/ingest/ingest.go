// Package ingest brings an index up to what a workspace holds, and keeps what
// it read in a store, so that the next start reads only what changed since.
//
// It owns the queue of files that are to be looked at and nothing else: which
// ones, what their text is and what a look at them proves comes from its caller.
// Its goroutines are a few workers that live while there is something to do;
// Close waits for them.
package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/store"
)

// Look is what the last look at a file told. It is right as of everything that
// its caller was told of before.
type Look struct {
	Stamp string     // proves, when it is equal later, that the content is the same; empty for nothing
	Hash  index.Hash // of the content
	Read  bool       // Hash is known
}

// Options are the settings of an Ingester.
type Options struct {
	Root  string // absolute folder to which paths in the store are relative
	Index *index.Index
	Store *store.Store // may be nil
	// Build tells apart programs that may read a file differently.
	Build string
	Read  index.ReadFunc
	// Look tells of a file on disk; false when there is none or its text is not
	// what Read returns.
	Look    func(path string) (Look, bool)
	Workers int // at once (default 2)
	// Tell hears how many files wait, from time to time while there are some and
	// when there are none any more. It must not block; nil is told nothing.
	Tell func(pending int)
}

// Ingester works through a queue of files.
type Ingester struct {
	o     Options
	cache cache
	ctx   context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu      sync.Mutex // guards what follows
	queue   []*item    // in order; those that are begun are skipped
	queued  map[string]*item
	inHand  map[string]*item // the latest of a path
	batches []*batch         // that are not done
	running int
	closed  bool
	told    time.Time // when Tell was called
}

// item is one file to be looked at.
type item struct {
	source  index.Source
	gone    bool // only forget it
	begun   bool
	done    chan struct{} // closed when it was looked at; nil while nobody waits for that
	batches []*batch
}

// batch is what one call of Add asked for.
type batch struct {
	total, left int
	whole       bool
	done        chan struct{}
}

// Mark is a moment: what was asked for until then.
type Mark struct{ batches []*batch }

// New returns an Ingester without work. Close ends it.
func New(o Options) *Ingester {
	if o.Workers <= 0 {
		o.Workers = 2
	}
	g := &Ingester{o: o, queued: map[string]*item{}, inHand: map[string]*item{}}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.cache.o, g.cache.ctx = &g.o, g.ctx
	return g
}

// Close breaks off what is being done and waits for the workers.
func (g *Ingester) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stop()
	g.wg.Wait()
}

// Add has files looked at. With whole they are all there are: the index and the
// store forget others.
func (g *Ingester) Add(sources []index.Source, whole bool) {
	if len(sources) == 0 && !whole {
		return
	}
	if g.add(sources, whole) && g.o.Tell != nil {
		g.o.Tell(0)
	}
}

// add reports whether all of it was known at once.
func (g *Ingester) add(sources []index.Source, whole bool) bool {
	var gone []string
	todo := sources
	if whole {
		if have := g.o.Index.Paths(); len(have) > 0 {
			gone = without(have, sources)
		} else {
			todo = g.cache.fill(sources)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	b := &batch{total: len(sources) - len(todo), whole: whole, done: make(chan struct{})}
	g.batches = append(g.batches, b)
	for _, p := range gone {
		g.put(index.Source{Path: p}, true, b)
	}
	for _, s := range todo {
		g.put(s, false, b)
	}
	g.settle(b)
	g.startWorkers()
	return b.left == 0
}

// without returns those of the paths that are not among the sources.
func without(paths []string, sources []index.Source) []string {
	keep := make(map[string]bool, len(sources))
	for _, s := range sources {
		keep[s.Path] = true
	}
	return slices.DeleteFunc(paths, func(p string) bool { return keep[p] })
}

// Anew forgets what is kept and has every file read and parsed; sources are all
// there are.
func (g *Ingester) Anew(sources []index.Source) {
	g.cache.reset()
	for i := range sources {
		sources[i].Anew = true
	}
	g.Add(sources, true)
}

// put queues a file; mu is held. One that waits already is looked at once for all.
func (g *Ingester) put(s index.Source, gone bool, b *batch) {
	b.total++
	b.left++
	if it := g.queued[s.Path]; it != nil {
		s.Anew = s.Anew || it.source.Anew
		it.source, it.gone = s, gone
		it.batches = append(it.batches, b)
		return
	}
	it := &item{source: s, gone: gone, batches: []*batch{b}}
	g.queued[s.Path] = it
	g.queue = append(g.queue, it)
}

// startWorkers has as many workers as there is work for; mu is held.
func (g *Ingester) startWorkers() {
	for g.running < min(g.o.Workers, len(g.queue)) {
		g.running++
		g.wg.Go(g.work)
	}
}

// work does items until there are none.
func (g *Ingester) work() {
	for {
		g.mu.Lock()
		it := g.next()
		if it == nil {
			g.running--
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		g.do(it)
	}
}

// next takes the first item of the queue; mu is held.
func (g *Ingester) next() *item {
	for len(g.queue) > 0 && g.ctx.Err() == nil {
		it := g.queue[0]
		g.queue[0] = nil
		g.queue = g.queue[1:]
		if !it.begun {
			g.begin(it)
			return it
		}
	}
	return nil
}

// begin takes an item out of what may still be changed; mu is held.
func (g *Ingester) begin(it *item) {
	it.begun = true
	delete(g.queued, it.source.Path)
	g.inHand[it.source.Path] = it
}

// do looks at one file.
func (g *Ingester) do(it *item) {
	if it.gone {
		g.o.Index.Drop(it.source.Path)
		g.cache.Forget(it.source.Path)
	} else {
		g.o.Index.Update(g.ctx, it.source, g.o.Read, &g.cache)
	}
	if g.ctx.Err() != nil {
		return // it may not be done
	}
	g.mu.Lock()
	if it.done != nil {
		close(it.done)
	}
	if g.inHand[it.source.Path] == it {
		delete(g.inHand, it.source.Path)
	}
	for _, b := range it.batches {
		b.left--
		g.settle(b)
	}
	pending := len(g.queued) + len(g.inHand)
	now := time.Now()
	tell := g.o.Tell != nil && (pending == 0 || now.Sub(g.told) >= tellEvery)
	if tell {
		g.told = now
	}
	g.mu.Unlock()
	if tell {
		g.o.Tell(pending)
	}
}

// settle ends a batch of which nothing is left; mu is held.
func (g *Ingester) settle(b *batch) {
	if b.left > 0 {
		return
	}
	for i, have := range g.batches {
		if have == b {
			g.batches = append(g.batches[:i:i], g.batches[i+1:]...)
			if b.whole {
				g.wg.Go(g.cache.rest)
			}
			close(b.done)
			return
		}
	}
}

// Mark returns what was asked for so far and is not done.
func (g *Ingester) Mark() Mark {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.batches) == 0 {
		return Mark{}
	}
	return Mark{append([]*batch(nil), g.batches...)}
}

// ErrClosed says that the Ingester ended before its work did.
var ErrClosed = errors.New("the workspace was closed while it was being indexed")

// tellEvery is how often a waiting client, and Tell, hears how far it is.
const tellEvery = 500 * time.Millisecond

// Wait returns when everything of the mark is done; tell, if not nil, hears
// from time to time how many files are.
func (g *Ingester) Wait(ctx context.Context, m Mark, tell func(done, total int)) error {
	var tick <-chan time.Time
	for _, b := range m.batches {
		for waiting := true; waiting; {
			select {
			case <-b.done:
				waiting = false
				continue
			default:
			}
			if tick == nil && tell != nil {
				t := time.NewTicker(tellEvery)
				defer t.Stop()
				tick = t.C
			}
			select {
			case <-b.done:
				waiting = false
			case <-tick:
				tell(g.Progress(m))
			case <-ctx.Done():
				return ctx.Err()
			case <-g.ctx.Done():
				return ErrClosed
			}
		}
	}
	return nil
}

// Progress returns how many files of what the mark asks for are done.
func (g *Ingester) Progress(m Mark) (done, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, b := range m.batches {
		done += b.total - b.left
		total += b.total
	}
	return done, total
}

// First returns when one file is looked at; if it waits, that is done now.
func (g *Ingester) First(ctx context.Context, path string) error {
	g.mu.Lock()
	it := g.queued[path]
	if it != nil && !g.closed {
		g.begin(it)
		g.wg.Add(1)
		g.mu.Unlock()
		defer g.wg.Done()
		g.do(it)
		return ctx.Err()
	}
	it = g.inHand[path]
	if it == nil {
		g.mu.Unlock()
		return ctx.Err()
	}
	if it.done == nil {
		it.done = make(chan struct{})
	}
	done := it.done
	g.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.ctx.Done():
		return ErrClosed
	}
}

// Lacks is Index.Lacks for the files that are looked at already: of others it
// tells nothing.
func (g *Ingester) Lacks(word string) func(path string) bool {
	g.mu.Lock()
	waiting := make(map[string]bool, len(g.queued)+len(g.inHand))
	for p := range g.queued {
		waiting[p] = true
	}
	for p := range g.inHand {
		waiting[p] = true
	}
	g.mu.Unlock()
	lacks := g.o.Index.Lacks(word)
	if lacks == nil || len(waiting) == 0 {
		return lacks
	}
	return func(path string) bool { return !waiting[path] && lacks(path) }
}

// Pending returns how many files are not looked at yet.
func (g *Ingester) Pending() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queued) + len(g.inHand)
}

// relative returns the name of a file in the store, empty when it has none.
func (o *Options) relative(path string) string {
	rest, ok := strings.CutPrefix(path, o.Root)
	if !ok || len(rest) < 2 || rest[0] != filepath.Separator {
		return ""
	}
	return rest[1:]
}
