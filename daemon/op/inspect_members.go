package op

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// typeMembers lists the members of every type that the address stands for.
func typeMembers(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.TypeMembers)
	address := in.Address
	if address.SymbolKind == "" && address.SymbolName != "" {
		address.SymbolKind = "type"
	}
	matches, err := resolve.All(ctx, s, address)
	if err != nil {
		return nil, err
	}
	types := slices.DeleteFunc(slices.Clone(matches), func(m resolve.Match) bool { return !slices.Contains(typeKinds, m.Symbol().Kind) })
	if len(types) == 0 {
		sym := matches[0].Symbol()
		return nil, api.Errorf(api.InvalidArgument, "%s is a %s and has no members; name a type", sym.Name, sym.Kind)
	}
	var all listing
	for _, t := range types {
		m := members{s: s, out: &all}
		if err := m.of(ctx, t.Declarations, in.IncludeInherited); err != nil {
			return nil, err
		}
	}
	out, err := all.answer(ctx, s, "type_members", in.Limit)
	if err != nil {
		return nil, err
	}
	if len(types) == 1 {
		out.Symbol, err = ref(ctx, s, types[0].Symbol())
	} else {
		out.Candidates, err = candidates(ctx, s, types)
	}
	return out, err
}

// members gathers the members of one type, its own first, then those of its
// bases level by level, without what nearer ones hide.
type members struct {
	s    *workbench.Session
	out  *listing
	seen []graph.Symbol
}

func (m *members) of(ctx context.Context, decls []graph.Symbol, inherited bool) error {
	visited := map[graph.ID]bool{decls[0].ID: true}
	level := [][]graph.Symbol{decls}
	for depth := 0; len(level) > 0; depth++ {
		var own []graph.Symbol
		var next [][]graph.Symbol
		for _, t := range level {
			found, err := m.declared(ctx, t)
			if err != nil {
				return err
			}
			own = append(own, found...)
			if !inherited {
				continue
			}
			above, err := m.bases(ctx, t)
			if err != nil {
				return err
			}
			for _, b := range above {
				if !visited[b[0].ID] {
					visited[b[0].ID] = true
					next = append(next, b)
				}
			}
		}
		hiding := slices.Clone(m.seen) // members of one level do not hide each other
		for _, x := range own {
			if depth > 0 && (x.Visibility == "private" || x.Kind == graph.KindConstruct || m.hidden(hiding, x)) {
				continue
			}
			m.seen = append(m.seen, x)
			m.out.add(listed{Symbol: x, inherited: depth > 0, static: x.Kind == graph.KindFunction})
		}
		level = next
	}
	return nil
}

// hidden reports whether a member of a base has one that hides it below.
func (m *members) hidden(nearer []graph.Symbol, x graph.Symbol) bool {
	overloads := false
	if lang, ok := m.s.Workspace().ByID(x.Language); ok {
		overloads = lang.Language().Overloads
	}
	return slices.ContainsFunc(nearer, func(n graph.Symbol) bool {
		return n.Name == x.Name && (!overloads || n.Params == nil || x.Params == nil || slices.Equal(n.Params, x.Params))
	})
}

// declared returns the members that a type's declarations, or what adds to them
// elsewhere, hold.
func (m *members) declared(ctx context.Context, decls []graph.Symbol) ([]graph.Symbol, error) {
	t := decls[0]
	files, err := m.files(ctx, decls)
	if err != nil {
		return nil, err
	}
	var out []graph.Symbol
	for _, path := range files {
		all, err := m.inFile(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			if !isMember(x) || x.Language != t.Language || x.Project != t.Project || x.Local != t.Local || separated(x.Container) != separated(t.Qualified) {
				continue
			}
			if owner, ok := enclosingType(all, x); ok && owner.ID != t.ID {
				continue
			}
			out = append(out, x)
		}
	}
	return out, nil
}

func separated(name string) string { return strings.ReplaceAll(name, "::", ".") }

// isMember reports whether a symbol is what a type may have: not a parameter of
// its own, nor a name that a member declares within.
func isMember(s graph.Symbol) bool {
	switch s.Kind {
	case graph.KindParameter, graph.KindTypeParam, graph.KindFile, graph.KindPackage, graph.KindNamespace, graph.KindModule:
		return false
	}
	return true
}

// enclosingType returns the innermost type around a symbol in its file that has
// the name of its container.
func enclosingType(all []graph.Symbol, x graph.Symbol) (owner graph.Symbol, ok bool) {
	for _, t := range all {
		if t.Qualified == x.Container && t.NameSpan != x.NameSpan && slices.Contains(typeKinds, t.Kind) &&
			t.Decl.Start <= x.NameSpan.Start && x.NameSpan.End <= t.Decl.End {
			owner, ok = t, true
		}
	}
	return owner, ok
}

// files returns the files that may declare members of a type: those that
// declare it and those of its language that hold its name.
func (m *members) files(ctx context.Context, decls []graph.Symbol) ([]string, error) {
	var out []string
	for _, d := range decls {
		out = append(out, d.Path)
	}
	if !decls[0].Local && m.s.Inside(decls[0].Path) {
		holding, err := m.s.Snapshot().Grep(ctx, decls[0].Name)
		if err != nil {
			return nil, err
		}
		for _, p := range holding {
			if lang, ok := m.s.Workspace().Language(p); ok && lang.Language().ID == decls[0].Language {
				out = append(out, p)
			}
		}
	} else if !m.s.Inside(decls[0].Path) {
		m.s.Incomplete(decls[0].Name + " is declared outside the workspace; members in other files than " + filepath.Base(decls[0].Path) + " are left out")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// inFile returns the declarations of a file, from its syntax when the index
// does not cover it.
func (m *members) inFile(ctx context.Context, path string) ([]graph.Symbol, error) {
	if m.s.Inside(path) {
		return m.s.Reader().InFile(ctx, path)
	}
	bench, err := m.s.BenchFor(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err := bench.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	return t.Symbols, nil
}

// bases returns the types of the workspace that a type's declarations name as
// bases. What is named and not found is noted.
func (m *members) bases(ctx context.Context, decls []graph.Symbol) ([][]graph.Symbol, error) {
	var out [][]graph.Symbol
	for _, d := range decls {
		for _, base := range d.Bases {
			for _, name := range graph.BaseNames(base) {
				found, err := m.s.Reader().ByName(ctx, name)
				if err != nil {
					return nil, err
				}
				group := nearest(d, base, found)
				if len(group) == 0 {
					m.s.Incomplete("members that " + d.Name + " has from " + base + " are left out: no type of that name is in the workspace")
					continue
				}
				out = append(out, group)
			}
		}
	}
	return out, nil
}

// nearest returns the declarations of the type that a base as written most
// likely is: by how it is qualified, then of the same file, container, project.
func nearest(from graph.Symbol, base string, named []graph.Symbol) []graph.Symbol {
	best, most := graph.ID(""), -1
	is := graph.TypeMatcher(base)
	for _, x := range named {
		if x.Language != from.Language || !slices.Contains(typeKinds, x.Kind) || x.ID == from.ID {
			continue
		}
		rank := 0
		if is != nil && is(x.Qualified) {
			rank += 8
		}
		if x.Path == from.Path {
			rank += 4
		}
		if x.Container == from.Container {
			rank += 2
		}
		if x.Project == from.Project {
			rank++
		}
		if rank > most {
			best, most = x.ID, rank
		}
	}
	return slices.DeleteFunc(slices.Clone(named), func(x graph.Symbol) bool { return x.ID != best || best == "" })
}
