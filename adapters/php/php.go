package php

import (
	_ "embed" // the query
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

//go:embed php.scm
var query string

// New returns the PHP language.
func New() *recipe.Grammar {
	return recipe.NewGrammar(adapters.Language{
		ID: "php", Name: "PHP", Extensions: []string{".php", ".phtml"}, LanguageID: map[string]string{".php": "php", ".phtml": "php"},
		Markers: []string{"composer.json"},
		TestFile: func(path string) bool {
			return strings.HasSuffix(path, "Test.php") || strings.Contains(path, "/tests/")
		},
	}, syntax.TreeSitter{
		Version:   "php1", // changes whenever a file is read otherwise than before
		Separator: `\`,
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Comment:   recipe.BlockComment,
		Parameter: parameter,
		Complete:  complete,
		Finish:    func(t *syntax.Tree, _ []byte) { recipe.Last(t.Imports, `\`) },
	})
}

// parameter tells what stands for a parameter in a signature: its type, with the
// dots of one that takes all that is left.
func parameter(node, typ string) string {
	if typ == "" {
		typ = "_"
	}
	if strings.Contains(node, "...") {
		return "..." + typ
	}
	return typ
}

// complete tells what the words of a declaration say: constructors, and who may use it.
func complete(s, parent *graph.Symbol) {
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	switch {
	case s.Kind == graph.KindMethod && s.Name == "__construct":
		s.Kind = graph.KindConstruct
	case s.Kind == graph.KindMethod && parent != nil && parent.Kind == graph.KindInterface:
		s.Modifiers = append(s.Modifiers, "abstract")
	case s.Kind == graph.KindNamespace:
		s.Merged = true
	}
	switch {
	case s.Local || has("private"):
		s.Visibility = "private"
	case has("protected"):
		s.Visibility = "protected"
	default:
		s.Visibility = "public"
	}
}
