package rust

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

// Adapter is the Rust language.
type Adapter struct{ spec *syntax.Spec }

// New returns the Rust language.
func New() *Adapter { return &Adapter{spec: spec()} }

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Namer   = (*Adapter)(nil)
)

// Language implements adapters.Adapter.
func (*Adapter) Language() adapters.Language {
	return adapters.Language{
		ID:         "rust",
		Name:       "Rust",
		Extensions: []string{".rs"},
		LanguageID: map[string]string{".rs": "rust"},
		Markers:    []string{"Cargo.toml", "rust-project.json"},
		TestFile:   isTest,
		Generated:  isGenerated,
		Separator:  "::",
		Extends:    extends,
		// Building a crate runs its build script and the macros of its dependencies,
		// with the compiler and flags that these files name.
		Trust: []string{"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "config.toml", "rust-project.json", "rust-analyzer.toml", ".rust-analyzer.toml"},
	}
}

// Syntax implements adapters.Adapter.
func (a *Adapter) Syntax() *syntax.Spec { return a.spec }

// Engines implements adapters.Adapter.
func (*Adapter) Engines() []adapters.Engine { return []adapters.Engine{analyzer()} }

// isTest reports whether a file is built for tests only: what cargo builds from
// tests and benches, and the modules that are named for it by convention.
func isTest(path string) bool {
	base := filepath.Base(path)
	if base == "tests.rs" || base == "test.rs" || strings.HasSuffix(base, "_test.rs") || strings.HasSuffix(base, "_tests.rs") {
		return true
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return slices.Contains(dirs, "tests") || slices.Contains(dirs, "benches")
}

// isGenerated reports whether a comment at the head of a file says that a tool writes it.
func isGenerated(content []byte) bool { return recipe.Generated(content, "//", "/*", "*") }

// keywords of the Rust reference, strict and reserved, of all editions; what is
// a keyword in some places only (union, macro_rules, safe, raw) may be a name.
var keywords = []string{
	"as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn", "for",
	"gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self", "static",
	"struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
	"abstract", "become", "box", "do", "final", "macro", "override", "priv", "try", "typeof", "unsized", "virtual", "yield",
}

// CheckName implements adapters.Namer: what the Rust reference calls an
// identifier, raw ones included, without keywords and the underscore.
func (*Adapter) CheckName(_ graph.Symbol, name string) error {
	plain, raw := strings.CutPrefix(name, "r#")
	switch {
	case name == "":
		return &adapters.Refusal{Reason: adapters.InvalidName, Message: "the new name is empty; give a Rust identifier"}
	case !utf8.ValidString(name):
		return recipe.InvalidName(name, "is not valid UTF-8")
	case plain == "_":
		return recipe.InvalidName(name, "names nothing in Rust; choose another name")
	case raw && slices.Contains([]string{"crate", "self", "super", "Self"}, plain):
		return recipe.InvalidName(name, "is not allowed even as a raw identifier; choose another name")
	case !raw && slices.Contains(keywords, name):
		return recipe.InvalidName(name, "is a keyword of Rust; choose another name or write r#"+name)
	case !isIdentifier(plain):
		return recipe.InvalidName(name, "is not a Rust identifier: letters, digits and underscores, not beginning with a digit")
	}
	return nil
}

// isIdentifier follows Unicode's XID_Start and XID_Continue.
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

// extends tells the type for which a member implements a trait: the part of the
// name that is written <Type as Trait>.
func extends(s graph.Symbol) (string, adapters.Extension) {
	_, written, _ := strings.Cut(s.Qualified, "<")
	if typ, _, ok := strings.Cut(written, " as "); ok {
		return typ, adapters.ByImplementation
	}
	return "", ""
}
