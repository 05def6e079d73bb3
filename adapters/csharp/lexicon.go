package csharp

import (
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Lexicon implements recipe.Lexical: how names are looked up where no server
// can be asked.
func (a *Adapter) Lexicon() recipe.Lexicon {
	return recipe.Lexicon{
		Rules: recipe.Rules{Blocks: true, NoShadow: true, Implicit: true, Namespaces: true},
		Usage: usage,
		Calls: called,
		Reach: nameable,
	}
}

// nameable says from where the compiler lets a declaration be named.
func nameable(s graph.Symbol) recipe.Reach {
	if s.Visibility == private {
		return recipe.InType
	}
	return recipe.Anywhere
}
