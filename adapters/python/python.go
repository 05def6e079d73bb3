package python

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Adapter is the Python language.
type Adapter struct{ spec *syntax.Spec }

// New returns the Python language.
func New() *Adapter { return &Adapter{spec: spec()} }

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Builder = (*Adapter)(nil)
	_ adapters.Namer   = (*Adapter)(nil)
)

// markers are the files that make a folder a project, the most telling first.
var markers = []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg"}

// Language implements adapters.Adapter.
func (*Adapter) Language() adapters.Language {
	return adapters.Language{
		ID:         "python",
		Name:       "Python",
		Extensions: []string{".py", ".pyi"},
		LanguageID: map[string]string{".py": "python", ".pyi": "python"},
		Markers:    markers,
		TestFile:   isTest,
		Generated:  isGenerated,
		Separator:  ".",
		Structural: func(s graph.Symbol) bool {
			return slices.ContainsFunc(s.Bases, func(base string) bool { return slices.Contains(graph.BaseNames(base), "Protocol") })
		},
		Extends: recipe.FirstParameter,
		Trust:   []string{"setup.py", "pyproject.toml", "setup.cfg", "pyrightconfig.json", "mypy.ini"},
	}
}

// Syntax implements adapters.Adapter.
func (a *Adapter) Syntax() *syntax.Spec { return a.spec }

// Engines implements adapters.Adapter.
func (*Adapter) Engines() []adapters.Engine { return []adapters.Engine{pyright()} }

// isTest follows the rules by which pytest and unittest find tests, and what
// serves nothing but them.
func isTest(path string) bool {
	base := filepath.Base(path)
	if strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "conftest.py" {
		return true
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return slices.Contains(dirs, "tests") || slices.Contains(dirs, "test")
}

// isGenerated reports whether a comment at the head of a file says that a tool writes it.
func isGenerated(content []byte) bool { return recipe.Generated(content, "#") }

// keywords of the language reference, section 2.3.1; the soft ones (match,
// case, type, _) may be names.
var keywords = []string{
	"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
	"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
	"pass", "raise", "return", "try", "while", "with", "yield",
}

// CheckName implements adapters.Namer: what the language reference, section
// 2.3, calls an identifier, without keywords.
func (*Adapter) CheckName(sym graph.Symbol, name string) error {
	invalid := func(why string) error { return recipe.InvalidName(name, why) }
	switch {
	case name == "":
		return &adapters.Refusal{Reason: adapters.InvalidName, Message: "the new name is empty; give a Python identifier"}
	case slices.Contains(keywords, name):
		return invalid("is a keyword of Python; choose another name")
	case name == "_" && !sym.Local:
		return invalid("names nothing that others could find; choose another name")
	case name == "__debug__":
		return invalid("is a constant of Python that nothing may declare; choose another name")
	case !utf8.ValidString(name):
		return invalid("is not valid UTF-8")
	case !isIdentifier(name):
		return invalid("is not a Python identifier: letters, digits and underscores, not beginning with a digit")
	case dunder(name) && sym.Container != "" && !dunder(sym.Name):
		return invalid("is one of the names that Python calls by itself; choose another name")
	case mangled(name) && !mangled(sym.Name) && sym.Container != "":
		return invalid("would be private to its class: Python puts the class before a name of two underscores; choose another name")
	}
	return nil
}

// isIdentifier reports whether a name is one by the categories of Unicode that
// the reference lists.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r) {
			continue
		}
		if i > 0 && (unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || unicode.Is(unicode.Other_ID_Continue, r)) {
			continue
		}
		return false
	}
	return name != ""
}

// dunder reports whether a name has two underscores on both sides.
func dunder(name string) bool {
	return len(name) > 4 && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// mangled reports whether Python makes a name private to its class.
func mangled(name string) bool {
	return strings.HasPrefix(name, "__") && !strings.HasSuffix(name, "__")
}
