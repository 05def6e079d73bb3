package bash

import (
	_ "embed" // the query
	"slices"
	"strings"
	"unicode"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

//go:embed bash.scm
var query string

// New returns the language of shell scripts.
func New() *recipe.Grammar {
	return recipe.NewGrammar(adapters.Language{
		ID: "bash", Name: "Bash", Extensions: []string{".sh", ".bash"}, LanguageID: map[string]string{".sh": "shellscript", ".bash": "shellscript"},
		Markers:   []string{".shellcheckrc"},
		Generated: func(content []byte) bool { return recipe.Generated(content, "#") },
	}, syntax.TreeSitter{
		Version:   "bash1", // changes whenever a file is read otherwise than before
		Separator: ".",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Comment:   comment,
		Complete:  complete,
		Finish: func(t *syntax.Tree, _ []byte) {
			for i := range t.Imports {
				t.Imports[i].Path = strings.Trim(t.Imports[i].Path, `"'`)
			}
		},
	})
}

// comment takes what stands before a function for its documentation; the
// interpreter's line is the file's.
func comment(text string) (syntax.CommentKind, string) {
	if strings.HasPrefix(text, "#!") {
		return syntax.ForeignComment, ""
	}
	return syntax.DocComment, strings.TrimPrefix(strings.TrimPrefix(text, "#"), " ")
}

// complete tells constants and exported variables from others. What a function
// assigns without saying that it is local is the script's.
func complete(s, _ *graph.Symbol) {
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	s.Visibility = "public"
	if s.Kind != graph.KindVariable {
		return
	}
	if has("readonly") || strings.IndexFunc(s.Name, unicode.IsLower) < 0 && !s.Local {
		s.Kind = graph.KindConstant
	}
	if s.Local {
		s.Visibility = "private"
	}
}
