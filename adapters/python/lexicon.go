package python

import (
	"github.com/auralsp/aura/adapters/recipe"
)

// Lexicon implements recipe.Lexical: how names are looked up where no server
// can be asked.
func (a *Adapter) Lexicon() recipe.Lexicon {
	return recipe.Lexicon{
		Rules: recipe.Rules{Imports: true, Roots: true},
		Usage: usage,
	}
}
