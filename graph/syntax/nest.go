package syntax

import (
	"cmp"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// maxQualified bounds a qualified name in bytes: in a thousand functions
// within each other the innermost would have a name as long as the file.
const maxQualified = 1 << 10

// none is the place of what does not exist.
const none = -1

// nest is an item with what is around it.
type nest struct {
	*item
	parent  int // declaration or container around it
	scope   int // innermost function, scope or class around it, for the names that it declares
	class   int // innermost class around it
	binding int // innermost binding around it, within the same function
	local   bool
	symbol  int // place in Tree.Symbols, or none
	end     int // how far it holds what follows
	params  graph.Span
	within  string // qualified name within the file or, when local, within its owner
	plain   string // the same without traits
	exact   string // within, with the numbers of type parameters
	around  string // plain of what it is declared in
	names   map[string]bool
	outside map[string]bool
}

func callable(k graph.Kind) bool {
	switch k {
	case graph.KindFunction, graph.KindMethod, graph.KindConstruct, graph.KindOperator:
		return true
	}
	return false
}

func class(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindEnum, graph.KindTrait, graph.KindRecord:
		return true
	}
	return false
}

// builder makes symbols of items, outer ones first.
type builder struct {
	*extraction
	nests []nest
	top   nest // the file
}

// build makes the symbols of the items.
func (x *extraction) build() {
	x.before = slices.Clone(x.attributes)
	for _, t := range x.tree.Tokens {
		if t.Kind == Comment {
			x.before = append(x.before, t.Span)
		}
	}
	sortOnce(x.before, bySpan)
	b := &builder{extraction: x, nests: make([]nest, 0, len(x.items))}
	b.top = nest{item: &item{}, end: len(x.src), parent: none, scope: none, class: none, binding: none, symbol: none}
	var stack []int
	for i := range x.items {
		it := &x.items[i]
		for len(stack) > 0 && b.nests[stack[len(stack)-1]].end < it.span.End {
			stack = stack[:len(stack)-1]
		}
		around := none
		if len(stack) > 0 {
			around = stack[len(stack)-1]
		}
		b.nests = append(b.nests, b.inherit(it, around))
		n := &b.nests[i]
		if n.end = it.span.End; it.follows {
			n.end = b.at(around).end
		}
		if !b.place(n, i) {
			n.symbol = none
		}
		if it.role != roleExcluded {
			stack = append(stack, i)
		}
	}
	b.implement()
	t := x.tree
	slices.SortStableFunc(t.Symbols, func(a, b graph.Symbol) int {
		return cmp.Or(cmp.Compare(a.Decl.Start, b.Decl.Start), cmp.Compare(b.Decl.End, a.Decl.End), cmp.Compare(a.NameSpan.Start, b.NameSpan.Start))
	})
}

// implement gives the file's types the traits of the containers that carry their name.
func (b *builder) implement() {
	traits := map[string][]string{}
	for i := range b.nests {
		n := &b.nests[i]
		if f := b.facts[n.node]; n.role == roleContainer && f != nil && f.trait.End > 0 {
			traits[n.plain] = append(traits[n.plain], b.line(f.trait))
		}
	}
	if len(traits) == 0 {
		return
	}
	for i := range b.tree.Symbols {
		if s := &b.tree.Symbols[i]; class(s.Kind) && !s.Local {
			for _, t := range traits[s.Qualified] {
				if !slices.Contains(s.Bases, t) {
					s.Bases = append(s.Bases, t)
				}
			}
		}
	}
}

// at returns the nest at a place, the file for none.
func (b *builder) at(i int) *nest {
	if i == none {
		return &b.top
	}
	return &b.nests[i]
}

// inherit says what is around an item within the one around it.
func (b *builder) inherit(it *item, around int) nest {
	n := nest{item: it, parent: none, scope: none, class: none, binding: none, symbol: none}
	if around == none {
		return n
	}
	o := b.at(around)
	n.parent, n.scope, n.class, n.binding, n.local = o.parent, o.scope, o.class, o.binding, o.local
	switch {
	case o.role == roleScope:
		n.scope, n.binding, n.local = around, none, true
	case o.role == roleBinding:
		n.binding = around
	case o.role == roleContainer:
		n.parent = around
	case o.role == roleDefinition:
		n.parent = around
		switch {
		case callable(o.kind):
			n.scope, n.binding, n.local = around, none, true
		case class(o.kind):
			n.scope, n.class, n.binding = around, around, none
		}
	}
	return n
}

// place finishes an item; it reports whether a symbol came of it. n.local,
// which told where the item stands, then tells whether the item is local.
func (b *builder) place(n *nest, i int) bool {
	switch n.role {
	case roleScope, roleBinding:
		return false
	case roleExcluded:
		put(&b.at(n.scope).outside, b.intern(n.name))
		return false
	}
	name := b.intern(n.name)
	switch n.role {
	case roleBound:
		if b.language.Binds != nil && !b.language.Binds(name) {
			return false
		}
		if n.binding == none {
			return false // it is assigned to
		}
		// A name in several alternatives of one pattern is declared once.
		p := b.at(n.binding)
		if p.names[name] {
			return false
		}
		put(&p.names, name)
	case roleMember:
		if n.class == none {
			return false
		}
		c := b.at(n.class)
		n.parent, n.scope, n.local = n.class, n.class, c.local
		if c.names[name] {
			return false
		}
	case roleAssigned:
		s := b.at(n.scope)
		if s.names[name] || s.outside[name] {
			return false
		}
	}
	inner := n.kind == graph.KindParameter || n.kind == graph.KindTypeParam
	if n.role == roleBound && n.parent != none && inside(b.at(n.parent).params, n.name) {
		n.kind, inner = graph.KindParameter, true // a part of a parameter
	}
	for !inner && n.role == roleDefinition && n.parent != none {
		p := b.at(n.parent)
		if p.role != roleDefinition || !callable(p.kind) || !inside(p.params, n.name) {
			break
		}
		// A parameter that is a property as well belongs to the class.
		n.parent, n.scope, n.local = p.parent, p.scope, p.local
	}
	if n.role != roleContainer {
		put(&b.at(n.scope).names, name)
	}
	if f := b.facts[n.node]; f != nil {
		n.params = f.parameters
	}
	n.local = n.local || inner
	b.qualify(n, name)
	if n.role == roleContainer {
		return false
	}
	n.symbol = len(b.tree.Symbols)
	b.tree.Symbols = append(b.tree.Symbols, b.declare(n, name))
	return true
}

// qualify names an item within the file or, when it is local, within its owner,
// the innermost declaration around it that is not.
func (b *builder) qualify(n *nest, name string) {
	prefix, plain, exact := "", "", ""
	if n.parent != none {
		if p := b.at(n.parent); p.role != roleDefinition || p.local || !n.local {
			prefix, plain, exact = p.within, p.plain, p.exact
		}
	}
	n.around = plain
	full, arity := name, ""
	if f := b.facts[n.node]; f != nil {
		if f.qualifier.End > 0 {
			before := b.line(f.qualifier)
			n.around = b.join(plain, before)
			name = before + b.language.Separator + name
			full = name
		}
		switch {
		case f.trait.End == 0:
		case n.role == roleContainer:
			full = "<" + name + " as " + b.line(f.trait) + ">"
		default:
			full = b.line(f.trait) + b.language.Separator + name
		}
		if f.arity.End > 0 {
			arity = "<" + strings.Repeat(",", strings.Count(b.line(f.arity), ",")) + ">"
		}
	}
	n.within, n.plain, n.exact = b.join(prefix, full), b.join(plain, name), b.join(exact, full+arity)
}

// join puts a container's name before another; one that is too long is cut.
func (b *builder) join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	if len(prefix) > maxQualified {
		prefix = strings.ToValidUTF8(prefix[:maxQualified], "")
	}
	return prefix + b.language.Separator + name
}

func put(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

func inside(outer, inner graph.Span) bool {
	return outer.Start <= inner.Start && inner.End <= outer.End
}
