package python

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// lookup is the role of questions about single places.
const lookup = adapters.Navigate

// handed refuses a parameter whose argument comes by its name from code that
// pyright does not see: pytest's fixtures, and decorators that were told the name.
func (r *renamer) handed(ctx context.Context) error {
	fn, seen, err := owner(ctx, r.b, r.sym)
	if err != nil || !seen {
		return err
	}
	name := r.sym.Name
	if name == "self" || name == "cls" {
		return nil
	}
	if byPytest(fn) {
		return refuse(adapters.Unsupported, "pytest gives %s its argument %s by that name: it is a fixture, or named in a decorator; rename the fixture with everything that takes it by hand", last(fn.Qualified), name)
	}
	for _, a := range fn.Attributes {
		if mentionsName(a, name) {
			return refuse(adapters.Unsupported, "%s gets its argument %s by that name from %s, which would not follow", last(fn.Qualified), name, recipe.Printable(firstLine(a)))
		}
	}
	return nil
}

// byPytest reports whether pytest calls a function: tests, and fixtures.
func byPytest(fn graph.Symbol) bool {
	if slices.ContainsFunc(fn.Attributes, func(a string) bool { return strings.Contains(a, "fixture") }) {
		return true
	}
	base := filepath.Base(fn.Path)
	if base == "conftest.py" && strings.HasPrefix(fn.Name, "pytest_") {
		return true
	}
	return strings.HasPrefix(fn.Name, "test") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}

// mentionsName reports whether a decorator is given a name in a string, as it
// is or as an option of a command line: "--dry-run" becomes dry_run.
func mentionsName(decorator, name string) bool {
	for i := 0; i < len(decorator); i++ {
		if c := decorator[i]; c != '"' && c != '\'' {
			continue
		}
		end := literal([]byte(decorator), i)
		word := strings.ToLower(strings.ReplaceAll(decorator[i:min(end+1, len(decorator))], "-", "_"))
		for _, part := range strings.FieldsFunc(word, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c < 0x80 }) {
			if strings.Trim(part, "_") == strings.Trim(strings.ToLower(name), "_") {
				return true
			}
		}
		i = end
	}
	return false
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}
