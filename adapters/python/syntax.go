package python

import (
	_ "embed" // the query
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// extractorVersion changes whenever a file is read otherwise than before.
const extractorVersion = "python3"

//go:embed python.scm
var query string

// What a symbol can be seen from, in the words of the answers.
const (
	public    = "public"
	internal  = "internal"
	protected = "protected"
	private   = "private"
)

// spec is how Python files are read.
func spec() *syntax.Spec {
	return syntax.TreeSitter{
		Version:   extractorVersion,
		Separator: ".",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Namespace: namespace,
		Imported:  fromRoot,
		Comment:   comment,
		Doc:       docstring,
		Parameter: parameter,
		Complete:  complete,
	}.Spec()
}

// namespace names a module by its path below the project, as an import would
// from there; where the packages stand in src, as imports do, that is the alias.
// A stub is a module of its own, or its declarations would be those of the code.
func namespace(root, path string, _ *syntax.Tree) (name, alias string) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		rel = filepath.Base(path)
	}
	stem, stub := strings.TrimSuffix(rel, filepath.Ext(rel)), filepath.Ext(rel) == ".pyi"
	parts := strings.Split(filepath.ToSlash(stem), "/")
	if len(parts) > 1 && parts[len(parts)-1] == "__init__" {
		parts = parts[:len(parts)-1]
	}
	name = strings.Join(parts, ".")
	inner := parts
	if len(parts) > 1 && parts[0] == "src" {
		inner = parts[1:]
		alias = strings.Join(inner, ".")
	}
	if stub {
		name, alias = name+".pyi", strings.Join(inner, ".")
	}
	return name, alias
}

// fromRoot names a module that is imported relative to the one at path.
func fromRoot(root, path, name string) string {
	rest := strings.TrimLeft(name, ".")
	if rest == name {
		return name
	}
	home, _ := namespace(root, path, nil)
	parts := strings.Split(strings.TrimSuffix(home, ".pyi"), ".")
	up := len(name) - len(rest)
	if stem, _, _ := strings.Cut(filepath.Base(path), "."); stem == "__init__" && parts[len(parts)-1] != stem {
		up-- // a package is its own
	}
	if up > len(parts) {
		return name // above the project
	}
	parts = parts[:len(parts)-up]
	if rest != "" {
		parts = append(parts, rest)
	}
	return strings.Join(parts, ".")
}

// comment leaves the line that names the interpreter to the file; nothing but
// a docstring documents in Python.
func comment(text string) (syntax.CommentKind, string) {
	if strings.HasPrefix(text, "#!") {
		return syntax.ForeignComment, ""
	}
	return syntax.PlainComment, ""
}

// parameter tells what stands for a parameter in a signature: its type with the
// stars before it. The marks "*" and "/" are none.
func parameter(node, typ string) string {
	stars := node[:len(node)-len(strings.TrimLeft(node, "*"))]
	switch {
	case node == "/" || stars == node:
		return ""
	case typ == "":
		typ = "_"
	}
	return stars + typ
}

// complete tells what only the words of a declaration say: what kind of member
// it is, and who may use it.
func complete(s, parent *graph.Symbol) {
	inClass := parent != nil && (parent.Kind == graph.KindClass || parent.Kind == graph.KindEnum)
	switch {
	case s.Kind == graph.KindFunction && inClass:
		method(s)
	case s.Kind == graph.KindVariable && inClass:
		s.Kind = graph.KindField
		if slices.ContainsFunc(parent.Bases, isEnum) && !strings.HasPrefix(s.Name, "_") {
			s.Kind = graph.KindEnumMem
		}
	case s.Kind == graph.KindVariable && !s.Local && isConstant(s.Name):
		s.Kind = graph.KindConstant
	case s.Kind == graph.KindClass && slices.ContainsFunc(s.Bases, isEnum):
		s.Kind = graph.KindEnum
	}
	switch {
	case s.Local && !inClass || s.Kind == graph.KindParameter || s.Kind == graph.KindTypeParam:
		s.Visibility = private
	case dunder(s.Name) || !strings.HasPrefix(s.Name, "_"):
		s.Visibility = public
	case mangled(s.Name) && s.Container != "":
		s.Visibility = private
	case s.Container != "":
		s.Visibility = protected
	default:
		s.Visibility = internal
	}
}

// method makes a method, or a property, of a function in a class.
func method(s *graph.Symbol) {
	s.Kind = graph.KindMethod
	static := false
	for _, a := range s.Attributes {
		decorator, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(a, "@")), "(")
		last := decorator[strings.LastIndex(decorator, ".")+1:]
		switch {
		case last == "property" || last == "cached_property" || last == "abstractproperty",
			slices.Contains([]string{s.Name + ".setter", s.Name + ".getter", s.Name + ".deleter"}, decorator):
			s.Kind = graph.KindProperty
		case last == "staticmethod":
			static = true
			s.Modifiers = append(s.Modifiers, "static")
		case last == "classmethod":
			s.Modifiers = append(s.Modifiers, "classmethod")
		case last == "abstractmethod":
			s.Modifiers = append(s.Modifiers, "abstract")
		}
	}
	if s.Kind == graph.KindProperty {
		s.Params, s.Merged = nil, true // the accessors of one property are one symbol
		return
	}
	if !static && len(s.Params) > 0 {
		s.Params = s.Params[1:] // the instance or the class
	}
}

// isEnum reports whether a base class is one of the standard library's enumerations.
func isEnum(base string) bool {
	switch base[strings.LastIndex(base, ".")+1:] {
	case "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag":
		return true
	}
	return false
}

// isConstant follows PEP 8: constants are written in capitals.
func isConstant(name string) bool {
	upper := false
	for _, r := range name {
		if unicode.IsLower(r) {
			return false
		}
		upper = upper || unicode.IsUpper(r)
	}
	return upper
}

// docstring returns the text of a string literal without the indentation that
// its lines share.
func docstring(node string) string {
	text := strings.TrimLeft(node, "rRuUbBfF")
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		if strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) && len(text) >= 2*len(quote) {
			text = text[len(quote) : len(text)-len(quote)]
			break
		}
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	indent := -1
	for _, l := range lines[1:] {
		if rest := strings.TrimLeft(l, " \t"); rest != "" && (indent < 0 || len(l)-len(rest) < indent) {
			indent = len(l) - len(rest)
		}
	}
	for i, l := range lines {
		if i > 0 {
			l = l[min(max(indent, 0), len(l)):]
		}
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.Trim(strings.TrimLeft(strings.Join(lines, "\n"), " \t"), "\n")
}
