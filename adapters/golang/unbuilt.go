package golang

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// maxOpened bounds the files that gopls is shown because it passes over their folders.
const maxOpened = 50

// show opens the files that use the symbol's package in folders that the go
// command passes over (testdata): gopls loads their packages while it has a
// file of them open, and tests often build them.
func (r *renamer) show(ctx context.Context) error {
	if r.Symbol.Local {
		return nil
	}
	holders, err := r.goHolders(ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, src := range holders {
		uses := src.Tree.Named(r.Symbol.Name)
		if !src.built || len(uses) == 0 || !hidden(r.modules[filepath.Dir(src.Path)], filepath.Dir(src.Path)) || len(r.qualifiers(src)) == 0 {
			continue
		}
		if n++; n > maxOpened {
			r.Warn("only %d of the files in testdata folders that may use %s were looked at", maxOpened, r.Symbol.Name)
			break
		}
		if err := r.srv.Open(ctx, []string{src.Path}); err != nil {
			return err
		}
		// A question about the file makes gopls load its package.
		_, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/definition",
			graph.Symbol{Path: src.Path, NameSpan: uses[0].Span}, nil)
		var refused adapters.ServerRefusal
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}

// unbuilt follows the name into files that gopls does not see: those of other
// systems and build tags, programs run by hand ("//go:build ignore"), and
// assembly. What stands at package level can be followed by syntax alone; a
// field or method cannot, since that takes types, and is reported.
func (r *renamer) unbuilt(ctx context.Context) error {
	if r.Symbol.Local {
		return nil
	}
	holders, err := r.goHolders(ctx)
	if err != nil {
		return err
	}
	for _, src := range holders {
		if src.built || len(r.Edits.Of(src.Path)) > 0 || !r.knows(src) {
			continue
		}
		if slices.ContainsFunc(r.Members, func(m graph.Symbol) bool { return m.Path == src.Path }) {
			continue
		}
		followed, left := r.followed(src)
		for _, s := range followed {
			r.Edits.Add(src.Path, s, r.In.NewName)
		}
		if len(followed) > 0 {
			r.Warn("%s is not part of the build here (%s); %s there was followed by its syntax and not checked",
				recipe.Relative(r.Bench, src.Path), condition(src), r.Symbol.Name)
		}
		if len(left) > 0 {
			at := src.File.PointOf(left[0].Start)
			r.Warn("%s is not part of the build here (%s) and may use %s (line %d); look at it by hand",
				recipe.Relative(r.Bench, src.Path), condition(src), r.Symbol.Name, at.Line)
		}
	}
	return r.assembly(ctx)
}

// condition says why a file is left out.
func condition(src *source) string {
	if src.Tree.Constraint != "" {
		return "//go:build " + src.Tree.Constraint
	}
	return "by its name"
}

// followed returns the places of a file that are the symbol for sure, and
// those that may be.
func (r *renamer) followed(src *source) (sure, unsure []graph.Span) {
	home := r.isHome(src) && !standsAlone(src.Tree) && (src.Tree.Package == r.pkg || r.pkg == "")
	quals := r.qualifiers(src)
	dotted := slices.Contains(quals, ".")
	for _, id := range src.Tree.Named(r.Symbol.Name) {
		before := prevToken(src.Content, id.Span.Start)
		if r.Symbol.Container != "" {
			if before == "." || declares(src, id.Span, func(s graph.Symbol) bool { return s.Container != "" }) {
				unsure = append(unsure, id.Span)
			}
			continue
		}
		switch {
		case before == ".":
			_, chain, _ := qualifier(src.Content, id.Span.Start)
			if len(chain) == 1 && slices.Contains(quals, chain[0]) {
				sure = append(sure, id.Span)
			}
		case !home && !dotted:
		case declares(src, id.Span, func(s graph.Symbol) bool { return !s.Local && s.Container == "" && s.Kind != graph.KindPackage }):
			sure = append(sure, id.Span)
		case declares(src, id.Span, func(graph.Symbol) bool { return true }):
			// A local or a member of the same name.
		case shadowed(src, r.Symbol.Name, id.Span.Start) || nextToken(src.Content, id.Span.End) == ":":
			unsure = append(unsure, id.Span)
		default:
			sure = append(sure, id.Span)
		}
	}
	return sure, unsure
}

// declares reports whether a declaration of the wanted kind has its name at a span.
func declares(src *source, at graph.Span, want func(graph.Symbol) bool) bool {
	return slices.ContainsFunc(src.Tree.Symbols, func(s graph.Symbol) bool { return s.NameSpan == at && want(s) })
}

// shadowed reports whether the declaration around an offset declares the name anew.
func shadowed(src *source, name string, at int) bool {
	owner, ok := src.Tree.Enclosing(at)
	return ok && slices.ContainsFunc(src.Tree.Symbols, func(s graph.Symbol) bool {
		return s.Local && s.Name == name && owner.Whole.Contains(s.NameSpan.Start)
	})
}

// prevToken returns the last character before an offset that is no space.
func prevToken(content []byte, at int) string {
	head := bytes.TrimRight(content[:at], " \t\r\n")
	c, _ := utf8.DecodeLastRune(head)
	return string(c)
}

// nextToken returns the first character from an offset on that is no space on the line.
func nextToken(content []byte, at int) string {
	tail := bytes.TrimLeft(content[at:], " \t")
	if bytes.HasPrefix(tail, []byte(":=")) {
		return ":="
	}
	c, _ := utf8.DecodeRune(tail)
	return string(c)
}

// assembly follows a function or variable into the assembly of its package,
// where its name stands behind a middle dot.
func (r *renamer) assembly(ctx context.Context) error {
	if r.Symbol.Container != "" {
		return nil
	}
	for _, path := range r.Holders {
		if filepath.Ext(path) != ".s" || filepath.Dir(path) != filepath.Dir(r.Symbol.Path) {
			continue
		}
		content, _, err := r.Bench.Snapshot().Read(ctx, path)
		if err != nil {
			return err
		}
		for _, at := range text.Words(content, r.Symbol.Name) {
			if bytes.HasSuffix(content[:at], []byte("·")) {
				r.Edits.Add(path, graph.Span{Start: at, End: at + len(r.Symbol.Name)}, r.In.NewName)
			}
		}
	}
	return nil
}
