package python

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// byPytest reports whether pytest calls a function, and gives it its arguments
// by the names of its parameters: tests, fixtures, and hooks.
func byPytest(fn graph.Symbol) bool {
	base := filepath.Base(fn.Path)
	switch {
	case isFixture(fn):
		return true
	case base == "conftest.py" && strings.HasPrefix(fn.Name, "pytest_"):
		return true
	}
	return strings.HasPrefix(fn.Name, "test") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}

// fixtureMark matches the decorator of a fixture.
var fixtureMark = regexp.MustCompile(`^@?\s*(?:\w+\.)*fixture\b`)

// isFixture reports whether a function is a fixture that is known by its own name.
func isFixture(fn graph.Symbol) bool {
	return (fn.Kind == graph.KindFunction || fn.Kind == graph.KindMethod) && slices.ContainsFunc(fn.Attributes, func(a string) bool {
		return fixtureMark.MatchString(strings.TrimSpace(a)) && !strings.Contains(a, "name=")
	})
}

// fixtures takes a fixture with all parameters that ask for it by its name, or
// a parameter with the fixture that it asks for. It reports whether pytest
// knows the symbol by its name.
func (r *renamer) fixtures(ctx context.Context) (bool, error) {
	asks := false // the symbol is a parameter
	switch {
	case isFixture(r.Symbol):
	case r.Symbol.Kind == graph.KindParameter:
		fn, seen, err := owner(ctx, r.Bench, r.Symbol)
		if err != nil || !seen || !byPytest(fn) || r.Symbol.Name == "self" || r.Symbol.Name == "cls" {
			return false, err
		}
		if slices.ContainsFunc(fn.Attributes, func(a string) bool { return mentionsName(a, r.Symbol.Name) }) {
			r.pytest = []string{"parametrize("} // its values stand in the decorator
			return true, nil
		}
		asks = true
	default:
		return false, nil
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return false, err
	}
	var found []graph.Symbol
	for _, src := range pages {
		for _, s := range src.Tree.Symbols {
			if s.Name == r.Symbol.Name && isFixture(s) {
				found = append(found, s)
			}
		}
	}
	if asks && len(found) == 0 {
		return false, recipe.Refuse(adapters.Unsupported, "pytest gives %s its argument by that name, from a fixture outside this workspace; under another name it would find none", r.Symbol.Name)
	}
	taken, err := r.Bench.Graph().ByName(ctx, r.In.NewName)
	if err != nil {
		return false, err
	}
	for _, s := range taken {
		if isFixture(s) {
			return false, recipe.Refuse(adapters.NameConflict, "%s is a fixture already (%s); choose another name", s.Name, recipe.Relative(r.Bench, s.Path))
		}
	}
	for _, f := range found {
		r.add(f)
	}
	for _, src := range pages {
		for _, p := range src.Tree.Symbols {
			if p.Kind == graph.KindParameter && p.Name == r.Symbol.Name && requests(src.Tree, p) {
				r.add(p)
			}
		}
	}
	r.pytest = []string{"usefixtures(", "getfixturevalue("}
	if n := len(r.Members); n > 1 {
		r.Warn("%s is a fixture of pytest: it is renamed with the %d parameters that ask for it", r.Symbol.Name, n-len(found))
	}
	return true, nil
}

// requests reports whether pytest fills a parameter with the fixture of its name.
func requests(t *syntax.Tree, p graph.Symbol) bool {
	return slices.ContainsFunc(t.Symbols, func(fn graph.Symbol) bool {
		return fn.Qualified == p.Container && fn.Decl.Start < p.NameSpan.Start && p.NameSpan.End <= fn.Body.Start && byPytest(fn) &&
			!slices.ContainsFunc(fn.Attributes, func(a string) bool { return mentionsName(a, p.Name) && !strings.Contains(a, "usefixtures") })
	})
}

// requested changes the strings that give pytest the name.
func (r *renamer) requested(ctx context.Context) error {
	if len(r.pytest) == 0 {
		return nil
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return err
	}
	for _, src := range pages {
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if m.Token.Kind != syntax.String || r.Edits.Covers(src.Path, m.Span) {
				continue
			}
			before := statement(src.Content[max(0, m.Token.Span.Start-around):m.Token.Span.Start])
			call := slices.IndexFunc(r.pytest, func(w string) bool { return strings.Contains(before.text, w) })
			if call < 0 || before.depth() == 0 {
				continue
			}
			if r.pytest[call] == "parametrize(" {
				args := before.text[strings.LastIndex(before.text, "parametrize(")+len("parametrize("):]
				if !r.decorates(src, m.Span.Start) || !first(args) {
					continue
				}
			} else if string(bytes.Trim(src.Content[m.Token.Span.Start:m.Token.Span.End], `"'`)) != r.Symbol.Name {
				continue
			}
			r.Edits.Add(src.Path, m.Span, r.In.NewName)
		}
	}
	return nil
}

// decorates reports whether an offset lies in the decorators of the function
// that has the renamed parameter.
func (r *renamer) decorates(src *source, at int) bool {
	if src.Path != r.Symbol.Path {
		return false
	}
	return slices.ContainsFunc(src.Tree.Symbols, func(fn graph.Symbol) bool {
		return fn.Qualified == r.Symbol.Container && fn.Decl.Start < r.Symbol.NameSpan.Start && r.Symbol.NameSpan.End <= fn.Body.Start &&
			fn.Whole.Start <= at && at < fn.NameSpan.Start
	})
}

// first reports whether code in a call has not left its first argument.
func first(args string) bool {
	depth := 0
	for _, c := range args {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return false
			}
		}
	}
	return true
}
