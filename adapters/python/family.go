package python

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// relatives finds what must keep one name with the symbol. To pyright each
// override is a symbol of its own, and so is each parameter of one.
func (r *renamer) relatives(ctx context.Context) error {
	r.Members = []graph.Symbol{r.Symbol}
	pytest, err := r.fixtures(ctx)
	switch {
	case err != nil:
		return err
	case pytest:
	case r.Symbol.Kind == graph.KindParameter:
		if err := r.parameters(ctx); err != nil {
			return err
		}
	case isMember(r.Symbol) && !mangled(r.Symbol.Name):
		f, err := r.family(ctx, r.Symbol)
		if err != nil {
			return err
		}
		r.Members = f.Members
		if n := len(r.Members); n > 1 {
			r.Warn("%d declarations of %s belong together by their classes and are renamed together", n, r.Symbol.Name)
		}
	}
	for _, d := range r.In.Declarations {
		r.add(d)
	}
	for _, m := range slices.Clone(r.Members) {
		if err := r.twins(ctx, m); err != nil {
			return err
		}
	}
	for _, m := range r.Members {
		if _, err := r.source(ctx, m.Path); err != nil {
			return err
		}
	}
	return nil
}

// add takes a declaration that is renamed as well.
func (r *renamer) add(s graph.Symbol) {
	if !slices.ContainsFunc(r.Members, func(m graph.Symbol) bool { return m.Path == s.Path && m.NameSpan == s.NameSpan }) {
		r.Members = append(r.Members, s)
	}
}

// family returns the members that override one another with a member, and
// those by which classes meet a protocol without naming it.
func (r *renamer) family(ctx context.Context, sym graph.Symbol) (recipe.Family, error) {
	p := &protocols{r: r}
	f, err := recipe.MemberFamily(ctx, r.Bench, sym, recipe.FamilyOptions{
		Joins: func(upper, lower graph.Symbol) bool {
			return isMember(upper) && isMember(lower) && !mangled(upper.Name)
		},
		More: p.more,
	})
	switch {
	case errors.Is(err, recipe.ErrFamily):
		return f, recipe.Refuse(adapters.Unsupported, "more than %d members named %s belong together; rename it in a smaller part of the workspace", len(f.Members)-1, sym.Name)
	case err != nil:
		return f, err
	}
	if len(f.Unknown) > 0 {
		r.Warn("bases that pyright cannot find may have a member %s too: %s", sym.Name, recipe.Listed(f.Unknown, 3))
	}
	return f, f.Bound()
}

// joins reports whether a member of a derived class stands for that of a base:
// whatever their kinds, an attribute is found by its name alone.
func joins(upper, lower graph.Symbol) bool {
	return isMember(upper) && isMember(lower) && !mangled(upper.Name)
}

// parameters adds the same parameter of the function's other declarations:
// overloads, and the methods that override it, which callers may name it for.
func (r *renamer) parameters(ctx context.Context) error {
	fn, seen, err := owner(ctx, r.Bench, r.Symbol)
	if err != nil || !seen {
		return err
	}
	functions := []graph.Symbol{fn}
	if fn.Kind == graph.KindMethod && !constructs(fn.Name) {
		f, err := r.family(ctx, fn)
		var outside *adapters.Refusal
		if errors.As(err, &outside) && outside.Reason == adapters.OutsideWorkspace {
			their, ok := r.outside(ctx, f)
			if ok {
				return recipe.Refuse(adapters.OutsideWorkspace, "%s overrides a method outside this workspace (%s) that has the parameter %s too: what calls it there may pass it by that name",
					fn.Qualified, their, r.Symbol.Name)
			}
			err = nil
		}
		if err != nil {
			return err
		}
		functions = f.Members
	}
	for _, f := range functions {
		src, err := r.source(ctx, f.Path)
		if err != nil {
			return err
		}
		for _, same := range src.Tree.Symbols { // overloads
			if same.Qualified != f.Qualified || same.Kind != f.Kind && same.Kind != graph.KindFunction {
				continue
			}
			for _, p := range src.Tree.Symbols {
				if p.Kind == graph.KindParameter && p.Name == r.Symbol.Name && p.Container == same.Qualified &&
					same.Decl.Start < p.NameSpan.Start && p.NameSpan.End <= same.Body.Start {
					r.add(p)
				}
			}
		}
	}
	if n := len(r.Members); n > 1 {
		r.Warn("%d declarations of the parameter %s belong together and are renamed together", n, r.Symbol.Name)
	}
	return nil
}

// outside returns where a relative outside the workspace has the parameter as well.
func (r *renamer) outside(ctx context.Context, f recipe.Family) (string, bool) {
	for _, o := range f.Outside {
		tree, err := r.Bench.Tree(ctx, o.Place.Path)
		if err != nil {
			continue
		}
		fn, ok := tree.Declared(o.Place.Span.Start)
		if !ok {
			continue
		}
		if slices.ContainsFunc(tree.Symbols, func(p graph.Symbol) bool {
			return p.Kind == graph.KindParameter && p.Name == r.Symbol.Name && fn.Decl.Start < p.NameSpan.Start && p.NameSpan.End <= fn.Body.Start
		}) {
			return o.Place.Path, true
		}
	}
	return "", false
}

// constructs reports whether a method makes instances: those of derived
// classes take what they like.
func constructs(name string) bool {
	return name == "__init__" || name == "__new__" || name == "__init_subclass__" || name == "__post_init__"
}

// twins adds the declaration of the same name in the stub of a file, or in the
// file of a stub.
func (r *renamer) twins(ctx context.Context, m graph.Symbol) error {
	other := m.Path + "i"
	if filepath.Ext(m.Path) == ".pyi" {
		other = strings.TrimSuffix(m.Path, "i")
	}
	content, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), other)
	if err != nil || content == nil {
		return err
	}
	tree, err := r.Bench.Tree(ctx, other)
	if err != nil {
		return nil // what cannot be parsed declares nothing
	}
	plain := func(s string) string { return strings.ReplaceAll(s+".", ".pyi.", ".") }
	for _, s := range tree.Symbols {
		if s.Name == m.Name && plain(s.Qualified) == plain(m.Qualified) && (s.Kind == graph.KindParameter) == (m.Kind == graph.KindParameter) {
			r.add(s)
		}
	}
	return nil
}

// protocols joins classes with the protocols that they meet by what they have.
type protocols struct {
	r     *renamer
	known []contract
	read  bool
}

// contract is a protocol, a class of the workspace that others meet without naming it.
type contract struct {
	class   graph.Symbol
	members map[string]graph.Symbol
}

// more returns the members of the same name by which classes meet the
// protocol of a member, or the members of protocols that its class meets.
func (p *protocols) more(ctx context.Context, b adapters.Bench, m graph.Symbol) ([]graph.Symbol, error) {
	if err := p.load(ctx, b); err != nil || len(p.known) == 0 {
		return nil, err
	}
	class := p.r.ownerOf(ctx, m)
	if class.Name == "" {
		return nil, nil
	}
	same, err := b.Graph().ByName(ctx, m.Name)
	if err != nil {
		return nil, err
	}
	var out []graph.Symbol
	for _, k := range p.known {
		if _, ok := k.members[m.Name]; !ok || k.class.ID != class.ID {
			continue
		}
		for _, s := range same {
			if isMember(s) && s.Language == m.Language && p.meets(ctx, s, k) {
				out = append(out, s)
			}
		}
	}
	above, err := p.upper(ctx, b, m)
	return append(out, above...), err
}

// upper returns the members of protocols that a class meets by a member.
func (p *protocols) upper(ctx context.Context, b adapters.Bench, m graph.Symbol) ([]graph.Symbol, error) {
	if err := p.load(ctx, b); err != nil {
		return nil, err
	}
	var out []graph.Symbol
	for _, k := range p.known {
		if theirs, ok := k.members[m.Name]; ok && p.meets(ctx, m, k) {
			out = append(out, theirs)
		}
	}
	return out, nil
}

// load lists the protocols of the workspace with their own members.
func (p *protocols) load(ctx context.Context, b adapters.Bench) error {
	if p.read {
		return nil
	}
	p.read = true
	classes, err := b.Graph().ByBase(ctx, "Protocol")
	if err != nil {
		return err
	}
	for _, c := range classes {
		src, err := p.r.source(ctx, c.Path)
		if err != nil || src.Tree == nil {
			continue
		}
		k := contract{class: c, members: map[string]graph.Symbol{}}
		for _, m := range src.Tree.Symbols {
			if isMember(m) && m.Container == c.Qualified && !m.Local {
				k.members[m.Name] = m
			}
		}
		p.known = append(p.known, k)
	}
	return nil
}

// meets reports whether the class of a member has all members of a protocol,
// and the member the parameters of the protocol's.
func (p *protocols) meets(ctx context.Context, m graph.Symbol, k contract) bool {
	class := p.r.ownerOf(ctx, m)
	if class.Name == "" || class.ID == k.class.ID || slices.ContainsFunc(p.known, func(o contract) bool { return o.class.ID == class.ID }) {
		return false
	}
	theirs := k.members[m.Name]
	if (theirs.Kind == graph.KindMethod) != (m.Kind == graph.KindMethod) || !fits(theirs.Params, m.Params) {
		return false
	}
	have := map[string]bool{}
	p.collect(ctx, class, have, 0)
	for name := range k.members {
		if !have[name] {
			return false
		}
	}
	return true
}

// fits reports whether a method may be called as another is: by the number of
// its parameters, as far as stars and defaults allow that to be told.
func fits(want, have []string) bool {
	if slices.ContainsFunc(append(slices.Clone(want), have...), func(t string) bool { return strings.HasPrefix(t, "*") }) {
		return true
	}
	return len(have) >= len(want)
}

// collect gathers the names of the members of a class and of its bases in the workspace.
func (p *protocols) collect(ctx context.Context, class graph.Symbol, names map[string]bool, depth int) {
	const deep = 10
	src, err := p.r.source(ctx, class.Path)
	if err != nil || src.Tree == nil || depth > deep {
		return
	}
	for _, m := range src.Tree.Symbols {
		if isMember(m) && m.Container == class.Qualified {
			names[m.Name] = true
		}
	}
	for _, base := range class.Bases {
		for _, name := range graph.BaseNames(base) {
			found, err := p.r.Bench.Graph().ByName(ctx, name)
			if err != nil {
				continue
			}
			for _, c := range found {
				if c.Kind == graph.KindClass && c.ID != class.ID {
					p.collect(ctx, c, names, depth+1)
				}
			}
		}
	}
}
