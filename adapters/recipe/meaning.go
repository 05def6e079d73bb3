package recipe

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// Reach says from where a declaration can be named.
type Reach uint8

// The reaches of a declaration.
const (
	Anywhere  Reach = iota
	InType          // within the declarations of its type
	InFile          //
	InFolder        // in the files of its folder
	InModules       // in its file and in the modules below it
)

// Lexicon is how names are looked up in a language, as far as that can be told
// without a compiler.
type Lexicon struct {
	Rules
	Usage      Usage                              // may be nil
	Calls      func(content []byte, end int) bool // whether a name that ends there is called; nil: a parenthesis follows
	Reach      func(graph.Symbol) Reach           // nil: Anywhere
	Folders    bool                               // the files of a folder see what stands at each other's top
	Structural bool                               // a type that has the members of an interface implements it
	Literals   bool                               // so does a value of no declared type, which is not looked for
}

// Lexical is found by assertion on an Adapter that says how names are looked up.
type Lexical interface{ Lexicon() Lexicon }

// LexiconOf returns what a language says of its names.
func LexiconOf(a adapters.Adapter) Lexicon {
	if l, ok := a.(Lexical); ok {
		return l.Lexicon()
	}
	return Lexicon{Rules: Rules{Blocks: true, Imports: true}}
}

// meaning is what a name at a place may stand for.
type meaning struct {
	all  []graph.Symbol
	sure bool // by scope or import; else by the name alone
}

// meanings resolves names by the graph and syntax alone.
type meanings struct {
	adapters.Bench
	lex      Lexicon
	language string
	pages    map[string]*page
	named    map[string]*bearers
}

// bearers are the declarations of one name.
type bearers struct {
	global []graph.Symbol
	inFile map[string][]graph.Symbol // all of them, by file
}

// page reads and parses a file once; nil when it is not one of the language.
func (m *meanings) page(ctx context.Context, path string) (*page, error) {
	if p, ok := m.pages[path]; ok {
		return p, nil
	}
	content, _, err := m.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := m.Tree(ctx, path)
	if err != nil {
		m.pages[path] = nil
		return nil, ctx.Err()
	}
	p := newPage(path, content, t)
	m.pages[path] = p
	return p, nil
}

// bearers returns what the language declares by a name.
func (m *meanings) bearers(ctx context.Context, name string) (*bearers, error) {
	if b, ok := m.named[name]; ok {
		return b, nil
	}
	all, err := m.Graph().ByName(ctx, name)
	if err != nil {
		return nil, err
	}
	b := &bearers{inFile: map[string][]graph.Symbol{}}
	for _, s := range all {
		if s.Language != m.language {
			continue
		}
		b.inFile[s.Path] = append(b.inFile[s.Path], s)
		if !s.Local {
			b.global = append(b.global, s)
		}
	}
	m.named[name] = b
	return b, nil
}

// declarations returns what the language declares by a name, locals aside.
func (m *meanings) declarations(ctx context.Context, name string) ([]graph.Symbol, error) {
	b, err := m.bearers(ctx, name)
	if err != nil {
		return nil, err
	}
	return b.global, nil
}

// maxQualifiers bounds how far a chain of qualifiers is followed to the left.
const maxQualifiers = 3

// of returns what an identifier of a page may stand for.
func (m *meanings) of(ctx context.Context, p *page, id syntax.Ident) (meaning, error) {
	return m.follow(ctx, p, id, maxQualifiers)
}

func (m *meanings) follow(ctx context.Context, p *page, id syntax.Ident, deep int) (meaning, error) {
	b, err := m.bearers(ctx, id.Name)
	if err != nil {
		return meaning{}, err
	}
	here, global := b.inFile[p.path], b.global
	for _, s := range here {
		if s.NameSpan == id.Span && !slices.Contains(s.Modifiers, "embedded") && !bound(p.tree, s) {
			return meaning{[]graph.Symbol{s}, true}, nil
		}
	}
	if im, ok := importAt(p.tree, id.Span, id.Name); ok {
		return m.imported(ctx, p, im, id.Name, global)
	}
	switch {
	case m.lex.key(p, id):
		return label(here, global), nil
	case !p.bare(id.Span.Start):
		return m.qualified(ctx, p, id, global, deep)
	}
	if s, ok := m.local(p, id, here); ok {
		if name := original(p, s, id.Name); name != id.Name && bound(p.tree, s) {
			return meaning{}, nil // what goes by this name has another one
		} else if im, ok := importAt(p.tree, s.NameSpan, name); ok {
			return m.imported(ctx, p, im, name, global)
		}
		return meaning{[]graph.Symbol{s}, true}, nil
	}
	return m.bare(ctx, p, id, global), nil
}

// label is what the key of an object, of a literal or of an argument may mean:
// a field, or a parameter of what is called.
func label(here, global []graph.Symbol) meaning {
	var out []graph.Symbol
	for _, s := range global {
		if s.Kind == graph.KindField || s.Kind == graph.KindProperty || s.Kind == graph.KindVariable {
			out = append(out, s)
		}
	}
	for _, s := range here {
		if s.Kind == graph.KindParameter {
			out = append(out, s)
		}
	}
	return meaning{all: out}
}

// local returns the innermost local declaration of the file that an identifier sees.
func (m *meanings) local(p *page, id syntax.Ident, here []graph.Symbol) (found graph.Symbol, ok bool) {
	best := graph.Span{}
	for _, s := range here {
		if !s.Local {
			continue
		}
		r, known := p.regions[s.NameSpan.Start]
		if !known {
			r = m.lex.region(p, s)
			p.regions[s.NameSpan.Start] = r
		}
		if id.Span.Start < r.Start || id.Span.End > r.End {
			continue
		}
		// The narrower region wins; of equal ones the last that stands before the use.
		narrower := r.End-r.Start < best.End-best.Start
		same := r.End == best.End
		if !ok || narrower && !same || same && s.NameSpan.Start <= id.Span.Start {
			found, best, ok = s, r, true
		}
	}
	return found, ok
}

// free leaves out the members of types.
func free(ctx context.Context, syms []graph.Symbol, m *meanings) []graph.Symbol {
	out := slices.DeleteFunc(slices.Clone(syms), func(s graph.Symbol) bool { return m.member(ctx, s) })
	if len(out) == 0 {
		return syms
	}
	return out
}

// member reports whether a declaration is that of a type's member.
func (m *meanings) member(ctx context.Context, s graph.Symbol) bool {
	if s.Container == "" {
		return false
	}
	switch s.Kind {
	case graph.KindMethod, graph.KindField, graph.KindProperty, graph.KindConstruct, graph.KindEnumMem, graph.KindEvent, graph.KindOperator:
		return true
	case graph.KindPackage, graph.KindNamespace, graph.KindModule:
		return false
	}
	owner, err := m.declarations(ctx, last(s.Container))
	return err == nil && slices.ContainsFunc(owner, func(o graph.Symbol) bool { return isType(o.Kind) && o.Qualified == s.Container })
}

// last returns the last part of a path or of a qualified name.
func last(path string) string { return path[strings.LastIndexAny(path, "./:\\")+1:] }

// bare is what a name without a qualifier may mean that is not local.
func (m *meanings) bare(ctx context.Context, p *page, id syntax.Ident, global []graph.Symbol) meaning {
	var same, beside, spaced []graph.Symbol
	for _, s := range global {
		member := m.member(ctx, s)
		switch {
		case s.Path == p.path && !member && surrounds(p.tree, s, id):
			same = append(same, s)
		case member && m.lex.Implicit:
			if owner, ok := ownerIn(p.tree, s); ok && s.Path == p.path && owner.Decl.Contains(id.Span.Start) {
				same = append(same, s)
			}
		case !member && m.lex.Folders && filepath.Dir(s.Path) == filepath.Dir(p.path):
			beside = append(beside, s)
		case !member && m.lex.Namespaces && m.inNamespace(p, id, s):
			spaced = append(spaced, s)
		}
	}
	for _, list := range [][]graph.Symbol{same, beside} {
		if len(list) > 0 {
			return meaning{list, sole(list)}
		}
	}
	bind := false
	for _, im := range p.tree.Imports {
		if !binds(p.tree, im, id.Name) {
			continue
		}
		bind = true
		here, near := m.from(ctx, p, im, id.Name, global)
		if len(here) > 0 {
			return meaning{here, sole(here)}
		}
		if len(near) > 0 {
			return meaning{all: near}
		}
	}
	switch {
	case bind:
		return meaning{sure: true} // from outside the workspace
	case len(spaced) > 0:
		return meaning{spaced, sole(spaced)}
	}
	return meaning{all: free(ctx, global, m)}
}

// surrounds reports whether the module that holds a declaration holds a place
// of the same file as well.
func surrounds(t *syntax.Tree, s graph.Symbol, id syntax.Ident) bool {
	for _, c := range t.Symbols {
		if c.Qualified == s.Container && c.Decl.Start <= s.NameSpan.Start && s.NameSpan.End <= c.Decl.End {
			return c.Decl.Contains(id.Span.Start)
		}
	}
	return true
}

// inNamespace reports whether what a namespace holds is seen at a place.
func (m *meanings) inNamespace(p *page, id syntax.Ident, s graph.Symbol) bool {
	if s.Container == "" {
		return true
	}
	for _, im := range p.tree.Imports {
		if im.Path == s.Container {
			return true
		}
	}
	for _, n := range p.tree.Symbols {
		if n.Kind != graph.KindNamespace || !n.Decl.Contains(id.Span.Start) {
			continue
		}
		if n.Qualified == s.Container || strings.HasPrefix(n.Qualified, s.Container+".") {
			return true
		}
	}
	return false
}

// sole reports whether declarations are of one symbol.
func sole(list []graph.Symbol) bool {
	return !slices.ContainsFunc(list, func(s graph.Symbol) bool { return s.ID != list[0].ID })
}

// itself are the words by which a type's code names the type or its value.
var itself = []string{"self", "this", "Self", "cls", "super", "base"}

// qualified is what a name behind a qualifier may mean.
func (m *meanings) qualified(ctx context.Context, p *page, id syntax.Ident, global []graph.Symbol, deep int) (meaning, error) {
	q, ok := qualifier(p, id)
	members := slices.DeleteFunc(slices.Clone(global), func(s graph.Symbol) bool { return !m.member(ctx, s) })
	if !ok {
		return meaning{all: members}, nil // of what an expression gives
	}
	if slices.Contains(itself, q.Name) {
		var own []graph.Symbol
		for _, s := range members {
			if owner, ok := ownerIn(p.tree, s); ok && s.Path == p.path && (owner.Decl.Contains(id.Span.Start) || m.sameType(p, owner, id)) {
				own = append(own, s)
			}
		}
		if len(own) > 0 && q.Name != "super" && q.Name != "base" {
			return meaning{own, sole(own)}, nil
		}
		return meaning{all: members}, nil
	}
	if deep == 0 {
		return meaning{all: global}, nil
	}
	for _, im := range p.tree.Imports {
		if !binds(p.tree, im, q.Name) {
			continue
		}
		path := im
		if segs, _ := segments(im.Path); len(segs) == 0 || segs[len(segs)-1] != q.Name && im.Alias == "" {
			// The module is what the import names.
			if strings.ContainsAny(path.Path, "/:") {
				path.Path += "/" + q.Name
			} else {
				path.Path += "." + q.Name
			}
		}
		here, near := m.from(ctx, p, path, id.Name, global)
		if len(here) > 0 {
			return meaning{here, sole(here)}, nil
		}
		if len(near) == 0 {
			if of, err := m.follow(ctx, p, q, deep-1); err != nil || len(of.all) == 0 {
				return meaning{sure: true}, err
			}
		} else if of, err := m.follow(ctx, p, q, deep-1); err != nil || !slices.ContainsFunc(of.all, func(s graph.Symbol) bool { return isType(s.Kind) }) {
			return meaning{all: near}, err
		}
	}
	of, err := m.follow(ctx, p, q, deep-1)
	if err != nil {
		return meaning{}, err
	}
	var held []graph.Symbol
	types := false
	for _, o := range of.all {
		if isType(o.Kind) || o.Kind == graph.KindModule || o.Kind == graph.KindNamespace || o.Kind == graph.KindPackage {
			types = true
			for _, s := range global {
				if s.Container == o.Qualified {
					held = append(held, s)
				}
			}
		}
	}
	switch {
	case len(held) > 0:
		return meaning{held, of.sure && sole(held)}, nil
	case types:
		return meaning{all: members}, nil // inherited, or added elsewhere
	case len(of.all) == 0:
		return meaning{all: global}, nil
	}
	return meaning{all: members}, nil
}

// sameType reports whether a place stands in code of a type that is written
// apart from it, as the implementation of a type is in some languages.
func (m *meanings) sameType(p *page, owner graph.Symbol, id syntax.Ident) bool {
	in, ok := p.tree.Enclosing(id.Span.Start)
	return ok && in.Container == owner.Qualified
}

// qualifier returns the identifier that qualifies another directly.
func qualifier(p *page, id syntax.Ident) (syntax.Ident, bool) {
	head := bytes.TrimRight(p.content[:id.Span.Start], " \t\r\n")
	for _, sep := range [...]string{"?.", "!.", "::", "->", "."} {
		if rest, ok := bytes.CutSuffix(head, []byte(sep)); ok {
			head = bytes.TrimRight(rest, " \t\r\n")
			break
		}
	}
	word := trailingWord(head)
	if word == "" {
		return syntax.Ident{}, false
	}
	return syntax.Ident{Name: word, Span: graph.Span{Start: len(head) - len(word), End: len(head)}}, true
}

// place makes a place of a span of a page.
func (m *meanings) place(p *page, at graph.Span) adapters.Place {
	if p.file == nil {
		p.file = text.NewFile(p.content)
	}
	return adapters.Place{Path: p.path, Span: at, File: p.file}
}
