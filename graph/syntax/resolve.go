package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/graph"
)

// Resolve returns what the file's imports make of a type as written: B of
// "from a import B" becomes "a.B", and so does x.B of "import a as x". What is
// around the name is left out: pointers, type arguments, what a mixin is
// applied to. It is empty when no import names the type; an import of all that
// a module holds names nothing.
func (t *Tree) Resolve(written, separator string) string {
	path := pathOf(written, separator)
	for head := path; head != ""; head = before(head, separator) {
		for _, im := range t.Imports {
			for _, b := range im.Names {
				if b.As == head {
					return strings.Join(without(im.Path, b.Name, strings.TrimPrefix(path[len(head):], separator)), separator)
				}
			}
		}
	}
	return ""
}

// bases resolves the bases of the file's declarations, of a language in which
// names have parts.
func (s *Spec) bases(t *Tree, at Place, path string) {
	if s.Separator == "" {
		return
	}
	imports := t.Imports
	if s.Imported != nil {
		moved := *t
		moved.Imports = make([]Import, len(imports))
		for i, im := range imports {
			im.Path = s.Imported(at.Root, path, im.Path)
			moved.Imports[i] = im
		}
		t = &moved
	}
	for i := range t.Symbols {
		sym := &t.Symbols[i]
		for j, b := range sym.Bases {
			r := t.Resolve(b, s.Separator)
			if r == "" && s.Imported != nil {
				if as := pathOf(b, s.Separator); s.Imported(at.Root, path, as) != as {
					r = s.Imported(at.Root, path, as)
				}
			}
			if r != "" && sym.Resolved == nil {
				sym.Resolved = make([]string, len(sym.Bases))
			}
			if r != "" {
				sym.Resolved[j] = r
			}
		}
	}
}

// pathOf returns the name of a type as written with what qualifies it.
func pathOf(written, separator string) string {
	start := strings.IndexFunc(written, graph.NameRune)
	if start < 0 || separator == "" {
		return ""
	}
	for _, word := range [...]string{"dyn ", "typeof ", "for<"} {
		if strings.HasPrefix(written[start:], word) {
			return ""
		}
	}
	end := start
	for end < len(written) {
		if r, size := utf8.DecodeRuneInString(written[end:]); graph.NameRune(r) {
			end += size
		} else if strings.HasPrefix(written[end:], separator) && end > start {
			end += len(separator)
		} else {
			break
		}
	}
	return strings.TrimSuffix(written[start:end], separator)
}

// before returns a path without its last part, empty for a path of one.
func before(path, separator string) string {
	if i := strings.LastIndex(path, separator); i > 0 {
		return path[:i]
	}
	return ""
}

// without returns the parts that are not empty.
func without(parts ...string) []string {
	out := parts[:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
