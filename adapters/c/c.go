package c

import (
	_ "embed" // the queries
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

//go:embed c.scm
var cQuery string

//go:embed cpp.scm
var cppQuery string

// New returns C and C++.
func New() *recipe.Grammar {
	ids := map[string]string{".c": "c"}
	extensions := []string{".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp"}
	for _, ext := range extensions[1:] {
		ids[ext] = "cpp"
	}
	macros := newMacros()
	section := regexp.MustCompile(`(?m)^[ \t]*(public|protected|private)(?:[ \t]+\w+)?[ \t]*:`)
	return recipe.NewGrammar(adapters.Language{
		ID: "c", Name: "C/C++", Extensions: extensions, LanguageID: ids,
		Markers: []string{"compile_commands.json", "CMakeLists.txt", "meson.build", "configure.ac", "Makefile"},
	}, syntax.TreeSitter{
		Version:   "c2", // changes whenever a file is read otherwise than before
		Separator: "::",
		Grammars: []syntax.Grammar{
			{Extensions: []string{".c"}, Language: cTables, Query: cQuery + "(parameter_list (variadic_parameter) @parameter) @parameters"},
			{Language: cppTables, Query: cppQuery + cQuery},
		},
		Comment:   comment,
		Parameter: parameter,
		Complete:  complete,
		Mask:      func(path string, content []byte) []graph.Span { return macros.places(content) },
		Finish: func(t *syntax.Tree, content []byte) {
			for i := range t.Imports {
				t.Imports[i].Path = strings.Trim(t.Imports[i].Path, "<>")
			}
			for _, p := range macros.places(content) {
				t.Idents = append(t.Idents, syntax.Ident{Name: string(content[p.Start:p.End]), Span: p})
			}
			slices.SortFunc(t.Idents, func(a, b syntax.Ident) int { return a.Span.Start - b.Span.Start })
			// Around macros the grammar takes statements for declarations.
			t.Symbols = slices.DeleteFunc(t.Symbols, func(s graph.Symbol) bool {
				return slices.Contains(statements, s.Name) || len(s.Results) == 1 && slices.Contains(statements, s.Results[0])
			})
			if filepath.Ext(t.Path) != ".c" {
				recipe.Sections(t, content, section)
			}
		},
	})
}

// statements are words that no declaration is called, nor its type.
var statements = []string{"if", "for", "while", "switch", "return", "goto", "else", "case", "do", "sizeof", "break", "throw", "delete"}

// comment tells documentation, as doxygen has it, from other comments.
func comment(text string) (syntax.CommentKind, string) {
	if (strings.HasPrefix(text, "///") || strings.HasPrefix(text, "//!")) && !strings.HasPrefix(text, "////") {
		return syntax.DocComment, strings.TrimSpace(text[len("///"):])
	}
	return recipe.BlockComment(text)
}

// parameter tells what stands for a parameter in a signature: its declaration
// without the name and the default.
func parameter(node, typ string) string {
	node, _, _ = strings.Cut(node, "=")
	node = strings.TrimSpace(node)
	switch {
	case node == "void":
		return ""
	case typ == "" && node != "...":
		return "_" // of a macro
	}
	if strings.HasSuffix(node, typ) || strings.ContainsAny(node, "()") {
		return node
	}
	end := len(strings.TrimRight(node, " \t[]0123456789"))
	start := end
	for start > 0 && (node[start-1] == '_' || node[start-1] >= '0' && node[start-1] <= '9' || node[start-1]|0x20 >= 'a' && node[start-1]|0x20 <= 'z') {
		start--
	}
	if start == 0 {
		return node
	}
	return strings.TrimSpace(node[:start]) + strings.TrimSpace(node[end:])
}

// complete tells what only the words of a declaration say: what kind of member
// it is, which declarations merge, and who may use it.
func complete(s, parent *graph.Symbol) {
	for i, m := range s.Modifiers {
		s.Modifiers[i] = strings.Trim(m, "= ;") // "= delete;"
	}
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	outside(s)
	member := parent != nil && (parent.Kind == graph.KindClass || parent.Kind == graph.KindStruct)
	if s.Kind == graph.KindFunction && member {
		s.Kind = graph.KindMethod
	}
	if s.Kind == graph.KindVariable && member {
		s.Kind = graph.KindField
	}
	if s.Kind == graph.KindMethod {
		owner := s.Container[strings.LastIndex(s.Container, ":")+1:]
		owner, _, _ = strings.Cut(owner, "<")
		switch {
		case s.Name == owner:
			s.Kind = graph.KindConstruct
		case strings.HasPrefix(s.Name, "operator"):
			s.Kind = graph.KindOperator
		case s.Container == "":
			s.Kind = graph.KindFunction
		}
	}
	switch s.Kind {
	case graph.KindFunction, graph.KindMethod, graph.KindConstruct, graph.KindOperator, graph.KindNamespace:
		s.Merged = true // declared in a header, defined elsewhere
	case graph.KindVariable:
		s.Merged = !s.Local
	}
	switch {
	case s.Local, s.Kind == graph.KindParameter, s.Kind == graph.KindTypeParam, parent != nil && parent.Kind == graph.KindClass && member:
		s.Visibility = "private"
	case has("static") && !member:
		s.Visibility = "internal" // its file
	default:
		s.Visibility = "public"
	}
}

// outside takes the name of what is defined outside of its class apart: the
// symbol's own is the last part, and the arguments of templates are none of it.
func outside(s *graph.Symbol) {
	at, depth := 0, 0
	if strings.HasPrefix(s.Name, "operator") {
		return
	}
	for i := 0; i < len(s.Name); i++ {
		switch {
		case s.Name[i] == '<':
			depth++
		case s.Name[i] == '>':
			depth--
		case depth == 0 && strings.HasPrefix(s.Name[i:], "::"):
			at = i + len("::")
		}
	}
	if at == 0 {
		return
	}
	owner := strings.TrimPrefix(s.Name[:at-len("::")], "::")
	for {
		open := strings.IndexByte(owner, '<')
		shut := strings.IndexByte(owner, '>')
		if open < 0 || shut < open {
			break
		}
		if inner := strings.LastIndexByte(owner[:shut], '<'); inner >= 0 {
			open = inner
		}
		owner = owner[:open] + owner[shut+1:]
	}
	prefix := strings.TrimSuffix(s.Qualified, s.Name)
	s.NameSpan.Start = s.NameSpan.End - (len(s.Name) - at)
	s.Name = s.Name[at:]
	s.Container = prefix + owner
	s.Qualified = s.Container + "::" + s.Name
}
