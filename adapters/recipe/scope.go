package recipe

import (
	"bytes"
	"slices"
	"sort"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// page is one file with its brackets, for questions of scope.
type page struct {
	path    string
	content []byte
	tree    *syntax.Tree
	pairs   []graph.Span       // of brackets, the closing one included, in order of the opening one
	file    *text.File         // made when a place needs it
	regions map[int]graph.Span // of locals, by where their names start; filled as asked
}

func newPage(path string, content []byte, t *syntax.Tree) *page {
	p := &page{path: path, content: content, tree: t, regions: map[int]graph.Span{}}
	p.match()
	return p
}

// match pairs the brackets that stand in code.
func (p *page) match() {
	var stack []int
	next := 0
	for i := 0; i < len(p.content); i++ {
		for next < len(p.tree.Tokens) && p.tree.Tokens[next].Span.End <= i {
			next++
		}
		if next < len(p.tree.Tokens) && p.tree.Tokens[next].Span.Start <= i {
			i = p.tree.Tokens[next].Span.End - 1
			continue
		}
		switch c := p.content[i]; c {
		case '\'':
			if i+2 < len(p.content) && p.content[i+2] == '\'' {
				i += 2 // a character
			}
		case '{', '(', '[':
			stack = append(stack, i)
		case '}', ')', ']':
			for n := len(stack) - 1; n >= 0; n-- {
				if closes(p.content[stack[n]]) == c {
					p.pairs = append(p.pairs, graph.Span{Start: stack[n], End: i + 1})
					stack = stack[:n]
					break
				}
			}
		}
	}
	slices.SortFunc(p.pairs, func(a, b graph.Span) int { return a.Start - b.Start })
}

func closes(c byte) byte {
	switch c {
	case '{':
		return '}'
	case '(':
		return ')'
	}
	return ']'
}

// innermost returns the innermost pair of a kind of bracket around an offset.
func (p *page) innermost(at int, open byte) (found graph.Span, ok bool) {
	n := sort.Search(len(p.pairs), func(i int) bool { return p.pairs[i].Start >= at })
	for n--; n >= 0; n-- {
		if s := p.pairs[n]; p.content[s.Start] == open && at < s.End {
			return s, true
		}
	}
	return graph.Span{}, false
}

// opened returns the pair that opens at an offset.
func (p *page) opened(at int) (graph.Span, bool) {
	i, ok := slices.BinarySearchFunc(p.pairs, at, func(s graph.Span, at int) int { return s.Start - at })
	if !ok {
		return graph.Span{}, false
	}
	return p.pairs[i], true
}

// code returns the first offset from at on that is neither space nor comment.
func (p *page) code(at int) int {
	for at < len(p.content) {
		if t, ok := p.tree.TokenAt(at); ok && t.Kind == syntax.Comment {
			at = t.Span.End
			continue
		}
		if c := p.content[at]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			break
		}
		at++
	}
	return at
}

// expression returns where the expression or block that starts at an offset ends.
func (p *page) expression(at int) int {
	at = p.code(at)
	if s, ok := p.opened(at); ok && p.content[at] == '{' {
		return s.End
	}
	for at < len(p.content) {
		if t, ok := p.tree.TokenAt(at); ok {
			at = t.Span.End
			continue
		}
		if s, ok := p.opened(at); ok {
			at = s.End
			continue
		}
		switch p.content[at] {
		case ',', ';', ')', ']', '}':
			return at
		}
		at++
	}
	return at
}

// governed returns where the block or arrow body ends that what stands before
// an offset introduces, as the head of a loop or the parameters of a function do.
func (p *page) governed(at int) (end int, ok bool) {
	for at = p.code(at); at < len(p.content); at = p.code(at + 1) {
		switch c := p.content[at]; c {
		case '{':
			s, ok := p.opened(at)
			return s.End, ok
		case '=':
			if bytes.HasPrefix(p.content[at:], []byte("=>")) {
				return p.expression(at + 2), true
			}
			return 0, false
		case '(', '[':
			if s, ok := p.opened(at); ok {
				at = s.End - 1
			}
		case ';', ')', ']', '}', ',':
			return 0, false
		}
	}
	return 0, false
}

// owner returns the innermost declaration with a body around a name, other
// than the one that it names.
func (p *page) owner(name graph.Span) (owner graph.Symbol, ok bool) {
	for _, s := range p.tree.Symbols {
		if s.NameSpan == name || s.Decl.Start > name.Start || name.End > s.Decl.End || !holds(s.Kind) {
			continue
		}
		if !ok || s.Decl.End-s.Decl.Start <= owner.Decl.End-owner.Decl.Start {
			owner, ok = s, true
		}
	}
	return owner, ok
}

// holds reports whether declarations of a kind have locals or members.
func holds(k graph.Kind) bool {
	switch k {
	case graph.KindFunction, graph.KindMethod, graph.KindConstruct, graph.KindOperator, graph.KindProperty, graph.KindEvent:
		return true
	}
	return isType(k)
}

// region returns where a local declaration can be seen by its name.
func (r *Rules) region(p *page, s graph.Symbol) graph.Span {
	if r.Region != nil {
		if span, ok := r.Region(p.tree, p.content, s); ok {
			return span
		}
	}
	all := graph.Span{End: len(p.content)}
	owner, owned := p.owner(s.NameSpan)
	if owned {
		all = owner.Decl
	}
	inHead := owned && (owner.Body == (graph.Span{}) || s.NameSpan.End <= owner.Body.Start)
	if !r.Blocks || inHead {
		return all
	}
	block, braced := p.innermost(s.NameSpan.Start, '{')
	if !braced || block.Start < all.Start || owned && (block.Start == owner.Body.Start || block.Start+1 == owner.Body.Start) {
		block = all
	}
	if paren, ok := p.innermost(s.NameSpan.Start, '('); ok && paren.Start > block.Start && !r.Sequential {
		if end, ok := p.governed(paren.End); ok {
			return graph.Span{Start: paren.Start, End: end}
		}
	}
	if after := p.code(s.NameSpan.End); bytes.HasPrefix(p.content[after:], []byte("=>")) && !r.Sequential {
		return graph.Span{Start: s.NameSpan.Start, End: p.expression(after + 2)}
	}
	if r.Sequential && s.Decl.End <= len(p.content) && s.Decl.End >= s.NameSpan.End {
		return r.behind(p, s, block)
	}
	return block
}

// behind returns the region of a local that is seen only from behind its declaration on.
func (r *Rules) behind(p *page, s graph.Symbol, block graph.Span) graph.Span {
	from := s.Decl.End
	switch {
	case s.Kind == graph.KindFunction || isType(s.Kind):
		return block // items are seen in the whole block
	case p.content[from-1] == ';':
		return graph.Span{Start: from, End: block.End}
	case p.content[from-1] == '|':
		return graph.Span{Start: from, End: p.expression(from)}
	}
	if end, ok := p.governed(from); ok {
		return graph.Span{Start: from, End: end}
	}
	return graph.Span{Start: from, End: block.End}
}

// bare reports whether an identifier stands without a qualifier before it.
func (p *page) bare(at int) bool {
	head := bytes.TrimRight(p.content[:at], " \t\r\n")
	switch {
	case bytes.HasSuffix(head, []byte("...")) || bytes.HasSuffix(head, []byte("..")):
		return true // a spread or a range
	case bytes.HasSuffix(head, []byte(".")), bytes.HasSuffix(head, []byte("::")), bytes.HasSuffix(head, []byte("->")) && len(head) == at:
		return false
	case at > 0 && (p.content[at-1] == '\'' || p.content[at-1] == '#'):
		return false
	}
	return true
}

// key reports whether an identifier labels something and refers to nothing:
// the key of an object, the name of an argument, an attribute. Where blocks
// have no braces, a colon ends a head and labels nothing.
func (r *Rules) key(p *page, id syntax.Ident) bool {
	after := p.code(id.Span.End)
	rest := p.content[min(after, len(p.content)):]
	before := bytes.TrimRight(p.content[:id.Span.Start], " \t\r\n")
	switch {
	case r.Blocks && bytes.HasPrefix(rest, []byte(":")) && !bytes.HasPrefix(rest, []byte("::")) && !bytes.HasPrefix(rest, []byte(":=")):
		return !bytes.HasSuffix(before, []byte("?")) && !bytes.HasSuffix(before, []byte("case"))
	case r.Blocks && (bytes.HasPrefix(rest, []byte("={")) || bytes.HasPrefix(rest, []byte("=\""))):
		return true
	case bytes.HasPrefix(rest, []byte("=")) && !bytes.HasPrefix(rest, []byte("==")) && !bytes.HasPrefix(rest, []byte("=>")):
		paren, ok := p.innermost(id.Span.Start, '(')
		if !ok || !bytes.HasSuffix(before, []byte(",")) && !bytes.HasSuffix(before, []byte("(")) {
			return false
		}
		block, braced := p.innermost(id.Span.Start, '{')
		return !braced || block.Start < paren.Start
	}
	return false
}
