package rust

import (
	"context"
	"errors"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes {
	server := func(note string, run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByServer, Note: note, Run: known(run)}
	}
	aura := func(note string, run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByAura, Note: note, Run: known(run)}
	}
	return adapters.Recipes{
		Definition:      server("rust-analyzer", definition),
		TypeDefinition:  server("rust-analyzer", recipe.TypeDefinition),
		References:      server("rust-analyzer, completed by Aura in macro_rules! bodies", references),
		Implementations: server("rust-analyzer, which names impl blocks; Aura names their types", implementations),
		Derived:         aura("types that implement a trait, and traits below it", derived),
		Supertypes:      aura("traits that a type implements, and traits above a trait", supertypes),
		Callers:         server("rust-analyzer, completed by Aura in macro_rules! bodies", callers),
		Callees:         server("rust-analyzer, completed by Aura in arguments of macros", callees),
		Rename:          adapters.Cell[adapters.Rename]{How: adapters.ByServer, Note: "rust-analyzer, completed by Aura", Plan: a.rename},
	}
}

// known turns what rust-analyzer declines to answer into a refusal that says
// what to do, and marks answers about files that it has not read.
func known(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		var server adapters.ServerRefusal
		switch {
		case err != nil && errors.As(err, &server):
			err = declined(b, t.Symbol, server)
		case err == nil && len(found.Hits) == 0:
			err = believed(ctx, b, t.Symbol)
		}
		return found, err
	}
}

// believed marks an empty answer as incomplete when the server knows nothing
// of the symbol itself: it answers so about code that is in no build.
func believed(ctx context.Context, b adapters.Bench, sym graph.Symbol) error {
	defined, err := definitions(ctx, b, sym.Path, sym.NameSpan)
	if err != nil {
		var server adapters.ServerRefusal
		if errors.As(err, &server) {
			return declined(b, sym, server)
		}
		return err
	}
	if len(defined) == 0 {
		unseenSymbol(b, sym)
	}
	return nil
}

func unseenSymbol(b adapters.Bench, sym graph.Symbol) {
	b.Incomplete("rust-analyzer knows nothing of " + sym.Qualified + ": #[cfg] leaves it out of the build here, or no crate reaches its file by a mod declaration")
}

// definition answers with rust-analyzer's place, else with that which syntax found.
func definition(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.Definition(ctx, b, t)
	if err != nil || len(found.Hits) > 0 {
		return found, err
	}
	hit, err := declaration(ctx, b, t.Symbol)
	if err != nil {
		return found, err
	}
	unseenSymbol(b, t.Symbol)
	return adapters.Found{Hits: []adapters.Hit{hit}}, nil
}

// declaration is where syntax found a symbol.
func declaration(ctx context.Context, b adapters.Bench, sym graph.Symbol) (adapters.Hit, error) {
	content, _, err := b.Snapshot().Read(ctx, sym.Path)
	if err != nil {
		return adapters.Hit{}, err
	}
	return adapters.Hit{
		Place: adapters.Place{Path: sym.Path, Span: sym.NameSpan, File: fileOf(content)}, IsDeclaration: true, Symbol: &sym, Body: sym.Decl, Source: "syntax",
	}, nil
}

// invalidParams and internalError are codes of JSON-RPC.
const (
	invalidParams = -32602
	internalError = -32603
)

// declined says what an error of rust-analyzer's means for a person.
func declined(b adapters.Bench, sym graph.Symbol, server adapters.ServerRefusal) error {
	code, message := server.Refusal()
	message = strings.TrimSpace(message)
	switch {
	case code == internalError && strings.Contains(message, "file not found"):
		return recipe.Refuse(adapters.Unsupported, "rust-analyzer has not loaded %s: no crate of %s reaches it by a mod declaration, or it is outside the workspace's crates",
			recipe.Relative(b, sym.Path), recipe.Relative(b, b.Project().Root))
	case code == invalidParams:
		return recipe.Refuse(adapters.Unsupported, "rust-analyzer declines: %s", message)
	}
	return server
}
