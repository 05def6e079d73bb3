package python

import (
	"context"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// maxImports bounds how many imports of a file are looked at.
const maxImports = 30

// unresolved warns of the modules that a symbol's file imports and pyright
// does not find: without the environment that has them, what passes through
// them is unknown.
func unresolved(ctx context.Context, b adapters.Bench, sym graph.Symbol) error {
	tree, err := b.Tree(ctx, sym.Path)
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	var missing []string
	for _, im := range tree.Imports {
		top, _, _ := strings.Cut(im.Path, ".")
		if top == "" || asked[top] || len(asked) >= maxImports {
			continue // relative, or known
		}
		asked[top] = true
		for _, id := range tree.Named(top) {
			if id.Span.Start < im.Span.Start || id.Span.End > im.Span.End {
				continue
			}
			places, err := recipe.Locate(ctx, b, lookup, "textDocument/definition", graph.Symbol{Path: sym.Path, NameSpan: id.Span}, nil)
			if err != nil {
				return err
			}
			if len(places) == 0 {
				missing = append(missing, top)
			}
			break
		}
	}
	if len(missing) > 0 {
		b.Warn("modules that " + recipe.Relative(b, sym.Path) + " imports are not found, and what passes through them is unknown: " + recipe.Listed(missing, 5) +
			"; activate the Python environment that has them, or make one in .venv")
	}
	return nil
}
