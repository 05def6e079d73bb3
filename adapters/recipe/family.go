package recipe

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// FamilyOptions are what languages differ in when members belong together.
type FamilyOptions struct {
	// Joins reports whether a member of a derived type overrides or implements
	// one of the same name of its base; nil joins those whose kinds agree and
	// that are not private.
	Joins func(upper, lower graph.Symbol) bool
	// More returns further declarations that must keep one name with a member; nil when there are none.
	More func(ctx context.Context, b adapters.Bench, member graph.Symbol) ([]graph.Symbol, error)
}

// joins returns Joins or what stands for it.
func (o *FamilyOptions) joins() func(upper, lower graph.Symbol) bool {
	if o.Joins != nil {
		return o.Joins
	}
	return func(upper, lower graph.Symbol) bool {
		return overrides(upper, lower) && upper.Visibility != "private" && lower.Visibility != "private"
	}
}

// MemberFamily follows a member through the written bases of types: to what it
// overrides or implements, to what overrides or implements it, and sideways by
// way of types that inherit from several, until no relative is new. What is
// declared outside the workspace is in Outside; bases that nobody can resolve,
// whose members may belong to the family, are in Unknown.
func MemberFamily(ctx context.Context, b adapters.Bench, sym graph.Symbol, opts FamilyOptions) (Family, error) {
	opts.Joins = opts.joins()
	f := &familyOf{lineage: newLineage(b), opts: opts, seen: map[mark]bool{markOf(sym): true}, out: Family{Members: []graph.Symbol{sym}}}
	for i := 0; i < len(f.out.Members); i++ {
		if err := f.follow(ctx, f.out.Members[i]); err != nil {
			return f.out, err
		}
		if len(f.out.Members) > maxFamily {
			return f.out, ErrFamily
		}
	}
	f.out.Unknown = f.unresolved(ctx)
	return f.out, nil
}

// familyOf gathers one family.
type familyOf struct {
	*lineage
	opts FamilyOptions
	seen map[mark]bool
	out  Family
}

// follow adds the relatives of one member.
func (f *familyOf) follow(ctx context.Context, m graph.Symbol) error {
	if f.opts.More != nil {
		more, err := f.opts.More(ctx, f.b, m)
		if err != nil {
			return err
		}
		for _, s := range more {
			f.add(adapters.Place{Path: s.Path, Span: s.NameSpan}, s, m)
		}
	}
	owner, ok := f.owner(ctx, m)
	if !ok {
		return nil
	}
	below, err := f.descendants(ctx, owner)
	if err != nil {
		return err
	}
	for _, d := range below {
		if err := f.compare(ctx, m, d, adapters.Place{}, true); err != nil {
			return err
		}
	}
	for i, d := range append([]graph.Symbol{owner}, below...) {
		above, _, err := f.ancestors(ctx, d, true)
		if err != nil {
			return err
		}
		for _, r := range above {
			if r.known() && markOf(r.sym) != markOf(owner) {
				if err := f.compare(ctx, m, r.sym, r.place, i > 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// descendants returns all declarations of types below a type, and the other
// declarations of the type itself.
func (f *familyOf) descendants(ctx context.Context, owner graph.Symbol) ([]graph.Symbol, error) {
	decls, err := f.declarations(ctx, owner)
	if err != nil {
		return nil, err
	}
	seen := map[mark]bool{markOf(owner): true}
	var out []graph.Symbol
	level := decls
	for len(level) > 0 && len(seen) <= maxNodes {
		var next []graph.Symbol
		for _, s := range level {
			if !seen[markOf(s)] {
				seen[markOf(s)] = true
				out = append(out, s)
			}
			below, err := f.children(ctx, s)
			if err != nil {
				return nil, err
			}
			for _, c := range below {
				if !seen[markOf(c)] {
					next = append(next, c)
				}
			}
		}
		level = next
	}
	return out, nil
}

// compare adds the members of a type that must keep a member's name. below
// says that the type may be one that is derived from the member's.
func (f *familyOf) compare(ctx context.Context, m, typ graph.Symbol, place adapters.Place, below bool) error {
	decls, err := f.declarations(ctx, typ)
	if err != nil {
		return err
	}
	for _, d := range decls {
		members, err := f.members(ctx, d)
		if err != nil {
			return err
		}
		for _, o := range members {
			if o.Name == m.Name && (f.opts.Joins(o, m) || below && f.opts.Joins(m, o)) {
				at := place
				at.Path, at.Span = o.Path, o.NameSpan
				f.add(at, o, m)
			}
		}
	}
	return nil
}

// add takes a relative of a member.
func (f *familyOf) add(at adapters.Place, sym, of graph.Symbol) {
	m := mark{at.Path, at.Span.Start}
	if f.seen[m] {
		return
	}
	f.seen[m] = true
	if !Inside(f.b.Root(), at.Path) {
		f.out.Outside = append(f.out.Outside, Outsider{Place: at, Of: of, Symbol: sym})
		return
	}
	f.out.Members = append(f.out.Members, sym)
}

// unresolved returns the bases of the types around the family that the server
// cannot follow, in words: "View (shop/views.py)".
func (f *familyOf) unresolved(ctx context.Context) []string {
	var out []string
	for _, m := range f.out.Members {
		owner, ok := f.owner(ctx, m)
		if !ok {
			continue
		}
		types := []graph.Symbol{owner}
		above, _, err := f.ancestors(ctx, owner, true)
		if err != nil {
			continue // it was told before
		}
		for _, r := range above {
			if r.known() && Inside(f.b.Root(), r.place.Path) {
				types = append(types, r.sym)
			}
		}
		for _, t := range types {
			for _, base := range f.missing[markOf(t)] {
				if words := fmt.Sprintf("%s (%s)", base, Relative(f.b, t.Path)); !slices.Contains(out, words) {
					out = append(out, words)
				}
			}
		}
	}
	return out
}

// Relative returns a path as messages print it: relative to the workspace with
// "/", absolute outside it.
func Relative(b adapters.Bench, path string) string {
	rel, err := filepath.Rel(b.Root(), path)
	if err != nil || !Inside(b.Root(), path) {
		return path
	}
	return filepath.ToSlash(rel)
}

// Refuse makes a refusal of words.
func Refuse(reason adapters.Reason, format string, args ...any) error {
	return &adapters.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Bound refuses the rename of a family that declarations outside the workspace
// belong to.
func (f Family) Bound() error {
	if len(f.Outside) == 0 {
		return nil
	}
	o := f.Outside[0]
	owner := o.Symbol.Container
	if owner == "" {
		owner = "a type"
	}
	return &adapters.Refusal{
		Reason: adapters.OutsideWorkspace,
		Message: fmt.Sprintf("%s belongs together with %s of %s, which is declared outside this workspace (%s); under another name it would not override or implement it any more",
			o.Of.Qualified, o.Of.Name, strings.TrimSuffix(owner, "."+o.Of.Name), o.Place.Path),
		Places: []adapters.Place{o.Place},
	}
}
