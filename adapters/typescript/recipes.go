package typescript

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes {
	find := func(how adapters.How, note string, run recipe.Question) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: how, Note: note, Run: known(run)}
	}
	return adapters.Recipes{
		Definition:      find(adapters.ByServer, program, recipe.Definition),
		TypeDefinition:  find(adapters.ByServer, program, recipe.TypeDefinition),
		References:      find(adapters.ByServer, program+", with a file of each project that holds the name open", shown(references)),
		Implementations: find(adapters.ByServer, program+", joined with Aura's reading of heritage clauses", shown(implementations)),
		Derived:         find(adapters.ByAura, "heritage clauses by syntax, each confirmed by the server", shown(onType(recipe.DerivedBySyntax))),
		Supertypes:      find(adapters.ByAura, "heritage clauses by syntax, resolved by the server", onType(recipe.SupertypesBySyntax)),
		Callers:         find(adapters.ByServer, program, shown(onFunction(recipe.Callers))),
		Callees:         find(adapters.ByServer, program, onFunction(recipe.Callees)),
		Rename:          adapters.Cell[adapters.Rename]{How: adapters.ByServer, Note: program + ", completed by Aura: families, names exported on, clashes", Plan: a.rename},
	}
}

// maxOpened bounds the files that one question opens.
const maxOpened = 40

// shown runs a question behind the opening of one file of each project that
// may refer to the symbol: tsserver answers from the projects it has loaded.
func shown(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		srv, err := b.Server(ctx, adapters.Navigate)
		if err != nil {
			return adapters.Found{}, err
		}
		if err := show(ctx, b, srv, t.Symbol); err != nil {
			return adapters.Found{}, err
		}
		return run(ctx, b, t)
	}
}

// show opens what tsserver must know of to answer wholly about a symbol. A
// configured project is loaded whole by one of its files; a file that is in
// none is known only while it is open.
func show(ctx context.Context, b adapters.Bench, srv adapters.Server, sym graph.Symbol) error {
	if sym.Local {
		return nil // opened by being asked about
	}
	holders, err := b.Snapshot().Grep(ctx, sym.Name)
	if err != nil {
		return err
	}
	all := newConfigs(b.Snapshot(), b.Root())
	own, err := all.owner(ctx, sym.Path)
	if err != nil {
		return err
	}
	loaded := map[*config]bool{own: own != nil}
	var open []string
	for _, path := range holders {
		if path == sym.Path || !source(path) || installed(path) || !within(b.Project(), path) {
			continue
		}
		c, err := all.owner(ctx, path)
		if err != nil {
			return err
		}
		if c != nil && loaded[c] {
			continue
		}
		if c != nil {
			loaded[c] = true
		}
		open = append(open, path)
	}
	if n := len(open); n > maxOpened {
		b.Incomplete(fmt.Sprintf("%d files that hold %s are in no loaded project, and the server was shown %d of them only; a tsconfig.json that includes them makes the answer whole",
			n, sym.Name, maxOpened))
		near(sym.Path, open)
		open = open[:maxOpened]
	}
	if len(open) == 0 {
		return nil
	}
	return srv.Open(ctx, append([]string{sym.Path}, open...))
}

// near puts the files first that have most of their path in common with one.
func near(to string, paths []string) {
	common := func(p string) int {
		n := 0
		for n < min(len(p), len(to)) && p[n] == to[n] {
			n++
		}
		return n
	}
	slices.SortStableFunc(paths, func(a, b string) int { return common(b) - common(a) })
}

func source(path string) bool { return slices.Contains(extensions, filepath.Ext(path)) }

func within(p adapters.Project, path string) bool {
	if len(p.Members) == 0 {
		return recipe.Inside(p.Root, path)
	}
	return slices.ContainsFunc(p.Members, func(m string) bool { return recipe.Inside(m, path) })
}

// known turns what the server declines to answer into a refusal that says what to do.
func known(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		var refused adapters.ServerRefusal
		if err == nil || !errors.As(err, &refused) {
			return found, err
		}
		_, message := refused.Refusal()
		return found, recipe.Refuse(adapters.Unsupported, "%s declines: %s", program, said(message))
	}
}

// said is the first line of what tsserver says: a trace of its own code follows.
func said(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return strings.TrimSpace(line)
}

// onType refuses what has no types above and below it.
func onType(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		switch t.Symbol.Kind {
		case graph.KindClass, graph.KindInterface, graph.KindTypeAlias:
			return run(ctx, b, t)
		}
		return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is %s, and only classes and interfaces have types above and below them", t.Symbol.Name, kindWords(t.Symbol.Kind))
	}
}

// onFunction refuses what nobody calls.
func onFunction(run recipe.Question) recipe.Question {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		switch t.Symbol.Kind {
		case graph.KindInterface, graph.KindTypeAlias, graph.KindEnum, graph.KindEnumMem, graph.KindTypeParam, graph.KindModule, graph.KindNamespace:
			return adapters.Found{}, recipe.Refuse(adapters.InvalidArgument, "%s is %s, and only functions, methods and classes have callers and callees", t.Symbol.Name, kindWords(t.Symbol.Kind))
		}
		return run(ctx, b, t)
	}
}

// implementations joins what the server knows, among it object literals and
// classes that only fit by their shape, with the heritage clauses, which it
// does not follow from a class. Names in import and export clauses are places
// where an implementation is passed on, not implementations.
func implementations(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.Implementations(ctx, b, t)
	if err != nil {
		return found, err
	}
	found.Hits = slices.DeleteFunc(found.Hits, func(h adapters.Hit) bool {
		if usage(t.Symbol, h.Place) == usedByImport {
			return true
		}
		if h.Place.File.Content()[h.Place.Span.Start] == '[' {
			return true // an array that holds implementations is named as one
		}
		tree, err := b.Tree(ctx, h.Place.Path)
		if err != nil {
			return false
		}
		token, ok := tree.TokenAt(h.Place.Span.Start)
		return ok && token.Kind == syntax.Comment // where JSDoc types a value
	})
	for i := range found.Hits {
		if h := &found.Hits[i]; h.Symbol == nil {
			sym := unnamed(t.Symbol, h.Place)
			h.Symbol = &sym
		}
	}
	switch t.Symbol.Kind {
	case graph.KindClass, graph.KindInterface, graph.KindMethod, graph.KindProperty:
	default:
		return found, nil
	}
	more, err := recipe.ImplementationsBySyntax(ctx, b, t)
	if err != nil {
		return found, err
	}
	for _, h := range more.Hits {
		if !slices.ContainsFunc(found.Hits, func(have adapters.Hit) bool {
			return have.Place.Path == h.Place.Path && have.Place.Span.Start == h.Place.Span.Start
		}) {
			found.Hits = append(found.Hits, h)
		}
	}
	return found, nil
}

// unnamed describes an implementation that syntax does not list: an object
// literal, or a member of one.
func unnamed(of graph.Symbol, p adapters.Place) graph.Symbol {
	s := graph.Symbol{Language: of.Language, Name: "object literal", Kind: graph.KindVariable, Path: p.Path, NameSpan: p.Span, Decl: p.Span}
	if string(p.File.Content()[p.Span.Start:p.Span.End]) == of.Name {
		s.Name, s.Kind = of.Name, of.Kind
	}
	return s
}

// maxRequired bounds the files that are asked for what they take out of a require.
const maxRequired = 20

// references joins what the server finds from a declaration with what it finds
// from the names that CommonJS files take out of a require: the way there leads
// through an object, module.exports, at which it stops.
func references(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	ask := recipe.References(usage)
	found, err := ask(ctx, b, t)
	if err != nil || !isJavaScript(t.Symbol.Path) || t.Symbol.Local || t.Symbol.Container != "" && isMember(t.Symbol.Kind) {
		return found, err
	}
	holders, err := b.Snapshot().Grep(ctx, t.Symbol.Name)
	if err != nil {
		return found, err
	}
	at := func(list []adapters.Hit, path string, span graph.Span) bool {
		return slices.ContainsFunc(list, func(h adapters.Hit) bool { return h.Place.Path == path && h.Place.Span == span })
	}
	asked := 0
	for _, path := range holders {
		if !isJavaScript(path) || path == t.Symbol.Path || installed(path) || !within(b.Project(), path) {
			continue
		}
		tree, err := b.Tree(ctx, path)
		if err != nil {
			return found, err
		}
		for _, id := range tree.Named(t.Symbol.Name) {
			local, ok := tree.Declared(id.Span.Start)
			if !ok || !local.Local || !strings.Contains(local.Signature, "require(") || at(found.Hits, path, id.Span) {
				continue
			}
			if asked++; asked > maxRequired {
				b.Incomplete(fmt.Sprintf("more than %d files take %s out of a require; not all were asked", maxRequired, t.Symbol.Name))
				return found, nil
			}
			more, err := ask(ctx, b, adapters.Target{Symbol: local})
			if err != nil {
				return found, err
			}
			if !at(more.Hits, t.Symbol.Path, t.Symbol.NameSpan) {
				continue // another one of that name
			}
			for _, h := range more.Hits {
				if !at(found.Hits, h.Place.Path, h.Place.Span) {
					h.IsDeclaration = false
					found.Hits = append(found.Hits, h)
				}
			}
		}
	}
	return found, nil
}

// kindWords writes a kind for people.
func kindWords(k graph.Kind) string {
	switch k {
	case graph.KindTypeAlias:
		return "a type alias"
	case graph.KindEnumMem:
		return "a member of an enum"
	case graph.KindTypeParam:
		return "a type parameter"
	case graph.KindInterface, graph.KindEnum:
		return "an " + string(k)
	}
	return "a " + string(k)
}
