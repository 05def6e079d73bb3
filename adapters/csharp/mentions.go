package csharp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
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
	return r.Mention(ctx, func(s *recipe.Source, m recipe.Mention) bool {
		src := &source{s}
		asked := m.Token.Kind == syntax.Comment && r.In.Comments || m.Token.Kind == syntax.String && r.In.Strings
		return asked && r.reaches(src, m.Span.Start) && !interpolated(src, m)
	})
}

// interpolated reports whether a word is code within a string.
func interpolated(src *source, m recipe.Mention) bool {
	return slices.ContainsFunc(src.Tree.Named(string(src.Content[m.Span.Start:m.Span.End])), func(id syntax.Ident) bool { return id.Span == m.Span })
}

// reaches reports whether a local symbol can be meant at an offset.
func (r *renamer) reaches(src *source, at int) bool {
	if !r.Symbol.Local {
		return true
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	return ok && src.Path == r.Symbol.Path && owner.Whole.Contains(at)
}

// notes says what the rename does not do.
func (r *renamer) notes(ctx context.Context) error {
	if len(r.dropped) > 0 {
		slices.Sort(r.dropped)
		r.Warn("what a build wrote is left to the next build: %s", recipe.Listed(slices.Compact(r.dropped), 3))
	}
	if r.Symbol.Local {
		return nil
	}
	if err := r.conditional(ctx); err != nil {
		return err
	}
	comments, literals := 0, 0
	var where, elsewhere []string
	for _, path := range r.Holders {
		if builds(path) {
			continue
		}
		if !strings.EqualFold(ext(path), ".cs") {
			content, _, err := r.Bench.Snapshot().Read(ctx, path)
			if err != nil {
				continue // gone, or nothing to read
			}
			if n := len(text.Words(content, r.Symbol.Name)); n > 0 && bytes.IndexByte(content, 0) < 0 {
				elsewhere = append(elsewhere, fmt.Sprintf("%s (%d)", recipe.Relative(r.Bench, path), n))
			}
			continue
		}
		if len(r.Edits.Of(path)) == 0 {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		before := comments + literals
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			switch {
			case r.Edits.Covers(path, m.Span) || interpolated(src, m):
			case m.Token.Kind == syntax.Comment:
				comments++
			default:
				literals++
			}
		}
		if comments+literals > before {
			where = append(where, recipe.Relative(r.Bench, path))
		}
	}
	if len(where) > 0 {
		r.Warn("%q still stands in %s of files that refer to it: %s", r.Symbol.Name, recipe.CountMentions(comments, literals), recipe.Listed(where, 5))
	}
	if len(elsewhere) > 0 {
		r.Warn("%q also stands in files that are not C# and were left as they are: %s", r.Symbol.Name, recipe.Listed(elsewhere, 5))
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
	for _, path := range r.Holders {
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
		if !bytes.Contains(src.Content, []byte("#if")) {
			continue
		}
		for _, id := range src.Tree.Named(r.Symbol.Name) {
			if r.Edits.Covers(path, id.Span) || !src.underIf(id.Span.Start) || asked >= maxConditional {
				continue
			}
			asked++
			at := graph.Symbol{Path: path, NameSpan: id.Span}
			list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/definition", at, nil)
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
		r.Warn("%q also stands in code under #if that is not compiled here, and stays: %s", r.Symbol.Name, recipe.Listed(where, 5))
	}
	return nil
}

// underIf reports whether an offset stands between #if and #endif.
func (s *source) underIf(at int) bool {
	depth := 0
	for line := range bytes.Lines(s.Content[:at]) {
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
