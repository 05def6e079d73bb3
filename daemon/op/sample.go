package op

import (
	"context"
	"slices"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/daemon/workbench"
)

const (
	// sampledPlaces is the longest answer that is compared.
	sampledPlaces = 50
	// sampleBudget bounds the time that a comparison takes from an answer.
	sampleBudget = 20 * time.Millisecond
)

// quiet is a bench whose notes are not those of the answer.
type quiet struct{ *workbench.Bench }

func (quiet) Incomplete(string) {}
func (quiet) Warn(string)       {}

// sample compares now and then what a server answered with what the symbol
// graph knows, and counts it: how far answers without a server can be trusted
// is then a number in the status. It asks no server.
func sample(ctx context.Context, s *workbench.Session, b *workbench.Bench, name string, q question, t adapters.Target, found adapters.Found) {
	switch name {
	case "definition", "references", "usages":
	default:
		return
	}
	if whole, _ := s.Notes(); !whole || len(found.Hits) > sampledPlaces || !s.Inside(t.Symbol.Path) || !s.Workspace().Due() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sampleBudget)
	defer cancel()
	known, err := q(recipe.ByGraph(recipe.LexiconOf(b.Adapter()))).Run(ctx, quiet{b}, t)
	if err != nil || ctx.Err() != nil {
		return // too much to look at by the way
	}
	s.Workspace().Compared(name, lacks(found.Hits, known.Hits), lacks(known.Hits, found.Hits))
}

// lacks counts the places of one answer that another does not have.
func lacks(of, in []adapters.Hit) int {
	n := 0
	for _, h := range of {
		if !slices.ContainsFunc(in, func(other adapters.Hit) bool {
			return other.Place.Path == h.Place.Path && other.Place.Span.Start == h.Place.Span.Start
		}) {
			n++
		}
	}
	return n
}
