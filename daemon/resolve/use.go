package resolve

import (
	"context"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// use is the refusal of a server to say what a name at a place means.
type use struct {
	bench *workbench.Bench
	path  string
	name  syntax.Ident
	why   *api.Error
}

// Error implements error.
func (u *use) Error() string { return u.why.Error() }

// Unwrap returns the server's refusal.
func (u *use) Unwrap() error { return u.why }

// byGraph finds what the name means without a server.
func (u *use) byGraph(ctx context.Context, s *workbench.Session) ([]Match, error) {
	lang := u.bench.Adapter()
	at := graph.Symbol{Name: u.name.Name, Language: lang.Language().ID, Path: u.path, NameSpan: u.name.Span}
	found, err := recipe.ByGraph(recipe.LexiconOf(lang)).Definition.Run(ctx, u.bench, adapters.Target{Symbol: at})
	if err != nil {
		return nil, err
	}
	if len(found.Hits) == 0 {
		return nil, u.why
	}
	s.Unserved(lang.Language().ID, u.why)
	s.Warn(u.why.Message)
	places := make([]adapters.Place, len(found.Hits))
	for i, h := range found.Hits {
		places[i] = h.Place
	}
	return placedAll(ctx, s, u.bench, places, api.Address{SymbolName: u.name.Name})
}
