package ruby

import (
	_ "embed" // the query
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

//go:embed ruby.scm
var query string

// New returns the Ruby language.
func New() *recipe.Grammar {
	extensions := []string{".rb", ".rake", ".gemspec", ".ru"}
	ids := map[string]string{}
	for _, ext := range extensions {
		ids[ext] = "ruby"
	}
	section := regexp.MustCompile(`(?m)^[ \t]*(public|protected|private)[ \t]*(?:#.*)?\r?$`)
	return recipe.NewGrammar(adapters.Language{
		ID: "ruby", Name: "Ruby", Extensions: extensions, LanguageID: ids, Markers: []string{"Gemfile", "*.gemspec", "Rakefile"},
		TestFile: func(path string) bool {
			return strings.HasSuffix(path, "_spec.rb") || strings.HasSuffix(path, "_test.rb") || strings.Contains(path, "/test/") || strings.Contains(path, "/spec/")
		},
		Generated: func(content []byte) bool { return recipe.Generated(content, "#") },
	}, syntax.TreeSitter{
		Version:   "ruby1", // changes whenever a file is read otherwise than before
		Separator: "::",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Comment:   comment,
		Parameter: parameter,
		Complete:  complete,
		Finish: func(t *syntax.Tree, content []byte) {
			recipe.Sections(t, content, section)
			for i := range t.Symbols {
				if k := t.Symbols[i].Kind; k == graph.KindClass || k == graph.KindModule || k == graph.KindConstant {
					t.Symbols[i].Visibility = "public" // sections are of methods
				}
			}
		},
	})
}

// comment takes what stands before a declaration for its documentation, as RDoc
// does; the interpreter's line and magic comments are the file's.
func comment(text string) (syntax.CommentKind, string) {
	switch {
	case strings.HasPrefix(text, "#!"), strings.HasPrefix(text, "# frozen_string_literal:"), strings.HasPrefix(text, "# encoding:"), strings.HasPrefix(text, "# -*-"):
		return syntax.ForeignComment, ""
	case strings.HasPrefix(text, "#"):
		return syntax.DocComment, strings.TrimPrefix(strings.TrimPrefix(text, "#"), " ")
	}
	return syntax.PlainComment, ""
}

// parameter tells what stands for a parameter in a signature: the sign that
// says how it is given, and the name of one that is given by name.
func parameter(node, _ string) string {
	signs := node[:len(node)-len(strings.TrimLeft(node, "*&"))]
	if name, _, keyword := strings.Cut(node, ":"); keyword && signs == "" && !strings.ContainsAny(name, " =(") {
		return name + ":"
	}
	return signs + "_"
}

// complete tells what only the words of a declaration say: the names that
// symbols hold, what belongs to the class itself, and who may use it.
func complete(s, _ *graph.Symbol) {
	if bare, symbol := strings.CutPrefix(s.Name, ":"); symbol {
		s.Qualified = strings.TrimSuffix(s.Qualified, s.Name) + bare
		s.Name = bare
		s.NameSpan.Start++
	}
	if i := strings.LastIndex(s.Name, "::"); i >= 0 { // class A::B
		s.NameSpan.Start += i + len("::")
		s.Container = strings.TrimSuffix(s.Qualified, "::"+s.Name[i+len("::"):])
		s.Name = s.Name[i+len("::"):]
	}
	switch s.Kind {
	case graph.KindClass, graph.KindModule:
		s.Merged = true // each of its declarations adds to it
	case graph.KindMethod:
		if s.Name == "initialize" {
			s.Kind = graph.KindConstruct
		} else if s.Container == "" {
			s.Kind = graph.KindFunction
		}
	case graph.KindVariable:
		s.Local = s.Local || !strings.HasPrefix(s.Name, "$")
	}
	s.Signature = strings.TrimSuffix(s.Signature, "; end")
	s.Visibility = "public"
	for i, m := range s.Modifiers {
		switch m {
		case "def":
			s.Modifiers[i] = "static"
		case "private", "private_class_method":
			s.Modifiers[i], s.Visibility = "private", "private"
		case "protected":
			s.Visibility = m
		}
	}
	s.Modifiers = slices.Compact(s.Modifiers)
	if s.Local || s.Kind == graph.KindField || s.Kind == graph.KindParameter {
		s.Visibility = "private"
	}
}
