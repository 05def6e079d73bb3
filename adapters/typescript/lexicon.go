package typescript

import (
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Lexicon implements recipe.Lexical: how names are looked up where no server
// can be asked.
func (a *Adapter) Lexicon() recipe.Lexicon {
	return recipe.Lexicon{
		Rules:    recipe.Rules{Blocks: true, Imports: true},
		Usage:    usage,
		Reach:    nameable,
		Literals: true,
	}
}

// nameable says from where the compiler lets a declaration be named. What a file
// declares may be exported by another statement.
func nameable(s graph.Symbol) recipe.Reach {
	switch s.Kind {
	case graph.KindProperty, graph.KindMethod:
		if s.Visibility == private {
			return recipe.InFile
		}
	}
	return recipe.Anywhere
}
