package python

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// complete adds to pyright's edits the references that it knows and does not
// rename: those in files that its configuration leaves out, as tests often are.
func (r *renamer) complete(ctx context.Context, members []graph.Symbol) error {
	for _, m := range members {
		list, err := r.references(ctx, m)
		if err != nil {
			return err
		}
		for _, p := range list {
			if recipe.Inside(r.Bench.Root(), p.Path) && string(p.File.Content()[p.Span.Start:p.Span.End]) == m.Name {
				r.Edits.Add(p.Path, p.Span, r.In.NewName)
			}
		}
	}
	return nil
}

func (r *renamer) references(ctx context.Context, m graph.Symbol) ([]adapters.Place, error) {
	return recipe.Locate(ctx, r.Bench, adapters.RenameRole, "textDocument/references", m, map[string]any{"context": map[string]any{"includeDeclaration": true}})
}

// byReferences makes the edits of a member that pyright declines to rename as
// its configuration leaves its file out.
func (r *renamer) byReferences(ctx context.Context, m graph.Symbol, declined error) (change.Set, error) {
	list, err := r.references(ctx, m)
	if err != nil {
		return change.Set{}, err
	}
	if len(list) == 0 {
		return r.bySyntax(ctx, m, declined)
	}
	edits, err := recipe.NewEdits(change.Set{}, r.Read(ctx))
	if err != nil {
		return change.Set{}, err
	}
	for _, p := range list {
		if !recipe.Inside(r.Bench.Root(), p.Path) {
			return change.Set{}, recipe.Refuse(adapters.OutsideWorkspace, "%s is also declared or used outside this workspace (%s), where it would keep its name", m.Name, p.Path)
		}
		edits.Add(p.Path, p.Span, r.In.NewName)
	}
	if !edits.Covers(m.Path, m.NameSpan) {
		return change.Set{}, r.explain(m, declined)
	}
	return edits.Set(), nil
}

// bySyntax makes the edits of a declaration in code that pyright takes for
// unreachable, such as that of another system: what the rules of scope say, if
// the name stands in its own file only.
func (r *renamer) bySyntax(ctx context.Context, m graph.Symbol, declined error) (change.Set, error) {
	src, err := r.source(ctx, m.Path)
	if err != nil {
		return change.Set{}, err
	}
	fn, seen, err := owner(ctx, r.Bench, m)
	if err != nil {
		return change.Set{}, err
	}
	if isMember(m) || seen && fn.Name != "" && src.passes(m.Name) {
		return change.Set{}, r.explain(m, declined)
	}
	reach := graph.Span{End: len(src.Content)}
	if m.Local {
		holder, ok := src.Tree.Enclosing(m.NameSpan.Start)
		if !ok {
			return change.Set{}, r.explain(m, declined)
		}
		reach = holder.Decl
	} else {
		pages, err := r.pages(ctx)
		if err != nil {
			return change.Set{}, err
		}
		for _, other := range pages {
			if other.Path != m.Path && len(other.Tree.Named(m.Name)) > 0 {
				return change.Set{}, r.explain(m, declined)
			}
		}
	}
	var apart []graph.Span // where the name means something else
	for _, s := range src.Tree.Symbols {
		if s.Name != m.Name || s.NameSpan == m.NameSpan || s.ID == m.ID || !s.Local && !isMember(s) && s.Container == m.Container {
			continue
		}
		holder, ok := src.Tree.Enclosing(s.NameSpan.Start)
		if !ok || isMember(s) || !s.Local || m.Local && holder.Decl == reach {
			return change.Set{}, r.explain(m, declined)
		}
		apart = append(apart, holder.Decl)
	}
	var edits []text.Edit
	for _, id := range src.Tree.Named(m.Name) {
		if id.Span.Start < reach.Start || id.Span.End > reach.End || !src.bare(id.Span.Start) || src.argument(id.Span) ||
			slices.ContainsFunc(apart, func(s graph.Span) bool { return s.Start <= id.Span.Start && id.Span.End <= s.End }) {
			continue
		}
		edits = append(edits, text.Edit{Start: id.Span.Start, End: id.Span.End, New: r.In.NewName})
	}
	r.Warn("pyright takes this code for unreachable, as that of another system is: %s is renamed by the rules of scope within %s", m.Name, recipe.Relative(r.Bench, m.Path))
	return change.FromEdits(m.Path, edits), nil
}

// bare reports whether a name follows no dot.
func (s *source) bare(at int) bool {
	return !bytes.HasSuffix(bytes.TrimRight(s.Content[:at], " \t\r\n\\"), []byte("."))
}

// argument reports whether a name is that of an argument: f(name=…).
func (s *source) argument(at graph.Span) bool {
	rest := s.Content[at.End:min(len(s.Content), at.End+around)]
	before := statement(s.Content[max(0, at.Start-around):at.Start])
	head := strings.TrimLeft(before.text, " \t\r\n;")
	return !strings.HasPrefix(head, "def ") && !strings.HasPrefix(head, "async def ") && keyword(before, strings.TrimLeft(string(rest), " \t"))
}

// passes reports whether a call of the file gives an argument by a name.
func (s *source) passes(name string) bool {
	for _, id := range s.Tree.Named(name) {
		if s.argument(id.Span) {
			return true
		}
	}
	return false
}

// maxRounds bounds how often the family grows by what shares places with it.
const maxRounds = 6

// gather asks pyright for the edits of the family until nothing joins it: where
// a value is one of several types, the attribute must have one name in all.
func (r *renamer) gather(ctx context.Context) error {
	for range maxRounds {
		if err := r.ask(ctx); err != nil {
			return err
		}
		if !isMember(r.Symbol) {
			return nil
		}
		grown, err := r.alternatives(ctx)
		if err != nil || !grown {
			return err
		}
	}
	return recipe.Refuse(adapters.Unsupported, "ever more members named %s share their uses; rename it in a smaller part of the workspace", r.Symbol.Name)
}

// alternatives adds the members that a renamed use may mean as well.
func (r *renamer) alternatives(ctx context.Context) (grown bool, err error) {
	asked := 0
	for _, path := range r.Edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return false, err
		}
		for _, e := range r.Edits.Of(path) {
			if src.bare(e.Start) {
				continue
			}
			if asked++; asked > maxAsked {
				return grown, nil // the check of the planned text finds the rest
			}
			use := graph.Span{Start: e.Start, End: e.End}
			places, err := recipe.Locate(ctx, r.Bench, lookup, "textDocument/definition", graph.Symbol{Path: path, NameSpan: use}, nil)
			if err != nil {
				return false, err
			}
			for _, p := range places {
				more, err := r.joined(ctx, src, use, p)
				if err != nil {
					return false, err
				}
				grown = grown || more
			}
		}
	}
	return grown, nil
}

// joined adds one declaration that a renamed use may mean.
func (r *renamer) joined(ctx context.Context, src *source, use graph.Span, p adapters.Place) (bool, error) {
	if string(p.File.Content()[p.Span.Start:p.Span.End]) != r.Symbol.Name || r.Edits.Covers(p.Path, p.Span) {
		return false, nil
	}
	at := r.where(src, use.Start)
	if !recipe.Inside(r.Bench.Root(), p.Path) {
		return false, &adapters.Refusal{
			Reason: adapters.OutsideWorkspace,
			Message: r.Symbol.Qualified + " cannot be renamed alone: the value at " + at +
				" may also be of a type outside this workspace that has " + r.Symbol.Name + " too (" + p.Path + ")",
			Places: []adapters.Place{p},
		}
	}
	s, ok := recipe.SymbolAt(ctx, r.Bench, p)
	if !ok || !isMember(s) || s.Name != r.Symbol.Name {
		return false, nil
	}
	before := len(r.Members)
	f, err := r.family(ctx, s)
	if err != nil {
		return false, err
	}
	for _, m := range append([]graph.Symbol{s}, f.Members...) {
		r.add(m)
	}
	if len(r.Members) > before {
		r.Warn("%s is renamed with it: a value may be of either type at %s", s.Qualified, at)
	}
	return len(r.Members) > before, nil
}
