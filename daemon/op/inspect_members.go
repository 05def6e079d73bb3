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
	apart := apart{m: m, of: t}
	var out []graph.Symbol
	for _, path := range files {
		all, err := m.inFile(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			if !isMember(x) || x.Language != t.Language || x.Local != t.Local {
				continue
			}
			mine := x.Container == t.Qualified && x.Project == t.Project
			if owner, ok := enclosingType(all, x); ok {
				mine = mine && owner.ID == t.ID
			} else if !mine && !x.Local && tail(x.Container, t.Name) {
				if mine, err = apart.adds(ctx, x); err != nil {
					return nil, err
				}
			}
			if mine {
				out = append(out, x)
			}
		}
	}
	return out, nil
}

// apart tells whether members that stand in another namespace than a type of
// their container's name are that type's, as those of implementations are.
type apart struct {
	m     *members
	of    graph.Symbol
	named []graph.Symbol  // types of that name
	known map[string]bool // by file and container
}

func (a *apart) adds(ctx context.Context, x graph.Symbol) (bool, error) {
	key := x.Path + "\x00" + x.Container
	if mine, ok := a.known[key]; ok {
		return mine, nil
	}
	if a.known == nil {
		all, err := a.m.s.Reader().ByName(ctx, a.of.Name)
		if err != nil {
			return false, err
		}
		a.named = slices.DeleteFunc(all, func(s graph.Symbol) bool {
			return s.Language != a.of.Language || s.Local || !slices.Contains(typeKinds, s.Kind)
		})
		a.known = map[string]bool{}
	}
	mine, err := a.judge(ctx, x)
	a.known[key] = mine
	return mine, err
}

// judge asks what is declared there, then what the file's imports name, then
// whether there is a choice at all.
func (a *apart) judge(ctx context.Context, x graph.Symbol) (bool, error) {
	others := false
	for _, t := range a.named {
		if t.Project == x.Project && t.Qualified == x.Container {
			return false, nil
		}
		others = others || t.ID != a.of.ID
	}
	bench, err := a.m.s.BenchFor(ctx, x.Path)
	if err != nil {
		return false, err
	}
	tree, err := bench.Tree(ctx, x.Path)
	if err != nil {
		return false, err
	}
	lang := bench.Adapter()
	written := a.of.Name
	resolved := tree.Resolve(written, lang.Language().Separator)
	if imported := lang.Syntax().Imported; imported != nil && resolved != "" {
		resolved = imported(bench.Project().Root, x.Path, resolved)
	}
	if resolved == "" {
		return !others && x.Project == a.of.Project, nil
	}
	mine := likeness(a.of, resolved)
	for _, t := range a.named {
		if t.ID != a.of.ID && likeness(t, resolved) >= mine {
			return false, nil
		}
	}
	return mine > 0, nil
}

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
		for i, base := range d.Bases {
			for j, name := range graph.BaseNames(base) {
				found, err := m.s.Reader().ByName(ctx, name)
				if err != nil {
					return nil, err
				}
				resolved := ""
				if j == 0 && i < len(d.Resolved) {
					resolved = d.Resolved[i]
				}
				if group := nearest(d, base, resolved, found); len(group) > 0 {
					out = append(out, group)
					continue
				}
				m.s.Incomplete("members that " + d.Name + " has from " + base + " are left out: the workspace declares no such type")
			}
		}
	}
	return out, nil
}

// nearest returns the declarations of the type that a base most likely is: the
// one that the file's imports name or, where they name none, the one that is
// written so in the same file, container or project.
func nearest(from graph.Symbol, base, resolved string, named []graph.Symbol) []graph.Symbol {
	best, most := graph.ID(""), 0
	if end := strings.IndexAny(base, "<[("); end > 0 {
		base = base[:end]
	}
	base = strings.TrimLeft(base, "*& ")
	for _, x := range named {
		if x.Language != from.Language || !slices.Contains(typeKinds, x.Kind) || x.ID == from.ID {
			continue
		}
		rank := likeness(x, resolved)
		if resolved == "" {
			if tail(x.Qualified, base) {
				rank = 2
			}
			if x.Container == from.Container {
				rank += 4
			}
			if x.Project == from.Project {
				rank++
			}
		}
		if x.Path == from.Path && rank > 0 {
			rank += 8
		}
		if rank > most {
			best, most = x.ID, rank
		}
	}
	return slices.DeleteFunc(slices.Clone(named), func(x graph.Symbol) bool { return most == 0 || x.ID != best })
}

// likeness ranks how well a declared type is the one of a resolved name: that
// one, one of the same ending (imports may write more than the project knows
// of itself, or less), one below the same package, which may hand it on; 0 for
// one of elsewhere.
func likeness(x graph.Symbol, resolved string) int {
	if resolved == "" {
		return 0
	}
	for i, same := range []bool{
		x.Qualified == resolved || x.Alias == resolved,
		tail(resolved, x.Qualified) || tail(x.Qualified, resolved) || x.Alias != "" && tail(resolved, x.Alias),
		head(x.Qualified) == head(resolved) || x.Alias != "" && head(x.Alias) == head(resolved),
	} {
		if same {
			return 3 - i
		}
	}
	return 0
}

// tail reports whether a qualified name ends with another one, at a separator.
func tail(name, end string) bool {
	rest, ok := strings.CutSuffix(name, end)
	return ok && end != "" && (rest == "" || strings.IndexByte("./:", rest[len(rest)-1]) >= 0)
}

// head returns the first part of a qualified name.
func head(name string) string {
	if end := strings.IndexAny(name, "./:"); end >= 0 {
		return name[:end]
	}
	return name
}
