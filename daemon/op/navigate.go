package op

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// question picks an operation's cell from a language's recipes.
type question func(adapters.Recipes) adapters.Find[adapters.Target]

func definition(r adapters.Recipes) adapters.Find[adapters.Target]     { return r.Definition }
func typeDefinition(r adapters.Recipes) adapters.Find[adapters.Target] { return r.TypeDefinition }
func references(r adapters.Recipes) adapters.Find[adapters.Target]     { return r.References }
func callers(r adapters.Recipes) adapters.Find[adapters.Target]        { return r.Callers }
func callees(r adapters.Recipes) adapters.Find[adapters.Target]        { return r.Callees }
func derivedTypes(r adapters.Recipes) adapters.Find[adapters.Target]   { return r.Derived }
func supertypes(r adapters.Recipes) adapters.Find[adapters.Target]     { return r.Supertypes }

// implementations have no levels, though some are found level by level.
func implementations(r adapters.Recipes) adapters.Find[adapters.Target] {
	find := r.Implementations
	run := find.Run
	if run == nil {
		return find
	}
	find.Run = func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		for i := range found.Hits {
			found.Hits[i].Depth = 0
		}
		return found, err
	}
	return find
}

// usages are the references without the declarations.
func usages(r adapters.Recipes) adapters.Find[adapters.Target] {
	find := r.References
	run := find.Run
	if run == nil {
		return find
	}
	find.Run = func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		found, err := run(ctx, b, t)
		found.Hits = slices.DeleteFunc(found.Hits, func(h adapters.Hit) bool { return h.IsDeclaration })
		return found, err
	}
	return find
}

// answered is one symbol's hits.
type answered struct {
	match resolve.Match
	hits  []adapters.Hit
	none  string // the source when there are no hits
}

// navigation is the input of any operation of this file.
type navigation struct {
	api.Navigate
	depth      int
	transitive bool
}

func navigationOf(input any) navigation {
	switch in := input.(type) {
	case api.Calls:
		return navigation{Navigate: in.Navigate, depth: in.Depth}
	case api.DerivedTypes:
		return navigation{Navigate: in.Navigate, transitive: in.Transitive}
	default:
		return navigation{Navigate: input.(api.Navigate)}
	}
}

// ask resolves the address and asks the question of every symbol it stands for.
func ask(ctx context.Context, s *workbench.Session, in navigation, name string, q question) ([]answered, []resolve.Match, error) {
	if in.Wait >= 0 {
		s.Within(time.Duration(in.Wait) * time.Millisecond)
	}
	matches, err := resolve.All(ctx, s, in.Address)
	if api.CodeOf(err) == api.SymbolNotFound {
		var outer error
		if matches, outer = resolve.Outside(ctx, s, in.Address); outer != nil {
			return nil, nil, outer
		}
		if len(matches) > 0 {
			err = nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	out := make([]answered, 0, len(matches))
	for _, m := range matches {
		sym := m.Symbol()
		lang, ok := s.Workspace().ByID(sym.Language)
		if !ok {
			return nil, nil, api.Errorf(api.UnsupportedOperation, "no adapter for %s", sym.Language)
		}
		cell := q(lang.Recipes())
		if cell.Run == nil {
			return nil, nil, unsupported(name, lang.Language().Name, cell.Note)
		}
		bench, err := s.BenchFor(ctx, asked(in, s, m))
		if err != nil {
			return nil, nil, err
		}
		target := adapters.Target{Symbol: sym, Depth: max(in.depth, 1), Transitive: in.transitive}
		found, err := find(ctx, s, bench, name, q, target)
		if err == nil && sym.Path != "" && m.Use != (graph.Span{}) {
			found, err = withUse(ctx, s, bench, name, target, m, found)
		}
		if err != nil {
			return nil, nil, err
		}
		for _, w := range found.Warnings {
			s.Warn(w)
		}
		out = append(out, answered{match: m, hits: found.Hits, none: found.Source})
	}
	return out, matches, nil
}

// asked is a file of the project to ask in: the symbol's own, or for one
// declared outside the workspace the file it was named from.
func asked(in navigation, s *workbench.Session, m resolve.Match) string {
	switch {
	case m.From != "":
		return m.From
	case m.External && in.FilePath != "":
		return s.Absolute(in.FilePath)
	}
	return m.Symbol().Path
}

func unsupported(name, language, note string) error {
	if note == "" {
		note = "auractl capabilities lists what there is"
	}
	return api.Errorf(api.UnsupportedOperation, "%s is not there for %s: %s", name, language, note)
}

// places makes the handler of an operation that lists places.
func places(name string, q question) Query {
	return func(ctx context.Context, s *workbench.Session, input any) (any, error) {
		in := navigationOf(input)
		all, matches, err := ask(ctx, s, in, name, q)
		if err != nil {
			return nil, err
		}
		out := &api.Places{Operation: name, Locations: []api.Place{}}
		if out.Candidates, err = candidates(ctx, s, matches); err != nil {
			return nil, err
		}
		if len(all) == 1 {
			if out.Symbol, err = ref(ctx, s, all[0].match.Symbol()); err != nil {
				return nil, err
			}
		}
		source := sources{}
		var shown []adapters.Place
		for _, a := range all {
			sortHits(s.Root(), a.hits)
			source.none(a)
			for _, h := range a.hits {
				out.Total++
				source.add(h.Source)
				if in.Limit > 0 && len(out.Locations) >= in.Limit {
					continue
				}
				p := api.Place{Location: location(s.Root(), h.Place, true), IsDeclaration: h.IsDeclaration, UsageKind: h.Usage}
				if len(all) > 1 {
					p.SymbolID = string(a.match.Symbol().ID)
				}
				if h.Body != (graph.Span{}) {
					body := span(h.Place.File, h.Body)
					p.BodyRange = &body
				}
				p.Source = h.Source
				out.Locations = append(out.Locations, p)
				shown = append(shown, h.Place)
			}
		}
		out.Truncated = out.Total > len(out.Locations)
		out.Trust = fresh(ctx, s, source.trust(s), shown)
		if out.Source != mixed {
			for i := range out.Locations {
				out.Locations[i].Source = ""
			}
		}
		return out, nil
	}
}

// symbols makes the handler of an operation that lists symbols.
func symbols(name string, q question) Query {
	return func(ctx context.Context, s *workbench.Session, input any) (any, error) {
		in := navigationOf(input)
		all, matches, err := ask(ctx, s, in, name, q)
		if err != nil {
			return nil, err
		}
		out := &api.Symbols{Operation: name, Symbols: []api.SymbolEntry{}}
		if out.Candidates, err = candidates(ctx, s, matches); err != nil {
			return nil, err
		}
		if len(all) == 1 {
			if out.Symbol, err = ref(ctx, s, all[0].match.Symbol()); err != nil {
				return nil, err
			}
		}
		source := sources{}
		var shown []adapters.Place
		for _, a := range all {
			source.none(a)
			for _, h := range a.hits {
				out.Total++
				source.add(h.Source)
				if in.Limit > 0 && len(out.Symbols) >= in.Limit {
					continue
				}
				out.Symbols = append(out.Symbols, symbolEntry(s.Root(), h))
				shown = append(append(shown, h.Place), h.Ranges...)
			}
		}
		out.Truncated = out.Total > len(out.Symbols)
		out.Trust = fresh(ctx, s, source.trust(s), shown)
		return out, nil
	}
}

// symbolEntry converts a hit that is a symbol.
func symbolEntry(root string, h adapters.Hit) api.SymbolEntry {
	var e api.SymbolEntry
	if h.Symbol != nil {
		e = entry(root, *h.Symbol, h.Place.File)
	} else if content := h.Place.File.Content(); h.Place.Span.End <= len(content) {
		e.Name = string(content[h.Place.Span.Start:h.Place.Span.End]) // a declaration that syntax does not list
	}
	e.Location = location(root, h.Place, true)
	e.Depth, e.FromSymbolID = h.Depth, string(h.From)
	for _, r := range h.Ranges {
		e.Ranges = append(e.Ranges, location(root, r, true))
	}
	return e
}

// sortHits orders places: the workspace before the outside, then by path and position.
func sortHits(root string, hits []adapters.Hit) {
	slices.SortStableFunc(hits, func(a, b adapters.Hit) int {
		if c := cmp.Compare(outside(root, a), outside(root, b)); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Place.Path, b.Place.Path); c != 0 {
			return c
		}
		return cmp.Compare(a.Place.Span.Start, b.Place.Span.Start)
	})
}

func outside(root string, h adapters.Hit) int {
	if relative(root, h.Place.Path) == h.Place.Path {
		return 1
	}
	return 0
}

// ref names a symbol in an answer.
func ref(ctx context.Context, s *workbench.Session, sym graph.Symbol) (*api.SymbolRef, error) {
	if sym.Path == "" {
		return nil, nil // nobody says where it is declared
	}
	f, err := s.File(ctx, sym.Path)
	if err != nil {
		return nil, err
	}
	return reference(s.Root(), sym, f), nil
}

// fresh marks an answer as stale when a file in it has changed since it was
// looked at.
func fresh(ctx context.Context, s *workbench.Session, t api.Trust, shown []adapters.Place) api.Trust {
	seen := map[string]bool{}
	for _, p := range shown {
		if seen[p.Path] {
			continue
		}
		seen[p.Path] = true
		if s.Newer(ctx, p.Path, p.File) {
			t.Stale = true
			t.Warnings = append(t.Warnings, s.Relative(p.Path)+" has changed while this was answered; ask again")
		}
	}
	return t
}

const mixed = "mixed"

// sources gathers where the entries of an answer came from.
type sources map[string]bool

func (c sources) add(source string) {
	if source == "" {
		source = "server"
	}
	c[source] = true
}

// none adds where it was looked when nothing was found.
func (c sources) none(a answered) {
	if len(a.hits) == 0 {
		c.add(a.none)
	}
}

// trust sums up: one source by its name, several as mixed.
func (c sources) trust(s *workbench.Session) api.Trust {
	t := api.Trust{Source: "server"}
	for name := range c {
		t.Source = name
	}
	if len(c) > 1 {
		t.Source = mixed
	}
	t.Complete, t.Warnings = s.Notes()
	t.Unserved = s.Refused()
	if t.Warnings == nil {
		t.Warnings = []string{}
	}
	return t
}
