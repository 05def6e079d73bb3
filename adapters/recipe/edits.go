package recipe

import (
	"fmt"
	"slices"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Edits gathers byte edits of files, all counted in the text as it is now.
// What stands first stays: an edit that touches the bytes of another is not added.
type Edits struct{ byPath map[string][]text.Edit }

// NewEdits takes the edits of a set that only edits files.
func NewEdits(set change.Set, read change.ReadFunc) (*Edits, error) {
	files, err := set.Resolve(read)
	if err != nil {
		return nil, err
	}
	e := &Edits{byPath: map[string][]text.Edit{}}
	for _, f := range files {
		if f.Kind != change.Edit {
			return nil, fmt.Errorf("%s: the change would %s the file: %w", f.Path, f.Kind, change.ErrConflict)
		}
		e.byPath[f.Path] = slices.Clone(f.Edits)
	}
	return e, nil
}

// Add puts an edit in order of position and reports whether it did: not when
// it touches bytes that another edit has.
func (e *Edits) Add(path string, span graph.Span, replacement string) bool {
	list := e.byPath[path]
	i, _ := slices.BinarySearchFunc(list, span.Start, func(have text.Edit, start int) int { return have.Start - start })
	if i > 0 && list[i-1].End > span.Start || i < len(list) && (list[i].Start < span.End || list[i].Start == span.Start) {
		return false
	}
	e.byPath[path] = slices.Insert(list, i, text.Edit{Start: span.Start, End: span.End, New: replacement})
	return true
}

// Covers reports whether an edit touches the bytes of a span.
func (e *Edits) Covers(path string, span graph.Span) bool {
	return slices.ContainsFunc(e.byPath[path], func(have text.Edit) bool {
		return have.Start < span.End && span.Start < have.End
	})
}

// Of returns the edits of a file in order.
func (e *Edits) Of(path string) []text.Edit { return e.byPath[path] }

// Paths returns the edited files in order.
func (e *Edits) Paths() []string {
	out := make([]string, 0, len(e.byPath))
	for p, list := range e.byPath {
		if len(list) > 0 {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// Set returns the edits as a change, files in order of path.
func (e *Edits) Set() change.Set {
	var set change.Set
	for _, p := range e.Paths() {
		set = set.Append(change.FromEdits(p, e.byPath[p]))
	}
	return set
}

// Moved returns where an offset of a file is after the edits; of an offset
// within replaced bytes, where the replacement begins.
func (e *Edits) Moved(path string, offset int) int {
	shift := 0
	for _, have := range e.byPath[path] {
		switch {
		case have.End <= offset && have.Start < offset:
			shift += len(have.New) - (have.End - have.Start)
		case have.Start <= offset:
			return have.Start + shift
		default:
			return offset + shift
		}
	}
	return offset + shift
}

// Mention is a whole word within a comment or a string.
type Mention struct {
	Span  graph.Span
	Token syntax.Token
}

// Mentions returns where a word stands in the comments and strings of a file.
func Mentions(t *syntax.Tree, content []byte, word string) []Mention {
	var out []Mention
	for _, at := range text.Words(content, word) {
		if tok, ok := t.TokenAt(at); ok {
			out = append(out, Mention{Span: graph.Span{Start: at, End: at + len(word)}, Token: tok})
		}
	}
	return out
}
