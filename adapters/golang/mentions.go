package golang

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// sense is what a word in a comment stands for.
type sense uint8

const (
	foreign sense = iota // something else, or nobody can tell
	word                 // the symbol, in prose
	link                 // the symbol, in a doc link or a directive that binds it
)

// mentions changes the name where comments and, if asked for, strings of the
// files that refer to the symbol mention it. Doc links follow in any case, as
// do directives that bind the name.
func (r *renamer) mentions(ctx context.Context) error {
	holders, err := r.goHolders(ctx)
	if err != nil {
		return err
	}
	for _, src := range holders {
		refers := len(r.Edits.Of(src.Path)) > 0
		if !refers && !r.knows(src) && !bytes.Contains(src.Content, []byte("//go:linkname ")) {
			continue
		}
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if r.Edits.Covers(src.Path, m.Span) {
				continue
			}
			if m.Token.Kind == syntax.String {
				if r.In.Strings && refers && !src.quotedPath(m) && !src.fieldTag(m) && r.inReach(src, m.Span.Start) {
					r.Edits.Add(src.Path, m.Span, r.In.NewName)
				}
				continue
			}
			meant, err := r.sense(ctx, src, m)
			if err != nil {
				return err
			}
			switch meant {
			case link:
				r.Edits.Add(src.Path, m.Span, r.In.NewName)
			case word:
				if r.In.Comments && refers {
					r.Edits.Add(src.Path, m.Span, r.In.NewName)
				}
			}
		}
	}
	return nil
}

// knows reports whether a file is of the package that declares the symbol, or imports it.
func (r *renamer) knows(src *source) bool {
	return r.isHome(src) || len(r.qualifiers(src)) > 0
}

// isHome reports whether a file is of a package that declares a member of the family.
func (r *renamer) isHome(src *source) bool {
	return slices.ContainsFunc(r.Members, func(m graph.Symbol) bool {
		declaring, ok := r.sources[m.Path]
		return ok && filepath.Dir(m.Path) == filepath.Dir(src.Path) &&
			strings.TrimSuffix(src.Tree.Package, "_test") == strings.TrimSuffix(declaring.Tree.Package, "_test")
	})
}

// qualifiers returns the names under which a file imports the symbol's package.
func (r *renamer) qualifiers(src *source) []string {
	var out []string
	for _, im := range src.Tree.Imports {
		if r.home == "" || im.Path != r.home {
			continue
		}
		switch im.Alias {
		case "":
			out = append(out, strings.TrimSuffix(r.pkg, "_test"))
		case "_":
		default:
			out = append(out, im.Alias) // "." as well
		}
	}
	return out
}

// inReach reports whether a local symbol can be meant at an offset.
func (r *renamer) inReach(src *source, at int) bool {
	if !r.Symbol.Local {
		return true
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	return ok && src.Path == r.Symbol.Path && owner.Whole.Contains(at)
}

// sense decides what a word in a comment stands for.
func (r *renamer) sense(ctx context.Context, src *source, m recipe.Mention) (sense, error) {
	at := m.Span.Start
	path, chain, start := qualifier(src.Content, at)
	if kind, ok := directive(src.Content[m.Token.Span.Start:m.Token.Span.End]); ok {
		return r.directed(src, kind, path, chain), nil
	}
	if src.verbatim(m) || !r.inReach(src, at) || partOfOther(src.Content, m.Span) {
		return foreign, nil
	}
	linked := isLink(src.Content, start, m.Span.End)
	switch {
	case len(chain) == 0 && path == "":
		s := r.bare(src, at)
		if s == word && linked && r.Symbol.Container == "" && r.isHome(src) {
			s = link
		}
		return s, nil
	case r.Symbol.Local:
		return foreign, nil
	}
	qualified, err := r.qualified(ctx, src, path, chain)
	switch {
	case err != nil:
		return foreign, err
	case qualified && linked:
		return link, nil
	case qualified, r.Symbol.Container != "" && path == "" && len(chain) == 1 && r.unique() && !imports(src.Tree, chain[0]):
		// In "x.Name", x is no package: as far as anyone can tell a value of the type.
		return word, nil
	}
	return foreign, nil
}

// directed decides what a word in a directive stands for.
func (r *renamer) directed(src *source, kind, path string, chain []string) sense {
	top := r.Symbol.Container == "" && !r.Symbol.Local
	switch {
	case kind == "go:generate":
		return word
	case !top:
	case (kind == "export" || kind == "go:linkname") && len(chain) == 0:
		if r.isHome(src) {
			return link
		}
	case kind == "go:linkname" && len(chain) == 1 && r.home != "" && strings.TrimPrefix(path+"/"+chain[0], "/") == r.home:
		return link
	}
	return foreign
}

// qualified reports whether what stands before a word makes it the symbol: a
// name of its package for what is at package level, its type for a member.
func (r *renamer) qualified(ctx context.Context, src *source, path string, chain []string) (bool, error) {
	if r.Symbol.Container == "" {
		return len(chain) == 1 && r.names(src, path, chain[0]), nil
	}
	for _, m := range r.Members {
		container := typeName(m)
		if len(chain) == 0 || chain[len(chain)-1] != container {
			continue
		}
		switch len(chain) {
		case 2:
			if r.names(src, path, chain[0]) {
				return true, nil
			}
		case 1:
			if path != "" {
				continue
			}
			if r.isHome(src) {
				return true, nil
			}
			// Another package's comment: its own type of that name is nearer.
			same, err := r.Bench.Graph().ByName(ctx, container)
			if err != nil {
				return false, err
			}
			own := namespaceOf(src) + "." + container
			if !slices.ContainsFunc(same, func(s graph.Symbol) bool { return s.Qualified == own }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// names reports whether a qualifier names the symbol's package: by an import
// of the file, by its own name, or by the whole path.
func (r *renamer) names(src *source, path, qualifier string) bool {
	if path != "" {
		return r.home != "" && path+"/"+qualifier == r.home
	}
	return slices.Contains(r.qualifiers(src), qualifier) || qualifier == strings.TrimSuffix(r.pkg, "_test") && !imports(src.Tree, qualifier)
}

// bare decides what an unqualified word stands for: not the symbol where
// another of the same name is nearer.
func (r *renamer) bare(src *source, at int) sense {
	for _, f := range r.Members {
		if f.Path == src.Path && f.Whole.Contains(at) && !r.Symbol.Local {
			return word
		}
	}
	if utf8.RuneCountInString(r.Symbol.Name) < 3 && startsLower(r.Symbol.Name) {
		return foreign // as likely a word of the language as a name
	}
	for _, o := range r.others {
		switch {
		case o.Local:
			if o.Path != src.Path || o.Path == r.Symbol.Path && o.NameSpan == r.Symbol.NameSpan {
				continue
			}
			if owner, ok := src.Tree.Enclosing(o.NameSpan.Start); ok && owner.Whole.Contains(at) {
				return foreign
			}
		case r.Symbol.Local:
		case o.Path == src.Path && o.Whole.Contains(at):
			return foreign
		case r.Symbol.Container != "":
			return foreign
		case o.Container == "" && o.Kind != graph.KindPackage && o.Qualified == namespaceOf(src)+"."+o.Name:
			return foreign
		}
	}
	return word
}

// namespaceOf returns the qualified name of a file's package.
func namespaceOf(src *source) string {
	for _, s := range src.Tree.Symbols {
		if s.Kind == graph.KindPackage {
			return s.Qualified
		}
	}
	return ""
}

// unique reports whether no other declaration that is not local has the name.
func (r *renamer) unique() bool {
	return !slices.ContainsFunc(r.others, func(s graph.Symbol) bool { return !s.Local })
}

// imports reports whether a name is that of an import of the file.
func imports(t *syntax.Tree, name string) bool {
	return slices.ContainsFunc(t.Imports, func(im syntax.Import) bool {
		if im.Alias != "" {
			return im.Alias == name
		}
		return im.Path[strings.LastIndexByte(im.Path, '/')+1:] == name
	})
}

// qualifier reads what stands before a word: "a/b/c.T." gives the path "a/b"
// and the chain c, T; "(*T)." gives T. start is where it begins.
func qualifier(content []byte, at int) (path string, chain []string, start int) {
	start = at
	for start > 0 && content[start-1] == '.' {
		end := start - 1
		closing := end > 0 && content[end-1] == ')'
		if closing {
			end--
		}
		begin := end
		for begin > 0 {
			c, size := utf8.DecodeLastRune(content[:begin])
			if !text.IdentifierRune(c) {
				break
			}
			begin -= size
		}
		if begin == end {
			return path, chain, start
		}
		chain = slices.Insert(chain, 0, string(content[begin:end]))
		start = begin
		if closing {
			for start > 0 && (content[start-1] == '*' || content[start-1] == '(') {
				start--
			}
			return path, chain, start
		}
	}
	if len(chain) > 0 && start > 0 && content[start-1] == '/' {
		begin := start - 1
		for begin > 0 && (content[begin-1] >= utf8.RuneSelf || bytes.IndexByte([]byte("-._~/"), content[begin-1]) >= 0 || isWordByte(content[begin-1])) {
			begin--
		}
		path, start = string(content[begin:start-1]), begin
	}
	return path, chain, start
}

func isWordByte(c byte) bool { return text.IdentifierRune(rune(c)) }

// isLink reports whether a reference stands in the brackets of a doc link
// (go.dev/doc/comment): [Name], [*pkg.Name], [Type.Method].
func isLink(content []byte, start, end int) bool {
	if start > 0 && content[start-1] == '*' {
		start--
	}
	if start == 0 || content[start-1] != '[' {
		return false
	}
	for end < len(content) && (content[end] == '.' || isWordByte(content[end]) || content[end] >= utf8.RuneSelf) {
		end++
	}
	return end < len(content) && content[end] == ']'
}

// partOfOther reports whether a word is a piece of something longer that is
// not Go: a path, a file name, a hyphenated word, an address.
func partOfOther(content []byte, s graph.Span) bool {
	before, after := byte(' '), content[s.End:]
	if s.Start > 0 {
		before = content[s.Start-1]
	}
	switch {
	case before == '/' && (s.Start < 2 || content[s.Start-2] != '/'), before == '@', before == '$', before == '%', before == '\\':
		return true
	case before == '-' && s.Start > 1 && isWordByte(content[s.Start-2]):
		return true
	case bytes.HasPrefix(after, []byte("://")), bytes.HasPrefix(after, []byte(".go")) && !continues(after[3:]):
		return true
	case len(after) > 1 && (after[0] == '-' || after[0] == '/') && isWordByte(after[1]):
		return true
	}
	return false
}

func continues(rest []byte) bool { return len(rest) > 0 && isWordByte(rest[0]) }

// directive returns the kind of a comment that tools read, as "go:build".
func directive(comment []byte) (kind string, ok bool) {
	head, _, _ := bytes.Cut(comment, []byte(" "))
	switch s := strings.TrimRight(string(head), "\r\n"); {
	case s == "//export":
		return "export", true
	case s == "//line" || strings.HasPrefix(s, "//nolint"):
		return s[2:], true
	case isDirective(s):
		return s[2:], true
	case bytes.HasPrefix(comment, []byte("// +build ")):
		return "go:build", true
	}
	return "", false
}

// verbatim reports whether a mention is text that something compares or
// compiles: the expected output of an Example, the C code of a cgo file.
func (s *source) verbatim(m recipe.Mention) bool {
	at := m.Span.Start
	if slices.ContainsFunc(s.output, func(o graph.Span) bool { return o.Start <= at && at < o.End }) {
		return true
	}
	if m.Token.Kind != syntax.Comment {
		return false
	}
	for _, im := range s.Tree.Imports {
		if im.Path == "C" && at < im.Span.Start {
			return true // at worst prose of the head of a cgo file stays
		}
	}
	return false
}

// output begins the expected output of an Example function (go doc testing).
var output = regexp.MustCompile(`(?i)(?://|/\*)[ \t]*(?:unordered )?output:`)

func expectedOutput(s *source) []graph.Span {
	if !isTest(s.Path) {
		return nil
	}
	var out []graph.Span
	for _, f := range s.Tree.Symbols {
		if f.Local || f.Kind != graph.KindFunction || !strings.HasPrefix(f.Name, "Example") {
			continue
		}
		all := output.FindAllIndex(s.Content[f.Body.Start:f.Body.End], -1)
		if len(all) > 0 {
			out = append(out, graph.Span{Start: f.Body.Start + all[len(all)-1][0], End: f.Body.End})
		}
	}
	return out
}

// quotedPath reports whether a string is the path of an import.
func (s *source) quotedPath(m recipe.Mention) bool { return recipe.InImport(s.Tree, m.Span.Start) }

// fieldTag reports whether a string is the tag of a struct field, which names
// things outside Go.
func (s *source) fieldTag(m recipe.Mention) bool {
	tag := string(s.Content[m.Token.Span.Start:m.Token.Span.End])
	return slices.ContainsFunc(s.Tree.Symbols, func(f graph.Symbol) bool {
		return f.Kind == graph.KindField && f.Decl.Contains(m.Token.Span.Start) && slices.Contains(f.Attributes, tag)
	})
}
