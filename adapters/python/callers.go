package python

import (
	"context"
	"fmt"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// maxCallers bounds how many functions are asked for their callers.
const maxCallers = 500

// spot is a place to compare by.
type spot struct {
	path  string
	start int
}

// callers answers who calls a function. Before each level the files that hold
// its names are opened. The calls of what a method overrides, and of the
// protocols that its class meets, may end in it.
func (a *Adapter) callers(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	srv, err := b.Server(ctx, adapters.Hierarchy)
	if err != nil {
		return adapters.Found{}, err
	}
	var found adapters.Found
	at := map[spot]int{}
	asked := map[spot]bool{}
	level := []graph.Symbol{t.Symbol}
	for depth := 1; depth <= max(t.Depth, 1); depth++ {
		var next []graph.Symbol
		for _, s := range level {
			if asked[spot{s.Path, s.NameSpan.Start}] {
				continue
			}
			asked[spot{s.Path, s.NameSpan.Start}] = true
			if len(asked) > maxCallers {
				b.Incomplete(fmt.Sprintf("the calls were followed to %d functions only", maxCallers))
				return found, nil
			}
			hits, err := a.callersOf(ctx, b, srv, s)
			if err != nil {
				return found, err
			}
			for _, h := range hits {
				place := spot{h.Place.Path, h.Place.Span.Start}
				if i, ok := at[place]; ok {
					if have := &found.Hits[i]; have.Depth == depth && have.From == s.ID {
						have.Ranges = joinPlaces(have.Ranges, h.Ranges)
					}
					continue
				}
				h.Depth, h.From = depth, s.ID
				at[place] = len(found.Hits)
				found.Hits = append(found.Hits, h)
				if h.Symbol != nil && recipe.Inside(b.Root(), h.Symbol.Path) {
					next = append(next, *h.Symbol)
				}
			}
		}
		level = next
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
		for _, h := range found.Hits {
			i := slices.IndexFunc(out, func(have adapters.Hit) bool {
				return have.Place.Path == h.Place.Path && have.Place.Span == h.Place.Span
			})
			if i < 0 {
				out = append(out, h)
				continue
			}
			out[i].Ranges = joinPlaces(out[i].Ranges, h.Ranges)
		}
	}
	return out, nil
}

// joinPlaces adds the places that are not there yet.
func joinPlaces(list, more []adapters.Place) []adapters.Place {
	for _, p := range more {
		if !slices.ContainsFunc(list, func(have adapters.Place) bool { return have.Path == p.Path && have.Span == p.Span }) {
			list = append(list, p)
		}
	}
	return list
}
