package recipe

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// bound reports whether a declaration is the name that an import gives.
func bound(t *syntax.Tree, s graph.Symbol) bool {
	_, ok := importAt(t, s.NameSpan, s.Name)
	return ok && s.Local
}

// importAt returns the import that a span stands in; of several that one
// statement makes the one that ends in the name.
func importAt(t *syntax.Tree, at graph.Span, name string) (found syntax.Import, ok bool) {
	for _, im := range t.Imports {
		if im.Span.Start <= at.Start && at.End <= im.Span.End && (!ok || last(im.Path) == name) {
			found, ok = im, true
		}
	}
	return found, ok
}

// original is the name that an import gives another: A of "A as B".
func original(p *page, s graph.Symbol, name string) string {
	before := bytes.TrimRight(p.content[:s.NameSpan.Start], " \t")
	if rest, ok := bytes.CutSuffix(before, []byte(" as")); ok {
		if w := trailingWord(bytes.TrimRight(rest, " \t")); w != "" {
			return w
		}
	}
	return name
}

// imported is what a name means that an import of the file binds.
func (m *meanings) imported(ctx context.Context, p *page, im syntax.Import, name string, global []graph.Symbol) (meaning, error) {
	here, near := m.from(ctx, p, im, name, global)
	switch {
	case len(here) > 0:
		return meaning{here, sole(here)}, nil
	case len(near) > 0:
		return meaning{all: near}, nil // handed on by a file between
	}
	return meaning{sure: true}, nil
}

// binds reports whether an import gives a name to the file.
func binds(t *syntax.Tree, im syntax.Import, name string) bool {
	if im.Alias != "" {
		return im.Alias == name
	}
	if last(im.Path) == name {
		return true
	}
	for _, id := range t.Named(name) {
		if im.Span.Start <= id.Span.Start && id.Span.End <= im.Span.End {
			return true
		}
	}
	return false
}

// from returns those of the declarations that an import can mean by a name:
// where its path leads to a file, or to the module that ends most like it.
// Failing that, near are those of the package that the path names, which may
// hand on what another file declares.
func (m *meanings) from(ctx context.Context, p *page, im syntax.Import, name string, global []graph.Symbol) (here, near []graph.Symbol) {
	segs, relative := segments(im.Path)
	if n := len(segs); n > 0 && segs[n-1] == name {
		segs = segs[:n-1]
	}
	target := m.besides(p.path, im.Path)
	best := 0
	var far []graph.Symbol
	for _, s := range global {
		if m.member(ctx, s) {
			continue
		}
		file := m.module(s.Path)
		space, _ := segments(s.Container)
		fits := 0
		switch {
		case target != "":
			if target == strings.Join(file, "/") {
				fits = len(file) + 1
			}
		case len(segs) == 0 && relative:
			fits = 1
		default:
			fits = max(tail(segs, file), tail(segs, space))
		}
		switch {
		case fits > best:
			best, here = fits, []graph.Symbol{s}
		case fits == best && fits > 0:
			here = append(here, s)
		}
		switch {
		case target != "" && !strings.HasPrefix(strings.Join(file, "/"), target):
			far = append(far, s)
		case target != "" || relative && len(segs) == 0 || holdsPath(file, segs) || holdsPath(space, segs):
			near = append(near, s)
		}
	}
	if len(near) == 0 {
		near = far
	}
	return here, near
}

// module returns the path of the module that a file is, relative to the workspace.
func (m *meanings) module(path string) []string {
	list := strings.Split(filepath.ToSlash(Relative(m, path)), "/")
	n := len(list)
	if m.lex.Folders {
		return list[:n-1]
	}
	list[n-1] = stem(list[n-1])
	if n > 1 && slices.Contains(forFolder, list[n-1]) {
		return list[:n-1]
	}
	return list
}

// stem is a file's name without what tells its type.
func stem(name string) string {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	return strings.TrimSuffix(name, ".d")
}

// besides returns the module that a path relative to the importing file leads
// to, relative to the workspace, or nothing when the path is none.
func (m *meanings) besides(from, path string) string {
	dots := len(path) - len(strings.TrimLeft(path, "."))
	if dots == 0 {
		return ""
	}
	dir := filepath.Dir(from)
	if rest := path[dots:]; strings.HasPrefix(rest, "/") || rest == "" && dots < 3 && strings.Contains(path, "/") {
		dir = filepath.Join(dir, filepath.FromSlash(path))
	} else {
		for range dots - 1 {
			dir = filepath.Dir(dir)
		}
		dir = filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(rest, ".", "/")))
	}
	return strings.Join(m.module(filepath.Join(filepath.Dir(dir), filepath.Base(dir)+".")), "/")
}

// tail counts the last parts that two paths have in common.
func tail(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && stem(a[len(a)-1-n]) == b[len(b)-1-n] {
		n++
	}
	return n
}

// holdsPath reports whether a path holds parts in a row.
func holdsPath(path, parts []string) bool {
	for i := 0; i+len(parts) <= len(path) && len(parts) > 0; i++ {
		if slices.Equal(path[i:i+len(parts)], parts) {
			return true
		}
	}
	return false
}

// forFolder are the names of files that stand for their folder in imports.
var forFolder = []string{"index", "__init__", "mod", "lib", "main"}

// segments splits the path of an import. relative says that it
// starts at the importing file or at the project.
func segments(path string) (list []string, relative bool) {
	trimmed := strings.TrimLeft(path, ".")
	relative = len(trimmed) < len(path)
	split := func(r rune) bool { return r == '/' || r == '\\' || r == ':' }
	if !strings.ContainsAny(trimmed, "/:") {
		split = func(r rune) bool { return r == '.' }
	}
	for _, s := range strings.FieldsFunc(trimmed, split) {
		switch s {
		case "crate", "self", "super", "..", ".":
			relative = true
		case "*":
		default:
			list = append(list, s)
		}
	}
	return list, relative
}
