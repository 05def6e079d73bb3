package python

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// maxOpen bounds how many files are opened for one question.
const maxOpen = 400

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes {
	server := func(note string, run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByServer, Note: note, Run: known(run)}
	}
	joined := func(run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByAura, Note: "bases by syntax, each resolved by pyright", Run: known(run)}
	}
	return adapters.Recipes{
		Definition:      server("pyright", recipe.Definition),
		TypeDefinition:  server("pyright", recipe.TypeDefinition),
		References:      server("pyright, shown every file that holds the name", whole(adapters.Navigate, quoted(recipe.References(usage)))),
		Implementations: joined(recipe.ImplementationsBySyntax),
		Derived:         joined(recipe.DerivedBySyntax),
		Supertypes:      joined(supertypes),
		Callers:         server("pyright, shown every file that holds the name", callable(a.callers)),
		Callees:         server("pyright", callable(recipe.Callees)),
		Rename:          adapters.Cell[adapters.Rename]{How: adapters.ByServer, Note: "pyright, completed by Aura: overrides, strings, clashes", Plan: a.rename},
	}
}

// known turns what pyright declines to answer into a refusal.
func known(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		var server adapters.ServerRefusal
		if err == nil || !errors.As(err, &server) {
			return found, err
		}
		code, message := server.Refusal()
		if code <= -32700 && code >= -32899 { // the protocol's own errors say nothing of the symbol
			return found, err
		}
		line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
		return found, recipe.Refuse(adapters.Unsupported, "pyright declines: %s", line)
	}
}

// callable refuses what can be neither called nor call.
func callable(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		switch t.Symbol.Kind {
		case graph.KindFunction, graph.KindMethod, graph.KindClass, graph.KindProperty, graph.KindEnum:
			return run(ctx, b, t)
		}
		return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is a %s, and only functions, methods and classes have callers and callees", t.Symbol.Name, t.Symbol.Kind)
	}
}

// whole opens the files that may refer to the target before pyright is asked:
// it looks through those of its configuration and those that are open only,
// and of the others it finds just what the files import from each other.
func whole(role adapters.Role, run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		srv, err := b.Server(ctx, role)
		if err != nil {
			return adapters.Found{}, err
		}
		if _, err := show(ctx, b, srv, t.Symbol); err != nil {
			return adapters.Found{}, err
		}
		found, err := run(ctx, b, t)
		if err != nil {
			return found, err
		}
		if len(found.Hits) == 0 {
			return found, blind(ctx, b, t.Symbol)
		}
		if t.Symbol.Local {
			return found, nil
		}
		return found, unresolved(ctx, b, t.Symbol)
	}
}

// blind marks an empty answer as incomplete where pyright does not even see
// the declaration: in code that it takes for unreachable.
func blind(ctx context.Context, b adapters.Bench, sym graph.Symbol) error {
	list, err := recipe.Locate(ctx, b, lookup, "textDocument/definition", sym, nil)
	if err == nil && len(list) == 0 {
		b.Incomplete("pyright takes the code of " + sym.Name + " in " + recipe.Relative(b, sym.Path) + " for unreachable, as that of another system is, and says nothing of it")
	}
	return err
}

// supertypes answers with the bases of a class, and says which nobody finds.
func supertypes(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.SupertypesBySyntax(ctx, b, t)
	if err != nil {
		return found, err
	}
	for _, base := range t.Symbol.Bases {
		names := graph.BaseNames(base)
		known := slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool {
			return h.Symbol == nil || h.Source == "text" || slices.Contains(names, h.Symbol.Name)
		})
		if len(names) > 0 && !known {
			list, err := recipe.Locate(ctx, b, lookup, "textDocument/definition", baseAt(ctx, b, t.Symbol, names[0]), nil)
			if err != nil {
				return found, err
			}
			if len(list) == 0 {
				b.Incomplete("the base " + base + " of " + t.Symbol.Name + " cannot be found: its module is not installed in the Python environment that is used, or made at run time")
			}
		}
	}
	return found, nil
}

// baseAt is a symbol at the place where the head of a class names a base.
func baseAt(ctx context.Context, b adapters.Bench, class graph.Symbol, name string) graph.Symbol {
	tree, err := b.Tree(ctx, class.Path)
	if err != nil {
		return class
	}
	for _, id := range tree.Named(name) {
		if id.Span.Start >= class.NameSpan.End && (class.Body.Start == 0 || id.Span.End <= class.Body.Start) {
			class.NameSpan = id.Span
			return class
		}
	}
	return class
}

// show opens the files that may refer to a symbol.
func show(ctx context.Context, b adapters.Bench, srv adapters.Server, sym graph.Symbol) ([]string, error) {
	words := []string{sym.Name}
	if sym.Kind == graph.KindMethod && (sym.Name == "__init__" || sym.Name == "__new__") {
		words = append(words, last(sym.Container)) // called by the name of the class
	}
	keyword, err := byKeyword(ctx, b, sym)
	if err != nil {
		return nil, err
	}
	if keyword {
		sym.Local = false // other files may name it as well
	}
	return recipe.Candidates(ctx, b, srv, sym, maxOpen, words...)
}

// byKeyword reports whether a symbol is a parameter that calls in other files
// may name: one of a function that is not itself local.
func byKeyword(ctx context.Context, b adapters.Bench, sym graph.Symbol) (bool, error) {
	if sym.Kind != graph.KindParameter {
		return false, nil
	}
	_, ok, err := owner(ctx, b, sym)
	return ok, err
}

// owner returns the function that has a parameter, if it can be seen from
// outside of functions.
func owner(ctx context.Context, b adapters.Bench, sym graph.Symbol) (graph.Symbol, bool, error) {
	tree, err := b.Tree(ctx, sym.Path)
	if err != nil {
		return graph.Symbol{}, false, err
	}
	i := slices.IndexFunc(tree.Symbols, func(s graph.Symbol) bool {
		return !s.Local && s.Qualified == sym.Container && (s.Kind == graph.KindFunction || s.Kind == graph.KindMethod) &&
			s.Decl.Start < sym.NameSpan.Start && sym.NameSpan.End <= s.Body.Start
	})
	if i < 0 {
		return graph.Symbol{}, false, nil
	}
	return tree.Symbols[i], true, nil
}

// last returns the last part of a qualified name.
func last(qualified string) string { return qualified[strings.LastIndex(qualified, ".")+1:] }
