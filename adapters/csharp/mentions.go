package csharp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// mentions changes the name in comments and strings, as asked for, of the
// files that refer to the symbol. References in documentation follow by the server.
func (r *renamer) mentions(ctx context.Context) error {
	if !r.in.Comments && !r.in.Strings {
		return nil
	}
	for _, path := range r.edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, m := range recipe.Mentions(src.tree, src.content, r.sym.Name) {
			if r.edits.Covers(path, m.Span) || !r.reaches(src, m.Span.Start) || interpolated(src, m) {
				continue
			}
			if m.Token.Kind == syntax.Comment && r.in.Comments || m.Token.Kind == syntax.String && r.in.Strings {
				r.edits.Add(path, m.Span, r.in.NewName)
			}
		}
	}
	return nil
}

// interpolated reports whether a word is code within a string.
func interpolated(src *source, m recipe.Mention) bool {
	return slices.ContainsFunc(src.tree.Named(string(src.content[m.Span.Start:m.Span.End])), func(id syntax.Ident) bool { return id.Span == m.Span })
}

// reaches reports whether a local symbol can be meant at an offset.
func (r *renamer) reaches(src *source, at int) bool {
	if !r.sym.Local {
		return true
	}
	owner, ok := src.tree.Enclosing(r.sym.NameSpan.Start)
	return ok && src.path == r.sym.Path && owner.Whole.Contains(at)
}

// notes says what the rename does not do.
func (r *renamer) notes(ctx context.Context) error {
	if len(r.dropped) > 0 {
		slices.Sort(r.dropped)
		r.warn("what a build wrote is left to the next build: %s", listed(slices.Compact(r.dropped), 3))
	}
	if r.sym.Local {
		return nil
	}
	if err := r.conditional(ctx); err != nil {
		return err
	}
	comments, literals := 0, 0
	var where, elsewhere []string
	for _, path := range r.holders {
		if builds(path) {
			continue
		}
		if !strings.EqualFold(ext(path), ".cs") {
			content, _, err := r.b.Snapshot().Read(ctx, path)
			if err != nil {
				continue // gone, or nothing to read
			}
			if n := len(text.Words(content, r.sym.Name)); n > 0 && bytes.IndexByte(content, 0) < 0 {
				elsewhere = append(elsewhere, fmt.Sprintf("%s (%d)", r.relative(path), n))
			}
			continue
		}
		if len(r.edits.Of(path)) == 0 {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		before := comments + literals
		for _, m := range recipe.Mentions(src.tree, src.content, r.sym.Name) {
			switch {
			case r.edits.Covers(path, m.Span) || interpolated(src, m):
			case m.Token.Kind == syntax.Comment:
				comments++
			default:
				literals++
			}
		}
		if comments+literals > before {
			where = append(where, r.relative(path))
		}
	}
	if len(where) > 0 {
		r.warn("%q still stands in %s of files that refer to it: %s", r.sym.Name, counted(comments, literals), listed(where, 5))
	}
	if len(elsewhere) > 0 {
		r.warn("%q also stands in files that are not C# and were left as they are: %s", r.sym.Name, listed(elsewhere, 5))
	}
	return nil
}

// maxConditional bounds how many names under #if are asked about.
const maxConditional = 20

// conditional warns of code that is not compiled here and holds the name: no
// server knows what it means there.
func (r *renamer) conditional(ctx context.Context) error {
	asked := 0
	var where []string
	for _, path := range r.holders {
		if !strings.EqualFold(ext(path), ".cs") || builds(path) {
			continue
		}
		src, err := r.source(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !bytes.Contains(src.content, []byte("#if")) {
			continue
		}
		for _, id := range src.tree.Named(r.sym.Name) {
			if r.edits.Covers(path, id.Span) || !src.underIf(id.Span.Start) || asked >= maxConditional {
				continue
			}
			asked++
			at := graph.Symbol{Path: path, NameSpan: id.Span}
			list, err := recipe.Locate(ctx, r.b, adapters.Navigate, "textDocument/definition", at, nil)
			var declined adapters.ServerRefusal
			if err != nil && !errors.As(err, &declined) {
				return err
			}
			if len(list) == 0 {
				where = append(where, r.point(src, id.Span.Start))
			}
		}
	}
	if len(where) > 0 {
		r.warn("%q also stands in code under #if that is not compiled here, and stays: %s", r.sym.Name, listed(where, 5))
	}
	return nil
}

// underIf reports whether an offset stands between #if and #endif.
func (s *source) underIf(at int) bool {
	depth := 0
	for line := range bytes.Lines(s.content[:at]) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("#if")):
			depth++
		case bytes.HasPrefix(line, []byte("#endif")):
			depth--
		}
	}
	return depth > 0
}

// listed joins up to n words and says how many more there are.
func listed(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:n], ", ") + " and " + strconv.Itoa(len(words)-n) + " more"
}

// counted says how many comments and strings there are, without those that there are not.
func counted(comments, literals int) string {
	plural := func(n int, word string) string {
		if n == 1 {
			return "1 " + word
		}
		return strconv.Itoa(n) + " " + word + "s"
	}
	switch {
	case comments == 0:
		return plural(literals, "string")
	case literals == 0:
		return plural(comments, "comment")
	}
	return plural(comments, "comment") + " and " + plural(literals, "string")
}
