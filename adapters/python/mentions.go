package python

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// mentions changes the name where comments and documentation, and if asked for
// other strings, of the files that refer to the symbol mention it.
func (r *renamer) mentions(ctx context.Context) error {
	return r.Mention(ctx, func(s *recipe.Source, m recipe.Mention) bool {
		src := &source{s}
		if !r.reaches(src, m.Span.Start) {
			return false
		}
		if m.Token.Kind == syntax.Comment || src.docstring(m.Token) {
			return r.In.Comments && src.means(m, r.Symbol)
		}
		return r.In.Strings
	})
}

// reaches reports whether a local symbol can be meant at an offset.
func (r *renamer) reaches(src *source, at int) bool {
	if !r.Symbol.Local {
		return true
	}
	return slices.ContainsFunc(r.Members, func(m graph.Symbol) bool {
		if m.Path != src.Path {
			return false
		}
		owner, ok := src.Tree.Enclosing(m.NameSpan.Start)
		return ok && owner.Whole.Contains(at)
	})
}

// docstring reports whether a string is a statement of its own.
func (s *source) docstring(t syntax.Token) bool {
	if s.Content[t.Span.Start] == '#' {
		return true
	}
	before := statement(s.Content[max(0, t.Span.Start-around):t.Span.Start])
	return before.depth() == 0 && strings.TrimSpace(before.text) == "" || strings.HasSuffix(strings.TrimSpace(before.text), ":") && before.depth() == 0 && s.firstOnLine(t.Span.Start)
}

func (s *source) firstOnLine(at int) bool {
	line := bytes.LastIndexByte(s.Content[:at], '\n') + 1
	return len(bytes.TrimSpace(s.Content[line:at])) == 0
}

// means reports whether a word of prose stands for the symbol: it is marked as
// code, or it is no word of any language.
func (s *source) means(m recipe.Mention, sym graph.Symbol) bool {
	before, after := s.Content[m.Token.Span.Start:m.Span.Start], s.Content[m.Span.End:m.Token.Span.End]
	if n := len(before); n > 0 && (before[n-1] == '-' || before[n-1] == '/' || before[n-1] == '\\') || len(after) > 0 && (after[0] == '-' || after[0] == '/') {
		return false // part of an option, a path, a compound
	}
	if bytes.HasSuffix(before, []byte(".")) && len(before) > 1 && isWordByte(before[len(before)-2]) {
		chain := qualifier(before)
		// Any part of the path to it is how it is imported somewhere.
		return chain == "self" || chain == "cls" || strings.Contains("."+strings.TrimSuffix(sym.Qualified, sym.Name), "."+chain+".")
	}
	switch {
	case bytes.HasSuffix(before, []byte("`")), bytes.HasSuffix(before, []byte("~")):
		return true
	case sym.Kind == graph.KindParameter && bytes.HasPrefix(after, []byte(":")) && paramField.Match(before):
		return true // :param name:
	case sym.Kind == graph.KindParameter && s.firstOnLine(m.Span.Start) && (bytes.HasPrefix(after, []byte(":")) || bytes.HasPrefix(after, []byte(" (")) || bytes.HasPrefix(after, []byte(" :"))):
		return true // name (int): of the other two conventions
	case bytes.HasPrefix(after, []byte("(")) && (sym.Kind == graph.KindFunction || sym.Kind == graph.KindMethod || sym.Kind == graph.KindClass):
		return true
	}
	return unmistakable(sym.Name) || unicode.IsUpper([]rune(sym.Name)[0]) && midSentence.Match(before)
}

// midSentence matches text within a sentence: there a capital marks a name.
var midSentence = regexp.MustCompile(`[\p{L}\d,;"'()] $`)

// paramField matches the head of a field that describes a parameter.
var paramField = regexp.MustCompile(`:(?:param|parameter|arg|argument|keyword|type)(?:[ \t]+[^:\n]*)?[ \t]$`)

// qualifier returns the dotted name that text ends with, its last dot left out.
func qualifier(before []byte) string {
	end := len(before) - 1
	start := end
	for start > 0 && (isWordByte(before[start-1]) || before[start-1] == '.') {
		start--
	}
	return string(before[start:end])
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// unmistakable reports whether a name is no ordinary word: it has a capital
// within it, a digit or an underscore.
func unmistakable(name string) bool {
	for i, c := range name {
		if c == '_' || unicode.IsDigit(c) || i > 0 && unicode.IsUpper(c) {
			return true
		}
	}
	return false
}

// maxAsked bounds how many uses of another type are looked at.
const maxAsked = 200

// leftovers says where the old name still stands: in strings and comments, and
// as an attribute of what pyright knows nothing of.
func (r *renamer) leftovers(ctx context.Context) error {
	pages, err := r.pages(ctx)
	if err != nil {
		return err
	}
	inComments, inStrings, limit := 0, 0, 5*maxAsked
	var where, unknown, generated []string
	for _, src := range pages {
		edited := len(r.Edits.Of(src.Path)) > 0
		if edited && isGenerated(src.Content) {
			generated = append(generated, recipe.Relative(r.Bench, src.Path))
		}
		if r.Symbol.Local && !edited {
			continue
		}
		before := inComments + inStrings
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			switch {
			case r.Edits.Covers(src.Path, m.Span) || !r.reaches(src, m.Span.Start):
			case m.Token.Kind == syntax.Comment || src.docstring(m.Token):
				if unmistakable(r.Symbol.Name) && edited {
					inComments++
				}
			case src.whole(m):
				inStrings++
			}
		}
		if inComments+inStrings > before {
			where = append(where, recipe.Relative(r.Bench, src.Path))
		}
		more, err := r.untyped(ctx, src, &limit)
		if err != nil {
			return err
		}
		unknown = append(unknown, more...)
	}
	if len(where) > 0 {
		r.Warn("%q still stands in %s of files that know the symbol: %s", r.Symbol.Name, counted(inComments, inStrings), recipe.Listed(where, 5))
	}
	if len(unknown) > 0 {
		r.Warn("%q keeps its name where pyright cannot tell what it belongs to: %s", r.Symbol.Name, recipe.Listed(unknown, 5))
	}
	if limit < 0 {
		r.Warn("%q stands in more than %d places that pyright does not rename; only these were looked at", r.Symbol.Name, 5*maxAsked)
	}
	if len(generated) > 0 {
		r.Warn("generated files change as well, and their generator would write the old name again: %s", recipe.Listed(generated, 5))
	}
	return r.private(ctx)
}

// whole reports whether a string may name the symbol to a program: it is the
// name, or a dotted path that ends in it, as getattr and mocks take them.
func (s *source) whole(m recipe.Mention) bool {
	t := bytes.Trim(bytes.TrimLeft(s.Content[m.Token.Span.Start:m.Token.Span.End], "rRbBuUfF"), `"'`)
	return !bytes.ContainsAny(t, " \n") && (m.Span.End >= m.Token.Span.End-3 || bytes.HasPrefix(s.Content[m.Span.End:], []byte(".")))
}

// untyped returns the places of a file that have the name and of which pyright
// knows nothing: attributes of values without a type, code that does not parse.
func (r *renamer) untyped(ctx context.Context, src *source, limit *int) ([]string, error) {
	if r.Symbol.Local || len(r.pytest) > 0 {
		return nil, nil
	}
	var out []string
	for _, id := range src.Tree.Named(r.Symbol.Name) {
		// An argument of a function that takes any may be set as an attribute there.
		argument := src.argument(id.Span)
		if r.Edits.Covers(src.Path, id.Span) || argument && !isMember(r.Symbol) || !argument && src.bare(id.Span.Start) == isMember(r.Symbol) ||
			slices.ContainsFunc(src.Tree.Symbols, func(s graph.Symbol) bool { return s.NameSpan == id.Span }) {
			continue
		}
		if *limit--; *limit < 0 {
			break
		}
		places, err := recipe.Locate(ctx, r.Bench, lookup, "textDocument/definition", graph.Symbol{Path: src.Path, NameSpan: id.Span}, nil)
		if err != nil {
			return nil, err
		}
		if len(places) > 0 {
			continue
		}
		meant := false
		if isMember(r.Symbol) && !argument {
			if meant, err = r.injected(ctx, src, id.Span); err != nil {
				return nil, err
			}
		}
		if meant {
			r.Edits.Add(src.Path, id.Span, r.In.NewName)
		} else {
			out = append(out, r.where(src, id.Span.Start))
		}
	}
	return out, nil
}

// private warns of names that Python makes of a class and its private members.
func (r *renamer) private(ctx context.Context) error {
	class, name := "", r.Symbol.Name
	switch {
	case r.Symbol.Kind == graph.KindClass:
		class, name = r.Symbol.Name, ""
	case mangled(name) && r.Symbol.Container != "":
		class = last(r.Symbol.Container)
	default:
		return nil
	}
	word := "_" + strings.TrimLeft(class, "_") + name
	if name == "" {
		return nil // which members it has outside is not known by a word
	}
	files, err := r.Bench.Snapshot().Grep(ctx, word)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		var where []string
		for _, f := range files {
			where = append(where, recipe.Relative(r.Bench, f))
		}
		r.Warn("%s is how %s is reached from outside its class, and keeps its name: %s", word, name, recipe.Listed(where, 5))
	}
	return nil
}

// counted says how many comments and strings there are, without those that there are not.
func counted(comments, strings int) string {
	plural := func(n int, word string) string {
		if n == 1 {
			return "1 " + word
		}
		return fmt.Sprintf("%d %ss", n, word)
	}
	switch {
	case comments == 0:
		return plural(strings, "string")
	case strings == 0:
		return plural(comments, "comment")
	}
	return plural(comments, "comment") + " and " + plural(strings, "string")
}
