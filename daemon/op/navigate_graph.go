package op

import (
	"context"
	"errors"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
)

// find asks the server, and where none can be asked the symbol graph; the
// answer then says why.
func find(ctx context.Context, s *workbench.Session, b *workbench.Bench, q question, t adapters.Target) (adapters.Found, error) {
	lang := b.Adapter()
	found, err := q(lang.Recipes()).Run(ctx, b, t)
	why, unserved := api.Unserved(err)
	if !unserved {
		return found, err
	}
	known, err := q(recipe.ByGraph(recipe.LexiconOf(lang))).Run(ctx, b, t)
	if errors.Is(err, recipe.ErrNoServer) {
		return found, why
	}
	s.Unserved(lang.Language().ID, why)
	s.Warn(why.Message)
	return known, err
}
