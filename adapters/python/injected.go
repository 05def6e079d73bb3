package python

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// given matches the value that a fixture hands out: a name, or a call of one.
var given = regexp.MustCompile(`(?m)^[ \t]*(?:return|yield)[ \t]+(\w+)[ \t]*(?:\(|#|\r?$)`)

// injected reports whether an attribute is one of an argument that pytest makes
// by a fixture, and that is of the family's classes: pyright knows nothing of
// arguments without a type.
func (r *renamer) injected(ctx context.Context, src *source, attribute graph.Span) (bool, error) {
	head := bytes.TrimRight(bytes.TrimSuffix(bytes.TrimRight(src.Content[:attribute.Start], " \t\r\n"), []byte(".")), " \t\r\n")
	value, ok := src.Tree.IdentAt(len(head))
	if !ok || value.Span.End != len(head) || !src.bare(value.Span.Start) {
		return false, nil
	}
	asks := false
	for _, fn := range src.Tree.Symbols {
		if !fn.Decl.Contains(value.Span.Start) || !byPytest(fn) {
			continue
		}
		for _, p := range src.Tree.Symbols {
			asks = asks || p.Kind == graph.KindParameter && p.Name == value.Name && p.Container == fn.Qualified && fn.Decl.Contains(p.NameSpan.Start)
		}
	}
	if !asks {
		return false, nil
	}
	fixture, ok, err := r.fixtureFor(ctx, src.Path, value)
	if err != nil || !ok {
		return false, err
	}
	if known, ok := r.made[fixture.ID]; ok {
		return known, nil
	}
	if r.made == nil {
		r.made = map[graph.ID]bool{}
	}
	home, err := r.source(ctx, fixture.Path)
	if err != nil {
		return false, err
	}
	owners := r.owners(ctx)
	for _, at := range given.FindAllSubmatchIndex(home.Content[fixture.Body.Start:fixture.Body.End], -1) {
		span := graph.Span{Start: fixture.Body.Start + at[2], End: fixture.Body.Start + at[3]}
		meant, _, err := r.holds(ctx, home, span, owners)
		if err != nil {
			return false, err
		}
		r.made[fixture.ID] = r.made[fixture.ID] || meant
	}
	return r.made[fixture.ID], nil
}

// fixtureFor returns the fixture that a file gets by a name: its own, or that
// of the nearest conftest.py. One that asks for its own name gets the next.
func (r *renamer) fixtureFor(ctx context.Context, path string, use syntax.Ident) (best graph.Symbol, ok bool, err error) {
	found, err := r.Bench.Graph().ByName(ctx, use.Name)
	if err != nil {
		return best, false, err
	}
	rank := func(s graph.Symbol) int {
		switch dir := filepath.Dir(s.Path); {
		case s.Path == path && s.Decl.Contains(use.Span.Start):
			return 0
		case s.Path == path:
			return 1 << 30
		case filepath.Base(s.Path) == "conftest.py" && recipe.Inside(dir, path):
			return len(dir)
		}
		return 0
	}
	for _, s := range found {
		if isFixture(s) && rank(s) > 0 && (!ok || rank(s) > rank(best)) {
			best, ok = s, true
		}
	}
	return best, ok, nil
}

// owners returns the classes that declare the family.
func (r *renamer) owners(ctx context.Context) []graph.Symbol {
	var out []graph.Symbol
	for _, m := range r.Members {
		if c := r.ownerOf(ctx, m); c.Name != "" {
			out = append(out, c)
		}
	}
	return out
}
