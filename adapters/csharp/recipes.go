package csharp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes {
	find := func(how adapters.How, note string, run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: how, Note: note, Run: known(run)}
	}
	const either, above = "OmniSharp or roslyn-lsp", "roslyn-lsp; with OmniSharp by Aura, from syntax and its answers"
	return adapters.Recipes{
		Definition:      find(adapters.ByServer, either, recipe.Definition),
		TypeDefinition:  find(adapters.ByServer, either, typeDefinition),
		References:      find(adapters.ByServer, either, allReferences),
		Implementations: find(adapters.ByServer, either, recipe.Implementations),
		Derived:         find(adapters.ByServer, above, hierarchy("types above and below them", isBased, recipe.Derived, recipe.DerivedBySyntax)),
		Supertypes:      find(adapters.ByServer, above, hierarchy("types above and below them", isBased, recipe.Supertypes, recipe.SupertypesBySyntax)),
		Callers:         find(adapters.ByServer, above, hierarchy("callers and callees", isCalled, recipe.Callers, recipe.CallersByReferences(calls))),
		Callees:         find(adapters.ByServer, above, hierarchy("callers and callees", isCalled, recipe.Callees, recipe.CalleesBySyntax(called))),
		Rename:          adapters.Cell[adapters.Rename]{How: adapters.ByServer, Note: either + ", checked by Aura", Plan: a.rename},
	}
}

// known runs a question on a server whose quirks are out of the way, and turns
// what it declines to answer into a refusal or an answer that is not whole.
func known(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, bench{b}, t)
		return found, explain(b, t.Symbol, err)
	}
}

// explain turns a server's own error into a refusal, or drops it behind a
// reason why the answer is not whole.
func explain(b adapters.Bench, sym graph.Symbol, err error) error {
	var server adapters.ServerRefusal
	if err == nil || !errors.As(err, &server) {
		return err
	}
	_, message := server.Refusal()
	if strings.Contains(message, "is not a C# document of the workspace") {
		b.Incomplete(unknownFile(b, sym.Path))
		return nil
	}
	return recipe.Refuse(adapters.Unsupported, "the C# server declines: %s", firstLine(message))
}

// unknownFile says that a file belongs to nothing that the server has loaded.
func unknownFile(b adapters.Bench, path string) string {
	return fmt.Sprintf("%s belongs to no project that the C# server has loaded; see that a project includes it and that `dotnet build` loads the project", recipe.Relative(b, path))
}

// allReferences answers all places. A server that does not even list the
// declaration that it was asked at knows nothing of the file.
func allReferences(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.References(usage)(ctx, b, t)
	if err == nil && len(found.Hits) == 0 && recipe.Inside(b.Root(), t.Symbol.Path) {
		b.Incomplete(unknownFile(b, t.Symbol.Path))
	}
	return found, err
}

// typeDefinition answers where the type of a value is declared; a type is its
// own, of which OmniSharp says nothing.
func typeDefinition(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	if isType(t.Symbol.Kind) {
		return recipe.Definition(ctx, b, t)
	}
	return recipe.TypeDefinition(ctx, b, t)
}

// isBased reports whether a symbol has types above or below it.
func isBased(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindStruct, graph.KindRecord, graph.KindInterface:
		return true
	}
	return false
}

// isCalled reports whether a symbol has callers and callees.
func isCalled(k graph.Kind) bool {
	switch k {
	case graph.KindMethod, graph.KindFunction, graph.KindConstruct, graph.KindProperty, graph.KindEvent, graph.KindField:
		return true
	}
	return false
}

// calls is usage where callers are asked for: what reads or writes a property,
// or raises an event, runs its accessors.
func calls(sym graph.Symbol, p adapters.Place) string {
	switch sym.Kind {
	case graph.KindProperty, graph.KindEvent, graph.KindField:
		return "call"
	}
	return usage(sym, p)
}

// hierarchy asks the server where it knows the hierarchy, else the recipe.
func hierarchy(what string, fits func(graph.Kind) bool, byServer, bySyntax recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		if !fits(t.Symbol.Kind) || t.Symbol.Name == "this" && t.Symbol.Kind == graph.KindProperty {
			return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s has the kind %s, which has no %s", t.Symbol.Name, t.Symbol.Kind, what)
		}
		srv, err := b.Server(ctx, adapters.Navigate)
		if err != nil {
			return adapters.Found{}, err
		}
		if srv.Engine() == roslynID {
			return byServer(ctx, b, t)
		}
		return bySyntax(ctx, b, t)
	}
}
