package rust

import (
	"context"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// callers answers with rust-analyzer's callers, and with the macros whose
// bodies call the function.
func callers(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	if t.Symbol.Kind != graph.KindFunction && t.Symbol.Kind != graph.KindMethod {
		return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only functions and methods have callers; references shows its uses", t.Symbol.Name, t.Symbol.Kind)
	}
	found, err := recipe.Callers(ctx, b, t)
	if err != nil {
		return found, err
	}
	if err := throughTrait(ctx, b, t, &found); err != nil {
		return found, err
	}
	if err := inCalls(ctx, b, t, &found); err != nil {
		return found, err
	}
	uses, err := inMacros(ctx, b, t.Symbol)
	if err != nil {
		return found, err
	}
	for _, u := range uses {
		if !u.sure || !called(u.place.File.Content()[u.place.Span.End:]) {
			continue
		}
		at := slices.IndexFunc(found.Hits, func(h adapters.Hit) bool { return h.Symbol != nil && h.Symbol.ID == u.macro.ID })
		if at >= 0 {
			found.Hits[at].Ranges = append(found.Hits[at].Ranges, u.place)
			continue
		}
		place := u.place
		place.Span = u.macro.NameSpan
		found.Hits = append(found.Hits, adapters.Hit{
			Place: place, Symbol: &u.macro, Depth: 1, From: t.Symbol.ID, Ranges: []adapters.Place{u.place}, Source: "syntax",
		})
	}
	order(b, found.Hits)
	return found, nil
}

// inCalls adds the calls in arguments of macros that the server left out.
func inCalls(ctx context.Context, b adapters.Bench, t adapters.Target, found *adapters.Found) error {
	list, err := inArguments(ctx, b, t.Symbol, func(path string, at graph.Span) bool {
		return slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool {
			return slices.ContainsFunc(h.Ranges, func(r adapters.Place) bool { return r.Path == path && r.Span.Contains(at.Start) })
		})
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		if !called(p.File.Content()[p.Span.End:]) {
			continue
		}
		tree, err := b.Tree(ctx, p.Path)
		if err != nil {
			return err
		}
		caller, ok := tree.Enclosing(p.Span.Start)
		if !ok || caller.Kind != graph.KindFunction && caller.Kind != graph.KindMethod {
			continue
		}
		at := slices.IndexFunc(found.Hits, func(h adapters.Hit) bool { return h.Symbol != nil && h.Symbol.ID == caller.ID && h.From == t.Symbol.ID })
		if at >= 0 {
			found.Hits[at].Ranges = append(found.Hits[at].Ranges, p)
			continue
		}
		place := p
		place.Span = caller.NameSpan
		found.Hits = append(found.Hits, adapters.Hit{Place: place, Symbol: &caller, Depth: 1, From: t.Symbol.ID, Ranges: []adapters.Place{p}})
	}
	return nil
}

// maxTraitCalls bounds how many calls of a trait's method are looked at for one answer.
const maxTraitCalls = 300

// throughTrait adds the callers that call a method of an impl block by way of
// its trait: on a dyn value or a type parameter.
func throughTrait(ctx context.Context, b adapters.Bench, t adapters.Target, found *adapters.Found) error {
	if _, _, ok := implemented(t.Symbol); !ok {
		return nil
	}
	list, err := recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentDeclaration, t.Symbol, nil)
	if err != nil {
		return err
	}
	for _, p := range list {
		method, ok := recipe.SymbolAt(ctx, b, p)
		if !ok || spotOf(method) == spotOf(t.Symbol) || !recipe.Inside(b.Root(), p.Path) {
			continue
		}
		calls, err := recipe.Callers(ctx, b, adapters.Target{Symbol: method, Depth: 1})
		if err != nil {
			return err
		}
		looked := 0
		for _, h := range calls.Hits {
			var ranges []adapters.Place
			for _, r := range h.Ranges {
				if looked++; looked > maxTraitCalls {
					b.Incomplete("more than " + count(maxTraitCalls, "call") + " of the trait's " + method.Name + " were not looked at")
					return nil
				}
				defined, err := definitions(ctx, b, r.Path, r.Span)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(defined, func(d adapters.Place) bool { return d.Path == method.Path && d.Span == method.NameSpan }) {
					ranges = append(ranges, r)
				}
			}
			if len(ranges) == 0 || h.Symbol == nil {
				continue
			}
			if at := slices.IndexFunc(found.Hits, func(k adapters.Hit) bool { return k.Symbol != nil && k.Symbol.ID == h.Symbol.ID && k.Depth == 1 }); at >= 0 {
				found.Hits[at].Ranges = append(found.Hits[at].Ranges, ranges...)
				continue
			}
			h.From, h.Ranges = t.Symbol.ID, ranges
			found.Hits = append(found.Hits, h)
			if t.Depth < 2 {
				continue
			}
			above, err := recipe.Callers(ctx, b, adapters.Target{Symbol: *h.Symbol, Depth: t.Depth - 1})
			if err != nil {
				return err
			}
			for _, a := range above.Hits {
				a.Depth++
				if !slices.ContainsFunc(found.Hits, func(k adapters.Hit) bool { return k.Symbol != nil && a.Symbol != nil && k.Symbol.ID == a.Symbol.ID }) {
					found.Hits = append(found.Hits, a)
				}
			}
		}
	}
	return nil
}

// maxMacroCalls bounds how many names in arguments of macros are resolved for one answer.
const maxMacroCalls = 300

// callees answers with what rust-analyzer says that a function calls, and with
// the calls in arguments of macros, which it leaves out.
func callees(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	if t.Symbol.Kind != graph.KindFunction && t.Symbol.Kind != graph.KindMethod {
		return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only functions and methods call others", t.Symbol.Name, t.Symbol.Kind)
	}
	found, err := recipe.Callees(ctx, b, t)
	if err != nil {
		return found, err
	}
	callers := map[spot]graph.Symbol{spotOf(t.Symbol): t.Symbol}
	depth := map[spot]int{spotOf(t.Symbol): 0}
	for _, h := range found.Hits {
		if h.Symbol != nil && h.Depth < max(t.Depth, 1) && recipe.Inside(b.Root(), h.Place.Path) {
			callers[spotOf(*h.Symbol)] = *h.Symbol
			depth[spotOf(*h.Symbol)] = h.Depth
		}
	}
	for at, sym := range callers {
		if err := macroCalls(ctx, b, sym, depth[at]+1, &found); err != nil {
			return found, err
		}
	}
	order(b, found.Hits)
	return found, nil
}

// macroCalls adds the calls of a function that the answer has no range for.
func macroCalls(ctx context.Context, b adapters.Bench, sym graph.Symbol, depth int, found *adapters.Found) error {
	tree, content, err := source(ctx, b, sym.Path)
	if err != nil || tree == nil || isMacro(sym, content) {
		return err
	}
	known := func(at graph.Span) bool {
		return slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool {
			return slices.ContainsFunc(h.Ranges, func(r adapters.Place) bool {
				return r.Path == sym.Path && r.Span.Start <= at.Start && at.End <= r.Span.End
			})
		})
	}
	asked := 0
	for _, id := range tree.Idents {
		if id.Span.Start < sym.Body.Start || id.Span.End > sym.Body.End || known(id.Span) {
			continue
		}
		if after := content[id.Span.End:]; !called(after) || len(after) > 0 && after[0] == '!' {
			continue
		}
		if asked++; asked > maxMacroCalls {
			b.Incomplete("more than " + count(maxMacroCalls, "call") + " in arguments of macros were not resolved")
			return nil
		}
		defined, err := definitions(ctx, b, sym.Path, id.Span)
		if err != nil {
			return err
		}
		for _, d := range defined {
			target, ok := recipe.SymbolAt(ctx, b, d)
			if !ok || target.Kind != graph.KindFunction && target.Kind != graph.KindMethod {
				continue
			}
			site := adapters.Place{Path: sym.Path, Span: id.Span, File: d.File}
			if d.Path != sym.Path {
				site.File = fileOf(content)
			}
			at := slices.IndexFunc(found.Hits, func(h adapters.Hit) bool { return h.Symbol != nil && h.Symbol.ID == target.ID && h.From == sym.ID })
			if at >= 0 {
				found.Hits[at].Ranges = append(found.Hits[at].Ranges, site)
				continue
			}
			found.Hits = append(found.Hits, adapters.Hit{
				Place: d, Symbol: &target, Depth: depth, From: sym.ID, Ranges: []adapters.Place{site}, Source: "syntax",
			})
		}
	}
	return nil
}
