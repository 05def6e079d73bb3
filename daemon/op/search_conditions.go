package op

import (
	"context"
	"fmt"
	"slices"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// semanticQuery finds parts of files by words that also satisfy conditions on
// what is declared there.
func semanticQuery(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.SemanticQuery)
	paths, err := within(ctx, s, in.Request, "", "")
	if err != nil {
		return nil, err
	}
	q := &searcher{s: s, query: in.Concept, keep: kept(s, paths, "all"), limit: in.Limit}
	for _, c := range []struct {
		wanted, field string
		find          func(ctx context.Context, s *workbench.Session, name string) (declaredSet, error)
	}{
		{in.ImplementsInterface, "implementsInterface", implementing},
		{in.InheritsFrom, "inheritsFrom", inheriting},
		{in.HasAttribute, "hasAttribute", attributed},
	} {
		if c.wanted == "" {
			continue
		}
		set, err := c.find(ctx, s, c.wanted)
		if err != nil {
			return nil, err
		}
		if len(set) == 0 {
			s.Warn(fmt.Sprintf("nothing in this workspace satisfies %s %s", c.field, c.wanted))
		}
		q.conditions = append(q.conditions, set)
	}
	return q.answer(ctx, "semantic_query")
}

// declaredName is what a declaration and those within it share.
type declaredName struct{ language, project, qualified string }

func nameOf(s graph.Symbol) declaredName {
	return declaredName{s.Language, s.Project, s.Qualified}
}

// declaredSet holds declarations that satisfy a condition.
type declaredSet map[declaredName]bool

// holds reports whether a declaration, or one that contains it, is in the set.
func (set declaredSet) holds(s graph.Symbol) bool {
	if set[nameOf(s)] {
		return true
	}
	for at := s.Container; at != ""; {
		if set[declaredName{s.Language, s.Project, at}] {
			return true
		}
		i := lastSeparator(at)
		if i < 0 {
			return false
		}
		at = at[:i]
	}
	return false
}

// lastSeparator returns where the last part of a qualified name begins to be
// set apart, or -1.
func lastSeparator(qualified string) int {
	for i := len(qualified) - 1; i >= 0; i-- {
		switch qualified[i] {
		case '.', '/':
			return i
		case ':':
			return max(i-1, 0)
		}
	}
	return -1
}

// attributed are the declarations that carry an attribute.
func attributed(ctx context.Context, s *workbench.Session, name string) (declaredSet, error) {
	carries := graph.AttributeMatcher(name)
	if carries == nil {
		return nil, api.Errorf(api.InvalidArgument, "hasAttribute %q names no attribute; write the name alone, or as it stands in code", name)
	}
	set := declaredSet{}
	err := s.Reader().Each(ctx, graph.Keep{Attributed: true}, func(x graph.Symbol) bool {
		if slices.ContainsFunc(x.Attributes, carries) {
			set[nameOf(x)] = true
		}
		return true
	})
	return set, err
}

// inheriting are the types that derive from a type, by the bases that they write,
// also by way of others.
func inheriting(ctx context.Context, s *workbench.Session, name string) (declaredSet, error) {
	d := descent{reader: s.Reader(), accepted: map[graph.ID]bool{}, set: declaredSet{}}
	bases, err := typesNamed(ctx, s, name)
	if err != nil {
		return nil, err
	}
	for _, b := range bases {
		d.accepted[b.ID] = true
	}
	bare := graph.BaseNames(name)
	if len(bare) == 0 {
		return nil, api.Errorf(api.InvalidArgument, "%q names no type", name)
	}
	err = d.below(ctx, bare[0], len(bases) == 0)
	return d.set, err
}

// typesNamed returns the types of the workspace that a name means.
func typesNamed(ctx context.Context, s *workbench.Session, name string) ([]graph.Symbol, error) {
	found, err := resolve.Named(ctx, s, name)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(x graph.Symbol) bool { return !slices.Contains(typeKinds, x.Kind) }), nil
}

// descent gathers the types below one.
type descent struct {
	reader   graph.Reader
	accepted map[graph.ID]bool
	set      declaredSet
}

// below accepts the types that write a base of that name. Where the workspace
// declares no such type, the name alone decides.
func (d *descent) below(ctx context.Context, name string, byName bool) error {
	writers, err := d.reader.ByBase(ctx, name)
	if err != nil || len(writers) == 0 {
		return err
	}
	named, err := d.reader.ByName(ctx, name)
	if err != nil {
		return err
	}
	for _, w := range writers {
		if d.set[nameOf(w)] || !byName && !d.means(w, name, named) {
			continue
		}
		d.accepted[w.ID] = true
		d.set[nameOf(w)] = true
		if err := d.below(ctx, w.Name, false); err != nil {
			return err
		}
	}
	return nil
}

// means reports whether a base that a type writes is an accepted one.
func (d *descent) means(w graph.Symbol, name string, named []graph.Symbol) bool {
	for i, base := range w.Bases {
		for j, n := range graph.BaseNames(base) {
			if n != name {
				continue
			}
			resolved := ""
			if j == 0 && i < len(w.Resolved) {
				resolved = w.Resolved[i]
			}
			if group := nearest(w, base, resolved, named); len(group) > 0 && d.accepted[group[0].ID] {
				return true
			}
		}
	}
	return false
}

// implementing are the types that name an interface as a base and, where a
// language asks for no more than its methods, those that have them.
func implementing(ctx context.Context, s *workbench.Session, name string) (declaredSet, error) {
	set, err := inheriting(ctx, s, name)
	if err != nil {
		return nil, err
	}
	interfaces, err := typesNamed(ctx, s, name)
	if err != nil {
		return nil, err
	}
	for _, i := range interfaces {
		lang, ok := s.Workspace().ByID(i.Language)
		if !ok {
			continue
		}
		if structural := lang.Language().Structural; structural == nil || !structural(i) {
			continue
		}
		if err := satisfying(ctx, s.Reader(), i, set); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// satisfying adds the types that have every method of an interface.
func satisfying(ctx context.Context, r graph.Reader, i graph.Symbol, set declaredSet) error {
	m := methodSets{reader: r, of: map[declaredName]map[string]bool{}}
	if err := m.read(ctx, i.Language); err != nil {
		return err
	}
	wanted, err := m.all(ctx, i, 0)
	if err != nil || len(wanted) == 0 {
		return err
	}
	return m.eachType(ctx, i, func(t graph.Symbol) error {
		have, err := m.all(ctx, t, 0)
		if err != nil {
			return err
		}
		for w := range wanted {
			if !have[w] {
				return nil
			}
		}
		set[nameOf(t)] = true
		return nil
	})
}

// methodSets are the methods of types, each as its name and types.
type methodSets struct {
	reader graph.Reader
	of     map[declaredName]map[string]bool
}

func (m *methodSets) read(ctx context.Context, language string) error {
	return m.reader.Each(ctx, graph.Keep{Kinds: []graph.Kind{graph.KindMethod}}, func(x graph.Symbol) bool {
		if x.Language == language {
			at := declaredName{x.Language, x.Project, x.Container}
			if m.of[at] == nil {
				m.of[at] = map[string]bool{}
			}
			m.of[at][shape(x)] = true
		}
		return true
	})
}

// shape is what two methods have in common of which one implements the other:
// packages may call a type by different names.
func shape(x graph.Symbol) string {
	return fmt.Sprint(x.Name, bare(x.Params), bare(x.Results))
}

func bare(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		for start := 0; start < len(t); {
			end := start
			for end < len(t) && (t[end] == '_' || t[end] >= 0x80 || '0' <= t[end] && t[end] <= '9' || 'a' <= t[end] && t[end] <= 'z' || 'A' <= t[end] && t[end] <= 'Z') {
				end++
			}
			if end < len(t) && t[end] == '.' && end > start {
				start = end + 1 // what qualifies a name
				continue
			}
			end = min(end+1, len(t))
			out[i] += t[start:end]
			start = end
		}
	}
	return out
}

// maxEmbedding bounds how deep types are embedded in each other.
const maxEmbedding = 5

// all returns the methods of a type with those of what it embeds.
func (m *methodSets) all(ctx context.Context, t graph.Symbol, depth int) (map[string]bool, error) {
	own := m.of[nameOf(t)]
	if len(t.Bases) == 0 || depth == maxEmbedding {
		return own, nil
	}
	out := map[string]bool{}
	for x := range own {
		out[x] = true
	}
	for i, base := range t.Bases {
		for j, name := range graph.BaseNames(base) {
			named, err := m.reader.ByName(ctx, name)
			if err != nil {
				return nil, err
			}
			resolved := ""
			if j == 0 && i < len(t.Resolved) {
				resolved = t.Resolved[i]
			}
			if group := nearest(t, base, resolved, named); len(group) > 0 {
				more, err := m.all(ctx, group[0], depth+1)
				if err != nil {
					return nil, err
				}
				for x := range more {
					out[x] = true
				}
			}
		}
	}
	return out, nil
}

// eachType calls do with every type of the language but the interface itself.
func (m *methodSets) eachType(ctx context.Context, i graph.Symbol, do func(graph.Symbol) error) error {
	var failed error
	err := m.reader.Each(ctx, graph.Keep{Kinds: typeKinds}, func(t graph.Symbol) bool {
		if t.Language == i.Language && t.ID != i.ID {
			failed = do(t)
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}
