package typescript

import (
	_ "embed" // the queries
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// extractorVersion changes whenever a file is read otherwise than before.
const extractorVersion = "typescript4"

//go:embed ecmascript.scm
var ecmascriptQuery string

//go:embed typescript.scm
var typescriptQuery string

//go:embed jsx.scm
var jsxQuery string

//go:embed javascript.scm
var javascriptQuery string

// What a symbol can be seen from, in the words of the answers.
const (
	public    = "public"
	protected = "protected"
	private   = "private" // its class, file or function
)

// spec is how TypeScript and JavaScript files are read. JavaScript has a
// grammar of its own: angle brackets and types mean other things to it.
func spec() *syntax.Spec {
	return syntax.TreeSitter{
		Version:   extractorVersion,
		Separator: ".",
		Grammars: []syntax.Grammar{
			{Extensions: []string{".ts", ".mts", ".cts"}, Language: typescriptTables, Query: typescriptQuery + ecmascriptQuery},
			{Extensions: []string{".tsx"}, Language: tsxTables, Query: typescriptQuery + ecmascriptQuery + jsxQuery},
			{Language: javascriptTables, Query: javascriptQuery + ecmascriptQuery + jsxQuery},
		},
		Namespace: namespace,
		Imported:  fromRoot,
		Comment:   comment,
		Parameter: parameter,
		Complete:  complete,
	}.Spec()
}

// namespace names a module by its path below the project, as imports do,
// without the extension. Beside a TypeScript file there may be a JavaScript one
// of its name (what it was compiled to, what it declares): the name of that one
// keeps its extension, and the alias is the one without.
func namespace(root, path string, _ *syntax.Tree) (name, alias string) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		rel = filepath.Base(path)
	}
	rel = filepath.ToSlash(rel)
	ext := filepath.Ext(rel)
	stem := strings.TrimSuffix(rel, ext)
	switch {
	case strings.HasSuffix(stem, ".d"):
		return stem, strings.TrimSuffix(stem, ".d")
	case slices.Contains([]string{".ts", ".tsx", ".mts", ".cts"}, ext):
		return stem, ""
	}
	return rel, stem
}

// fromRoot names a module that is imported relative to the file at path. That it
// may be the index of a folder does not show.
func fromRoot(root, path, name string) string {
	if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && name != "." && name != ".." {
		return name
	}
	rel, err := filepath.Rel(root, filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return name
	}
	rel = filepath.ToSlash(rel)
	switch ext := filepath.Ext(rel); ext {
	case ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return strings.TrimSuffix(rel, ext)
	}
	return rel
}

// comment tells JSDoc from other comments. The line that names an interpreter
// is the file's.
func comment(text string) (syntax.CommentKind, string) {
	switch {
	case strings.HasPrefix(text, "#!"):
		return syntax.ForeignComment, ""
	case strings.HasPrefix(text, "/**") && !strings.HasPrefix(text, "/***") && text != "/**/":
		return syntax.DocComment, recipe.BlockDoc(text)
	}
	return syntax.PlainComment, ""
}

// parameter tells what stands for a parameter in a signature: its type, with
// the dots of a rest parameter and the question mark of an optional one.
func parameter(node, typ string) string {
	if node == "this" || strings.HasPrefix(node, "this:") || strings.HasPrefix(node, "this ") {
		return ""
	}
	if typ == "" {
		typ = "_"
	}
	if strings.HasPrefix(node, "...") {
		return "..." + typ
	}
	return typ
}

// complete tells what only the words of a declaration say: what kind of member
// it is, whether its declarations merge, and who may use it.
func complete(s, parent *graph.Symbol) {
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	switch s.Kind {
	case graph.KindMethod:
		switch {
		case has("get") || has("set"):
			s.Kind, s.Params, s.Merged = graph.KindProperty, nil, true
		case s.Name == "constructor" && parent != nil && parent.Kind == graph.KindClass:
			s.Kind = graph.KindConstruct
		}
	case graph.KindVariable:
		if has("const") {
			s.Kind = graph.KindConstant
		}
	case graph.KindInterface, graph.KindNamespace, graph.KindModule, graph.KindEnum, graph.KindClass:
		s.Merged = s.Name != "default"
	}
	if s.Kind != graph.KindEnum && has("const") {
		s.Modifiers = slices.DeleteFunc(s.Modifiers, func(m string) bool { return m == "const" })
		if len(s.Modifiers) == 0 {
			s.Modifiers = nil
		}
	}
	member := false
	switch s.Kind {
	case graph.KindProperty, graph.KindMethod, graph.KindConstruct, graph.KindEnumMem:
		member = true
	}
	switch {
	case s.Kind == graph.KindParameter || s.Kind == graph.KindTypeParam:
		s.Visibility = private
	case has("private") || strings.HasPrefix(s.Name, "#"):
		s.Visibility = private
	case has("protected"):
		s.Visibility = protected
	case member:
		s.Visibility = public
	case s.Local:
		s.Visibility = private
	case has("export") || has("declare") || strings.HasPrefix(s.Signature, "exports.") || isDeclaration(s.Path) || parent != nil && parent.Kind == graph.KindModule:
		s.Visibility = public
	default:
		s.Visibility = private
	}
}

// isDeclaration reports whether a file only declares what others define.
func isDeclaration(path string) bool {
	return strings.HasSuffix(path, ".d.ts") || strings.HasSuffix(path, ".d.mts") || strings.HasSuffix(path, ".d.cts")
}
