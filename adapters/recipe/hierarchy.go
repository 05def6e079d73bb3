package recipe

import (
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// maxNodes bounds how many symbols a hierarchy is followed to.
const maxNodes = 2000

// calls is one direction of a call hierarchy.
type calls struct {
	bench adapters.Bench
	srv   adapters.Server
	seen  map[mark]int // hit by place of its name
	found adapters.Found
}

// node is a symbol whose calls are still to be asked for.
type node struct {
	item  protocol.CallHierarchyItem
	sym   graph.Symbol
	depth int
}

// Callers answers who calls a function, level by level up to the target's depth.
func Callers(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	c, first, err := prepare(ctx, b, t)
	if err != nil || len(first) == 0 {
		return adapters.Found{}, err
	}
	return c.follow(ctx, first, t.Depth, func(ctx context.Context, n node) ([]node, error) {
		var in []protocol.CallHierarchyIncomingCall
		if err := c.srv.Call(ctx, protocol.MethodCallHierarchyIncomingCalls, &protocol.CallHierarchyIncomingCallsParams{Item: n.item}, &in); err != nil {
			return nil, err
		}
		var next []node
		for _, call := range in {
			found, err := c.add(ctx, n, call.From, call.From, call.FromRanges)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		return next, nil
	})
}

// Callees answers what a function calls, level by level. What is called outside
// the workspace is listed and not followed.
func Callees(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	c, first, err := prepare(ctx, b, t)
	if err != nil || len(first) == 0 {
		return adapters.Found{}, err
	}
	return c.follow(ctx, first, t.Depth, func(ctx context.Context, n node) ([]node, error) {
		var out []protocol.CallHierarchyOutgoingCall
		if err := c.srv.Call(ctx, protocol.MethodCallHierarchyOutgoingCalls, &protocol.CallHierarchyOutgoingCallsParams{Item: n.item}, &out); err != nil {
			return nil, err
		}
		var next []node
		for _, call := range out {
			found, err := c.add(ctx, n, call.To, n.item, call.FromRanges)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				if Inside(b.Root(), f.sym.Path) {
					next = append(next, f)
				}
			}
		}
		return next, nil
	})
}

func prepare(ctx context.Context, b adapters.Bench, t adapters.Target) (*calls, []node, error) {
	srv, err := b.Server(ctx, adapters.Hierarchy)
	if err != nil {
		return nil, nil, err
	}
	pos, err := srv.Position(ctx, t.Symbol.Path, t.Symbol.NameSpan.Start)
	if err != nil {
		return nil, nil, err
	}
	var items []protocol.CallHierarchyItem
	if err := srv.Call(ctx, protocol.MethodTextDocumentPrepareCallHierarchy, &protocol.CallHierarchyPrepareParams{TextDocumentPositionParams: pos}, &items); err != nil {
		return nil, nil, err
	}
	c := &calls{bench: b, srv: srv, seen: map[mark]int{}}
	var first []node
	for _, i := range items {
		first = append(first, node{item: i, sym: t.Symbol})
	}
	return c, first, nil
}

// follow asks level by level. Every symbol is asked for once, so that recursion ends.
func (c *calls) follow(ctx context.Context, level []node, depth int, ask func(context.Context, node) ([]node, error)) (adapters.Found, error) {
	asked := map[mark]bool{}
	for d := 1; d <= max(depth, 1) && len(level) > 0; d++ {
		var next []node
		for _, n := range level {
			m := mark{n.sym.Path, n.sym.NameSpan.Start}
			if asked[m] {
				continue
			}
			asked[m] = true
			if len(asked) > maxNodes {
				c.bench.Incomplete(fmt.Sprintf("the call hierarchy was cut after %d functions", maxNodes))
				return c.found, nil
			}
			n.depth = d
			found, err := ask(ctx, n)
			if err != nil {
				return c.found, err
			}
			next = append(next, found...)
		}
		level = next
	}
	sortHits(c.bench.Root(), c.found.Hits)
	return c.found, nil
}

// add records the symbol of an item with the calls that link it to n; the
// ranges count in the file of holder.
func (c *calls) add(ctx context.Context, n node, item, holder protocol.CallHierarchyItem, ranges []protocol.Range) ([]node, error) {
	at, err := c.srv.Place(ctx, protocol.Location{URI: item.URI, Range: item.SelectionRange})
	if err != nil {
		return nil, err
	}
	sym := c.symbol(ctx, at, item)
	var sites []adapters.Place
	for _, r := range ranges {
		p, err := c.srv.Place(ctx, protocol.Location{URI: holder.URI, Range: r})
		if err != nil {
			return nil, err
		}
		sites = distinct(sites, []adapters.Place{p})
	}
	if sym.NameSpan != (graph.Span{}) {
		at.Span = sym.NameSpan
	}
	m := mark{at.Path, at.Span.Start}
	if i, ok := c.seen[m]; ok {
		// Found before: function literals of one function, or a longer way to it.
		if h := &c.found.Hits[i]; h.Depth == n.depth && h.From == n.sym.ID {
			h.Ranges = distinct(h.Ranges, sites)
		}
		return []node{{item: item, sym: sym}}, nil
	}
	c.seen[m] = len(c.found.Hits)
	c.found.Hits = append(c.found.Hits, adapters.Hit{Place: at, Symbol: &sym, Depth: n.depth, From: n.sym.ID, Ranges: sites})
	return []node{{item: item, sym: sym}}, nil
}

// distinct adds the places that are not there yet: of a call that may go to
// several members, servers list the place once for each.
func distinct(places, more []adapters.Place) []adapters.Place {
	for _, p := range more {
		if !slices.ContainsFunc(places, func(have adapters.Place) bool { return have.Path == p.Path && have.Span == p.Span }) {
			places = append(places, p)
		}
	}
	return places
}

// symbol returns the declaration that an item stands for: the one named there,
// else the one around it, else what the server says of it. What is called at
// the top of a file is called by the file, whatever it begins with.
func (c *calls) symbol(ctx context.Context, at adapters.Place, item protocol.CallHierarchyItem) graph.Symbol {
	module := item.Kind == protocol.SymbolKindModule || item.Kind == protocol.SymbolKindFile
	if t, err := c.bench.Tree(ctx, at.Path); err == nil && !module {
		if sym, ok := t.Declared(at.Span.Start); ok && !sym.Local {
			return sym
		}
		if sym, ok := t.Enclosing(at.Span.Start); ok {
			return sym
		}
	}
	return graph.Symbol{Name: item.Name, Kind: graph.KindModule, Path: at.Path, NameSpan: at.Span}
}

// Derived answers with the types below a type; Supertypes with those above.
func Derived(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	return types(ctx, b, t, protocol.MethodTypeHierarchySubtypes)
}

// Supertypes answers with the types above a type, one level or all.
func Supertypes(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	return types(ctx, b, t, protocol.MethodTypeHierarchySupertypes)
}

func types(ctx context.Context, b adapters.Bench, t adapters.Target, method string) (adapters.Found, error) {
	srv, err := b.Server(ctx, adapters.Hierarchy)
	if err != nil {
		return adapters.Found{}, err
	}
	pos, err := srv.Position(ctx, t.Symbol.Path, t.Symbol.NameSpan.Start)
	if err != nil {
		return adapters.Found{}, err
	}
	var level []protocol.TypeHierarchyItem
	if err := srv.Call(ctx, protocol.MethodTextDocumentPrepareTypeHierarchy, &protocol.TypeHierarchyPrepareParams{TextDocumentPositionParams: pos}, &level); err != nil {
		return adapters.Found{}, err
	}
	var found adapters.Found
	seen := map[mark]bool{{t.Symbol.Path, t.Symbol.NameSpan.Start}: true}
	for depth := 1; len(level) > 0; depth++ {
		var next []protocol.TypeHierarchyItem
		for _, item := range level {
			var items []protocol.TypeHierarchyItem
			// Both requests have the same parameters.
			if err := srv.Call(ctx, method, &protocol.TypeHierarchySubtypesParams{Item: item}, &items); err != nil {
				return found, err
			}
			for _, i := range items {
				p, err := srv.Place(ctx, protocol.Location{URI: i.URI, Range: i.SelectionRange})
				if err != nil {
					return found, err
				}
				m := mark{p.Path, p.Span.Start}
				if seen[m] {
					continue
				}
				seen[m] = true
				h := adapters.Hit{Place: p, Depth: depth}
				if sym, ok := SymbolAt(ctx, b, p); ok {
					h.Symbol = &sym
				}
				found.Hits = append(found.Hits, h)
				next = append(next, i)
			}
		}
		if !t.Transitive {
			break
		}
		if len(seen) > maxNodes {
			b.Incomplete(fmt.Sprintf("the type hierarchy was cut after %d types", maxNodes))
			break
		}
		level = next
	}
	sortHits(b.Root(), found.Hits)
	return found, nil
}
