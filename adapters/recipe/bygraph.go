package recipe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// fromGraph is the source of hits that no server has confirmed.
const fromGraph = "graph"

// byText is the source of hits that only spell a name which the graph does not know.
const byText = "text"

// ErrNoServer is the error of a question that the graph cannot answer at all.
var ErrNoServer = errors.New("only the language server can tell that")

// ByGraph returns the operations as the symbol graph and syntax answer them,
// for a language whose server cannot be asked. What rests on a name alone
// marks the answer as not whole.
func ByGraph(lex Lexicon) adapters.Recipes {
	find := func(run func(*byGraph, context.Context, adapters.Target) (adapters.Found, error)) adapters.Find[adapters.Target] {
		return adapters.Find[adapters.Target]{How: adapters.ByAura, Run: func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
			g := newByGraph(b, lex, t.Symbol.Language)
			found, err := run(g, ctx, t)
			if err == nil && g.guessed {
				b.Incomplete(fmt.Sprintf("found in the symbol graph by the name %s, without the language server: places may be missing or belong to another declaration of that name", t.Symbol.Name))
			}
			found.Source = g.source
			for i := range found.Hits {
				found.Hits[i].Source = g.source
			}
			return found, err
		}}
	}
	return adapters.Recipes{
		Definition:      find(asked(Definition)),
		TypeDefinition:  find(asked(TypeDefinition)),
		References:      find(asked(References(lex.Usage))),
		Implementations: find((*byGraph).implementations),
		Derived:         find((*byGraph).derived),
		Supertypes:      find((*byGraph).supertypes),
		Callers:         find(asked(CallersByReferences(lex.callUsage))),
		Callees:         find((*byGraph).callees),
	}
}

// asked runs a question that goes to a server on a bench that answers by itself.
func asked(q Question) func(*byGraph, context.Context, adapters.Target) (adapters.Found, error) {
	return func(g *byGraph, ctx context.Context, t adapters.Target) (adapters.Found, error) { return q(ctx, g, t) }
}

// callUsage is the language's own word for a use, or whether it is called.
func (x Lexicon) callUsage(sym graph.Symbol, p adapters.Place) string {
	calls := x.Calls
	if calls == nil {
		calls = called
	}
	if calls(p.File.Content(), p.Span.End) {
		return "call"
	}
	if x.Usage != nil {
		return x.Usage(sym, p)
	}
	return ""
}

// byGraph is a bench on which the questions that go to a server are answered
// by scope, imports and names.
type byGraph struct {
	meanings
	guessed bool   // a name alone decided
	source  string // of the hits
}

func newByGraph(b adapters.Bench, lex Lexicon, language string) *byGraph {
	return &byGraph{meanings: meanings{
		Bench: b, lex: lex, language: language, pages: map[string]*page{}, named: map[string]*bearers{},
	}, source: fromGraph}
}

// Server implements adapters.Bench: there is none.
func (g *byGraph) Server(context.Context, adapters.Role) (adapters.Server, error) {
	return nil, ErrNoServer
}

// locate answers what Locate would ask a server.
func (g *byGraph) locate(ctx context.Context, method string, sym graph.Symbol) ([]adapters.Place, error) {
	if sym.Path == "" && method != protocol.MethodTextDocumentReferences {
		return nil, ErrNoServer
	}
	switch method {
	case protocol.MethodTextDocumentDefinition:
		m, err := g.meant(ctx, sym)
		if err != nil {
			return nil, err
		}
		return g.declared(ctx, m)
	case protocol.MethodTextDocumentTypeDefinition:
		return g.typeOf(ctx, sym)
	case protocol.MethodTextDocumentReferences:
		return g.references(ctx, sym)
	}
	return nil, ErrNoServer
}

// meant is what the name at a symbol's place means: itself where it is declared there.
func (g *byGraph) meant(ctx context.Context, sym graph.Symbol) (meaning, error) {
	if sym.ID != "" {
		all, err := g.Graph().ByID(ctx, sym.ID)
		if err != nil || len(all) > 0 {
			return meaning{all, true}, err
		}
		return meaning{[]graph.Symbol{sym}, true}, nil // a local, which is not kept
	}
	p, err := g.page(ctx, sym.Path)
	if p == nil || err != nil {
		return meaning{}, err
	}
	id, ok := p.tree.IdentAt(sym.NameSpan.Start)
	if !ok {
		return meaning{}, nil
	}
	return g.of(ctx, p, id)
}

// declared turns a meaning into places.
func (g *byGraph) declared(ctx context.Context, m meaning) ([]adapters.Place, error) {
	g.guessed = g.guessed || !m.sure
	var out []adapters.Place
	for _, s := range m.all {
		p, err := g.page(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		if p != nil {
			out = append(out, g.place(p, s.NameSpan))
		}
	}
	return out, nil
}

// typeOf finds the type of a symbol where its declaration writes one.
func (g *byGraph) typeOf(ctx context.Context, sym graph.Symbol) ([]adapters.Place, error) {
	if isType(sym.Kind) || sym.Kind == graph.KindTypeAlias {
		return g.declared(ctx, meaning{[]graph.Symbol{sym}, true})
	}
	p, err := g.page(ctx, sym.Path)
	if p == nil || err != nil {
		return nil, err
	}
	head := graph.Span{Start: sym.NameSpan.End, End: sym.Decl.End}
	if sym.Body.Start > head.Start {
		head.End = sym.Body.Start
	}
	written := sym.Results
	if len(written) == 0 {
		written = []string{string(p.content[min(head.Start, len(p.content)):min(head.End, len(p.content))])}
	}
	var out []adapters.Place
	for _, w := range written {
		for _, id := range p.tree.Idents {
			if id.Span.Start < head.Start || id.Span.End > head.End || !strings.Contains(w, id.Name) {
				continue
			}
			m, err := g.of(ctx, p, id)
			if err != nil {
				return nil, err
			}
			m.all = slices.DeleteFunc(slices.Clone(m.all), func(s graph.Symbol) bool { return !isType(s.Kind) && s.Kind != graph.KindTypeAlias })
			if len(m.all) > 0 {
				places, err := g.declared(ctx, m)
				return append(out, places...), err
			}
		}
	}
	return nil, fmt.Errorf("the type of %s: %w", sym.Name, ErrNoServer)
}

// references returns the places that name a symbol, its declarations included.
func (g *byGraph) references(ctx context.Context, sym graph.Symbol) ([]adapters.Place, error) {
	paths, whole, err := g.holders(ctx, sym)
	if err != nil {
		return nil, err
	}
	alone, err := g.alone(ctx, sym, paths)
	if err != nil {
		return nil, err
	}
	inside := Inside(g.Root(), sym.Path)
	if !inside {
		g.source = byText
	}
	g.guessed = g.guessed || !whole
	var out []adapters.Place
	for _, path := range paths {
		p, err := g.page(ctx, path)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		for _, id := range p.tree.Named(sym.Name) {
			m, err := g.of(ctx, p, id)
			if err != nil {
				return nil, err
			}
			switch {
			case !inside && len(m.all) > 0: // it is one of the workspace
				continue
			case sym.Path == "" && !g.outsideUse(p, id, qualifiers(sym)).Qualified:
				continue
			case inside && !slices.ContainsFunc(m.all, func(s graph.Symbol) bool { return same(sym, s) }):
				continue
			case !m.sure && !(whole && alone):
				g.guessed = true
			}
			out = append(out, g.place(p, id.Span))
		}
	}
	return out, nil
}

// same reports whether a declaration is one of a symbol, or the constructor
// that has a type's name.
func same(sym, s graph.Symbol) bool {
	switch {
	case sym.ID != "" && s.ID == sym.ID, s.Path == sym.Path && s.NameSpan == sym.NameSpan:
		return true
	case s.Kind == graph.KindConstruct:
		return s.Container == sym.Qualified && s.Name == sym.Name
	case sym.Kind == graph.KindConstruct:
		return sym.Container == s.Qualified && s.Name == sym.Name
	}
	return false
}

// alone reports whether no other symbol of the same name is declared in the
// files from which one can be named.
func (g *byGraph) alone(ctx context.Context, sym graph.Symbol, paths []string) (bool, error) {
	all, err := g.declarations(ctx, sym.Name)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(all, func(s graph.Symbol) bool {
		return !s.Local && !same(sym, s) && slices.Contains(paths, s.Path)
	}), nil
}

// holders returns the files of the language that may name a symbol. whole says
// that no other place can.
func (g *byGraph) holders(ctx context.Context, sym graph.Symbol) (paths []string, whole bool, err error) {
	if sym.Local && sym.Kind != graph.KindParameter {
		return []string{sym.Path}, true, nil
	}
	all, err := g.Snapshot().Grep(ctx, sym.Name)
	if err != nil {
		return nil, false, err
	}
	reach := Anywhere
	if g.lex.Reach != nil {
		reach = g.lex.Reach(sym)
	}
	within, err := g.within(ctx, sym, reach)
	if err != nil {
		return nil, false, err
	}
	for _, path := range all {
		if !within(path) {
			continue
		}
		ok, err := g.speaks(ctx, path, sym)
		if err != nil {
			return nil, false, err
		}
		if ok {
			paths = append(paths, path)
		}
	}
	return paths, reach != Anywhere || sym.Local, nil
}

// within returns which files can name what has a reach.
func (g *byGraph) within(ctx context.Context, sym graph.Symbol, reach Reach) (func(path string) bool, error) {
	switch reach {
	case InFile:
		return func(path string) bool { return path == sym.Path }, nil
	case InFolder:
		return func(path string) bool { return filepath.Dir(path) == filepath.Dir(sym.Path) }, nil
	case InModules:
		dir, file := filepath.Split(sym.Path)
		stem := strings.TrimSuffix(file, filepath.Ext(file))
		below := filepath.Join(dir, stem)
		if stem == "mod" || stem == "lib" || stem == "main" {
			below = filepath.Clean(dir)
		}
		return func(path string) bool { return path == sym.Path || Inside(below, path) }, nil
	case InType:
		owners, err := g.declarations(ctx, last(sym.Container))
		return func(path string) bool {
			return path == sym.Path || slices.ContainsFunc(owners, func(o graph.Symbol) bool { return o.Path == path && o.Qualified == sym.Container })
		}, err
	}
	return func(string) bool { return true }, nil
}

// speaks reports whether a file is of a symbol's language.
func (g *byGraph) speaks(ctx context.Context, path string, sym graph.Symbol) (bool, error) {
	if filepath.Ext(path) == filepath.Ext(sym.Path) {
		return true, nil
	}
	list, err := g.Graph().InFile(ctx, path)
	return len(list) > 0 && list[0].Language == sym.Language, err
}

// derived answers with the types below a type: those that name it as a base,
// and where that is enough those that have its members.
func (g *byGraph) derived(ctx context.Context, t adapters.Target) (adapters.Found, error) {
	if !Inside(g.Root(), t.Symbol.Path) {
		return g.derivedFromOutside(ctx, t)
	}
	g.guessed = g.guessed || g.lex.Structural && t.Symbol.Kind == graph.KindInterface
	found, err := newLineage(g).derived(ctx, t.Symbol, t.Transitive)
	if err == nil && t.Symbol.Kind == graph.KindTrait {
		g.guessed = true // an implementation without members, apart from its type, leaves no trace
		more, err := g.apart(ctx, t.Symbol)
		if err != nil {
			return found, err
		}
		return g.add(ctx, found, more)
	}
	if err != nil || !g.lex.Structural || t.Symbol.Kind != graph.KindInterface {
		return found, err
	}
	more, err := newShapes(g).implementers(ctx, t.Symbol)
	if err != nil {
		return found, err
	}
	return g.add(ctx, found, more)
}

// add adds types to an answer that it does not have.
func (g *byGraph) add(ctx context.Context, found adapters.Found, more []graph.Symbol) (adapters.Found, error) {
	for _, s := range more {
		if slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool { return h.Place.Path == s.Path && h.Place.Span == s.NameSpan }) {
			continue
		}
		p, err := g.page(ctx, s.Path)
		if err != nil {
			return found, err
		}
		if p != nil {
			found.Hits = append(found.Hits, adapters.Hit{Place: g.place(p, s.NameSpan), Symbol: &s, Depth: 1})
		}
	}
	sortHits(g.Root(), found.Hits)
	return found, nil
}

// supertypes answers with the bases that a type writes, as far as the
// workspace declares them, and where shape is enough with the interfaces it meets.
func (g *byGraph) supertypes(ctx context.Context, t adapters.Target) (adapters.Found, error) {
	if t.Symbol.Path == "" {
		return adapters.Found{}, ErrNoServer
	}
	l := newLineage(g)
	list, depths, err := l.ancestors(ctx, t.Symbol, t.Transitive)
	if err != nil {
		return adapters.Found{}, err
	}
	var found adapters.Found
	for i, r := range list {
		h := adapters.Hit{Place: r.place, Depth: depths[i]}
		if r.known() {
			h.Symbol = &list[i].sym
		}
		found.Hits = append(found.Hits, h)
	}
	var outer []string
	for _, names := range l.missing {
		outer = append(outer, names...)
	}
	if slices.Sort(outer); len(outer) > 0 {
		g.Incomplete("bases that the workspace does not declare, which only the language server can find: " + strings.Join(slices.Compact(outer), ", "))
	}
	if g.lex.Structural {
		g.guessed = true
		met, err := newShapes(g).interfacesOf(ctx, t.Symbol)
		if err != nil {
			return found, err
		}
		return g.add(ctx, found, met)
	}
	sortHits(g.Root(), found.Hits)
	return found, nil
}

// callees answers with what a function calls in the workspace.
func (g *byGraph) callees(ctx context.Context, t adapters.Target) (adapters.Found, error) {
	if t.Symbol.Path == "" {
		return adapters.Found{}, ErrNoServer
	}
	g.Incomplete("calls of what the workspace does not declare are left out, as only the language server knows them")
	return CalleesBySyntax(g.lex.Calls)(ctx, g, t)
}

// implementations answers with the types below a type, or with the members of
// such types that have a member's name.
func (g *byGraph) implementations(ctx context.Context, t adapters.Target) (adapters.Found, error) {
	switch {
	case !Inside(g.Root(), t.Symbol.Path):
		t.Transitive = true
		return g.derivedFromOutside(ctx, t)
	case !g.lex.Structural:
		g.guessed = g.guessed || g.lex.Literals
		return ImplementationsBySyntax(ctx, g, t)
	}
	g.guessed = true
	s := newShapes(g)
	var types []graph.Symbol
	var err error
	if isType(t.Symbol.Kind) {
		if types, err = s.related(ctx, t.Symbol); err == nil {
			return g.add(ctx, adapters.Found{}, types)
		}
		return adapters.Found{}, err
	}
	owner, ok, err := s.owner(ctx, t.Symbol)
	if err != nil || !ok {
		return adapters.Found{}, err
	}
	if types, err = s.related(ctx, owner); err != nil {
		return adapters.Found{}, err
	}
	var members []graph.Symbol
	for _, typ := range types {
		members = append(members, s.methods(ctx, typ)[t.Symbol.Name]...)
	}
	return g.add(ctx, adapters.Found{}, members)
}
