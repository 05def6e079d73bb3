package rust

import (
	_ "embed" // the query
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// extractorVersion changes whenever a file is read otherwise than before.
const extractorVersion = "rust4"

//go:embed rust.scm
var query string

// What a symbol can be seen from, in the words of the answers.
const (
	public   = "public"
	internal = "internal" // its crate, or a part of it
	private  = "private"  // its module or function
)

// spec is how Rust files are read.
func spec() *syntax.Spec {
	return syntax.TreeSitter{
		Version:   extractorVersion,
		Separator: "::",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Namespace: namespace,
		Imported:  fromRoot,
		Binds:     binds,
		Comment:   comment,
		Parameter: parameter,
		Complete:  complete,
		Finish:    func(t *syntax.Tree, _ []byte) { t.Imports = expand(t.Imports) },
	}.Spec()
}

// namespace names the module of a file by its path below its crate, as the
// module tree of a crate without #[path] has it. What is not part of the
// library has its folder before it: a crate's programs may hold equal names.
func namespace(root, path string, _ *syntax.Tree) (name, alias string) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		rel = filepath.Base(path)
	}
	parts := strings.Split(strings.TrimSuffix(filepath.ToSlash(rel), ".rs"), "/")
	if len(parts) > 1 && parts[0] == "src" {
		parts = parts[1:]
	}
	if last := parts[len(parts)-1]; last == "mod" && len(parts) > 1 || last == "lib" && len(parts) == 1 {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "::"), ""
}

// fromRoot names what a path means that begins at the crate, or at the module
// of the file at path or the one around it. Those of modules within the file
// are not told apart from it.
func fromRoot(root, path, name string) string {
	home, _ := namespace(root, path, nil)
	parts := strings.Split(home, "::")
	if home == "main" || home == "" {
		parts = nil
	}
	rest, crate := strings.CutPrefix(name, "crate::")
	if crate {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "self::"); ok {
		return strings.Join(append(parts, rest), "::")
	}
	rest = name
	for strings.HasPrefix(rest, "super::") {
		rest = strings.TrimPrefix(rest, "super::")
		if len(parts) == 0 {
			return name
		}
		parts = parts[:len(parts)-1]
	}
	if rest == name {
		return name
	}
	return strings.Join(append(parts, rest), "::")
}

// binds tells a name that a pattern declares from the constant or variant that
// it compares with, by the rule that rustc warns about: those begin with a capital.
func binds(name string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "r#"))
	return !unicode.IsUpper(r)
}

// comment tells documentation from other comments (Rust reference, "Comments").
func comment(text string) (syntax.CommentKind, string) {
	switch {
	case strings.HasPrefix(text, "//!") || strings.HasPrefix(text, "/*!"):
		return syntax.ForeignComment, "" // of what is around it
	case strings.HasPrefix(text, "////") || strings.HasPrefix(text, "/***") || text == "/**/":
		return syntax.PlainComment, ""
	case strings.HasPrefix(text, "///"):
		return syntax.DocComment, strings.TrimPrefix(text[len("///"):], " ")
	case strings.HasPrefix(text, "/**"):
		return syntax.DocComment, recipe.BlockDoc(text)
	}
	return syntax.PlainComment, ""
}

// parameter tells what stands for a parameter: its type.
func parameter(node, typ string) string {
	if name, _, typed := strings.Cut(strings.TrimPrefix(node, "mut "), ":"); typed && strings.TrimSpace(name) == "self" {
		return "" // the receiver
	}
	if typ == "" && strings.HasSuffix(node, "...") {
		return "..."
	}
	return typ
}

// complete tells who may use a declaration, and takes that out of its modifiers.
func complete(s, parent *graph.Symbol) {
	// A lifetime in the bounds is no base, nor what need not be implemented.
	s.Bases = slices.DeleteFunc(s.Bases, func(b string) bool { return strings.HasPrefix(b, "'") || strings.HasPrefix(b, "?") })
	if len(s.Bases) == 0 {
		s.Bases = nil
	}
	visible := ""
	var kept []string
	for _, m := range s.Modifiers {
		if m == "pub" || m == "crate" || strings.HasPrefix(m, "pub(") || strings.HasPrefix(m, "pub (") {
			visible = strings.ReplaceAll(m, " ", "")
			continue
		}
		for _, word := range strings.Fields(m) {
			if n := len(kept); strings.HasPrefix(word, "\"") && n > 0 {
				kept[n-1] += " " + word // extern "C"
				continue
			}
			kept = append(kept, word)
		}
	}
	s.Modifiers = kept
	inTrait := parent != nil && (parent.Kind == graph.KindTrait || parent.Kind == "" && parent.Bases != nil)
	if s.Kind == graph.KindTypeAlias && parent != nil && (parent.Kind == graph.KindTrait || parent.Kind == "") {
		s.Modifiers = append(s.Modifiers, graph.Associated)
	}
	if parent != nil && parent.Kind == graph.KindTrait && s.Body == (graph.Span{}) && s.Params != nil {
		s.Modifiers = append(s.Modifiers, "abstract")
	}
	switch {
	case s.Kind == graph.KindParameter || s.Kind == graph.KindTypeParam:
		s.Visibility = private
	case visible == "pub":
		s.Visibility = public
	case visible == "pub(self)":
		s.Visibility = private
	case visible != "":
		s.Visibility = internal
	case inTrait && s.Kind != graph.KindVariable,
		s.Kind == graph.KindEnumMem,
		s.Kind == graph.KindField && parent != nil && parent.Kind == graph.KindEnumMem,
		slices.Contains(s.Attributes, "#[macro_export]"):
		s.Visibility = public
	default:
		s.Visibility = private
	}
}

// expand makes one import of each path that a use declaration joins in braces.
func expand(imports []syntax.Import) []syntax.Import {
	var out []syntax.Import
	for _, im := range imports {
		for _, p := range paths("", im.Path, 0) {
			path, alias, renamed := strings.Cut(p, " as ")
			one := syntax.Import{Path: strings.TrimSpace(path), Alias: im.Alias, Span: im.Span}
			if renamed {
				one.Alias = strings.TrimSpace(alias)
			}
			name := one.Alias
			if name == "" {
				name = one.Path[strings.LastIndexByte(one.Path, ':')+1:]
			}
			if name != "_" && name != "*" {
				one.Names = []syntax.Binding{{As: name}}
			}
			out = append(out, one)
		}
	}
	return out
}

// maxBraces bounds how deep braces in a use declaration are followed.
const maxBraces = 32

// paths returns the paths of a use tree behind a prefix.
func paths(prefix, tree string, depth int) []string {
	tree = strings.TrimSpace(tree)
	open := strings.IndexByte(tree, '{')
	if open < 0 || depth > maxBraces {
		if path, found := strings.CutSuffix(prefix, "::"); found && (tree == "self" || strings.HasPrefix(tree, "self ")) {
			return []string{path + strings.TrimPrefix(tree, "self")}
		}
		return []string{prefix + tree}
	}
	prefix += tree[:open]
	inner := strings.TrimSuffix(strings.TrimSpace(tree[open+1:]), "}")
	var out []string
	level, start := 0, 0
	for i := range len(inner) + 1 {
		switch {
		case i == len(inner) || inner[i] == ',' && level == 0:
			if part := strings.TrimSpace(inner[start:i]); part != "" {
				out = append(out, paths(prefix, part, depth+1)...)
			}
			start = i + 1
		case inner[i] == '{':
			level++
		case inner[i] == '}':
			level--
		}
	}
	return out
}
