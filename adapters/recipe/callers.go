package recipe

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// link is a symbol that calls or is called, with the places of the calls.
type link struct {
	sym   graph.Symbol
	place adapters.Place
	sites []adapters.Place
}

// levels follows calls level by level. Every symbol is asked for once.
func levels(ctx context.Context, b adapters.Bench, t adapters.Target, ask func(context.Context, graph.Symbol) ([]link, error)) (adapters.Found, error) {
	var found adapters.Found
	at := map[mark]int{}
	asked := map[mark]bool{}
	level := []graph.Symbol{t.Symbol}
	for depth := 1; depth <= max(t.Depth, 1) && len(level) > 0; depth++ {
		var next []graph.Symbol
		for _, s := range level {
			if asked[markOf(s)] {
				continue
			}
			asked[markOf(s)] = true
			if len(asked) > maxNodes {
				b.Incomplete(fmt.Sprintf("the calls were followed to %d functions only", maxNodes))
				sortHits(b.Root(), found.Hits)
				return found, nil
			}
			links, err := ask(ctx, s)
			if err != nil {
				return found, err
			}
			for _, l := range links {
				m := mark{l.place.Path, l.place.Span.Start}
				if i, ok := at[m]; ok {
					if h := &found.Hits[i]; h.Depth == depth && h.From == s.ID {
						h.Ranges = append(h.Ranges, l.sites...)
					}
				} else {
					at[m] = len(found.Hits)
					found.Hits = append(found.Hits, adapters.Hit{Place: l.place, Symbol: &l.sym, Depth: depth, From: s.ID, Ranges: l.sites})
				}
				if Inside(b.Root(), l.sym.Path) {
					next = append(next, l.sym)
				}
			}
		}
		level = next
	}
	sortHits(b.Root(), found.Hits)
	return found, nil
}

// CallersByReferences answers who calls a function for servers without a call
// hierarchy: the references that usage calls a call, by the declaration around
// them. A call outside of all declarations is its file's.
func CallersByReferences(usage Usage) Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		return levels(ctx, b, t, func(ctx context.Context, sym graph.Symbol) ([]link, error) {
			list, err := Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentReferences, sym,
				map[string]any{"context": map[string]any{"includeDeclaration": false}})
			if err != nil {
				return nil, err
			}
			var out []link
			for _, p := range list {
				if p.Path == sym.Path && p.Span.Start == sym.NameSpan.Start || usage(sym, p) != "call" {
					continue
				}
				caller, place := around(ctx, b, p)
				i := slices.IndexFunc(out, func(l link) bool { return l.place.Path == place.Path && l.place.Span == place.Span })
				if i < 0 {
					i = len(out)
					out = append(out, link{sym: caller, place: place})
				}
				out[i].sites = append(out[i].sites, p)
			}
			return out, nil
		})
	}
}

// around returns the declaration that a place stands in, else its file.
func around(ctx context.Context, b adapters.Bench, p adapters.Place) (graph.Symbol, adapters.Place) {
	if t, err := b.Tree(ctx, p.Path); err == nil {
		if sym, ok := t.Enclosing(p.Span.Start); ok {
			return sym, adapters.Place{Path: p.Path, Span: sym.NameSpan, File: p.File}
		}
	}
	file := graph.Symbol{Name: Relative(b, p.Path), Kind: graph.KindFile, Path: p.Path}
	return file, adapters.Place{Path: p.Path, File: p.File}
}

// CalleesBySyntax answers what a function calls for servers without a call
// hierarchy: the names in its body that calls takes for called, by the server's
// definition. What is called outside the workspace is listed and not followed.
// calls may be nil: a name is called when a parenthesis follows it, behind type
// arguments as well.
func CalleesBySyntax(calls func(content []byte, end int) bool) Question {
	if calls == nil {
		calls = called
	}
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		l := newLineage(b)
		return levels(ctx, b, t, func(ctx context.Context, sym graph.Symbol) ([]link, error) {
			content, err := l.content(ctx, sym.Path)
			if err != nil || content == nil {
				return nil, err
			}
			tree, err := b.Tree(ctx, sym.Path)
			if err != nil {
				return nil, err
			}
			within := sym.Body
			if within == (graph.Span{}) {
				within = graph.Span{Start: sym.NameSpan.End, End: sym.Decl.End}
			}
			var out []link
			for _, id := range tree.Idents {
				if id.Span.Start < within.Start || id.Span.End > within.End || !calls(content, id.Span.End) || declaredAt(tree, id.Span) {
					continue
				}
				list, err := l.define(ctx, sym.Path, id.Span)
				if err != nil {
					return nil, err
				}
				site := adapters.Place{Path: sym.Path, Span: id.Span}
				if f, err := fileOf(ctx, b, sym.Path); err == nil {
					site.File = f
				}
				for _, p := range list {
					callee, ok := SymbolAt(ctx, b, p)
					if !ok {
						callee = graph.Symbol{Name: id.Name, Kind: graph.KindFunction, Path: p.Path, NameSpan: p.Span}
					}
					if callee.Kind == graph.KindParameter {
						continue // what it holds nobody knows
					}
					p.Span = callee.NameSpan
					i := slices.IndexFunc(out, func(l link) bool { return l.place.Path == p.Path && l.place.Span == p.Span })
					if i < 0 {
						i = len(out)
						out = append(out, link{sym: callee, place: p})
					}
					out[i].sites = append(out[i].sites, site)
				}
			}
			return out, nil
		})
	}
}

// called reports whether a call follows a name.
func called(content []byte, end int) bool {
	rest := bytes.TrimLeft(content[end:], " \t\r\n")
	rest = bytes.TrimPrefix(rest, []byte("::"))
	if bytes.HasPrefix(rest, []byte("<")) {
		depth := 0
		for i, c := range rest {
			switch c {
			case '<':
				depth++
			case '>':
				if depth--; depth == 0 {
					return bytes.HasPrefix(bytes.TrimLeft(rest[i+1:], " \t"), []byte("("))
				}
			case ';', '{', '}', '"', '\n', '(':
				return false
			}
		}
		return false
	}
	return bytes.HasPrefix(rest, []byte("(")) || bytes.HasPrefix(rest, []byte("?.(")) || bytes.HasPrefix(rest, []byte("!("))
}

// CallersThrough adds to the callers of a member those of the members that it
// overrides or implements: a call of these may end in it.
func CallersThrough(callers Question, opts FamilyOptions) Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := callers(ctx, b, t)
		if err != nil || t.Symbol.Local || t.Symbol.Container == "" {
			return found, err
		}
		above, err := Overridden(ctx, b, t.Symbol, opts)
		if err != nil {
			return found, err
		}
		for _, m := range above {
			if !Inside(b.Root(), m.Path) {
				continue
			}
			more, err := callers(ctx, b, adapters.Target{Symbol: m, Depth: t.Depth, Transitive: t.Transitive})
			if err != nil {
				return found, err
			}
			for _, h := range more.Hits {
				if h.Depth <= 1 {
					h.From = t.Symbol.ID
				}
				i := slices.IndexFunc(found.Hits, func(have adapters.Hit) bool {
					return have.Place.Path == h.Place.Path && have.Place.Span == h.Place.Span
				})
				if i < 0 {
					found.Hits = append(found.Hits, h)
					continue
				}
				for _, r := range h.Ranges {
					if !slices.ContainsFunc(found.Hits[i].Ranges, func(have adapters.Place) bool { return have.Path == r.Path && have.Span == r.Span }) {
						found.Hits[i].Ranges = append(found.Hits[i].Ranges, r)
					}
				}
			}
			found.Warnings = append(found.Warnings, more.Warnings...)
		}
		sortHits(b.Root(), found.Hits)
		return found, nil
	}
}

// Overridden returns the members that a member overrides or implements,
// nearest first, those outside the workspace included.
func Overridden(ctx context.Context, b adapters.Bench, sym graph.Symbol, opts FamilyOptions) ([]graph.Symbol, error) {
	l := newLineage(b)
	owner, ok := l.owner(ctx, sym)
	if !ok {
		return nil, nil
	}
	above, _, err := l.ancestors(ctx, owner, true)
	if err != nil {
		return nil, err
	}
	joins := opts.joins()
	var out []graph.Symbol
	for _, r := range above {
		if !r.known() {
			continue
		}
		members, err := l.members(ctx, r.sym)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if m.Name == sym.Name && joins(m, sym) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}
