package python

import (
	"context"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// callers answers who calls a function. Before each level the files that hold
// its names are opened. The calls of what a method overrides, and of the
// protocols that its class meets, may end in it.
func (a *Adapter) callers(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	srv, err := b.Server(ctx, adapters.Hierarchy)
	if err != nil {
		return adapters.Found{}, err
	}
	found, err := recipe.Levels(ctx, b, t, func(ctx context.Context, s graph.Symbol) ([]adapters.Hit, error) {
		return a.callersOf(ctx, b, srv, s)
	})
	if err != nil {
		return found, err
	}
	if len(found.Hits) == 0 {
		return found, blind(ctx, b, t.Symbol)
	}
	return found, nil
}

// callersOf answers one level for one function and those whose calls may end in it.
func (a *Adapter) callersOf(ctx context.Context, b adapters.Bench, srv adapters.Server, s graph.Symbol) ([]adapters.Hit, error) {
	targets := []graph.Symbol{s}
	if isMember(s) && !mangled(s.Name) && !constructs(s.Name) {
		above, err := recipe.Overridden(ctx, b, s, recipe.FamilyOptions{Joins: joins})
		if err != nil {
			return nil, err
		}
		r := newRenamer(a, b, adapters.Rename{})
		met, err := (&protocols{r: r}).upper(ctx, b, s)
		if err != nil {
			return nil, err
		}
		targets = append(append(targets, above...), met...)
	}
	var out []adapters.Hit
	for _, target := range targets {
		if !recipe.Inside(b.Root(), target.Path) {
			continue
		}
		if _, err := show(ctx, b, srv, target); err != nil {
			return nil, err
		}
		found, err := recipe.Callers(ctx, b, adapters.Target{Symbol: target, Depth: 1})
		if err != nil {
			return nil, err
		}
		out = recipe.JoinHits(out, found.Hits...)
	}
	return out, nil
}
