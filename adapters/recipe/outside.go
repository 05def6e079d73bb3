package recipe

import (
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// OutsideUse is a place that names something which the workspace does not declare.
type OutsideUse struct {
	Place     adapters.Place
	Qualifier string // the name before it; empty when there is none
	Import    string // of the file, that gives it or its qualifier; empty when none does
	Qualified bool   // it is written or imported as the path that was asked for
}

// OutsideUses returns one use for each way in which the files name something
// from outside the workspace: by qualifier and import, those first that agree
// with the path before the name, and bases of types before other uses.
func OutsideUses(ctx context.Context, b adapters.Bench, lex Lexicon, language string, files, path []string, name string, limit int) ([]OutsideUse, error) {
	g := newByGraph(b, lex, language)
	based, err := b.Graph().ByBase(ctx, name)
	if err != nil {
		return nil, err
	}
	// Files in which a type has it as a base show it as a type.
	slices.SortStableFunc(files, func(x, y string) int {
		holds := func(path string) int {
			if slices.ContainsFunc(based, func(s graph.Symbol) bool { return s.Path == path }) {
				return 0
			}
			return 1
		}
		return holds(x) - holds(y)
	})
	var out []OutsideUse
	seen := map[[2]string]bool{}
	for _, file := range files {
		p, err := g.page(ctx, file)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		for _, id := range p.tree.Named(name) {
			m, err := g.of(ctx, p, id)
			if err != nil {
				return nil, err
			}
			if len(m.all) > 0 {
				continue
			}
			u := g.outsideUse(p, id, path)
			if key := [2]string{u.Qualifier, u.Import}; !seen[key] && len(seen) < limit {
				seen[key] = true
				out = append(out, u)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y OutsideUse) int {
		rank := func(u OutsideUse) int {
			if u.Qualified {
				return 0
			}
			return 1
		}
		return rank(x) - rank(y)
	})
	return out, nil
}

// outsideUse describes a use of what the workspace does not declare.
func (m *meanings) outsideUse(p *page, id syntax.Ident, path []string) OutsideUse {
	u := OutsideUse{Place: m.place(p, id.Span)}
	if !p.bare(id.Span.Start) {
		if q, ok := qualifier(p, id); ok {
			u.Qualifier = q.Name
		}
	}
	for _, im := range p.tree.Imports {
		if u.Qualifier == "" && binds(p.tree, im, id.Name) || u.Qualifier != "" && binds(p.tree, im, u.Qualifier) {
			u.Import = im.Path
			break
		}
	}
	u.Qualified = agrees(path, id.Name, u)
	return u
}

// agrees reports whether a use is written or imported as a path says.
func agrees(path []string, name string, u OutsideUse) bool {
	if len(path) == 0 {
		return true
	}
	end := path[len(path)-1]
	if i := strings.LastIndexByte(end, '/'); i >= 0 {
		end = end[i+1:]
	}
	segs, _ := segments(u.Import)
	if n := len(segs); n > 0 && segs[n-1] == name {
		segs = segs[:n-1]
	}
	return u.Qualifier == end || len(segs) > 0 && segs[len(segs)-1] == end
}

// derivedFromOutside answers with the types that write a base of a type's name
// which the workspace does not declare, and with those below them.
func (g *byGraph) derivedFromOutside(ctx context.Context, t adapters.Target) (adapters.Found, error) {
	var found adapters.Found
	g.guessed = true
	if g.lex.Structural && t.Symbol.Path != "" && t.Symbol.Kind == graph.KindInterface {
		met, err := newShapes(g).implementers(ctx, t.Symbol)
		if err != nil {
			return found, err
		}
		if found, err = g.add(ctx, found, met); err != nil {
			return found, err
		}
	}
	all, err := g.Graph().ByBase(ctx, t.Symbol.Name)
	if err != nil {
		return found, err
	}
	l := newLineage(g)
	for _, s := range all {
		if s.Language != t.Symbol.Language {
			continue
		}
		above, err := l.up(ctx, s)
		if err != nil {
			return found, err
		}
		if slices.ContainsFunc(above, func(r relative) bool { return r.known() && r.sym.Name == t.Symbol.Name }) {
			continue // it means one of the workspace
		}
		meant, err := g.writes(ctx, s, t.Symbol)
		if err != nil {
			return found, err
		}
		if !meant {
			continue
		}
		if found, err = g.add(ctx, found, []graph.Symbol{s}); err != nil {
			return found, err
		}
		if !t.Transitive {
			continue
		}
		below, err := l.derived(ctx, s, true)
		if err != nil {
			return found, err
		}
		for _, h := range below.Hits {
			if !slices.ContainsFunc(found.Hits, func(have adapters.Hit) bool {
				return have.Place.Path == h.Place.Path && have.Place.Span == h.Place.Span
			}) {
				h.Depth++
				found.Hits = append(found.Hits, h)
			}
		}
	}
	sortHits(g.Root(), found.Hits)
	return found, nil
}

// writes reports whether a type writes as its base what is named by a path.
func (g *byGraph) writes(ctx context.Context, s, base graph.Symbol) (bool, error) {
	if base.Path != "" || base.Container == "" {
		return true, nil
	}
	p, err := g.page(ctx, s.Path)
	if p == nil || err != nil {
		return false, err
	}
	for _, b := range s.Bases {
		for _, id := range headIdents(p.tree, p.content, s, b) {
			if id.Name == base.Name && g.outsideUse(p, id, qualifiers(base)).Qualified {
				return true, nil
			}
		}
	}
	return false, nil
}

// qualifiers are what stands before the name of a symbol that nobody has placed.
func qualifiers(sym graph.Symbol) []string {
	if sym.Container == "" {
		return nil
	}
	return strings.Split(sym.Container, ".")
}
