package ingest

import (
	"context"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"sync"

	"errors"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/record"
)

// Difference is a file of which the index says something else than its content.
type Difference struct {
	Path   string
	Detail string
}

// Verify reads and parses every source anew and compares that with the index,
// which must have been brought up to date before. A file that changes meanwhile
// is no difference. The result is in order of path.
func (g *Ingester) Verify(ctx context.Context, sources []index.Source, tell func(done, total int)) ([]Difference, error) {
	var mu sync.Mutex
	var out []Difference
	next, done := 0, 0
	var wg sync.WaitGroup
	for range g.o.Workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(sources) {
					return
				}
				detail := g.compare(ctx, sources[i])
				mu.Lock()
				done++
				if tell != nil && done%256 == 0 {
					tell(done, len(sources))
				}
				if detail != "" {
					out = append(out, Difference{sources[i].Path, detail})
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	known := make(map[string]bool, len(sources))
	for _, s := range sources {
		known[s.Path] = true
	}
	for _, p := range g.o.Index.Paths() {
		if !known[p] {
			out = append(out, Difference{p, "the index has it, the workspace does not"})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int { return slices.Compare([]string{a.Path}, []string{b.Path}) })
	return out, ctx.Err()
}

// compare says how the index differs from a file's content; empty for not at all.
func (g *Ingester) compare(ctx context.Context, s index.Source) string {
	content, hash, err := g.o.Read(ctx, s.Path)
	have, indexed, ok := g.o.Index.Record(s.Path)
	if errors.Is(err, fs.ErrNotExist) && !ok || ctx.Err() != nil {
		return ""
	}
	failed := g.o.Index.Failed()[s.Path]
	switch {
	case err != nil && (failed != nil || !ok):
		return ""
	case err != nil:
		return fmt.Sprintf("the index has it, and it cannot be read: %v", err)
	}
	t, err := s.Spec.Read(s.Path, content, s.Place)
	switch {
	case err != nil && !ok:
		return ""
	case err != nil:
		return fmt.Sprintf("the index has it, and it cannot be parsed: %v", err)
	case !ok:
		return "the index does not have it"
	case indexed != hash:
		if _, again, err := g.o.Read(ctx, s.Path); err != nil || again != hash {
			return ""
		}
		return "the index has another content"
	}
	fresh, err := record.Make(t.Symbols, content)
	if err != nil || fresh.Data() == have.Data() {
		return ""
	}
	symbols, err := have.Symbols(s.Path)
	if err != nil {
		return err.Error()
	}
	if detail := differ(symbols, t.Symbols); detail != "" {
		return detail
	}
	return "the index has other words of it"
}

// differ says how two lists of symbols differ.
func differ(have, want []graph.Symbol) string {
	if len(have) != len(want) {
		return fmt.Sprintf("the index has %d symbols, the file %d", len(have), len(want))
	}
	for i := range have {
		if !reflect.DeepEqual(have[i], want[i]) {
			return fmt.Sprintf("the symbol %s is another one: the index says %+v, the file %+v", want[i].Qualified, have[i], want[i])
		}
	}
	return ""
}
