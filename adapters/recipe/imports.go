package recipe

import (
	"bytes"
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
func (m *meanings) imported(p *page, im syntax.Import, name string, global []graph.Symbol) (meaning, error) {
	here, near := m.from(p, im, name, global)
	switch {
	case len(here) > 0:
		return meaning{here, sole(here)}, nil
	case near:
		return meaning{all: free(global, m)}, nil // handed on by a file between
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

// from returns those of the declarations that an import can mean by a name.
// near says that it is of the workspace, though it names none of their files.
func (m *meanings) from(p *page, im syntax.Import, name string, global []graph.Symbol) (here []graph.Symbol, near bool) {
	segs, relative := segments(im.Path)
	if n := len(segs); n > 0 && segs[n-1] == name {
		segs = segs[:n-1]
	}
	near = relative
	for _, s := range global {
		file := strings.Split(filepath.ToSlash(Relative(m, s.Path)), "/")
		n := len(file)
		file[n-1] = strings.TrimSuffix(file[n-1], filepath.Ext(file[n-1]))
		if n > 1 && slices.Contains(forFolder, file[n-1]) {
			file = file[:n-1]
		}
		space, _ := segments(s.Container)
		switch {
		case m.member(s):
		case len(segs) == 0 && relative:
			here = append(here, s)
			continue
		case len(segs) > 0:
			end := segs[len(segs)-1]
			end = strings.TrimSuffix(end, filepath.Ext(end))
			folder := ""
			if len(file) > 1 {
				folder = file[len(file)-2]
			}
			if file[len(file)-1] == end && !m.lex.Folders || m.lex.Folders && folder == end || len(space) > 0 && space[len(space)-1] == end {
				here = append(here, s)
				continue
			}
		}
		if len(segs) > 0 && (slices.Contains(file, segs[0]) || slices.Contains(space, segs[0])) {
			near = true
		}
	}
	return here, near
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
