package op

import (
	"context"
	"errors"
	"fmt"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
)

// find asks the server, and where none can be asked the symbol graph; the
// answer then says why.
func find(ctx context.Context, s *workbench.Session, b *workbench.Bench, name string, q question, t adapters.Target) (adapters.Found, error) {
	lang := b.Adapter()
	byGraph := q(recipe.ByGraph(recipe.LexiconOf(lang)))
	if t.Symbol.Path == "" {
		found, err := byGraph.Run(ctx, b, t)
		if errors.Is(err, recipe.ErrNoServer) {
			return found, api.Errorf(api.SymbolNotFound, "%s is not declared in this workspace, and no language server says where; give filePath, line and column of a use", t.Symbol.Name)
		}
		s.Warn(fmt.Sprintf("%s is not declared in this workspace: these are the places that write its name", t.Symbol.Name))
		return found, err
	}
	found, err := q(lang.Recipes()).Run(ctx, b, t)
	why, unserved := api.Unserved(err)
	if !unserved {
		if err == nil && found.Source == "" {
			sample(ctx, s, b, name, q, t, found)
		}
		return found, err
	}
	known, err := byGraph.Run(ctx, b, t)
	if errors.Is(err, recipe.ErrNoServer) {
		return found, why
	}
	s.Unserved(lang.Language().ID, why)
	s.Warn(why.Message)
	return known, err
}
