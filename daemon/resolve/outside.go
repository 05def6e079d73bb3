package resolve

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// maxUses bounds how many uses of a name servers are asked about.
const maxUses = 8

// Outside returns what the files of the workspace mean by a name that none of
// them declares: symbols of dependencies, of the standard library, built in.
// The server says where they are declared; what it does not say, or is not
// there to be asked, is a Match whose symbol has a name and a language only.
// No match means that no code uses the name.
func Outside(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	q := parse(a.SymbolName)
	if q.last == "" || a.SymbolID != "" || a.ContainingType != "" || a.FilePath != "" {
		return nil, nil
	}
	holders, err := s.Snapshot().Grep(ctx, q.last)
	if err != nil {
		return nil, err
	}
	byLanguage := map[string][]string{}
	var order []adapters.Adapter
	for _, path := range holders {
		lang, ok := s.Workspace().Language(path)
		if !ok || lang.Syntax().Missing != "" {
			continue
		}
		id := lang.Language().ID
		if byLanguage[id] == nil {
			order = append(order, lang)
		}
		byLanguage[id] = append(byLanguage[id], path)
	}
	var out []Match
	for _, lang := range order {
		found, err := outsideOf(ctx, s, lang, byLanguage[lang.Language().ID], q, a)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// outsideOf is Outside for one language.
func outsideOf(ctx context.Context, s *workbench.Session, lang adapters.Adapter, files []string, q query, a api.Address) ([]Match, error) {
	bench, err := s.BenchFor(ctx, files[0])
	if err != nil {
		return nil, err
	}
	id := lang.Language().ID
	uses, err := recipe.OutsideUses(ctx, bench, recipe.LexiconOf(lang), id, files, q.path, q.last, maxUses)
	if err != nil || len(uses) == 0 {
		return nil, err
	}
	var out []Match
	named := false // by the path that was asked for, somewhere
	for _, u := range uses {
		found, err := outsideAt(ctx, s, u)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			sym := m.Symbol()
			if !m.External || sym.Name != q.last || !Kind(sym, a.SymbolKind) || !u.Qualified && q.matches(sym.Qualified) == 0 {
				continue
			}
			if !slices.ContainsFunc(out, func(have Match) bool {
				return have.Symbol().Path == sym.Path && have.Symbol().Qualified == sym.Qualified
			}) {
				m.From, m.Use = u.Place.Path, u.Place.Span
				out = append(out, m)
			}
		}
		named = named || u.Qualified
	}
	if len(out) == 0 && named {
		out = []Match{{Declarations: []graph.Symbol{{Name: q.last, Qualified: q.full, Container: strings.Join(q.path, "."), Language: id}}, External: true, From: uses[0].Place.Path}}
	}
	return out, nil
}

// outsideAt asks the server what a use means. What it cannot say is nothing.
func outsideAt(ctx context.Context, s *workbench.Session, u recipe.OutsideUse) ([]Match, error) {
	bench, err := s.BenchFor(ctx, u.Place.Path)
	if err != nil {
		return nil, err
	}
	places, err := Definition(ctx, bench, u.Place.Path, u.Place.Span.Start)
	if why, ok := api.Unserved(err); ok {
		s.Unserved(bench.Adapter().Language().ID, why)
		s.Warn(why.Message)
		return nil, nil
	}
	if declined := adapters.ServerRefusal(nil); errors.As(err, &declined) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Match
	for _, p := range places {
		m, ok, err := placed(ctx, s, bench, p)
		if err != nil {
			return nil, err
		}
		switch same := slices.IndexFunc(out, func(have Match) bool {
			return ok && have.Symbol().Name == m.Symbol().Name && have.Symbol().Kind == m.Symbol().Kind
		}); {
		case !ok:
		case same >= 0: // declared in several places
			out[same].Declarations = append(out[same].Declarations, m.Declarations...)
		default:
			out = append(out, m)
		}
	}
	return out, nil
}
