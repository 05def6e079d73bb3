// Package index holds the symbols of a workspace in memory and answers by
// name, id and file.
//
// It owns the symbols of the files it was given and nothing else: reading files
// and noticing changes are its caller's. It starts goroutines only within
// Refresh, which waits for them.
package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Hash identifies a file's content.
type Hash = [32]byte

// Source is a file to be read.
type Source struct {
	Path  string
	Spec  *syntax.Spec
	Place syntax.Place
}

// ReadFunc returns the current content of a file with its hash, or an error
// that is fs.ErrNotExist when there is no such file. It is called from several
// goroutines at once.
type ReadFunc func(ctx context.Context, path string) ([]byte, Hash, error)

// Index is a graph.Reader over the files it was refreshed with. It is safe for
// concurrent use.
type Index struct {
	turn   sync.Mutex   // held by Refresh and Drop, so that an older text cannot replace a newer one
	mu     sync.RWMutex // guards what follows
	files  map[string]*file
	names  map[string][]ref // by bare name
	ids    map[graph.ID][]ref
	bases  map[string][]ref // by bare name of a base
	failed map[string]error
}

// ref is one symbol of a file.
type ref struct {
	file *file
	at   int32
}

// file is what one content holds. It does not change; a changed file is another one.
type file struct {
	path    string
	hash    Hash
	spec    *syntax.Spec
	place   syntax.Place
	symbols []graph.Symbol
}

var _ graph.Reader = (*Index)(nil)

// New returns an empty index.
func New() *Index {
	return &Index{
		files:  map[string]*file{},
		names:  map[string][]ref{},
		ids:    map[graph.ID][]ref{},
		bases:  map[string][]ref{},
		failed: map[string]error{},
	}
}

// Refresh reads the sources and puts their symbols in place of those that
// their files had; a file that is gone is dropped, one whose content and place
// are the same is not parsed again. A file that cannot be read or parsed loses
// its symbols and is listed by Failed. The error is that of ctx.
func (x *Index) Refresh(ctx context.Context, sources []Source, read ReadFunc) error {
	x.turn.Lock()
	defer x.turn.Unlock()
	work := make(chan Source)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(len(sources), 1)) {
		wg.Go(func() {
			for s := range work {
				x.refresh(ctx, s, read)
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

func (x *Index) refresh(ctx context.Context, s Source, read ReadFunc) {
	content, hash, err := read(ctx, s.Path)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		x.replace(s.Path, nil, err)
		return
	}
	x.mu.RLock()
	old := x.files[s.Path]
	x.mu.RUnlock()
	if old != nil && old.hash == hash && old.spec == s.Spec && old.place == s.Place {
		return
	}
	t, err := s.Spec.Read(s.Path, content, s.Place)
	if err != nil {
		x.replace(s.Path, nil, err)
		return
	}
	x.replace(s.Path, &file{path: s.Path, hash: hash, spec: s.Spec, place: s.Place, symbols: slices.Clip(t.Symbols)}, nil)
}

// Drop forgets files.
func (x *Index) Drop(paths ...string) {
	x.turn.Lock()
	defer x.turn.Unlock()
	for _, p := range paths {
		x.replace(p, nil, nil)
	}
}

// Paths returns the files that the index holds, in order.
func (x *Index) Paths() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]string, 0, len(x.files))
	for p := range x.files {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// Failed returns the files that could not be read or parsed, with the reason.
func (x *Index) Failed() map[string]error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make(map[string]error, len(x.failed))
	for p, err := range x.failed {
		out[p] = err
	}
	return out
}

// Len returns the number of declarations, locals included.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0
	for _, f := range x.files {
		n += len(f.symbols)
	}
	return n
}

// replace puts f in place of what path had; nil only removes it.
func (x *Index) replace(path string, f *file, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.files[path]; old != nil {
		names, ids, bases := map[string]bool{}, map[graph.ID]bool{}, map[string]bool{}
		for i := range old.symbols {
			s := &old.symbols[i]
			names[s.Name], ids[s.ID] = true, true
			for _, b := range baseNames(s) {
				bases[b] = true
			}
		}
		forget(x.names, names, old)
		forget(x.ids, ids, old)
		forget(x.bases, bases, old)
		delete(x.files, path)
	}
	delete(x.failed, path)
	if err != nil {
		x.failed[path] = err
	}
	if f == nil {
		return
	}
	x.files[path] = f
	for i := range f.symbols {
		s, r := &f.symbols[i], ref{f, int32(i)}
		x.names[s.Name] = append(x.names[s.Name], r)
		x.ids[s.ID] = append(x.ids[s.ID], r)
		for _, b := range baseNames(s) {
			x.bases[b] = append(x.bases[b], r)
		}
	}
}

// baseNames returns the bare names of a symbol's bases, each once.
func baseNames(s *graph.Symbol) []string {
	if len(s.Bases) == 0 {
		return nil
	}
	var out []string
	for _, b := range s.Bases {
		out = append(out, graph.BaseNames(b)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// forget takes a file's symbols out of the lists of the keys.
func forget[K comparable](m map[K][]ref, keys map[K]bool, f *file) {
	for k := range keys {
		left := slices.DeleteFunc(m[k], func(r ref) bool { return r.file == f })
		if len(left) == 0 {
			delete(m, k)
			continue
		}
		m[k] = left
	}
}

// ByName implements graph.Reader.
func (x *Index) ByName(_ context.Context, name string) ([]graph.Symbol, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return gather(x.names[name]), nil
}

// ByID implements graph.Reader.
func (x *Index) ByID(_ context.Context, id graph.ID) ([]graph.Symbol, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return gather(x.ids[id]), nil
}

// ByBase implements graph.Reader.
func (x *Index) ByBase(_ context.Context, name string) ([]graph.Symbol, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if name != "" {
		return gather(x.bases[name]), nil
	}
	all := map[ref]bool{}
	for _, refs := range x.bases {
		for _, r := range refs {
			all[r] = true
		}
	}
	return gather(slices.Collect(maps.Keys(all))), nil
}

// InFile implements graph.Reader.
func (x *Index) InFile(_ context.Context, path string) ([]graph.Symbol, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.files[path]
	if f == nil {
		return nil, nil
	}
	return slices.Clone(f.symbols), nil
}

func gather(refs []ref) []graph.Symbol {
	if len(refs) == 0 {
		return nil
	}
	out := make([]graph.Symbol, len(refs))
	for i, r := range refs {
		out[i] = r.file.symbols[r.at]
	}
	slices.SortFunc(out, func(a, b graph.Symbol) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.NameSpan.Start, b.NameSpan.Start))
	})
	return out
}
