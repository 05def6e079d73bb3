package syntax

import (
	"cmp"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// maxErrors bounds Tree.Errors: a file of another language is all errors.
const maxErrors = 100

// maxFault bounds what an error tells of the text, in bytes.
const maxFault = 40

// extraction turns the captures of one file into its Tree.
type extraction struct {
	language *TreeSitter
	plan     *plan
	symbol   func(uint16) string
	src      []byte
	tree     *Tree
	names    map[string]string // every name once, so that symbols do not hold the whole file

	items      []item
	known      map[pair]int // declarations by node and name, to their place in items
	facts      map[uint64]*facts
	lists      map[uint64][]listed // parameters by their list
	outers     map[uint64]ranged   // wider ranges by the node they are for
	statements map[uint64]ranged
	sole       map[uint64]int // number of declarations by statement
	attributes []graph.Span   // that stand before declarations
	exported   map[string]bool
	imports    []imported
	faults     []capture
	clause     graph.Span // of the package
	strings    []graph.Span
	codes      []graph.Span // interpolations
	calls      []int        // where identifiers of what is called begin
	before     []graph.Span // comments and attributes that may belong to the declaration behind them
}

type pair struct{ node, name uint64 }

// ranged is a node with its range.
type ranged struct {
	node uint64
	span graph.Span
}

// listed is one parameter in a list.
type listed struct {
	node uint64
	span graph.Span
}

// facts is what the query says of one node. A zero span says nothing.
type facts struct {
	qualifier, trait, arity, body, parameters, result, typ, doc graph.Span

	list                         uint64 // node of parameters
	modifiers, attributes, bases []graph.Span
}

// item is a declaration or a node that matters to those within it.
type item struct {
	role    role
	kind    graph.Kind
	pattern uint16
	node    uint64
	span    graph.Span // of the node
	name    graph.Span
	follows bool
}

// read sorts the captures by what they say.
func (x *extraction) read(captures []capture) {
	x.known, x.facts = map[pair]int{}, map[uint64]*facts{}
	x.lists, x.outers, x.statements = map[uint64][]listed{}, map[uint64]ranged{}, map[uint64]ranged{}
	x.sole, x.exported = map[uint64]int{}, map[string]bool{}
	for i := 0; i < len(captures); {
		if captures[i].pattern == fault {
			x.faults = captures[i:min(i+maxErrors, len(captures))]
			break // they are the last
		}
		j := i + 1
		for j < len(captures) && captures[j].match == captures[i].match && captures[j].pattern == captures[i].pattern {
			j++
		}
		match := captures[i:j]
		i = j
		if x.plan.predicates[match[0].pattern] != nil && !x.plan.holds(match, x.src) {
			continue
		}
		if len(match) == 1 && x.token(&match[0]) {
			continue
		}
		x.match(match)
	}
	x.order()
}

// token takes a capture that is of the text alone.
func (x *extraction) token(c *capture) bool {
	t := x.tree
	switch x.plan.names[c.name].role {
	case roleIdentifier:
		if c.end > c.start {
			t.Idents = append(t.Idents, Ident{Name: x.intern(c.span()), Span: c.span()})
		}
	case roleComment:
		s := c.span()
		for s.End > s.Start && (x.src[s.End-1] == '\n' || x.src[s.End-1] == '\r') {
			s.End--
		}
		t.Tokens = append(t.Tokens, Token{Kind: Comment, Span: s})
	case roleString:
		x.strings = append(x.strings, c.span())
	case roleInterpolation:
		x.codes = append(x.codes, c.span())
	case roleCall:
		x.calls = append(x.calls, int(c.start))
	default:
		return false
	}
	return true
}

// fault says what cannot be parsed.
func (x *extraction) fault(c *capture) Problem {
	message := "unexpected text"
	if c.start == c.end {
		message = "missing " + x.symbol(c.symbol)
	} else if word := x.line(graph.Span{Start: int(c.start), End: min(int(c.end), int(c.start)+maxFault)}); word != "" {
		message = "unexpected " + strings.ToValidUTF8(word, "")
	}
	return Problem{Offset: int(c.start), Message: message}
}

// match takes a match that says something of declarations.
func (x *extraction) match(match []capture) {
	var at [roles]*capture
	for i := range match {
		at[x.plan.names[match[i].name].role] = &match[i]
	}
	var owner *capture
	for _, r := range [...]role{roleOf, roleDefinition, roleContainer, roleBound, roleAssigned, roleMember} {
		if at[r] != nil {
			owner = at[r]
			break
		}
	}
	switch {
	case at[roleImport] != nil:
		x.imports = append(x.imports, importOf(&at))
	case at[rolePackage] != nil && x.clause.End == 0:
		x.clause = at[rolePackage].span()
	case at[roleInner] != nil && at[roleOuter] != nil:
		x.outers[at[roleInner].node] = ranged{at[roleOuter].node, at[roleOuter].span()}
	case at[roleInner] != nil && at[roleStatement] != nil:
		if _, twice := x.statements[at[roleInner].node]; !twice {
			x.sole[at[roleStatement].node]++
		}
		x.statements[at[roleInner].node] = ranged{at[roleStatement].node, at[roleStatement].span()}
	case at[roleParameter] != nil && at[roleParameters] != nil:
		list := at[roleParameters].node
		x.lists[list] = append(x.lists[list], listed{at[roleParameter].node, at[roleParameter].span()})
	}
	for i := range match {
		c := &match[i]
		m := x.plan.names[c.name]
		switch m.role {
		case roleDefinition, roleBound, roleAssigned, roleMember, roleContainer:
			named := at[roleName]
			if named == nil {
				named = c
			}
			x.add(item{role: m.role, kind: m.kind, pattern: c.pattern, node: c.node, span: c.span(), name: named.span(), follows: at[roleFollowing] != nil}, named.node)
		case roleBinding, roleScope:
			x.items = append(x.items, item{role: m.role, node: c.node, span: c.span()})
		case roleExcluded:
			x.items = append(x.items, item{role: m.role, node: c.node, span: c.span(), name: c.span()})
		case roleExported:
			x.exported[x.intern(c.span())] = true
		case roleAttribute:
			if owner == nil {
				x.attributes = append(x.attributes, c.span())
			}
		}
		if owner != nil && m.role >= roleQualifier && m.role < roleParameter {
			x.fact(owner.node, m.role, c)
		}
	}
}

// add records a declaration; of those at one node and name, that of the first pattern.
func (x *extraction) add(it item, named uint64) {
	if it.name.Start >= it.name.End {
		return // a name that the parser invented
	}
	if it.role == roleContainer {
		named = 0 // it has one name, however many patterns find one
	}
	key := pair{it.node, named}
	if i, ok := x.known[key]; ok {
		if it.pattern < x.items[i].pattern {
			x.items[i] = it
		}
		return
	}
	x.known[key] = len(x.items)
	x.items = append(x.items, it)
}

func (x *extraction) fact(node uint64, r role, c *capture) {
	f := x.facts[node]
	if f == nil {
		f = &facts{}
		x.facts[node] = f
	}
	s := c.span()
	if s.Start == s.End {
		return // the parser invented it
	}
	switch r {
	case roleQualifier:
		f.qualifier = s
	case roleTrait:
		f.trait = s
	case roleArity:
		f.arity = s
	case roleBody:
		f.body = s
	case roleParameters:
		f.parameters, f.list = s, c.node
	case roleResult:
		f.result = s
	case roleType:
		f.typ = s
	case roleDoc:
		f.doc = s
	case roleModifier:
		f.modifiers = insert(f.modifiers, s)
	case roleAttribute:
		f.attributes = insert(f.attributes, s)
	case roleBase:
		f.bases = insert(f.bases, s)
	}
}

// insert keeps a short list in order and without repetition.
func insert(list []graph.Span, s graph.Span) []graph.Span {
	i, found := slices.BinarySearchFunc(list, s, bySpan)
	if found {
		return list
	}
	return slices.Insert(list, i, s)
}

// bySpan orders by position, outer ones first.
func bySpan(a, b graph.Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
}

// imported is an import statement, or one name in it.
type imported struct {
	whole, path, alias graph.Span
	name               graph.Span // in the module
	unnamed            graph.Span // name in the file of what the module gives without one
}

func importOf(at *[roles]*capture) imported {
	span := func(r role) graph.Span {
		if at[r] == nil {
			return graph.Span{}
		}
		return at[r].span()
	}
	return imported{whole: span(roleImport), path: span(rolePath), alias: span(roleAlias), name: span(roleImported), unnamed: span(roleDefault)}
}

// names reports whether it tells of one name of several.
func (im *imported) names() bool { return im.name.End > 0 || im.unnamed.End > 0 }

// importAll makes one Import of what several matches tell of a path.
func (x *extraction) importAll() {
	slices.SortStableFunc(x.imports, func(a, b imported) int {
		return cmp.Or(bySpan(a.whole, b.whole), bySpan(a.path, b.path), cmp.Compare(a.name.End, b.name.End), cmp.Compare(a.unnamed.End, b.unnamed.End), bySpan(b.alias, a.alias))
	})
	var last *imported
	for i := range x.imports {
		im := &x.imports[i]
		same := last != nil && last.whole == im.whole && last.path == im.path
		// A special and a general pattern may tell of the same.
		if !same || !im.names() && last.alias.End > 0 && im.alias.End > 0 {
			made := Import{Path: x.line(im.path), Span: im.whole}
			if !im.names() {
				made.Alias = x.intern(im.alias)
			}
			x.tree.Imports = append(x.tree.Imports, made)
			last = im
		}
		to := &x.tree.Imports[len(x.tree.Imports)-1]
		switch {
		case im.name.End > 0:
			b := Binding{Name: x.line(im.name)}
			if b.As = b.Name; im.alias.End > 0 {
				b.As = x.intern(im.alias)
			}
			if im.name == im.path {
				b.Name = ""
			}
			to.Names = append(to.Names, b)
		case im.unnamed.End > 0:
			to.Names = append(to.Names, Binding{Name: "default", As: x.intern(im.unnamed)})
		case im.alias.End > 0:
			to.Names = append(to.Names, Binding{As: x.intern(im.alias)})
		}
	}
}

// order sorts what was read and makes tokens of the strings.
func (x *extraction) order() {
	t := x.tree
	x.cutStrings()
	sortOnce(t.Idents, func(a, b Ident) int { return bySpan(a.Span, b.Span) })
	sortOnce(t.Tokens, func(a, b Token) int { return bySpan(a.Span, b.Span) })
	sortOnce(x.attributes, bySpan)
	sortOnce(x.items, func(a, b item) int { return cmp.Or(bySpan(a.span, b.span), cmp.Compare(a.rank(), b.rank())) })
	x.importAll()
	slices.SortStableFunc(x.faults, func(a, b capture) int { return cmp.Compare(a.start, b.start) })
	for i := range x.faults {
		t.Errors = append(t.Errors, x.fault(&x.faults[i]))
	}
	t.Package = x.line(x.clause)
	// A grammar may tell a name twice, as a plain and as a special one.
	t.Idents = slices.CompactFunc(t.Idents, func(a, b Ident) bool { return a.Span == b.Span })
	t.Call(x.calls)
}

func sortOnce[T any](list []T, by func(a, b T) int) {
	if !slices.IsSortedFunc(list, by) {
		slices.SortStableFunc(list, by)
	}
}

// rank orders what stands at one range: what holds comes first.
func (it *item) rank() int {
	switch it.role {
	case roleContainer:
		return 0
	case roleScope:
		return 1
	case roleDefinition:
		return 2
	case roleBinding:
		return 3
	}
	return 4
}

// cutStrings makes tokens of the strings, without the code in them.
func (x *extraction) cutStrings() {
	put := func(start, end int) {
		if start < end {
			x.tree.Tokens = append(x.tree.Tokens, Token{Kind: String, Span: graph.Span{Start: start, End: end}})
		}
	}
	if len(x.codes) == 0 {
		for _, s := range x.strings {
			put(s.Start, s.End)
		}
		return
	}
	type open struct {
		span graph.Span
		text bool
		from int // of the text that is not a token yet
	}
	all := make([]open, 0, len(x.strings)+len(x.codes))
	for _, s := range x.strings {
		all = append(all, open{s, true, s.Start})
	}
	for _, s := range x.codes {
		all = append(all, open{s, false, 0})
	}
	slices.SortStableFunc(all, func(a, b open) int { return bySpan(a.span, b.span) })
	var stack []open
	pop := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if top.text {
			put(top.from, top.span.End)
		}
	}
	for _, o := range all {
		for len(stack) > 0 && stack[len(stack)-1].span.End <= o.span.Start {
			pop()
		}
		if len(stack) > 0 && stack[len(stack)-1].text {
			top := &stack[len(stack)-1]
			if o.text {
				continue // a part of the string around it
			}
			put(top.from, o.span.Start)
			top.from = o.span.End
		}
		stack = append(stack, o)
	}
	for len(stack) > 0 {
		pop()
	}
}

// intern returns the text of a span, the same string for the same text.
func (x *extraction) intern(s graph.Span) string {
	text := x.src[s.Start:s.End]
	if have, ok := x.names[string(text)]; ok {
		return have
	}
	made := string(text)
	x.names[made] = made
	return made
}
