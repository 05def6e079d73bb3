package rust

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// maxTypes bounds how many types of a hierarchy are followed.
const maxTypes = 2000

// spot is a place to compare by.
type spot struct {
	path  string
	start int
}

func spotOf(s graph.Symbol) spot { return spot{s.Path, s.NameSpan.Start} }

// implementations answers with the types that implement a trait, or the
// members that implement one of its members.
func implementations(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	switch t.Symbol.Kind {
	case graph.KindTrait:
		return implementers(ctx, b, t.Symbol, 0)
	case graph.KindStruct, graph.KindEnum, graph.KindTypeAlias:
		var out adapters.Found
		return out, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only traits and their members have implementations; supertypes lists the traits that it implements",
			t.Symbol.Name, t.Symbol.Kind)
	}
	found, err := recipe.Implementations(ctx, b, t)
	found.Hits = slices.DeleteFunc(found.Hits, func(h adapters.Hit) bool {
		return h.Place.Path == t.Symbol.Path && h.Place.Span == t.Symbol.NameSpan
	})
	return found, err
}

// implementers returns the types that implement a trait: what the impl blocks
// and derives that the server knows name as their type.
func implementers(ctx context.Context, b adapters.Bench, trait graph.Symbol, depth int) (adapters.Found, error) {
	list, err := recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentImplementation, trait, nil)
	if err != nil {
		return adapters.Found{}, err
	}
	var out adapters.Found
	seen := map[spot]bool{}
	for _, p := range list {
		h, err := named2type(ctx, b, p)
		if err != nil {
			return out, err
		}
		if at := (spot{h.Place.Path, h.Place.Span.Start}); !seen[at] {
			seen[at] = true
			h.Depth = depth
			out.Hits = append(out.Hits, h)
		}
	}
	order(b, out.Hits)
	return out, nil
}

// named2type returns the type that an impl block names at a place: its
// declaration when that is in the workspace, else the place itself.
func named2type(ctx context.Context, b adapters.Bench, p adapters.Place) (adapters.Hit, error) {
	at, ok := head(p)
	if !ok {
		return adapters.Hit{Place: p}, nil
	}
	defined, err := definitions(ctx, b, p.Path, at)
	if err != nil {
		return adapters.Hit{}, err
	}
	for _, d := range defined {
		if s, ok := recipe.SymbolAt(ctx, b, d); ok && isType(s.Kind) && recipe.Inside(b.Root(), d.Path) {
			return adapters.Hit{Place: d, Symbol: &s}, nil
		}
	}
	return adapters.Hit{Place: p}, nil
}

// head returns the last name of the path at the beginning of a type as written.
func head(p adapters.Place) (graph.Span, bool) {
	content := p.File.Content()
	written := content[p.Span.Start:p.Span.End]
	offset := p.Span.Start
	for _, prefix := range []string{"&", "mut ", "dyn ", "*const ", "'static "} {
		trimmed := bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(written, " "), []byte(prefix)), " ")
		offset += len(written) - len(trimmed)
		written = trimmed
	}
	if i := bytes.IndexAny(written, "<([;"); i >= 0 {
		written = written[:i]
	}
	written = bytes.TrimRight(written, " ")
	if i := bytes.LastIndex(written, []byte("::")); i >= 0 {
		offset += i + 2
		written = written[i+2:]
	}
	return graph.Span{Start: offset, End: offset + len(written)}, len(written) > 0
}

// definitions asks the server where the name at a span is declared.
func definitions(ctx context.Context, b adapters.Bench, path string, at graph.Span) ([]adapters.Place, error) {
	return recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentDefinition, graph.Symbol{Path: path, NameSpan: at}, nil)
}

func isType(k graph.Kind) bool {
	switch k {
	case graph.KindStruct, graph.KindEnum, graph.KindTrait, graph.KindTypeAlias:
		return true
	}
	return false
}

// order puts the nearest level first, the workspace before the outside, then by place.
func order(b adapters.Bench, hits []adapters.Hit) {
	slices.SortStableFunc(hits, func(x, y adapters.Hit) int {
		if x.Depth != y.Depth {
			return x.Depth - y.Depth
		}
		if in, jn := recipe.Inside(b.Root(), x.Place.Path), recipe.Inside(b.Root(), y.Place.Path); in != jn {
			if in {
				return -1
			}
			return 1
		}
		if c := bytes.Compare([]byte(x.Place.Path), []byte(y.Place.Path)); c != 0 {
			return c
		}
		return x.Place.Span.Start - y.Place.Span.Start
	})
}

// derived answers with the types that implement a trait and the traits that
// have it as a supertrait; nothing derives from other types.
func derived(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	if t.Symbol.Kind != graph.KindTrait {
		if !isType(t.Symbol.Kind) {
			return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only traits have types below them", t.Symbol.Name, t.Symbol.Kind)
		}
		return adapters.Found{Warnings: []string{"nothing derives from a " + string(t.Symbol.Kind) + " in Rust; references shows where it is used"}}, nil
	}
	var out adapters.Found
	seen := map[spot]bool{spotOf(t.Symbol): true}
	level := []graph.Symbol{t.Symbol}
	for depth := 1; len(level) > 0; depth++ {
		var next []graph.Symbol
		for _, trait := range level {
			types, err := implementers(ctx, b, trait, depth)
			if err != nil {
				return out, err
			}
			below, err := subtraits(ctx, b, trait, depth)
			if err != nil {
				return out, err
			}
			for _, h := range append(types.Hits, below...) {
				at := spot{h.Place.Path, h.Place.Span.Start}
				if seen[at] {
					continue
				}
				seen[at] = true
				out.Hits = append(out.Hits, h)
				if h.Symbol != nil && h.Symbol.Kind == graph.KindTrait {
					next = append(next, *h.Symbol)
				}
			}
		}
		if !t.Transitive {
			break
		}
		if len(seen) > maxTypes {
			b.Incomplete(fmt.Sprintf("the hierarchy was cut after %d types", maxTypes))
			break
		}
		level = next
	}
	order(b, out.Hits)
	return out, nil
}

// subtraits returns the traits of the workspace that name a trait as their supertrait.
func subtraits(ctx context.Context, b adapters.Bench, trait graph.Symbol, depth int) ([]adapters.Hit, error) {
	refs, err := recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentReferences, trait,
		map[string]any{"context": map[string]any{"includeDeclaration": false}})
	if err != nil {
		return nil, err
	}
	var out []adapters.Hit
	for _, p := range refs {
		if !recipe.Inside(b.Root(), p.Path) {
			continue
		}
		tree, err := b.Tree(ctx, p.Path)
		if err != nil {
			return nil, err
		}
		for _, s := range tree.Symbols {
			if s.Kind != graph.KindTrait || s.NameSpan.Start > p.Span.Start || p.Span.Start > s.Decl.End {
				continue
			}
			if slices.Contains(supertraits(tree, s, p.File.Content()), p.Span) {
				at := p
				at.Span = s.NameSpan
				out = append(out, adapters.Hit{Place: at, Symbol: &s, Depth: depth, Source: "syntax"})
			}
		}
	}
	return out, nil
}

// supertraits returns the names of the traits in the bounds of a trait.
func supertraits(t *syntax.Tree, trait graph.Symbol, content []byte) []graph.Span {
	end := trait.Body.Start
	if end <= trait.NameSpan.End {
		end = trait.Decl.End
	}
	depth, bounds, in := 0, trait.NameSpan.End, false
	var out []graph.Span
	for i := trait.NameSpan.End; i < min(end, len(content)); i++ {
		switch c := content[i]; {
		case c == '<' || c == '(' || c == '[':
			depth++
		case c == '>' && content[i-1] != '-' || c == ')' || c == ']':
			depth--
		case depth > 0:
			continue
		case c == ':' && !in && content[i-1] != ':' && content[i+1] != ':':
			in, bounds = true, i
		}
		if !in || depth > 0 {
			continue
		}
		if id, ok := t.IdentAt(i); ok && id.Span.Start == i && i > bounds {
			if id.Name == "where" {
				break
			}
			if !bytes.HasPrefix(bytes.TrimLeft(content[id.Span.End:end], " \t\r\n"), []byte("::")) {
				out = append(out, id.Span)
			}
		}
		if bytes.HasPrefix(content[i:end], []byte("where")) && !wordByte(content[i-1]) && !wordByte(content[min(i+5, end-1)]) {
			break
		}
	}
	return out
}

// supertypes answers with the traits that a type implements, or that a trait requires.
func supertypes(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	if !isType(t.Symbol.Kind) {
		return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only types and traits have traits above them", t.Symbol.Name, t.Symbol.Kind)
	}
	var out adapters.Found
	seen := map[spot]bool{spotOf(t.Symbol): true}
	level := []graph.Symbol{t.Symbol}
	for depth := 1; len(level) > 0; depth++ {
		var next []graph.Symbol
		for _, s := range level {
			above, err := above(ctx, b, s)
			if err != nil {
				return out, err
			}
			for _, h := range above {
				at := spot{h.Place.Path, h.Place.Span.Start}
				if seen[at] {
					continue
				}
				seen[at] = true
				h.Depth = depth
				out.Hits = append(out.Hits, h)
				if h.Symbol != nil {
					next = append(next, *h.Symbol)
				}
			}
		}
		if !t.Transitive {
			break
		}
		if len(seen) > maxTypes {
			b.Incomplete(fmt.Sprintf("the hierarchy was cut after %d types", maxTypes))
			break
		}
		level = next
	}
	order(b, out.Hits)
	return out, nil
}

// above returns the traits one level above a type or trait.
func above(ctx context.Context, b adapters.Bench, s graph.Symbol) ([]adapters.Hit, error) {
	tree, err := b.Tree(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	var names []adapters.Place
	if s.Kind == graph.KindTrait {
		list, err := recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentDefinition, s, nil)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.Path != s.Path {
				continue
			}
			for _, span := range supertraits(tree, s, p.File.Content()) {
				names = append(names, adapters.Place{Path: s.Path, Span: span, File: p.File})
			}
		}
	} else {
		list, err := recipe.Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentImplementation, s, nil)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if name, ok := traitBefore(p); ok {
				names = append(names, name)
			}
		}
	}
	var out []adapters.Hit
	for _, n := range names {
		defined, err := definitions(ctx, b, n.Path, n.Span)
		if err != nil {
			return nil, err
		}
		hit := adapters.Hit{Place: n}
		for _, d := range defined {
			if sym, ok := recipe.SymbolAt(ctx, b, d); ok && sym.Kind == graph.KindTrait {
				hit = adapters.Hit{Place: d, Symbol: &sym}
			}
		}
		out = append(out, hit)
	}
	return out, nil
}

// traitBefore returns the name of the trait for which the type at a place has
// an impl block or a derive; false for an inherent impl.
func traitBefore(p adapters.Place) (adapters.Place, bool) {
	content := p.File.Content()
	before := bytes.TrimRight(content[:p.Span.Start], " \t\r\n")
	head, found := bytes.CutSuffix(before, []byte("for"))
	if !found || len(head) == 0 || wordByte(head[len(head)-1]) {
		return p, inDerive(content, p.Span.Start)
	}
	head = bytes.TrimRight(head, " \t\r\n")
	if bytes.HasSuffix(head, []byte(">")) {
		depth := 0
		for i := len(head) - 1; i >= 0; i-- {
			switch {
			case head[i] == '>' && (i == 0 || head[i-1] != '-'):
				depth++
			case head[i] == '<':
				depth--
			}
			if depth == 0 {
				head = bytes.TrimRight(head[:i], " \t\r\n")
				break
			}
		}
		head = bytes.TrimSuffix(head, []byte("::"))
	}
	start := len(head)
	for start > 0 && wordByte(head[start-1]) {
		start--
	}
	p.Span = graph.Span{Start: start, End: len(head)}
	return p, start < len(head)
}

// inDerive reports whether an offset is in the list of a derive attribute.
func inDerive(content []byte, offset int) bool {
	open := bytes.LastIndexByte(content[:offset], '(')
	return open >= 0 && bytes.HasSuffix(bytes.TrimRight(content[:open], " \t\r\n"), []byte("derive")) && !bytes.ContainsRune(content[open:offset], ')')
}
