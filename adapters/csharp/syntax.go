package csharp

import (
	_ "embed" // the query
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// extractorVersion changes whenever a file is read otherwise than before.
const extractorVersion = "csharp4"

//go:embed csharp.scm
var query string

// What a symbol can be seen from, in the words of the answers.
const (
	public    = "public"
	internal  = "internal"
	protected = "protected"
	private   = "private"
)

// spec is how C# files are read. Their namespaces stand in them.
func spec() *syntax.Spec {
	return syntax.TreeSitter{
		Version:   extractorVersion,
		Separator: ".",
		Grammars:  []syntax.Grammar{{Language: tables, Query: query}},
		Comment:   comment,
		Parameter: parameter,
		Complete:  complete,
		Mask:      mask,
	}.Spec()
}

// comment tells documentation from other comments.
func comment(text string) (syntax.CommentKind, string) {
	switch {
	case strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////"):
		return syntax.DocComment, plain(strings.TrimPrefix(text[len("///"):], " "))
	case strings.HasPrefix(text, "/**") && !strings.HasPrefix(text, "/***") && text != "/**/":
		return syntax.DocComment, plain(recipe.BlockDoc(text))
	}
	return syntax.PlainComment, ""
}

var (
	refers = regexp.MustCompile(`<(?:see|seealso|paramref|typeparamref)\s+(?:cref|name|langword|href)\s*=\s*"([^"]*)"\s*/>`)
	tags   = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
)

// plain takes the tags out of documentation and leaves what they refer to.
func plain(xml string) string {
	xml = refers.ReplaceAllString(xml, "$1")
	xml = tags.ReplaceAllString(xml, "")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&").Replace(strings.TrimSpace(xml))
}

// parameter tells what stands for a parameter in a signature: its type, with
// the word by which overloads may differ.
func parameter(node, typ string) string {
	if typ == "" {
		return "_"
	}
	before, _, _ := strings.Cut(node, typ)
	for _, word := range strings.Fields(before) {
		if word == "ref" || word == "out" || word == "in" {
			return word + " " + typ
		}
	}
	return typ
}

// complete tells what only the words of a declaration say: constants, partial
// declarations, and who may use it.
func complete(s, parent *graph.Symbol) {
	has := func(word string) bool { return slices.Contains(s.Modifiers, word) }
	s.Doc = strings.Trim(s.Doc, "\n")
	if has("const") {
		s.Kind = graph.KindConstant
	}
	if len(s.Results) == 1 && s.Results[0] == "var" {
		s.Results = nil // the compiler finds it
	}
	s.Merged = s.Kind == graph.KindNamespace || has("partial")
	switch {
	case s.Local:
		s.Visibility = private
	case s.Kind == graph.KindNamespace || has("public"):
		s.Visibility = public
	case has("protected"):
		s.Visibility = protected
	case has("internal"):
		s.Visibility = internal
	case has("private") || has("file"):
		s.Visibility = private
	case parent == nil || parent.Kind == graph.KindNamespace:
		s.Visibility = internal
	case parent.Kind == graph.KindInterface || parent.Kind == graph.KindEnum || ofRecord(s, parent):
		s.Visibility = public
	default:
		s.Visibility = private
	}
}

// ofRecord reports whether a property is a parameter of its record.
func ofRecord(s, parent *graph.Symbol) bool {
	return parent.Kind == graph.KindRecord && s.Kind == graph.KindProperty &&
		(parent.Body == (graph.Span{}) || s.Decl.End <= parent.Body.Start)
}

// refPartial is the head of a declaration that the grammar does not know.
var refPartial = regexp.MustCompile(`\b(ref)\s+partial\s+struct\b`)

// mask hides from the parser what the grammar does not know.
func mask(_ string, content []byte) []graph.Span {
	var out []graph.Span
	for _, at := range refPartial.FindAllSubmatchIndex(content, -1) {
		out = append(out, graph.Span{Start: at[2], End: at[3]})
	}
	return out
}
