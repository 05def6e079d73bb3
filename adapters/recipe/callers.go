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

// Levels follows calls level by level up to the target's depth: ask answers one
// level with a symbol in each hit. Every symbol is asked for once, and those
// outside the workspace are listed and not followed.
func Levels(ctx context.Context, b adapters.Bench, t adapters.Target, ask func(context.Context, graph.Symbol) ([]adapters.Hit, error)) (adapters.Found, error) {
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
			hits, err := ask(ctx, s)
			if err != nil {
				return found, err
			}
			for _, l := range hits {
				m := mark{l.Place.Path, l.Place.Span.Start}
				if i, ok := at[m]; ok {
					if h := &found.Hits[i]; h.Depth == depth && h.From == s.ID {
						h.Ranges = distinct(h.Ranges, l.Ranges)
					}
					continue
				}
				l.Depth, l.From = depth, s.ID
				at[m] = len(found.Hits)
				found.Hits = append(found.Hits, l)
				if l.Symbol != nil && Inside(b.Root(), l.Symbol.Path) {
					next = append(next, *l.Symbol)
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
		return Levels(ctx, b, t, func(ctx context.Context, sym graph.Symbol) ([]adapters.Hit, error) {
			list, err := Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentReferences, sym,
				map[string]any{"context": map[string]any{"includeDeclaration": false}})
			if err != nil {
				return nil, err
			}
			var out []adapters.Hit
			for _, p := range list {
				if p.Path == sym.Path && p.Span.Start == sym.NameSpan.Start || usage(sym, p) != "call" {
					continue
				}
				caller, place := around(ctx, b, p)
				out = JoinHits(out, adapters.Hit{Place: place, Symbol: &caller, Ranges: []adapters.Place{p}})
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
		return Levels(ctx, b, t, func(ctx context.Context, sym graph.Symbol) ([]adapters.Hit, error) {
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
			var out []adapters.Hit
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
					out = JoinHits(out, adapters.Hit{Place: p, Symbol: &callee, Ranges: []adapters.Place{site}})
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

// JoinHits adds hits to others; of one at the same place the calls are joined.
func JoinHits(hits []adapters.Hit, more ...adapters.Hit) []adapters.Hit {
	for _, h := range more {
		i := slices.IndexFunc(hits, func(have adapters.Hit) bool {
			return have.Place.Path == h.Place.Path && have.Place.Span == h.Place.Span
		})
		if i < 0 {
			hits = append(hits, h)
			continue
		}
		hits[i].Ranges = distinct(hits[i].Ranges, h.Ranges)
	}
	return hits
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
