package syntaxtest

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax"
)

// Nested is code that can be nested: what opens a level, what stands in the
// middle, what closes one.
type Nested struct{ Open, Middle, Shut string }

// Suite is what every language that is read by its grammar alone must pass: the
// goldens of testdata/syntax, readers that are shared, broken text, and code
// that is nested too deep, as a file of the given name.
func Suite(t *testing.T, spec *syntax.Spec, path string, nested ...Nested) {
	t.Run("golden", func(t *testing.T) { Golden(t, spec) })
	t.Run("shared", func(t *testing.T) { Shared(t, spec, 20) })
	t.Run("broken", func(t *testing.T) { Mutate(t, spec, 1, 100) })
	t.Run("deep", func(t *testing.T) {
		for _, n := range nested {
			Deep(t, spec, path, n.Open, n.Middle, n.Shut)
		}
	})
}
