package syntax

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/graph"
)

// maxSignature bounds a signature in bytes: a table as a variable's value is not one.
const maxSignature = 200

// untyped stands for a parameter without a type in Symbol.Params.
const untyped = "_"

// declare makes the symbol of a declaration.
func (b *builder) declare(n *nest, name string) graph.Symbol {
	s := graph.Symbol{
		Name: name, Qualified: n.within, Container: n.around, Kind: n.kind, Path: b.tree.Path, NameSpan: n.name, Local: n.local,
	}
	if !n.local {
		if n.plain != n.within {
			s.Alias = n.plain
		}
		if n.exact != n.within {
			s.Exact = n.exact
		}
	}
	whole, f := b.reach(n)
	s.Body = b.braces(f.body)
	for _, a := range f.attributes {
		s.Attributes = append(s.Attributes, b.line(a))
	}
	for _, m := range f.modifiers {
		s.Modifiers = append(s.Modifiers, b.line(m))
	}
	for _, t := range f.bases {
		s.Bases = append(s.Bases, b.line(t))
	}
	switch {
	case f.result.End > 0:
		s.Results = []string{b.line(f.result)}
	case f.typ.End > 0:
		s.Results = []string{b.line(f.typ)}
	}
	if f.parameters.End > 0 {
		s.Params = b.params(f.list)
	}
	s.Whole, s.Decl = whole, whole
	s.Decl.Start = min(b.behind(whole.Start, f.attributes), n.name.Start)
	if n.kind != graph.KindParameter && n.kind != graph.KindTypeParam && n.role == roleDefinition {
		b.lead(&s)
	}
	if f.doc.End > 0 && b.language.Doc != nil {
		s.Doc = b.language.Doc(string(b.src[f.doc.Start:f.doc.End]))
	}
	head := s.Decl
	if n.name.End <= f.body.Start && f.body.Start < head.End {
		head.End = f.body.Start
	}
	s.Signature = b.signature(head)
	if b.exported[name] && n.parent == none && !n.local && !slices.Contains(s.Modifiers, "export") {
		s.Modifiers = append(s.Modifiers, "export")
	}
	if b.language.Complete != nil {
		var parent *graph.Symbol
		if n.parent != none {
			switch p := b.at(n.parent); {
			case p.symbol != none:
				parent = &b.tree.Symbols[p.symbol]
			case p.role == roleContainer:
				parent = b.stand(p)
			}
		}
		b.language.Complete(&s, parent)
	}
	return s
}

// stand makes a symbol of a container for those that are declared in it. It
// has no kind; its trait is its base.
func (b *builder) stand(n *nest) *graph.Symbol {
	s := &graph.Symbol{Name: b.intern(n.name), Qualified: n.within, Local: n.local, NameSpan: n.name, Decl: n.span, Whole: n.span}
	if f := b.facts[n.node]; f != nil && f.trait.End > 0 {
		s.Bases = []string{b.line(f.trait)}
	}
	return s
}

// reach returns the range of a declaration and what is known of it, with that
// of the nodes that it reaches as far as.
func (b *builder) reach(n *nest) (graph.Span, facts) {
	span, node := n.span, n.node
	if n.role != roleDefinition && n.binding != none {
		span, node = b.at(n.binding).span, b.at(n.binding).node
	}
	var all facts
	if f := b.facts[n.node]; f != nil {
		all = *f
	}
	widen := func(to ranged) {
		span, node = to.span, to.node
		if f := b.facts[node]; f != nil {
			all.modifiers = append(slices.Clone(f.modifiers), all.modifiers...)
			all.attributes = append(slices.Clone(f.attributes), all.attributes...)
		}
	}
	if f := b.facts[node]; f != nil && node != n.node {
		all.modifiers = append(slices.Clone(f.modifiers), all.modifiers...)
	}
	for range 8 { // no grammar nests these deeper
		if to, ok := b.outers[node]; ok {
			widen(to)
		} else if to, ok := b.statements[node]; ok {
			if b.sole[to.node] != 1 {
				// The words before a list of declarations are those of each.
				if f := b.facts[to.node]; f != nil {
					all.modifiers = append(slices.Clone(f.modifiers), all.modifiers...)
					all.attributes = append(slices.Clone(f.attributes), all.attributes...)
				}
				if up, ok := b.outers[to.node]; ok && b.facts[up.node] != nil {
					all.modifiers = append(slices.Clone(b.facts[up.node].modifiers), all.modifiers...)
				}
				break
			}
			widen(to)
		} else {
			break
		}
	}
	return span, all
}

// braces returns what stands between the braces of a body, all of it when it has none.
func (b *builder) braces(s graph.Span) graph.Span {
	if s.End-s.Start >= 2 && b.src[s.Start] == '{' && b.src[s.End-1] == '}' {
		return graph.Span{Start: s.Start + 1, End: s.End - 1}
	}
	return s
}

// params returns the types of a parameter list.
func (b *builder) params(list uint64) []string {
	all := b.lists[list]
	out := make([]string, 0, len(all))
	slices.SortStableFunc(all, func(a, b listed) int { return bySpan(a.span, b.span) })
	for i, p := range all {
		if i > 0 && all[i-1].node == p.node {
			continue
		}
		typ := ""
		if f := b.facts[p.node]; f != nil && f.typ.End > 0 {
			typ = b.line(f.typ)
		}
		switch {
		case b.language.Parameter != nil:
			if typ = b.language.Parameter(b.line(p.span), typ); typ == "" {
				continue
			}
		case typ == "":
			typ = untyped
		}
		out = append(out, typ)
	}
	return out
}

// behind returns where a declaration starts behind its attributes.
func (b *builder) behind(at int, attributes []graph.Span) int {
	for _, a := range attributes {
		if b.code(at) == a.Start {
			at = b.code(a.End)
		}
	}
	return at
}

// code returns the first place at or behind an offset that is neither space nor comment.
func (b *builder) code(at int) int {
	for {
		for at < len(b.src) && space(b.src[at]) {
			at++
		}
		t, ok := b.tree.TokenAt(at)
		if !ok || t.Kind != Comment {
			return at
		}
		at = t.Span.End
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// lead widens a declaration to the comments and attributes that stand before it.
func (b *builder) lead(s *graph.Symbol) {
	i := sort.Search(len(b.before), func(i int) bool { return b.before[i].Start >= s.Whole.Start })
	var docs, attributes []string
	start := s.Whole.Start
	for i--; i >= 0; i-- {
		p := b.before[i]
		if p.End > start || !b.adjoins(p, start) {
			break
		}
		text := string(b.src[p.Start:p.End])
		if _, isAttribute := slices.BinarySearchFunc(b.attributes, p, bySpan); isAttribute {
			attributes = append(attributes, b.line(p))
		} else if b.language.Comment != nil {
			kind, doc := b.language.Comment(text)
			if kind == ForeignComment || kind == PlainComment && bytes.Count(b.src[p.End:start], []byte("\n")) > 1 {
				break
			}
			if kind == DocComment {
				docs = append(docs, doc)
			}
		}
		start = p.Start
	}
	s.Whole.Start = start
	if len(docs) > 0 {
		slices.Reverse(docs)
		s.Doc = strings.Join(docs, "\n")
	}
	if len(attributes) > 0 {
		slices.Reverse(attributes)
		s.Attributes = append(attributes, s.Attributes...)
	}
}

// adjoins reports whether nothing but space is between a comment or attribute
// and what follows it, and whether it is not behind something on its line.
func (b *builder) adjoins(p graph.Span, start int) bool {
	gap := b.src[p.End:start]
	if len(bytes.TrimSpace(gap)) > 0 {
		return false
	}
	for i := p.Start - 1; i >= 0 && b.src[i] != '\n' && bytes.IndexByte(gap, '\n') >= 0; i-- {
		if !space(b.src[i]) {
			return b.endsPiece(i+1) || p.Start == 3 && bytes.HasPrefix(b.src, []byte("\uFEFF"))
		}
	}
	return true
}

// endsPiece reports whether a comment or attribute ends at the offset.
func (b *builder) endsPiece(at int) bool {
	i := sort.Search(len(b.before), func(i int) bool { return b.before[i].End >= at })
	return i < len(b.before) && b.before[i].End == at
}

// signature returns a declaration's head on one line, without what introduces
// its body or ends it.
func (b *builder) signature(head graph.Span) string {
	long := head.End-head.Start > 2*maxSignature
	if long {
		head.End = head.Start + 2*maxSignature
	}
	s := b.line(head)
	for !long {
		cut := strings.TrimRight(s, " ;,:{")
		if rest, ok := strings.CutSuffix(cut, "=>"); ok {
			cut = rest
		} else if rest, ok := strings.CutSuffix(cut, " ="); ok {
			cut = rest
		}
		if cut == s {
			break
		}
		s = cut
	}
	if len(s) <= maxSignature {
		return s
	}
	cut := maxSignature
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
