package recipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// Rules are what languages differ in when a name means two things.
type Rules struct {
	Blocks     bool // a local is seen in its braces only; else in its whole function
	Sequential bool // a local is seen behind its declaration only, and may be declared again
	NoShadow   bool // a local must not have the name of another one around or within its scope
	Implicit   bool // the bodies of a type see its members without a qualifier
	Namespaces bool // what stands in a namespace is seen in all files of the namespace
	Imports    bool // an import binds the names in it, of a path the last
	Roots      bool // but "import a.b" binds the first one
	// Region returns where a local is seen, for those that the rules above do not tell.
	Region func(t *syntax.Tree, content []byte, local graph.Symbol) (graph.Span, bool)
	// Together reports whether two declarations may have one name in one place:
	// overloads, a type beside a value; nil says never.
	Together func(renamed, other graph.Symbol) bool
	// Inherited reports whether derived types see a member; nil says always.
	Inherited func(member graph.Symbol) bool
}

// Renaming is what a clash is looked for in.
type Renaming struct {
	Symbol  graph.Symbol   // as it is now
	Members []graph.Symbol // all declarations that are renamed, Symbol among them
	NewName string
	Uses    *Edits // the places that are renamed
}

// Clash refuses a rename after which a name would mean something else than
// before: when the new name is declared already in the same place, by a type
// above or below or by an import; when a renamed use would find another
// declaration; when a use of the new name would find the renamed one.
func Clash(ctx context.Context, b adapters.Bench, in Renaming, rules Rules) error {
	c := &clash{b: b, Renaming: in, rules: rules, lineage: newLineage(b), pages: map[string]*page{}}
	if err := c.declared(ctx); err != nil {
		return err
	}
	if err := c.inherited(ctx); err != nil {
		return err
	}
	paths := in.Uses.Paths()
	if rules.Namespaces && in.Symbol.Container != "" && !in.Symbol.Local {
		more, err := c.namespace(ctx)
		if err != nil {
			return err
		}
		paths = append(paths, more...)
		slices.Sort(paths)
		paths = slices.Compact(paths)
	}
	for _, path := range paths {
		if err := c.captured(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// clash looks for the clashes of one rename.
type clash struct {
	Renaming
	*lineage
	b     adapters.Bench
	rules Rules
	pages map[string]*page
}

// page reads and parses a file once; nil when it cannot be parsed.
func (c *clash) page(ctx context.Context, path string) (*page, error) {
	if p, ok := c.pages[path]; ok {
		return p, nil
	}
	content, _, err := c.b.Snapshot().Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := c.b.Tree(ctx, path)
	if err != nil {
		return nil, ctx.Err() // not a file of the language: nothing is seen there
	}
	p := newPage(path, content, t)
	c.pages[path] = p
	return p, nil
}

// own reports whether a declaration is one of those that are renamed.
func (c *clash) own(s graph.Symbol) bool {
	return slices.ContainsFunc(c.Members, func(m graph.Symbol) bool { return m.Path == s.Path && m.NameSpan == s.NameSpan })
}

// together reports whether another declaration may have the new name in the place of the renamed one.
func (c *clash) together(renamed, other graph.Symbol) bool {
	return c.own(other) || c.rules.Together != nil && c.rules.Together(renamed, other)
}

// refuse says what is in the way, and where.
func (c *clash) refuse(path string, content []byte, at graph.Span, format string, args ...any) error {
	f := text.NewFile(content)
	p := f.PointOf(at.Start)
	return &adapters.Refusal{
		Reason:  adapters.NameConflict,
		Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" (%s:%d:%d); choose another name", Relative(c.b, path), p.Line, p.Column),
		Places:  []adapters.Place{{Path: path, Span: at, File: f}},
	}
}

// refuseFor is refuse for a declaration.
func (c *clash) refuseFor(ctx context.Context, s graph.Symbol, format string, args ...any) error {
	content, err := c.content(ctx, s.Path)
	if err != nil {
		return err
	}
	return c.refuse(s.Path, content, graph.Span{Start: min(s.NameSpan.Start, len(content)), End: min(s.NameSpan.End, len(content))}, format, args...)
}

// declared finds the new name among what is declared beside the renamed.
func (c *clash) declared(ctx context.Context) error {
	same, err := c.b.Graph().ByName(ctx, c.NewName)
	if err != nil {
		return err
	}
	for _, m := range c.Members {
		if m.Local {
			continue
		}
		wanted := strings.TrimSuffix(m.Qualified, m.Name) + c.NewName
		for _, o := range same {
			if o.Local || o.Language != m.Language || o.Project != m.Project || c.together(m, o) {
				continue
			}
			if o.Qualified == wanted || o.Container != "" && o.Container == m.Container || o.Container == "" && m.Container == "" && o.Path == m.Path {
				return c.refuseFor(ctx, o, "%s is declared already as %s beside %s", c.NewName, words(o.Kind), m.Name)
			}
		}
	}
	return nil
}

// words writes a kind for people: "enumMember" is "an enum member".
func words(k graph.Kind) string {
	var b strings.Builder
	b.WriteString("a")
	if k != "" && strings.IndexByte("aeio", k[0]) >= 0 {
		b.WriteByte('n')
	}
	b.WriteByte(' ')
	for _, r := range string(k) {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// inherited finds the new name among the members of the types above and below.
func (c *clash) inherited(ctx context.Context) error {
	seen := map[mark]bool{}
	for _, m := range c.Members {
		if m.Local || m.Kind == graph.KindConstruct {
			continue
		}
		owner, ok := c.owner(ctx, m)
		if !ok {
			continue
		}
		around, _, err := c.ancestors(ctx, owner, true)
		if err != nil {
			return err
		}
		if c.rules.Inherited == nil || c.rules.Inherited(m) {
			below, err := c.derived(ctx, owner, true)
			if err != nil {
				return err
			}
			for _, h := range below.Hits {
				around = append(around, relative{place: h.Place, sym: *h.Symbol})
			}
		}
		for _, r := range around {
			if !r.known() || seen[markOf(r.sym)] {
				continue
			}
			seen[markOf(r.sym)] = true
			members, err := c.members(ctx, r.sym)
			if err != nil {
				return err
			}
			for _, o := range members {
				if o.Name == c.NewName && !c.together(m, o) && (c.rules.Inherited == nil || c.rules.Inherited(o)) {
					return c.refuseFor(ctx, o, "%s has %s named %s already, and %s would override, implement or hide it", r.sym.Name, words(o.Kind), c.NewName, m.Qualified)
				}
			}
		}
	}
	return nil
}

// namespace returns the files that hold the new name and belong to the
// namespace of the renamed.
func (c *clash) namespace(ctx context.Context) ([]string, error) {
	files, err := c.b.Snapshot().Grep(ctx, c.NewName)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range files {
		symbols, err := c.b.Graph().InFile(ctx, path)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(symbols, func(s graph.Symbol) bool {
			return s.Language == c.Symbol.Language && (s.Kind == graph.KindNamespace || isType(s.Kind)) && s.Qualified == c.Symbol.Container
		}) {
			out = append(out, path)
		}
	}
	return out, nil
}

// binding is a region in which a name means one declaration.
type binding struct {
	region graph.Span
	sym    graph.Symbol
	own    bool // a renamed declaration
	tied   bool // another one that may have the same name beside it
}

// captured finds the names of a file that would mean something else.
func (c *clash) captured(ctx context.Context, path string) error {
	p, err := c.page(ctx, path)
	if err != nil || p == nil {
		return err
	}
	ours, err := c.ours(ctx, p)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		return nil
	}
	others := c.others(p)
	for _, o := range others {
		for _, x := range ours {
			if o.tied {
				continue
			}
			same := o.region == x.region && !(c.rules.Sequential && o.sym.Local && x.sym.Local)
			nested := c.rules.NoShadow && o.sym.Local && x.sym.Local && o.region.Start < x.region.End && x.region.Start < o.region.End
			if same || nested {
				return c.refuse(path, p.content, o.sym.NameSpan, "%s is declared already where %s is seen", c.NewName, c.Symbol.Name)
			}
		}
	}
	for _, e := range c.Uses.Of(path) {
		at := graph.Span{Start: e.Start, End: e.End}
		if !p.bare(at.Start) || string(p.content[at.Start:at.End]) != c.Symbol.Name || declaredAt(p.tree, at) {
			continue
		}
		if _, inText := p.tree.TokenAt(at.Start); inText || InImport(p.tree, at.Start) || c.rules.key(p, syntax.Ident{Name: c.Symbol.Name, Span: at}) {
			continue
		}
		if b, ok := nearestBinding(at.Start, others, ours); ok && !b.own && !b.tied {
			return c.refuse(path, p.content, at, "here %s would mean %s of that name, which is nearer than the renamed %s", c.NewName, words(b.sym.Kind), c.Symbol.Name)
		}
	}
	for _, id := range p.tree.Named(c.NewName) {
		if !p.bare(id.Span.Start) || declaredAt(p.tree, id.Span) || InImport(p.tree, id.Span.Start) || c.rules.key(p, id) {
			continue
		}
		if b, ok := nearestBinding(id.Span.Start, others, ours); ok && b.own {
			return c.refuse(path, p.content, id.Span, "%s is used here for something else and would come to mean the renamed %s", c.NewName, c.Symbol.Name)
		}
	}
	return nil
}

// nearestBinding returns the innermost binding around an offset; of two in one
// region the other one.
func nearestBinding(at int, others, ours []binding) (best binding, ok bool) {
	for _, list := range [][]binding{others, ours} {
		for _, b := range list {
			if b.region.Start <= at && at < b.region.End && (!ok || b.region.Start > best.region.Start ||
				b.region.Start == best.region.Start && b.region.End < best.region.End) {
				best, ok = b, true
			}
		}
	}
	return best, ok
}

func declaredAt(t *syntax.Tree, at graph.Span) bool {
	return slices.ContainsFunc(t.Symbols, func(s graph.Symbol) bool { return s.NameSpan == at })
}

// InImport reports whether an offset lies in an import statement.
func InImport(t *syntax.Tree, at int) bool {
	return slices.ContainsFunc(t.Imports, func(im syntax.Import) bool { return im.Span.Start <= at && at < im.Span.End })
}

// ours returns where the renamed declarations are seen by their bare name in a file.
func (c *clash) ours(ctx context.Context, p *page) ([]binding, error) {
	var out []binding
	add := func(region graph.Span, s graph.Symbol) {
		if !slices.ContainsFunc(out, func(b binding) bool { return b.region == region }) {
			out = append(out, binding{region: region, sym: s, own: true})
		}
	}
	whole := graph.Span{End: len(p.content)}
	for _, m := range c.Members {
		if m.Local {
			if m.Path == p.path {
				add(c.rules.region(p, m), m)
			}
			continue
		}
		owner, member := c.owner(ctx, m)
		switch {
		case !member && m.Path == p.path:
			add(within(p.tree, m, whole), m)
		case !member:
			add(whole, m)
		case c.rules.Implicit:
			types := []graph.Symbol{owner}
			if c.rules.Inherited == nil || c.rules.Inherited(m) {
				below, err := c.derived(ctx, owner, true)
				if err != nil {
					return nil, err
				}
				for _, h := range below.Hits {
					types = append(types, *h.Symbol)
				}
			}
			for _, t := range types {
				if t.Path == p.path {
					add(t.Decl, m)
				}
			}
		}
	}
	return out, nil
}

// within returns the namespace that holds a declaration in its file, else all.
func within(t *syntax.Tree, m graph.Symbol, all graph.Span) graph.Span {
	for _, s := range t.Symbols {
		if (s.Kind == graph.KindNamespace || s.Kind == graph.KindModule) && !s.Local && s.NameSpan != m.NameSpan &&
			s.Decl.Start <= m.NameSpan.Start && m.NameSpan.End <= s.Decl.End && s.Decl.Start >= all.Start && s.Decl.End <= all.End {
			all = s.Decl
		}
	}
	return all
}

// others returns where the new name means something already in a file.
func (c *clash) others(p *page) []binding {
	var out []binding
	whole := graph.Span{End: len(p.content)}
	for _, s := range p.tree.Symbols {
		if s.Name != c.NewName || c.own(s) || s.Kind == graph.KindConstruct || s.Kind == graph.KindOperator {
			continue // the last two are called by the name of their type
		}
		o := binding{region: whole, sym: s, tied: c.together(c.Symbol, s)}
		owner, member := ownerIn(p.tree, s)
		switch {
		case member && s.Kind == graph.KindEnumMem, member && isMember(s.Kind) && !c.rules.Implicit:
			continue // it is never seen without a qualifier
		case member && isMember(s.Kind):
			o.region = owner.Decl
		case InImport(p.tree, s.NameSpan.Start):
		case s.Local:
			o.region = c.rules.region(p, s)
		default:
			o.region = within(p.tree, s, whole)
		}
		out = append(out, o)
	}
	if c.rules.Imports {
		for _, id := range p.tree.Named(c.NewName) {
			if InImport(p.tree, id.Span.Start) && !declaredAt(p.tree, id.Span) && p.binds(id, c.rules.Roots) {
				module := graph.Symbol{Name: id.Name, Kind: graph.KindModule, NameSpan: id.Span, Path: p.path}
				out = append(out, binding{region: whole, sym: module})
			}
		}
	}
	return out
}

// binds reports whether a name within an import is one that it gives to the
// file: not one that is renamed there, nor a step on the path
// to one. With roots the path of a plain import binds its first name instead.
func (p *page) binds(id syntax.Ident, roots bool) bool {
	rest := string(p.content[min(p.code(id.Span.End), len(p.content)):])
	if before, ok := bytes.CutSuffix(p.content[:id.Span.Start], []byte("import ")); roots && ok {
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		if len(bytes.TrimSpace(line)) == 0 {
			return !strings.HasPrefix(rest, "as ")
		}
	}
	if roots && id.Span.Start > 0 && p.content[id.Span.Start-1] == '.' {
		return false
	}
	for _, step := range []string{".", "::", "as ", "as\t", "import ", "import\t"} {
		if strings.HasPrefix(rest, step) {
			return false
		}
	}
	return true
}
