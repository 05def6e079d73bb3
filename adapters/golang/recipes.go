package golang

import (
	"context"
	"errors"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes {
	find := func(run func(context.Context, adapters.Bench, adapters.Target) (adapters.Found, error)) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByServer, Note: "gopls", Run: known(run)}
	}
	return adapters.Recipes{
		Definition:      find(recipe.Definition),
		TypeDefinition:  find(recipe.TypeDefinition),
		References:      find(recipe.References(usage)),
		Implementations: find(implementations),
		Derived:         find(derived),
		Supertypes:      find(supertypes),
		Callers:         find(recipe.Callers),
		Callees:         find(recipe.Callees),
		Rename:          adapters.Cell[adapters.Rename]{How: adapters.ByServer, Note: "gopls, completed by Aura", Plan: a.rename},
	}
}

// known turns what gopls declines to answer into a refusal that says what to do.
func known(run func(context.Context, adapters.Bench, adapters.Target) (adapters.Found, error)) func(context.Context, adapters.Bench, adapters.Target) (adapters.Found, error) {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		var server adapters.ServerRefusal
		if err == nil || !errors.As(err, &server) {
			return found, err
		}
		code, message := server.Refusal()
		switch {
		case code != 0:
			return found, err
		case strings.Contains(message, "is not a function"):
			return found, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only functions and methods have callers and callees", t.Symbol.Name, t.Symbol.Kind)
		case strings.Contains(message, "not a type name"):
			return found, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only types have types above and below them", t.Symbol.Name, t.Symbol.Kind)
		case unloaded.MatchString(message):
			b.Incomplete("gopls has not loaded the package of " + t.Symbol.Path + ": " + message)
			return adapters.Found{}, nil
		}
		return found, recipe.Refuse(adapters.Unsupported, "gopls declines: %s", strings.TrimSpace(message))
	}
}

// implementations answers with what gopls knows; of an interface that is built
// in, like error, it knows nothing.
func implementations(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.Implementations(ctx, b, t)
	if err == nil && len(found.Hits) == 0 && !recipe.Inside(b.Root(), t.Symbol.Path) {
		return recipe.ByGraph(lexicon()).Implementations.Run(ctx, b, t)
	}
	return found, err
}

// derived answers with what implements an interface or extends it, and with
// the types that embed a type, which gopls does not count.
func derived(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.Derived(ctx, b, t)
	if err != nil {
		return found, err
	}
	if len(found.Hits) == 0 && !recipe.Inside(b.Root(), t.Symbol.Path) {
		return recipe.ByGraph(lexicon()).Derived.Run(ctx, b, t) // what is built in, like error
	}
	seen := func(s graph.Symbol) bool {
		return s.ID == t.Symbol.ID || slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool { return h.Symbol != nil && h.Symbol.ID == s.ID })
	}
	level := []graph.Symbol{t.Symbol}
	if t.Transitive {
		for _, h := range found.Hits {
			if h.Symbol != nil {
				level = append(level, *h.Symbol)
			}
		}
	}
	for len(level) > 0 {
		var next []graph.Symbol
		for _, s := range level {
			hits, err := embedders(ctx, b, s)
			if err != nil {
				return found, err
			}
			for _, h := range hits {
				if !seen(*h.Symbol) {
					found.Hits = append(found.Hits, h)
					next = append(next, *h.Symbol)
				}
			}
		}
		if !t.Transitive {
			break
		}
		level = next
	}
	return found, nil
}

// embedders returns the types of the workspace that embed a type: the
// references to it that name an embedded field.
func embedders(ctx context.Context, b adapters.Bench, sym graph.Symbol) ([]adapters.Hit, error) {
	fields, err := b.Graph().ByName(ctx, sym.Name)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(fields, func(f graph.Symbol) bool { return slices.Contains(f.Modifiers, "embedded") }) {
		return nil, nil
	}
	list, err := recipe.Locate(ctx, b, adapters.Hierarchy, "textDocument/references", sym, map[string]any{"context": map[string]any{"includeDeclaration": false}})
	if err != nil {
		return nil, err
	}
	var out []adapters.Hit
	for _, p := range list {
		field, ok := recipe.SymbolAt(ctx, b, p)
		if !ok || !slices.Contains(field.Modifiers, "embedded") {
			continue
		}
		tree, err := b.Tree(ctx, p.Path)
		if err != nil {
			return nil, err
		}
		for _, s := range tree.Symbols {
			if s.Qualified == field.Container && s.Kind != graph.KindField {
				p.Span = s.NameSpan
				out = append(out, adapters.Hit{Place: p, Symbol: &s})
			}
		}
	}
	return out, nil
}

// supertypes answers with the interfaces that a type meets and the types that
// it embeds.
func supertypes(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.Supertypes(ctx, b, t)
	if err != nil {
		return found, err
	}
	tree, err := b.Tree(ctx, t.Symbol.Path)
	if err != nil {
		return found, err
	}
	for _, f := range tree.Symbols {
		if f.Container != t.Symbol.Qualified || !slices.Contains(f.Modifiers, "embedded") {
			continue
		}
		list, err := recipe.Locate(ctx, b, adapters.Navigate, "textDocument/definition", f, nil)
		if err != nil {
			return found, err
		}
		for _, p := range list {
			if slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool { return h.Place.Path == p.Path && h.Place.Span == p.Span }) {
				continue
			}
			h := adapters.Hit{Place: p}
			if s, ok := recipe.SymbolAt(ctx, b, p); ok {
				h.Symbol = &s
			}
			found.Hits = append(found.Hits, h)
		}
	}
	return found, nil
}

// usage names what a place does with a symbol, by the tokens around it: a
// thousand references are named without parsing their files.
func usage(sym graph.Symbol, p adapters.Place) string {
	content := p.File.Content()
	switch sym.Kind {
	case graph.KindPackage, graph.KindNamespace:
		if p.Span.Start > 0 && content[p.Span.Start] == '"' {
			return "import"
		}
		return "read"
	case graph.KindStruct, graph.KindInterface, graph.KindClass, graph.KindTypeAlias, graph.KindTypeParam:
		return "type"
	}
	next := following(content[p.Span.End:])
	switch {
	case next == token.LPAREN:
		return "call"
	case sym.Kind == graph.KindFunction || sym.Kind == graph.KindMethod:
		if next == token.LBRACK && instantiated(content[p.Span.End:]) {
			return "call"
		}
		return "read"
	case sym.Kind == graph.KindConstant:
		return "read"
	case next == token.COLON && sym.Kind == graph.KindField && prevToken(content, p.Span.Start) != ".":
		return "write" // the key of a composite literal
	case assigned(content[p.Span.End:]):
		return "write"
	}
	return "read"
}

// tokens calls yield with the tokens of code until it returns false.
func tokens(code []byte, yield func(token.Token) bool) {
	const enough = 400 // bytes: nothing is decided further away
	code = code[:min(len(code), enough)]
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(code)), code, func(token.Position, string) {}, 0)
	for {
		_, tok, _ := s.Scan()
		if tok == token.EOF || !yield(tok) {
			return
		}
	}
}

func following(code []byte) (first token.Token) {
	first = token.EOF
	tokens(code, func(t token.Token) bool {
		first = t
		return false
	})
	return first
}

// instantiated reports whether code is "[types](": a call of a generic function.
func instantiated(code []byte) (called bool) {
	depth := 0
	tokens(code, func(t token.Token) bool {
		switch t {
		case token.LBRACK:
			depth++
		case token.RBRACK:
			depth--
		default:
			if depth == 0 {
				called = t == token.LPAREN
				return false
			}
		}
		return true
	})
	return called
}

// assigned reports whether what stands before code is on the left of an
// assignment, alone or in a list.
func assigned(code []byte) (yes bool) {
	depth := 0
	first := true
	tokens(code, func(t token.Token) bool {
		switch {
		case t == token.LPAREN || t == token.LBRACK || t == token.LBRACE:
			if first {
				return false // an element of it, or a call
			}
			depth++
		case t == token.RPAREN || t == token.RBRACK || t == token.RBRACE:
			depth--
			if depth < 0 {
				return false
			}
		case depth > 0:
		case t == token.ASSIGN || t == token.DEFINE || t >= token.ADD_ASSIGN && t <= token.AND_NOT_ASSIGN:
			yes = true
			return false
		case first && (t == token.INC || t == token.DEC):
			yes = true
			return false
		case t == token.COMMA:
		case first:
			return false
		case t == token.IDENT || t == token.PERIOD || t == token.MUL || t == token.INT || t == token.STRING:
		default:
			return false
		}
		first = false
		return true
	})
	return yes
}
