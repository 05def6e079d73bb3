package python

import (
	"context"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// lookup is the role of questions about single places.
const lookup = adapters.Navigate

// handed refuses a parameter whose argument comes by its name from a decorator,
// which pyright does not see.
func (r *renamer) handed(ctx context.Context) error {
	fn, seen, err := owner(ctx, r.Bench, r.Symbol)
	if err != nil || !seen {
		return err
	}
	if byPytest(fn) {
		return nil // see fixtures
	}
	for _, a := range fn.Attributes {
		if mentionsName(a, r.Symbol.Name) {
			return recipe.Refuse(adapters.Unsupported, "%s gets its argument %s by that name from %s, which would not follow", last(fn.Qualified), r.Symbol.Name, recipe.Printable(firstLine(a)))
		}
	}
	return nil
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
