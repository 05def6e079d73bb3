package typescript

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

// Adapter is the TypeScript and JavaScript language.
type Adapter struct{ spec *syntax.Spec }

// New returns the TypeScript and JavaScript language.
func New() *Adapter { return &Adapter{spec: spec()} }

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Namer   = (*Adapter)(nil)
)

var extensions = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

// Language implements adapters.Adapter.
func (*Adapter) Language() adapters.Language {
	return adapters.Language{
		ID:         "typescript",
		Name:       "TypeScript",
		Extensions: extensions,
		LanguageID: map[string]string{
			".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
			".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
		},
		Markers:    markers,
		TestFile:   isTest,
		Generated:  isGenerated,
		Separator:  ".",
		Structural: func(s graph.Symbol) bool { return s.Kind == graph.KindInterface },
		Extends:    recipe.FirstParameter,
		// A tsconfig names plugins, a package.json scripts, and the lock files what both load.
		Trust: []string{"tsconfig.json", "jsconfig.json", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", ".npmrc", ".yarnrc.yml"},
	}
}

// Syntax implements adapters.Adapter.
func (a *Adapter) Syntax() *syntax.Spec { return a.spec }

// isTest follows the patterns by which jest, vitest and node's runner find tests.
func isTest(path string) bool {
	base := filepath.Base(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if stem == "test" || strings.HasPrefix(stem, "test-") {
		return true
	}
	for _, suffix := range []string{".test", ".spec", "-test", "_test", ".test-d", ".cy"} {
		if strings.HasSuffix(stem, suffix) {
			return true
		}
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return slices.ContainsFunc(dirs, func(d string) bool { return d == "__tests__" || d == "__mocks__" || d == "test" || d == "tests" })
}

// isGenerated reports whether a comment at the head of a file says that a tool writes it.
func isGenerated(content []byte) bool { return recipe.Generated(content, "//", "/*", "*") }

// reserved words of ECMAScript, strict mode included: modules and classes are
// always strict.
var reserved = []string{
	"await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
	"export", "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return",
	"super", "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield",
	"let", "static", "implements", "interface", "package", "private", "protected", "public",
}

// predefined are the types that TypeScript refuses as the name of another.
var predefined = []string{
	"any", "bigint", "boolean", "never", "null", "number", "object", "string", "symbol", "undefined", "unknown", "void",
}

// CheckName implements adapters.Namer: what ECMAScript calls an identifier, or
// a private name for a private member, without the words that it reserves. A
// property may have a reserved word for its name, but an object written with a
// shorthand could not follow.
func (*Adapter) CheckName(sym graph.Symbol, name string) error {
	plain, hash := strings.CutPrefix(name, "#")
	wasPrivate := strings.HasPrefix(sym.Name, "#")
	switch {
	case name == "":
		return &adapters.Refusal{Reason: adapters.InvalidName, Message: "the new name is empty; give an identifier"}
	case !utf8.ValidString(name):
		return recipe.InvalidName(name, "is not valid UTF-8")
	case hash && !wasPrivate:
		return recipe.InvalidName(name, "is private by its name, and "+recipe.Printable(sym.Name)+" is not; choose another name")
	case !hash && wasPrivate:
		return recipe.InvalidName(name, "lacks the # of a private member; write #"+recipe.Printable(name))
	case slices.Contains(reserved, plain):
		return recipe.InvalidName(name, "is reserved in JavaScript; choose another name")
	case plain == "eval" || plain == "arguments" || plain == "undefined":
		return recipe.InvalidName(name, "may not be declared in JavaScript; choose another name")
	case plain == "constructor" && sym.Container != "":
		return recipe.InvalidName(name, "is what a class calls its constructor; choose another name")
	case slices.Contains(predefined, name) && isType(sym.Kind):
		return recipe.InvalidName(name, "is a type of TypeScript's own; choose another name")
	case !isIdentifier(plain):
		return recipe.InvalidName(name, "is not an identifier: letters, digits, $ and underscores, not beginning with a digit")
	}
	return nil
}

func isType(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindInterface, graph.KindTypeAlias, graph.KindEnum, graph.KindTypeParam:
		return true
	}
	return false
}

// isIdentifier follows Unicode's ID_Start and ID_Continue, $ and the joiners.
func isIdentifier(name string) bool {
	for i, r := range name {
		if r == '_' || r == '$' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r) {
			continue
		}
		if i > 0 && (r == '\u200c' || r == '\u200d' || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || unicode.Is(unicode.Other_ID_Continue, r)) {
			continue
		}
		return false
	}
	return name != ""
}
