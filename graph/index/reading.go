package index

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/record"
)

// ByName implements graph.Reader.
func (x *Index) ByName(ctx context.Context, name string) ([]graph.Symbol, error) {
	return reading{x: x}.ByName(ctx, name)
}

// ByID implements graph.Reader.
func (x *Index) ByID(ctx context.Context, id graph.ID) ([]graph.Symbol, error) {
	return reading{x: x}.ByID(ctx, id)
}

// ByBase implements graph.Reader.
func (x *Index) ByBase(ctx context.Context, name string) ([]graph.Symbol, error) {
	return reading{x: x}.ByBase(ctx, name)
}

// Each implements graph.Reader.
func (x *Index) Each(ctx context.Context, keep graph.Keep, yield func(graph.Symbol) bool) error {
	return reading{x: x}.Each(ctx, keep, yield)
}

// InFile implements graph.Reader.
func (x *Index) InFile(ctx context.Context, path string) ([]graph.Symbol, error) {
	return reading{x: x}.InFile(ctx, path)
}

// Reading returns the index as a reader that tells, before it gives symbols of
// a file, of which content they are; an error of that ends the question.
func (x *Index) Reading(of func(path string, hash Hash) error) graph.Reader { return reading{x, of} }

// reading answers the questions of a graph.Reader.
type reading struct {
	x  *Index
	of func(path string, hash Hash) error // may be nil
}

func (r reading) tell(f *file) error {
	if r.of == nil {
		return nil
	}
	return r.of(f.path, f.hash)
}

// Names implements graph.Reader.
func (r reading) Names(ctx context.Context, name string, limit int) ([]string, error) {
	return r.x.Names(ctx, name, limit)
}

// ByName implements graph.Reader.
func (r reading) ByName(ctx context.Context, name string) ([]graph.Symbol, error) {
	return r.gather(ctx, &r.x.names, record.Hash(name), func(f *file) ([]graph.Symbol, error) {
		return f.record.Named(f.path, name)
	})
}

// ByID implements graph.Reader.
func (r reading) ByID(ctx context.Context, id graph.ID) ([]graph.Symbol, error) {
	return r.gather(ctx, &r.x.ids, record.Key(id), func(f *file) ([]graph.Symbol, error) {
		return f.record.Identified(f.path, id)
	})
}

// ByBase implements graph.Reader.
func (r reading) ByBase(ctx context.Context, name string) ([]graph.Symbol, error) {
	if name == "" {
		return r.unpack(ctx, r.based(), func(f *file) ([]graph.Symbol, error) { return f.record.Based(f.path) })
	}
	return r.gather(ctx, &r.x.bases, record.Hash(name), func(f *file) ([]graph.Symbol, error) {
		all, err := f.record.Based(f.path)
		return slices.DeleteFunc(all, func(s graph.Symbol) bool {
			return !slices.ContainsFunc(s.Bases, func(b string) bool { return slices.Contains(graph.BaseNames(b), name) })
		}), err
	})
}

// Each implements graph.Reader.
func (r reading) Each(ctx context.Context, keep graph.Keep, yield func(graph.Symbol) bool) error {
	r.x.mu.RLock()
	files := slices.Collect(maps.Values(r.x.files))
	r.x.mu.RUnlock()
	files = slices.DeleteFunc(files, func(f *file) bool { return keep.Path != nil && !keep.Path(f.path) })
	slices.SortFunc(files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	for _, f := range files {
		found, err := r.unpack(ctx, []*file{f}, func(f *file) ([]graph.Symbol, error) { return f.record.Symbols(f.path) })
		if err != nil {
			return err
		}
		for i := range found {
			if keep.Wants(&found[i]) && !yield(found[i]) {
				return nil
			}
		}
	}
	return nil
}

// InFile implements graph.Reader.
func (r reading) InFile(ctx context.Context, path string) ([]graph.Symbol, error) {
	r.x.mu.RLock()
	f := r.x.files[path]
	r.x.mu.RUnlock()
	if f == nil {
		return nil, nil
	}
	if err := r.tell(f); err != nil {
		return nil, err
	}
	return f.record.Symbols(path)
}

// based returns the files in which something writes a base.
func (r reading) based() []*file {
	x := r.x
	x.lookup(&r.x.bases)
	defer x.mu.RUnlock()
	seen := make([]bool, len(x.number))
	var out []*file
	x.bases.all(func(n uint32) {
		if f := x.number[n]; f != nil && !seen[n] {
			seen[n] = true
			out = append(out, f)
		}
	})
	return out
}

// gather unpacks what the files of a hash hold.
func (r reading) gather(ctx context.Context, p *postings, hash uint32, pick func(*file) ([]graph.Symbol, error)) ([]graph.Symbol, error) {
	x := r.x
	x.lookup(p)
	var files []*file
	p.each(hash, func(n uint32) {
		if f := x.number[n]; f != nil {
			files = append(files, f)
		}
	})
	x.mu.RUnlock()
	return r.unpack(ctx, files, pick)
}

// unpack picks symbols out of files, in order of path and position.
func (r reading) unpack(ctx context.Context, files []*file, pick func(*file) ([]graph.Symbol, error)) ([]graph.Symbol, error) {
	slices.SortFunc(files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	files = slices.Compact(files)
	var out []graph.Symbol
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := len(out)
		found, err := pick(f)
		if err == nil && len(found) > 0 {
			err = r.tell(f)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		slices.SortStableFunc(out[from:], func(a, b graph.Symbol) int { return cmp.Compare(a.NameSpan.Start, b.NameSpan.Start) })
	}
	return out, nil
}
