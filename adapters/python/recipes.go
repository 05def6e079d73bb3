package python

import (
	"context"
	"errors"
	"fmt"
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
		References:      server("pyright, shown every file that holds the name", whole(adapters.Navigate, recipe.References(usage))),
		Implementations: joined(recipe.ImplementationsBySyntax),
		Derived:         joined(recipe.DerivedBySyntax),
		Supertypes:      joined(recipe.SupertypesBySyntax),
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
		return found, refuse(adapters.Unsupported, "pyright declines: %s", line)
	}
}

// callable refuses what can be neither called nor call.
func callable(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		switch t.Symbol.Kind {
		case graph.KindFunction, graph.KindMethod, graph.KindClass, graph.KindProperty, graph.KindEnum:
			return run(ctx, b, t)
		}
		return adapters.Found{}, refuse(adapters.InvalidArgument, "%s is a %s, and only functions, methods and classes have callers and callees", t.Symbol.Name, t.Symbol.Kind)
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
		return run(ctx, b, t)
	}
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

func refuse(reason adapters.Reason, format string, args ...any) error {
	return &adapters.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
