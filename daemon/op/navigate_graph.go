package op

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
)

// find asks the server, and where none can be asked the symbol graph; the
// answer then says why.
func find(ctx context.Context, s *workbench.Session, b *workbench.Bench, name string, q question, t adapters.Target) (adapters.Found, error) {
	lang := b.Adapter()
	byGraph := func() (adapters.Found, error) {
		return q(recipe.ByGraph(recipe.LexiconOf(lang))).Run(ctx, b, t)
	}
	if t.Symbol.Path == "" {
		found, err := byGraph()
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
	known, err := byGraph()
	if errors.Is(err, recipe.ErrNoServer) {
		return found, why
	}
	s.Unserved(lang.Language().ID, why)
	s.Warn(why.Message)
	return known, err
}

// withUse completes the uses of what is declared outside the workspace. Asked
// at the declaration, some servers tell of its own files only: the one use that
// is known must be among the answers, or it is asked there.
func withUse(ctx context.Context, s *workbench.Session, b *workbench.Bench, name string, t adapters.Target, m resolve.Match, found adapters.Found) (adapters.Found, error) {
	switch name {
	case "references", "usages":
	default:
		return found, nil
	}
	known := func(f adapters.Found) bool {
		return slices.ContainsFunc(f.Hits, func(h adapters.Hit) bool { return h.Place.Path == m.From && h.Place.Span.Start == m.Use.Start })
	}
	if known(found) {
		return found, nil
	}
	sym := t.Symbol
	t.Symbol.Path, t.Symbol.NameSpan = m.From, m.Use
	again, err := find(ctx, s, b, "references", references, t)
	usage := recipe.LexiconOf(b.Adapter()).Usage
	for i := range again.Hits {
		// It was asked at a use, which is no declaration.
		h := &again.Hits[i]
		declared, ok := recipe.SymbolAt(ctx, b, h.Place)
		h.IsDeclaration = ok && !s.Inside(h.Place.Path) && declared.Name == sym.Name
		if h.Usage == "" && !h.IsDeclaration && usage != nil {
			h.Usage = usage(sym, h.Place)
		}
	}
	if name == "usages" {
		again.Hits = slices.DeleteFunc(again.Hits, func(h adapters.Hit) bool { return h.IsDeclaration })
	}
	if err != nil || !known(again) {
		s.Incomplete(fmt.Sprintf("the server does not list every use of %s, which is declared outside the workspace", t.Symbol.Name))
	}
	if err != nil || !known(again) {
		return found, nil
	}
	return again, nil
}
