package recipe

import (
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// apart returns the types for which a trait is implemented in another file than
// their own, as far as the implementation has members: those are named
// <Type as Trait>. A type is taken when it is the only one of its name.
func (g *byGraph) apart(ctx context.Context, trait graph.Symbol) ([]graph.Symbol, error) {
	paths, err := g.Snapshot().Grep(ctx, trait.Name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		symbols, err := g.Graph().InFile(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, s := range symbols {
			_, written, _ := strings.Cut(s.Qualified, "<")
			typ, of, ok := strings.Cut(written, " as ")
			if !ok || s.Language != trait.Language || !slices.Contains(graph.BaseNames(strings.TrimSuffix(of, s.Name)), trait.Name) {
				continue
			}
			if !slices.Contains(names, typ) {
				names = append(names, typ)
			}
		}
	}
	var out []graph.Symbol
	for _, name := range names {
		types, err := g.Graph().ByName(ctx, name)
		if err != nil {
			return nil, err
		}
		types = slices.DeleteFunc(types, func(s graph.Symbol) bool {
			return s.Language != trait.Language || s.Local || !isType(s.Kind) || !Inside(g.Root(), s.Path)
		})
		if len(types) > 0 && sole(types) {
			out = append(out, types[0])
		}
	}
	return out, nil
}
