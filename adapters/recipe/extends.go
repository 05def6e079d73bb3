package recipe

import (
	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// FirstParameter is adapters.Language.Extends where functions extend the type
// that they take first.
func FirstParameter(s graph.Symbol) (string, adapters.Extension) {
	if s.Kind != graph.KindFunction || len(s.Params) == 0 {
		return "", ""
	}
	return s.Params[0], adapters.ByFirstParameter
}
