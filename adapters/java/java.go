package java

import (
	_ "embed" // the query
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

//go:embed java.scm
var query string

// New returns the Java language.
func New() *recipe.Grammar {
	return recipe.NewGrammar(adapters.Language{
		ID: "java", Name: "Java", Extensions: []string{".java"}, LanguageID: map[string]string{".java": "java"},
		Markers:  []string{"settings.gradle", "settings.gradle.kts", "pom.xml", "build.gradle", "build.gradle.kts", "build.xml"},
		TestFile: isTest,
	}, syntax.TreeSitter{
		Version:   "java1", // changes whenever a file is read otherwise than before
		Separator: ".",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Namespace: func(_, _ string, t *syntax.Tree) (string, string) { return t.Package, "" },
		Comment:   recipe.BlockComment,
		Parameter: parameter,
		Complete:  complete,
		Finish: func(t *syntax.Tree, content []byte) {
			recipe.Last(t.Imports, ".")
			for i, im := range t.Imports {
				if strings.Contains(string(content[im.Span.Start:im.Span.End]), "*") {
					t.Imports[i].Names = nil // all of it
				}
			}
		},
	})
}

func isTest(path string) bool {
	stem := strings.TrimSuffix(filepath.Base(path), ".java")
	return strings.Contains(filepath.ToSlash(path), "/src/test/") || strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests")
}

// parameter tells what stands for a parameter in a signature: its type.
func parameter(node, typ string) string {
	if strings.Contains(node, "...") {
		return typ + "..."
	}
	return typ
}

// complete tells what the words of a declaration say: constants, and who may use it.
func complete(s, parent *graph.Symbol) {
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	inInterface := parent != nil && parent.Kind == graph.KindInterface
	if len(s.Results) == 1 && s.Results[0] == "var" {
		s.Results = nil // the compiler finds it
	}
	switch {
	case s.Kind == graph.KindField && has("static") && has("final"):
		s.Kind = graph.KindConstant
	case s.Kind == graph.KindMethod && inInterface && s.Body == (graph.Span{}) && !has("abstract"):
		s.Modifiers = append(s.Modifiers, "abstract")
	}
	switch {
	case s.Local || has("private"):
		s.Visibility = "private"
	case has("public") || inInterface || s.Kind == graph.KindEnumMem || parent != nil && parent.Kind == graph.KindRecord && s.Kind == graph.KindProperty:
		s.Visibility = "public"
	case has("protected"):
		s.Visibility = "protected"
	default:
		s.Visibility = "internal" // its package
	}
}
