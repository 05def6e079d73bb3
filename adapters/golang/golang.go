package golang

import (
	"bytes"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Adapter is the Go language.
type Adapter struct{ spec *syntax.Spec }

// New returns the Go language.
func New() *Adapter { return &Adapter{spec: spec()} }

var (
	_ adapters.Adapter = (*Adapter)(nil)
	_ adapters.Builder = (*Adapter)(nil)
	_ adapters.Namer   = (*Adapter)(nil)
)

// Language implements adapters.Adapter.
func (*Adapter) Language() adapters.Language {
	return adapters.Language{
		ID:         "go",
		Name:       "Go",
		Extensions: []string{".go"},
		LanguageID: map[string]string{".go": "go", ".mod": "go.mod", ".sum": "go.sum", ".work": "go.work"},
		Markers:    []string{"go.work", "go.mod"},
		TestFile:   isTest,
		Generated:  isGenerated,
		Separator:  ".",
		Structural: func(s graph.Symbol) bool { return s.Kind == graph.KindInterface },
		Extends:    extends,
		// Nothing lapses trust: a go.mod or go.work can only choose among Go's own
		// releases and checksummed modules, and flags come from the user's environment.
		Trust: nil,
	}
}

// Syntax implements adapters.Adapter.
func (a *Adapter) Syntax() *syntax.Spec { return a.spec }

// Engines implements adapters.Adapter.
func (*Adapter) Engines() []adapters.Engine { return []adapters.Engine{gopls()} }

// extends tells the type of a method's receiver or of a function's first parameter.
func extends(s graph.Symbol) (string, adapters.Extension) {
	if s.Kind == graph.KindMethod && s.Container != "" && !slices.Contains(s.Modifiers, "abstract") {
		return s.Container[strings.LastIndexByte(s.Container, '/')+1:], adapters.ByMethod
	}
	return recipe.FirstParameter(s)
}

func isTest(path string) bool { return strings.HasSuffix(filepath.Base(path), "_test.go") }

// generated is the line that marks generated code (go.dev/s/generatedcode).
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// isGenerated reports whether a file says, before its package clause, that a tool writes it.
func isGenerated(content []byte) bool {
	at := generated.FindIndex(content)
	if at == nil {
		return false
	}
	head := content[:at[0]]
	return !bytes.HasPrefix(head, []byte("package ")) && !bytes.Contains(head, []byte("\npackage "))
}

// CheckName implements adapters.Namer: what the Go specification calls an
// identifier, without keywords and the blank identifier.
func (*Adapter) CheckName(sym graph.Symbol, name string) error {
	invalid := func(why string) error {
		return recipe.InvalidName(name, why)
	}
	switch {
	case name == "":
		return &adapters.Refusal{Reason: adapters.InvalidName, Message: "the new name is empty; give a Go identifier"}
	case token.IsKeyword(name):
		return invalid("is a keyword of Go; choose another name")
	case name == "_":
		return invalid("is Go's blank identifier and names nothing; choose another name")
	case !utf8.ValidString(name):
		return invalid("is not valid UTF-8")
	case !token.IsIdentifier(name):
		return invalid("is not a Go identifier: letters, digits and underscores, not beginning with a digit")
	case name == "init" && (sym.Kind == graph.KindFunction || !sym.Local && sym.Container == "" && sym.Kind != graph.KindPackage):
		return invalid("is reserved: Go runs functions of that name by itself and lets nothing else at package level have it")
	case name == "main" && sym.Kind == graph.KindFunction:
		return invalid("is where a Go program starts; choose another name")
	}
	return nil
}
