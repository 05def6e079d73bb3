package recipe

import (
	"context"
	"fmt"
	"slices"

	"github.com/auralsp/aura/graph"
)

// shapes compares types by the methods that they have, for languages in which
// that makes one implement another.
type shapes struct {
	g     *byGraph
	l     *lineage
	owned map[owning][]graph.Symbol // methods; nil until asked
	sets  map[mark]map[string][]graph.Symbol
}

// owning names a type by what its methods say of it.
type owning struct{ project, container string }

func newShapes(g *byGraph) *shapes {
	return &shapes{g: g, l: newLineage(g), sets: map[mark]map[string][]graph.Symbol{}}
}

// collect gathers all methods of the language by their types.
func (s *shapes) collect(ctx context.Context) error {
	if s.owned != nil {
		return nil
	}
	s.owned = map[owning][]graph.Symbol{}
	return s.g.Graph().Each(ctx, graph.Keep{Kinds: []graph.Kind{graph.KindMethod}}, func(m graph.Symbol) bool {
		if m.Language == s.g.language {
			at := owning{m.Project, m.Container}
			s.owned[at] = append(s.owned[at], m)
		}
		return true
	})
}

// maxEmbedded bounds how deep types are looked for methods in what they embed.
const maxEmbedded = 5

// methods returns the methods of a type by name, those of what it embeds included.
func (s *shapes) methods(ctx context.Context, typ graph.Symbol) map[string][]graph.Symbol {
	return s.set(ctx, typ, maxEmbedded)
}

func (s *shapes) set(ctx context.Context, typ graph.Symbol, deep int) map[string][]graph.Symbol {
	if set, ok := s.sets[markOf(typ)]; ok {
		return set
	}
	set := map[string][]graph.Symbol{}
	s.sets[markOf(typ)] = set // a type that embeds itself ends here
	err := s.collect(ctx)
	own := s.owned[owning{typ.Project, typ.Qualified}]
	if !Inside(s.g.Root(), typ.Path) {
		own, _ = s.l.members(ctx, typ) // of a file that nobody can read: none
	}
	for _, m := range own {
		set[m.Name] = append(set[m.Name], m)
	}
	if err != nil || deep == 0 {
		return set
	}
	above, err := s.l.up(ctx, typ)
	if err != nil {
		return set
	}
	for _, r := range above {
		if !r.known() {
			continue
		}
		for name, list := range s.set(ctx, r.sym, deep-1) {
			if _, own := set[name]; !own {
				set[name] = list
			}
		}
	}
	if outer := s.l.missing[markOf(typ)]; len(outer) > 0 {
		s.g.Incomplete(fmt.Sprintf("the methods that %s has from %v are not known without the language server", typ.Name, outer))
	}
	return set
}

// meets reports whether methods are among others, by name and number of parameters and results.
func meets(want, have map[string][]graph.Symbol) bool {
	for name, list := range want {
		if !slices.ContainsFunc(have[name], func(m graph.Symbol) bool {
			return len(m.Params) == len(list[0].Params) && len(m.Results) == len(list[0].Results)
		}) {
			return false
		}
	}
	return len(want) > 0
}

// implementers returns the types that have the methods of an interface.
func (s *shapes) implementers(ctx context.Context, iface graph.Symbol) ([]graph.Symbol, error) {
	want := s.methods(ctx, iface)
	if len(want) == 0 {
		return nil, nil
	}
	// Who has all of them has any; the longest name is likely the rarest.
	var rare string
	for name := range want {
		if len(name) > len(rare) || len(name) == len(rare) && name < rare {
			rare = name
		}
	}
	owners, err := s.having(ctx, rare)
	if err != nil {
		return nil, err
	}
	var out []graph.Symbol
	for _, typ := range owners {
		if markOf(typ) != markOf(iface) && meets(want, s.methods(ctx, typ)) {
			out = append(out, typ)
		}
	}
	return out, nil
}

// having returns the types that declare a method of a name or embed one that does.
func (s *shapes) having(ctx context.Context, name string) ([]graph.Symbol, error) {
	methods, err := s.g.declarations(ctx, name)
	if err != nil {
		return nil, err
	}
	var out []graph.Symbol
	seen := map[mark]bool{}
	for _, m := range methods {
		typ, ok, err := s.owner(ctx, m)
		if err != nil {
			return nil, err
		}
		if !ok || seen[markOf(typ)] {
			continue
		}
		seen[markOf(typ)] = true
		out = append(out, typ)
	}
	for i := 0; i < len(out) && len(out) < maxNodes; i++ {
		embedders, err := s.l.children(ctx, out[i])
		if err != nil {
			return nil, err
		}
		for _, e := range embedders {
			if !seen[markOf(e)] {
				seen[markOf(e)] = true
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// owner returns the type that a method belongs to.
func (s *shapes) owner(ctx context.Context, method graph.Symbol) (graph.Symbol, bool, error) {
	if method.Kind != graph.KindMethod {
		return graph.Symbol{}, false, nil
	}
	list, err := s.g.declarations(ctx, last(method.Container))
	for _, t := range list {
		if t.Qualified == method.Container && t.Project == method.Project && (isType(t.Kind) || t.Kind == graph.KindTypeAlias) {
			return t, true, nil
		}
	}
	return graph.Symbol{}, false, err
}

// interfacesOf returns the interfaces of the workspace that a type meets.
func (s *shapes) interfacesOf(ctx context.Context, typ graph.Symbol) ([]graph.Symbol, error) {
	have := s.methods(ctx, typ)
	if len(have) == 0 {
		return nil, nil
	}
	var all []graph.Symbol
	err := s.g.Graph().Each(ctx, graph.Keep{Kinds: []graph.Kind{graph.KindInterface}}, func(i graph.Symbol) bool {
		if i.Language == typ.Language && markOf(i) != markOf(typ) {
			all = append(all, i)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(i graph.Symbol) bool { return !meets(s.methods(ctx, i), have) }), nil
}

// related returns what implements an interface, or the interfaces that a type meets.
func (s *shapes) related(ctx context.Context, typ graph.Symbol) ([]graph.Symbol, error) {
	if typ.Kind == graph.KindInterface {
		return s.implementers(ctx, typ)
	}
	return s.interfacesOf(ctx, typ)
}
