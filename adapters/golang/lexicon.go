package golang

import (
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Lexicon implements recipe.Lexical: how names are looked up where no server
// can be asked.
func (a *Adapter) Lexicon() recipe.Lexicon { return lexicon() }

func lexicon() recipe.Lexicon {
	return recipe.Lexicon{
		Rules:      recipe.Rules{Blocks: true, Sequential: true, Imports: true},
		Usage:      usage,
		Reach:      nameable,
		Folders:    true,
		Structural: true,
	}
}

// nameable says from where the compiler lets a declaration be named.
func nameable(s graph.Symbol) recipe.Reach {
	switch s.Visibility {
	case internal:
		return recipe.InFolder
	case private:
		return recipe.InFile
	}
	return recipe.Anywhere
}
