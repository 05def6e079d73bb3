// Package index holds the symbols of a workspace in memory and answers by
// name, id, base and file. Symbols are kept packed and unpacked when asked for.
//
// It owns the symbols of the files it was given and nothing else: reading files,
// noticing changes and keeping records beyond its life are its caller's. It
// starts goroutines only within Refresh and Fill, which wait for them.
package index

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/record"
	"github.com/auralsp/aura/graph/syntax"
)

// Hash identifies a file's content.
type Hash = [32]byte

// Source is a file to be read.
type Source struct {
	Path  string
	Spec  *syntax.Spec
	Place syntax.Place
	Anew  bool // parse it even if nothing changed
}

// ReadFunc returns the current content of a file with its hash, or an error
// that is fs.ErrNotExist when there is no such file. It is called from several
// goroutines at once.
type ReadFunc func(ctx context.Context, path string) ([]byte, Hash, error)

// Cache keeps records beyond the life of an Index. Its methods are called from
// several goroutines at once.
type Cache interface {
	// Unread returns the record of a source whose content is known without
	// reading it.
	Unread(s Source) (record.Record, Hash, bool)
	// Record returns the record that was made of a content.
	Record(s Source, hash Hash) (record.Record, bool)
	// Keep takes a record that was just read or made.
	Keep(s Source, hash Hash, r record.Record)
	// Forget is told of a file that is gone or cannot be read.
	Forget(path string)
}

// Index is a graph.Reader over the files it was given. It is safe for
// concurrent use.
type Index struct {
	paths [64]sync.Mutex // by path, so that an older text cannot replace a newer one

	mu     sync.RWMutex     // guards what follows
	files  map[string]*file // by path
	number []*file          // by number; nil for one that is gone
	free   []uint32         // numbers that no posting names
	gone   []uint32         // numbers that postings may still name
	names  postings         // by hash of a bare name
	ids    postings         // by record.Key
	bases  postings         // by hash of a bare name of a base
	count  int
	failed map[string]failure

	near nearby
}

// file is what one content holds. It does not change; a changed file is another one.
type file struct {
	path   string
	number uint32
	hash   Hash
	spec   *syntax.Spec
	place  syntax.Place
	record record.Record
}

// failure is why a file has no symbols: it could not be read or, if spec is set,
// this content could not be parsed.
type failure struct {
	err   error
	spec  *syntax.Spec
	place syntax.Place
	hash  Hash
}

var _ graph.Reader = (*Index)(nil)

// New returns an empty index.
func New() *Index {
	return &Index{files: map[string]*file{}, failed: map[string]failure{}}
}

// Refresh reads the sources and puts their symbols in place of those that
// their files had; a file that is gone is dropped, one whose content and place
// are the same is not parsed again. A file that cannot be read or parsed loses
// its symbols and is listed by Failed. The error is that of ctx.
func (x *Index) Refresh(ctx context.Context, sources []Source, read ReadFunc) error {
	work := make(chan Source)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(sources), 1)) {
		wg.Go(func() {
			for s := range work {
				x.Update(ctx, s, read, nil)
			}
		})
	}
	for _, s := range sources {
		if ctx.Err() != nil {
			break
		}
		work <- s
	}
	close(work)
	wg.Wait()
	return ctx.Err()
}

// Update brings one file up to its current content, as Refresh does; cache may
// be nil. When ctx ends, the file stays as it was.
func (x *Index) Update(ctx context.Context, s Source, read ReadFunc, cache Cache) {
	turn := &x.paths[record.Hash(s.Path)%uint32(len(x.paths))]
	turn.Lock()
	defer turn.Unlock()
	x.mu.RLock()
	old := x.files[s.Path]
	x.mu.RUnlock()
	if old != nil && (s.Anew || old.spec != s.Spec || old.place != s.Place) {
		old = nil
	}
	if old == nil && cache != nil && !s.Anew {
		if r, hash, ok := cache.Unread(s); ok {
			x.replace(s.Path, &file{path: s.Path, hash: hash, spec: s.Spec, place: s.Place, record: r}, failure{})
			return
		}
	}
	content, hash, err := read(ctx, s.Path)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		x.lose(s.Path, failure{err: err}, cache)
		return
	}
	if old == nil && !s.Anew && x.failedBefore(s, hash) {
		return
	}
	if old != nil && old.hash == hash {
		if cache != nil {
			cache.Keep(s, hash, old.record) // its stamp may be another one now
		}
		return
	}
	var r record.Record
	known := false
	if cache != nil && !s.Anew {
		r, known = cache.Record(s, hash)
	}
	if !known {
		t, err := s.Spec.Read(s.Path, content, s.Place)
		if err == nil {
			r, err = record.Make(t.Symbols, content)
		}
		if err != nil {
			x.lose(s.Path, failure{err, s.Spec, s.Place, hash}, cache)
			return
		}
	}
	if cache != nil {
		cache.Keep(s, hash, r)
	}
	x.replace(s.Path, &file{path: s.Path, hash: hash, spec: s.Spec, place: s.Place, record: r}, failure{})
}

// Known is a file whose record is known without reading it.
type Known struct {
	Source Source
	Hash   Hash
	Record record.Record
}

// Fill takes the first files of an index, each path once. It does what Update
// does one by one. It returns false, and does nothing, if there are files already.
func (x *Index) Fill(known []Known) bool {
	files := make([]*file, len(known))
	byPath := make(map[string]*file, len(known))
	count := 0
	for i := range known {
		k := &known[i]
		files[i] = &file{path: k.Source.Path, number: uint32(i), hash: k.Hash, spec: k.Source.Spec, place: k.Source.Place, record: k.Record}
		byPath[k.Source.Path] = files[i]
		count += k.Record.Len()
	}
	var names, ids, bases []uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, f := range files {
			f.record.Names(func(name string) { names = append(names, entry(record.Hash(name), f.number)) })
		}
		names = byHash(names)
	})
	for _, f := range files {
		f.record.Keys(func(key uint32) { ids = append(ids, entry(key, f.number)) })
		f.record.Bases(func(name string) { bases = append(bases, entry(record.Hash(name), f.number)) })
	}
	ids, bases = byHash(ids), byHash(bases)
	wg.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.number) > 0 {
		return false
	}
	x.number, x.files, x.count = files, byPath, count
	x.names.sorted, x.ids.sorted, x.bases.sorted = slices.Clip(names), slices.Clip(ids), slices.Clip(bases)
	clear(x.failed)
	return true
}

// lose drops a file that is gone or, with an error, cannot be read.
func (x *Index) lose(path string, why failure, cache Cache) {
	if cache != nil {
		cache.Forget(path)
	}
	x.replace(path, nil, why)
}

// failedBefore reports whether a content could not be parsed already, which may
// have taken as long as a parser is given.
func (x *Index) failedBefore(s Source, hash Hash) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.failed[s.Path]
	return f.spec == s.Spec && f.spec != nil && f.place == s.Place && f.hash == hash
}

// Drop forgets files.
func (x *Index) Drop(paths ...string) {
	for _, p := range paths {
		x.replace(p, nil, failure{})
	}
}

// Has reports whether the index has a file.
func (x *Index) Has(path string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.files[path] != nil
}

// Record returns what the index has of a file, and the hash of the content.
func (x *Index) Record(path string) (r record.Record, hash Hash, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.files[path]
	if f == nil {
		return r, hash, false
	}
	return f.record, f.hash, true
}

// Lacks returns a func that reports that a file, as the index has it, certainly
// does not hold a word, see text.NextWord; nil when that cannot be told of any.
func (x *Index) Lacks(word string) func(path string) bool {
	words := record.WordsOf(word)
	if len(words) == 0 {
		return nil
	}
	return func(path string) bool {
		x.mu.RLock()
		f := x.files[path]
		x.mu.RUnlock()
		return f != nil && f.record.Lacks(words)
	}
}

// Paths returns the files that the index holds, in order.
func (x *Index) Paths() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Sorted(maps.Keys(x.files))
}

// Failed returns the files that could not be read or parsed, with the reason.
func (x *Index) Failed() map[string]error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make(map[string]error, len(x.failed))
	for path, f := range x.failed {
		out[path] = f.err
	}
	return out
}

// Len returns the number of declarations, locals included.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.count
}

// Files returns the number of files.
func (x *Index) Files() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.files)
}

// replace puts f in place of what path had; nil only removes it.
func (x *Index) replace(path string, f *file, why failure) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.files[path]; old != nil {
		old.record.Names(func(string) { x.names.dead++ })
		old.record.Keys(func(uint32) { x.ids.dead++ })
		old.record.Bases(func(string) { x.bases.dead++ })
		x.count -= old.record.Len()
		x.number[old.number] = nil
		x.gone = append(x.gone, old.number)
		delete(x.files, path)
	}
	delete(x.failed, path)
	if why.err != nil {
		x.failed[path] = why
	}
	if f != nil {
		f.number = x.next()
		x.number[f.number] = f
		x.files[path] = f
		x.count += f.record.Len()
		f.record.Names(func(name string) { x.names.add(record.Hash(name), f.number) })
		f.record.Keys(func(key uint32) { x.ids.add(key, f.number) })
		f.record.Bases(func(name string) { x.bases.add(record.Hash(name), f.number) })
	}
	if len(x.gone) > max(minFresh, len(x.files)) {
		x.settle()
	}
}

// next returns a number that no posting names.
func (x *Index) next() uint32 {
	if n := len(x.free); n > 0 {
		number := x.free[n-1]
		x.free = x.free[:n-1]
		return number
	}
	x.number = append(x.number, nil)
	return uint32(len(x.number) - 1)
}

// settle sorts the postings, after which none names a file that is gone; mu is held.
func (x *Index) settle() {
	for _, p := range [...]*postings{&x.names, &x.ids, &x.bases} {
		p.merge(x.alive)
	}
	x.free = append(x.free, x.gone...)
	x.gone = nil
}

// lookup returns with mu held for reading and the postings sorted.
func (x *Index) lookup(p *postings) {
	x.mu.RLock()
	if p.settled() {
		return
	}
	x.mu.RUnlock()
	x.mu.Lock()
	if !p.settled() {
		x.settle()
	}
	x.mu.Unlock()
	x.mu.RLock()
}

func (x *Index) alive(number uint32) bool { return x.number[number] != nil }
