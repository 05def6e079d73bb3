package rust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// mentions changes the name where comments and, if asked for, strings of the
// files that refer to the symbol mention it. Doc links and code in
// documentation, which cargo compiles as tests, follow in any case.
func (r *renamer) mentions(ctx context.Context) error {
	old, name := strings.TrimPrefix(r.Symbol.Name, "r#"), strings.TrimPrefix(r.In.NewName, "r#")
	for _, path := range r.Holders {
		src, err := r.Source(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		refers := len(r.Edits.Of(path)) > 0
		if !refers && !r.alone(ctx) {
			continue
		}
		for _, m := range recipe.Mentions(src.Tree, src.Content, old) {
			if r.Edits.Covers(path, m.Span) || !r.within(src, m.Span.Start) {
				continue
			}
			if m.Token.Kind == syntax.String {
				if refers && (r.In.Strings || inAttribute(src.Content, m) && !isMember(r.Symbol) && !r.Symbol.Local && r.alone(ctx)) {
					r.Edits.Add(path, m.Span, name)
				}
				continue
			}
			if r.follows(ctx, src, m, refers) {
				r.Edits.Add(path, m.Span, name)
			}
		}
	}
	return nil
}

// inAttribute reports whether a word is the last name of a path that is all of
// a string in an attribute, as in #[serde(default = "module::function")].
func inAttribute(content []byte, m recipe.Mention) bool {
	inner := content[min(m.Token.Span.Start+1, m.Span.Start):m.Span.Start]
	if m.Span.End+1 != m.Token.Span.End || bytes.ContainsFunc(inner, func(c rune) bool { return c != ':' && (c >= utf8.RuneSelf || !wordByte(byte(c))) }) {
		return false
	}
	before := bytes.TrimRight(content[:m.Token.Span.Start], " ")
	open := bytes.LastIndex(before, []byte("#["))
	return open >= 0 && !bytes.ContainsAny(before[open:], "];{}") && bytes.HasSuffix(before, []byte("="))
}

// alone reports whether no other declaration of the workspace has the name.
func (r *renamer) alone(ctx context.Context) bool {
	n, err := homonyms(ctx, r.Bench, r.Symbol)
	return err == nil && n == 0 && !r.Symbol.Local
}

// within reports whether a local symbol can be meant at an offset.
func (r *renamer) within(src *recipe.Source, at int) bool {
	if !r.Symbol.Local {
		return true
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	return ok && src.Path == r.Symbol.Path && owner.Whole.Contains(at)
}

// follows decides whether a word in a comment stands for the symbol.
func (r *renamer) follows(ctx context.Context, src *recipe.Source, m recipe.Mention, refers bool) bool {
	if partOfOther(src.Content, m.Span) {
		return false
	}
	code := inCode(src.Content, m)
	path := pathBefore(src.Content, m.Span.Start)
	switch {
	case path != "":
		return r.behind(ctx, path) && (refers || r.alone(ctx))
	case !code && (!r.In.Comments || plainWord(r.Symbol.Name)):
		return false
	case !code:
		return refers
	case r.Symbol.Kind == graph.KindField || r.Symbol.Kind == graph.KindMethod || r.Symbol.Container != "":
		return refers && (r.alone(ctx) || r.inOwnDoc(src, m.Span.Start))
	}
	return refers || r.alone(ctx)
}

// behind reports whether a name after "path::" in a comment is the symbol's:
// behind what declares it, or, at the top of a module, behind a module or crate.
func (r *renamer) behind(ctx context.Context, path string) bool {
	if topLevel(r.Symbol) || r.Symbol.Kind == graph.KindModule {
		module := lastName(around(r.Symbol))
		return slices.Contains([]string{"crate", "self", "super", module}, path) || !isUpper(path) && path != "?" && r.alone(ctx)
	}
	if path == "Self" {
		return true
	}
	for _, s := range append([]graph.Symbol{r.Symbol}, r.kin...) {
		if lastName(s.Container) == path || traitOf(s) == path {
			return true
		}
	}
	return false
}

// inOwnDoc reports whether an offset is in the documentation of what the
// symbol is a part of.
func (r *renamer) inOwnDoc(src *recipe.Source, at int) bool {
	if src.Path != r.Symbol.Path {
		return false
	}
	for _, s := range src.Tree.Symbols {
		if !s.Local && s.Whole.Start <= at && at < s.Decl.Start && (s.ID == r.Symbol.ID || s.Qualified == r.Symbol.Container || s.Container == r.Symbol.Container) {
			return true
		}
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	return ok && owner.Whole.Contains(at)
}

// plainWord reports whether a name is also a word of prose.
func plainWord(name string) bool {
	return strings.IndexFunc(name, func(c rune) bool { return c < 'a' || c > 'z' }) < 0
}

// partOfOther reports whether a word is part of a longer one joined by hyphens
// or dots, such as a file's name.
func partOfOther(content []byte, at graph.Span) bool {
	if at.Start > 0 && (content[at.Start-1] == '-' || content[at.Start-1] == '/') {
		return true
	}
	after := content[at.End:]
	return bytes.HasPrefix(after, []byte("-")) && len(after) > 1 && wordByte(after[1]) || bytes.HasPrefix(after, []byte(".rs"))
}

// pathBefore returns the name before "::" in front of a word.
func pathBefore(content []byte, at int) string {
	before, ok := bytes.CutSuffix(content[:at], []byte("::"))
	if !ok {
		return ""
	}
	start := len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	if start == len(before) {
		return "?" // a path that this does not read
	}
	return string(before[start:])
}

// inCode reports whether a word of a comment is between backticks, in a doc
// link, or in a block of code.
func inCode(content []byte, m recipe.Mention) bool {
	line := content[bytes.LastIndexByte(content[:m.Span.Start], '\n')+1:]
	column := m.Span.Start - (len(content) - len(line))
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	head := line[:column]
	if bytes.Count(head, []byte("`"))%2 == 1 {
		return true
	}
	if open := bytes.LastIndexByte(head, '['); open > bytes.LastIndexByte(head, ']') && bytes.IndexByte(line[column:], ']') >= 0 {
		return true
	}
	return fenced(content, m.Span.Start)
}

// fenced reports whether an offset of a line comment is in a block of code:
// between lines of the comments around it that hold three backticks.
func fenced(content []byte, offset int) bool {
	start := bytes.LastIndexByte(content[:offset], '\n') + 1
	inside := false
	for start > 0 {
		end := start - 1
		start = bytes.LastIndexByte(content[:end], '\n') + 1
		line := bytes.TrimSpace(content[start:end])
		if !bytes.HasPrefix(line, []byte("//")) {
			break
		}
		if bytes.HasPrefix(bytes.TrimSpace(bytes.TrimLeft(line, "/!")), []byte("```")) {
			inside = !inside
		}
	}
	return inside
}
