package recipe

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// lineage finds what stands above and below types: by the bases that their
// declarations write, each resolved by the server's definition.
type lineage struct {
	b       adapters.Bench
	defined map[mark][]adapters.Place
	above   map[mark][]relative
	below   map[graph.ID][]graph.Symbol
	names   map[graph.ID][]string
	missing map[mark][]string // bases that could not be resolved, by type
}

// relative is a type that another names as its base.
type relative struct {
	place adapters.Place
	sym   graph.Symbol // without a kind when no declaration is known there
}

func (r relative) known() bool { return r.sym.Kind != "" }

func newLineage(b adapters.Bench) *lineage {
	return &lineage{
		b: b, defined: map[mark][]adapters.Place{}, above: map[mark][]relative{},
		below: map[graph.ID][]graph.Symbol{}, names: map[graph.ID][]string{}, missing: map[mark][]string{},
	}
}

// maxHops bounds how many aliases are followed to a type.
const maxHops = 4

func markOf(s graph.Symbol) mark { return mark{s.Path, s.NameSpan.Start} }

// isType reports whether a kind has bases and members.
func isType(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindEnum, graph.KindTrait, graph.KindRecord:
		return true
	}
	return false
}

// isAlias reports whether a declaration of a kind may be another name of a type.
func isAlias(k graph.Kind) bool {
	switch k {
	case graph.KindVariable, graph.KindConstant, graph.KindTypeAlias, graph.KindNamespace, graph.KindField, graph.KindProperty:
		return true
	}
	return false
}

// define asks the server what an identifier means. What it declines to say is nothing.
func (l *lineage) define(ctx context.Context, path string, at graph.Span) ([]adapters.Place, error) {
	m := mark{path, at.Start}
	if list, ok := l.defined[m]; ok {
		return list, nil
	}
	list, err := Locate(ctx, l.b, adapters.Navigate, protocol.MethodTextDocumentDefinition, graph.Symbol{Path: path, NameSpan: at}, nil)
	var declined adapters.ServerRefusal
	if errors.As(err, &declined) {
		list, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.defined[m] = list
	return list, nil
}

// resolve returns the types that an identifier means, through aliases.
func (l *lineage) resolve(ctx context.Context, path string, at graph.Span, hops int) ([]relative, error) {
	list, err := l.define(ctx, path, at)
	if err != nil {
		return nil, err
	}
	var out []relative
	for _, p := range list {
		if p.Path == path && p.Span.Start == at.Start {
			continue // the server knows nothing behind it
		}
		sym, ok := SymbolAt(ctx, l.b, p)
		if !ok {
			out = append(out, relative{place: p})
			continue
		}
		if sym.Kind == graph.KindConstruct {
			if owner, ok := l.owner(ctx, sym); ok {
				sym, p.Span = owner, owner.NameSpan
			}
		}
		if !isType(sym.Kind) && isAlias(sym.Kind) && hops > 0 {
			behind, err := l.behind(ctx, sym, hops-1)
			if err != nil {
				return nil, err
			}
			if len(behind) > 0 {
				out = append(out, behind...)
				continue
			}
		}
		out = append(out, relative{place: p, sym: sym})
	}
	return out, nil
}

// owner returns the type that declares a member, in its file.
func (l *lineage) owner(ctx context.Context, member graph.Symbol) (graph.Symbol, bool) {
	t, err := l.b.Tree(ctx, member.Path)
	if err != nil {
		return graph.Symbol{}, false
	}
	return ownerIn(t, member)
}

func ownerIn(t *syntax.Tree, member graph.Symbol) (owner graph.Symbol, ok bool) {
	for _, s := range t.Symbols {
		if s.Qualified != member.Container || !isType(s.Kind) && s.Kind != graph.KindTypeAlias {
			continue
		}
		if s.Decl.Start <= member.NameSpan.Start && member.NameSpan.End <= s.Decl.End {
			return s, true
		}
		if !ok {
			owner, ok = s, true // the member stands apart from its type
		}
	}
	return owner, ok
}

// behind returns the types that the right side of an alias names: "= m.Base",
// "= A & B", "= Mixin(Base)".
func (l *lineage) behind(ctx context.Context, alias graph.Symbol, hops int) ([]relative, error) {
	content, err := l.content(ctx, alias.Path)
	if content == nil || err != nil || alias.Decl.End > len(content) {
		return nil, err
	}
	t, err := l.b.Tree(ctx, alias.Path)
	if err != nil {
		return nil, nil
	}
	right := graph.Span{Start: alias.NameSpan.End, End: alias.Decl.End}
	n := bytes.IndexByte(content[right.Start:right.End], '=')
	if n < 0 || bytes.HasPrefix(content[right.Start+n:], []byte("=>")) {
		return nil, nil
	}
	right.Start += n + 1
	code := bytes.TrimSpace(content[right.Start:right.End])
	const long = 300 // bytes: what is longer names no type
	if len(code) == 0 || len(code) > long || bytes.ContainsAny(code, "{};\"'`\n\\") && !bytes.HasSuffix(code, []byte(";")) {
		return nil, nil
	}
	var out []relative
	for part := range bytes.SplitSeq(bytes.TrimSuffix(code, []byte(";")), []byte("&")) {
		for _, id := range baseIdents(t, content, right, string(part)) {
			found, err := l.resolve(ctx, alias.Path, id.Span, hops)
			if err != nil {
				return nil, err
			}
			for _, r := range found {
				if isType(r.sym.Kind) || r.sym.Kind == graph.KindTypeAlias {
					out = append(out, r)
				}
			}
		}
	}
	return out, nil
}

// content reads a file that may lie outside the workspace; nil when nobody can.
func (l *lineage) content(ctx context.Context, path string) ([]byte, error) {
	content, _, err := l.b.Snapshot().Read(ctx, path)
	if err != nil && !Inside(l.b.Root(), path) || errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	return content, err
}

// up returns the types that one declaration of a type names as its bases.
func (l *lineage) up(ctx context.Context, sym graph.Symbol) ([]relative, error) {
	if list, ok := l.above[markOf(sym)]; ok || len(sym.Bases) == 0 {
		return list, nil
	}
	content, err := l.content(ctx, sym.Path)
	if content == nil || err != nil {
		return nil, err
	}
	t, err := l.b.Tree(ctx, sym.Path)
	if err != nil {
		return nil, nil
	}
	var out []relative
	seen := map[mark]bool{}
	for _, base := range sym.Bases {
		known := false
		for _, id := range headIdents(t, content, sym, base) {
			found, err := l.resolve(ctx, sym.Path, id.Span, maxHops)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				found = sameFile(t, content, sym, id)
			}
			known = known || len(found) > 0
			for _, r := range found {
				if m := (mark{r.place.Path, r.place.Span.Start}); !seen[m] && m != markOf(sym) {
					seen[m] = true
					out = append(out, r)
				}
			}
		}
		if !known {
			l.missing[markOf(sym)] = append(l.missing[markOf(sym)], base)
		}
	}
	l.above[markOf(sym)] = out
	return out, nil
}

// sameFile finds a base that the server says nothing of among the types of the
// file, as in the sources of a dependency that no server has open.
func sameFile(t *syntax.Tree, content []byte, sym graph.Symbol, id syntax.Ident) []relative {
	for _, s := range t.Symbols {
		if s.Name == id.Name && isType(s.Kind) && s.NameSpan != sym.NameSpan && s.Container == sym.Container {
			return []relative{{place: adapters.Place{Path: s.Path, Span: s.NameSpan, File: text.NewFile(content)}, sym: s}}
		}
	}
	return nil
}

// headIdents finds a base as written in the head of its declaration; where it
// stands apart from the type, as an implementation does in some languages, in
// the rest of the file.
func headIdents(t *syntax.Tree, content []byte, sym graph.Symbol, base string) []syntax.Ident {
	head := graph.Span{Start: sym.NameSpan.End, End: sym.Decl.End}
	if sym.Body.Start > head.Start {
		head.End = sym.Body.Start
	}
	if found := baseIdents(t, content, head, base); len(found) > 0 {
		return found
	}
	return baseIdents(t, content, graph.Span{End: len(content)}, base)
}

// baseIdents returns the identifiers within a span that the names of a base
// stand for: the occurrence that is written like it, else the first.
func baseIdents(t *syntax.Tree, content []byte, within graph.Span, base string) []syntax.Ident {
	var out []syntax.Ident
	written := squeeze([]byte(base))
	for _, name := range graph.BaseNames(base) {
		var first *syntax.Ident
		var like *syntax.Ident
		for i := range t.Idents {
			id := &t.Idents[i]
			if id.Span.End > within.End {
				break
			}
			if id.Span.Start < within.Start || id.Name != name {
				continue
			}
			if first == nil {
				first = id
			}
			if writtenLike(content[within.Start:id.Span.End], written, name) {
				like = id
				break
			}
		}
		switch {
		case like != nil:
			out = append(out, *like)
		case first != nil:
			out = append(out, *first)
		}
	}
	return out
}

// writtenLike reports whether code ends with a base up to its name, and not
// with a longer path that ends so.
func writtenLike(code, base []byte, name string) bool {
	n := bytes.Index(base, []byte(name))
	if n < 0 {
		return false
	}
	const enough = 4 // spaces and line ends may stand between the parts
	head := base[:n+len(name)]
	tail := squeeze(code[max(0, len(code)-enough*len(head)-enough):])
	rest, ok := bytes.CutSuffix(tail, head)
	if !ok || len(rest) == 0 {
		return ok
	}
	last, _ := utf8.DecodeLastRune(rest)
	return last != '.' && last != ':' || bytes.HasSuffix(rest, []byte(":")) && !bytes.HasSuffix(rest, []byte("::"))
}

// squeeze takes the space out of code.
func squeeze(code []byte) []byte {
	return bytes.Join(bytes.Fields(code), nil)
}

// declarations returns all declarations of a type: those of its id, or itself.
func (l *lineage) declarations(ctx context.Context, sym graph.Symbol) ([]graph.Symbol, error) {
	if sym.ID == "" || !Inside(l.b.Root(), sym.Path) {
		return []graph.Symbol{sym}, nil
	}
	all, err := l.b.Graph().ByID(ctx, sym.ID)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(all, func(s graph.Symbol) bool { return markOf(s) == markOf(sym) }) {
		all = append([]graph.Symbol{sym}, all...)
	}
	return all, nil
}

// ancestors returns the types above a type, nearest first, with their levels.
// What the server cannot tell of types outside the workspace ends there.
func (l *lineage) ancestors(ctx context.Context, sym graph.Symbol, deep bool) ([]relative, []int, error) {
	var out []relative
	var depths []int
	seen := map[mark]bool{}
	level := []graph.Symbol{sym}
	for depth := 1; len(level) > 0; depth++ {
		var next []graph.Symbol
		for _, s := range level {
			decls, err := l.declarations(ctx, s)
			if err != nil {
				return nil, nil, err
			}
			for _, d := range decls {
				seen[markOf(d)] = true
			}
			for _, d := range decls {
				above, err := l.up(ctx, d)
				if err != nil {
					return nil, nil, err
				}
				for _, r := range above {
					m := mark{r.place.Path, r.place.Span.Start}
					if seen[m] {
						continue
					}
					seen[m] = true
					out, depths = append(out, r), append(depths, depth)
					if r.known() {
						next = append(next, r.sym)
					}
				}
			}
		}
		if !deep || len(out) > maxNodes {
			break
		}
		level = next
	}
	return out, depths, nil
}

// children returns the declarations of the workspace that name a type as their base.
func (l *lineage) children(ctx context.Context, sym graph.Symbol) ([]graph.Symbol, error) {
	if list, ok := l.below[sym.ID]; ok && sym.ID != "" {
		return list, nil
	}
	decls, err := l.declarations(ctx, sym)
	if err != nil {
		return nil, err
	}
	names, err := l.aliases(ctx, sym)
	if err != nil {
		return nil, err
	}
	var out []graph.Symbol
	seen := map[mark]bool{}
	for _, n := range names {
		candidates, err := l.b.Graph().ByBase(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, c := range candidates {
			if c.Language != sym.Language || seen[markOf(c)] {
				continue
			}
			seen[markOf(c)] = true
			above, err := l.up(ctx, c)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(above, func(r relative) bool { return l.is(r, sym, decls) }) {
				out = append(out, c)
			}
		}
	}
	l.below[sym.ID] = out
	return out, nil
}

// is reports whether a base is a type with these declarations.
func (l *lineage) is(r relative, sym graph.Symbol, decls []graph.Symbol) bool {
	if r.known() && r.sym.ID != "" && r.sym.ID == sym.ID {
		return true
	}
	return slices.ContainsFunc(decls, func(d graph.Symbol) bool {
		return d.Path == r.place.Path && d.NameSpan.Contains(r.place.Span.Start)
	})
}
