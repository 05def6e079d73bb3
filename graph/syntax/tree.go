package syntax

import (
	"slices"

	"github.com/auralsp/aura/graph"
)

// At returns the declaration whose name holds the offset, else the innermost
// that is not local and whose whole range does; ok is false when none does.
func (t *Tree) At(offset int) (sym graph.Symbol, ok bool) {
	if sym, ok = t.Declared(offset); ok {
		return sym, true
	}
	return t.Enclosing(offset)
}

// Declared returns the declaration whose name holds the offset.
func (t *Tree) Declared(offset int) (sym graph.Symbol, ok bool) {
	for _, s := range t.Symbols {
		if s.NameSpan.Contains(offset) {
			return s, true
		}
	}
	return graph.Symbol{}, false
}

// Enclosing returns the innermost declaration that is not local and whose
// range holds the offset.
func (t *Tree) Enclosing(offset int) (sym graph.Symbol, ok bool) {
	for _, s := range t.Symbols {
		if s.Local || !s.Whole.Contains(offset) {
			continue
		}
		if !ok || s.Whole.End-s.Whole.Start <= sym.Whole.End-sym.Whole.Start {
			sym, ok = s, true
		}
	}
	return sym, ok
}

// IdentAt returns the identifier in code that holds the offset; a caret behind
// its last character is still on it.
func (t *Tree) IdentAt(offset int) (id Ident, ok bool) {
	i, found := slices.BinarySearchFunc(t.Idents, offset, func(id Ident, offset int) int { return id.Span.Start - offset })
	if !found {
		i--
	}
	if i < 0 || !t.Idents[i].Span.Contains(offset) {
		return Ident{}, false
	}
	return t.Idents[i], true
}

// TokenAt returns the comment or string that holds the offset.
func (t *Tree) TokenAt(offset int) (tok Token, ok bool) {
	i, found := slices.BinarySearchFunc(t.Tokens, offset, func(tok Token, offset int) int { return tok.Span.Start - offset })
	if !found {
		i--
	}
	if i < 0 || offset >= t.Tokens[i].Span.End {
		return Token{}, false
	}
	return t.Tokens[i], true
}

// Call marks the identifiers that begin at the offsets as called. It is for who
// makes a tree, which sorts the offsets.
func (t *Tree) Call(starts []int) {
	slices.Sort(starts)
	i := 0
	for _, at := range starts {
		for i < len(t.Idents) && t.Idents[i].Span.Start < at {
			i++
		}
		if i < len(t.Idents) && t.Idents[i].Span.Start == at {
			t.Idents[i].Called = true
		}
	}
}

// Named returns the identifiers in code that are spelled name, in order.
func (t *Tree) Named(name string) []Ident {
	var out []Ident
	for _, id := range t.Idents {
		if id.Name == name {
			out = append(out, id)
		}
	}
	return out
}
