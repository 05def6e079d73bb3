package python

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
)

// moved is a module that gets another name in its folder.
type moved struct {
	from, to string   // its name
	paths    []string // of its code and its stub
	parent   string   // the folder that it is imported from, as a package is named
}

// file moves the module that is named after the symbol along with it, when the
// rename asks for that, and writes its new name wherever pyright says that the
// old one stands for it.
func (r *renamer) file(ctx context.Context) error {
	if !r.In.File {
		return nil
	}
	s := r.Symbol
	if s.Local || isMember(s) || r.ownerOf(ctx, s).Name != "" {
		r.Warn("only files named after something at module level are renamed with it")
		return nil
	}
	dir, base := filepath.Split(s.Path)
	stem, _, _ := strings.Cut(base, ".")
	style := recipe.NamedAfter(stem, s.Name)
	if style == nil {
		r.Warn("%s is not named after %s and keeps its name", recipe.Relative(r.Bench, s.Path), s.Name)
		return nil
	}
	m := moved{from: stem, to: style(r.In.NewName), parent: filepath.Base(dir)}
	if m.to == m.from {
		return nil
	}
	if err := r.a.CheckName(graph.Symbol{Kind: graph.KindModule, Name: m.from}, m.to); err != nil {
		return err
	}
	taken := []string{filepath.Join(dir, m.to, "__init__.py")}
	for _, ext := range []string{".py", ".pyi"} {
		from, to := filepath.Join(dir, m.from+ext), filepath.Join(dir, m.to+ext)
		taken = append(taken, to)
		have, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), from)
		if err != nil {
			return err
		}
		if have != nil {
			m.paths = append(m.paths, from)
			r.Moves = append(r.Moves, change.Op{Kind: change.Rename, Path: from, NewPath: to})
		}
	}
	for _, to := range taken {
		have, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), to)
		if err != nil {
			return err
		}
		if have != nil {
			return recipe.Refuse(adapters.NameConflict, "%s exists already; rename without the file", recipe.Relative(r.Bench, to))
		}
	}
	return r.imports(ctx, m)
}

// imports writes a module's new name where it is imported and used.
func (r *renamer) imports(ctx context.Context, m moved) error {
	shown, err := recipe.Candidates(ctx, r.Bench, r.srv, graph.Symbol{Name: m.from, Path: r.Symbol.Path, Language: r.Symbol.Language, Kind: graph.KindModule}, maxOpen, m.from)
	if err != nil {
		return err
	}
	var left []string
	for _, path := range shown {
		if !slices.Contains(r.Holders, path) {
			r.Holders = append(r.Holders, path)
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if src.Tree == nil {
			if len(m.dotted(src.Content)) > 0 {
				left = append(left, recipe.Relative(r.Bench, path))
			}
			continue
		}
		if err := r.imported(ctx, src, m); err != nil {
			return err
		}
		if r.inText(src, m) > 0 {
			left = append(left, recipe.Relative(r.Bench, path))
		}
	}
	if len(left) > 0 {
		r.Warn("the module %s.%s is named in text that does not change: %s", m.parent, m.from, recipe.Listed(left, 5))
	}
	return nil
}

// imported writes a module's new name in the code of one file.
func (r *renamer) imported(ctx context.Context, src *source, m moved) error {
	bound := false // by its name alone
	for _, id := range src.Tree.Named(m.from) {
		if r.Edits.Covers(src.Path, id.Span) {
			continue
		}
		places, err := recipe.Locate(ctx, r.Bench, lookup, "textDocument/definition", graph.Symbol{Path: src.Path, NameSpan: id.Span}, nil)
		if err != nil {
			return err
		}
		// A module is declared by its file as a whole.
		if !slices.ContainsFunc(places, func(p adapters.Place) bool { return p.Span == (graph.Span{}) && slices.Contains(m.paths, p.Path) }) {
			continue
		}
		r.Edits.Add(src.Path, id.Span, m.to)
		bound = bound || src.bare(id.Span.Start) && !origin.Match(src.Content[:id.Span.Start])
	}
	if !bound {
		return nil
	}
	for _, id := range src.Tree.Named(m.to) {
		if src.bare(id.Span.Start) && !src.argument(id.Span) {
			at := src.File.PointOf(id.Span.Start)
			err, _ := recipe.Refuse(adapters.NameConflict, "%s uses the module %s by its name, and has something named %s already (line %d); rename without the file",
				recipe.Relative(r.Bench, src.Path), m.from, m.to, at.Line).(*adapters.Refusal)
			err.Places = []adapters.Place{{Path: src.Path, Span: id.Span, File: src.File}}
			return err
		}
	}
	return nil
}

// origin matches the text before the first name of what a statement imports from.
var origin = regexp.MustCompile(`(?:^|[\n;:])[ \t]*from[ \t]+\.*$`)

// inText writes a module's new name where comments and strings name it behind
// its package, as the options say, and returns in how many strings it stays.
func (r *renamer) inText(src *source, m moved) (left int) {
	for _, at := range m.dotted(src.Content) {
		t, ok := src.Tree.TokenAt(at.Start)
		if !ok || r.Edits.Covers(src.Path, at) {
			continue
		}
		documents := t.Kind == syntax.Comment || src.docstring(t)
		switch {
		case documents && r.In.Comments, !documents && r.In.Strings:
			r.Edits.Add(src.Path, at, m.to)
		case !documents:
			left++
		}
	}
	return left
}

// dotted returns where a module is named behind its package: "package.module".
func (m moved) dotted(content []byte) []graph.Span {
	var out []graph.Span
	word := []byte(m.parent + "." + m.from)
	for at := 0; ; {
		i := bytes.Index(content[at:], word)
		if i < 0 {
			return out
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || !isWordByte(content[start-1])) && (end == len(content) || !isWordByte(content[end])) {
			out = append(out, graph.Span{Start: end - len(m.from), End: end})
		}
		at = end
	}
}
