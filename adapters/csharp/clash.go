package csharp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// clashes refuses a name that is taken where the symbol, or one of its family,
// is declared. OmniSharp writes such a name and leaves the build broken.
func (r *renamer) clashes(ctx context.Context) error {
	for _, f := range r.Members {
		if err := r.free(ctx, f, r.In.NewName); err != nil {
			return err
		}
	}
	if isType(r.Symbol.Kind) && !r.Symbol.Local {
		return r.meant(ctx)
	}
	return nil
}

// free refuses a name that is taken in the scope of a declaration.
func (r *renamer) free(ctx context.Context, s graph.Symbol, name string) error {
	name = bare(name)
	same, err := r.Bench.Graph().ByName(ctx, name)
	if err != nil {
		return err
	}
	if s.Local {
		return r.freeLocal(ctx, s, name)
	}
	if err := r.ownType(ctx, s, name); err != nil {
		return err
	}
	for _, o := range same {
		if o.Local || o.Container != s.Container || o.Project != s.Project && o.Container == "" || !exclude(s, o) {
			continue
		}
		return r.taken(ctx, o, "%s is declared already in %s", name, scope(s.Container))
	}
	if !isMember(s) && s.Kind != graph.KindField && s.Kind != graph.KindConstant {
		return nil
	}
	return r.inherited(ctx, s, name, same)
}

// exclude reports whether two declarations of one scope may not have one name.
func exclude(a, b graph.Symbol) bool {
	_, explicit := explicitly(a)
	if _, too := explicitly(b); explicit || too {
		return false // what implements explicitly is not seen under its name
	}
	switch {
	case b.Kind == graph.KindConstruct:
		return false
	case a.Kind == graph.KindMethod && b.Kind == graph.KindMethod:
		return slices.Equal(a.Params, b.Params) // overloads otherwise
	case isType(a.Kind) && isType(b.Kind):
		return arity(a) == arity(b)
	case a.Kind == graph.KindNamespace && b.Kind == graph.KindNamespace:
		return false // they become one
	}
	return true
}

// arity returns what tells types of one name apart by their type parameters.
func arity(s graph.Symbol) string {
	_, params, _ := strings.Cut(s.Exact[strings.LastIndexByte(s.Exact, '.')+1:], "<")
	return params
}

func scope(container string) string {
	if container == "" {
		return "the global namespace"
	}
	return container
}

// ownType refuses a member with the name of its type, and a type with the name
// of one of its members: only constructors have it.
func (r *renamer) ownType(ctx context.Context, s graph.Symbol, name string) error {
	if isType(s.Kind) && s.Kind != graph.KindEnum && s.Kind != graph.KindTypeParam {
		members, err := r.Bench.Graph().ByName(ctx, name)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.Container == s.Qualified && m.Project == s.Project && !m.Local && m.Kind != graph.KindConstruct && s.Kind != graph.KindInterface {
				return r.taken(ctx, m, "%s has a member named %s, and a member may not have the name of its type", s.Name, name)
			}
		}
	}
	if simple(s.Container) != name || s.Kind == graph.KindEnumMem {
		return nil
	}
	owners, err := r.owners(ctx, s)
	if err != nil {
		return err
	}
	if len(owners) > 0 && owners[0].Kind != graph.KindInterface && owners[0].Kind != graph.KindEnum {
		return r.taken(ctx, owners[0], "a member may not have the name of its type %s", name)
	}
	return nil
}

// inherited refuses a member's name that a base or a derived type gives to
// another: one would hide the other, and calls would go elsewhere.
func (r *renamer) inherited(ctx context.Context, s graph.Symbol, name string, same []graph.Symbol) error {
	explicit := slices.ContainsFunc(same, func(o graph.Symbol) bool {
		_, ok := explicitly(o)
		return ok && o.Container == s.Container
	})
	same = slices.DeleteFunc(slices.Clone(same), func(o graph.Symbol) bool {
		return o.Local || o.Container == s.Container || !isMember(o) && o.Kind != graph.KindField && o.Kind != graph.KindConstant || !exclude(s, o)
	})
	if len(same) == 0 {
		return nil
	}
	owners, err := r.owners(ctx, s)
	if err != nil || len(owners) == 0 {
		return err
	}
	for _, direction := range []recipe.Question{recipe.SupertypesBySyntax, recipe.DerivedBySyntax} {
		for _, owner := range owners {
			found, err := direction(ctx, r.Bench, adapters.Target{Symbol: owner, Depth: 1, Transitive: true})
			if err != nil {
				return r.explain(s, err)
			}
			for _, h := range found.Hits {
				if h.Symbol == nil {
					continue
				}
				for _, o := range same {
					if h.Symbol.Kind == graph.KindInterface && owner.Kind != graph.KindInterface && (explicit || s.Visibility != public) {
						continue // it hides nothing there, and implements nothing
					}
					if o.Container == h.Symbol.Qualified && o.Project == h.Symbol.Project && (o.Visibility != private || s.Visibility != private) {
						return r.taken(ctx, o, "%s has a member named %s, and one would hide the other", h.Symbol.Qualified, name)
					}
				}
			}
		}
	}
	return nil
}

// freeLocal refuses the name of a local or a parameter that another one has in
// a scope around it or within.
func (r *renamer) freeLocal(ctx context.Context, s graph.Symbol, name string) error {
	src, err := r.source(ctx, s.Path)
	if err != nil {
		return err
	}
	owner, ok := src.Tree.Enclosing(s.NameSpan.Start)
	if !ok {
		return nil
	}
	for _, o := range src.Tree.Symbols {
		if !o.Local || bare(o.Name) != name || !owner.Decl.Contains(o.NameSpan.Start) || o.Kind == graph.KindTypeParam && s.Kind != graph.KindTypeParam {
			continue
		}
		if a, b := src.block(owner, s), src.block(owner, o); a.Start < b.End && b.Start < a.End {
			return r.taken(ctx, o, "%s is declared already in %s", name, owner.Name)
		}
	}
	return nil
}

// block returns the braces around a local, or its owner's whole declaration.
func (s *source) block(owner, local graph.Symbol) graph.Span {
	at := local.NameSpan.Start
	if local.Kind == graph.KindParameter && (owner.Body == graph.Span{} || at < owner.Body.Start) {
		return owner.Decl
	}
	depth := 0
	start := owner.Decl.Start
	for i := at - 1; i > owner.Decl.Start; i-- {
		if (s.Content[i] != '{' && s.Content[i] != '}') || s.quoted(i) {
			continue
		}
		if s.Content[i] == '}' {
			depth++
		} else if depth--; depth < 0 {
			start = i
			break
		}
	}
	if start == owner.Decl.Start {
		return owner.Decl
	}
	depth = 0
	for i := start; i < owner.Decl.End; i++ {
		if (s.Content[i] != '{' && s.Content[i] != '}') || s.quoted(i) {
			continue
		}
		if s.Content[i] == '{' {
			depth++
		} else if depth--; depth == 0 {
			return graph.Span{Start: start, End: i + 1}
		}
	}
	return owner.Decl
}

func (s *source) quoted(at int) bool {
	tok, ok := s.Tree.TokenAt(at)
	return ok && tok.Span.Start < at && at < tok.Span.End
}

// meant refuses a type's name that code which sees the type uses for something
// else: it would mean the type from then on.
func (r *renamer) meant(ctx context.Context) error {
	name := bare(r.In.NewName)
	paths, err := r.Bench.Snapshot().Grep(ctx, name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if !strings.EqualFold(ext(path), ".cs") || builds(path) {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if !r.seenFrom(src) {
			continue
		}
		for _, id := range src.Tree.Named(name) {
			if src.free(id) {
				return &adapters.Refusal{Reason: adapters.NameConflict, Message: fmt.Sprintf(
					"%s is used already at %s, where %s can be seen as well; the name would mean it from then on", name, r.point(src, id.Span.Start), r.Symbol.Name)}
			}
		}
	}
	return nil
}

// seenFrom reports whether a file sees the types of the symbol's namespace.
func (r *renamer) seenFrom(src *source) bool {
	home := r.Symbol.Container
	if src.Path == r.Symbol.Path || home == "" || src.Tree.Package == home || strings.HasPrefix(src.Tree.Package, home+".") {
		return true
	}
	return slices.ContainsFunc(src.Tree.Imports, func(im syntax.Import) bool { return im.Path == home || strings.HasPrefix(home, im.Path+".") })
}

// free reports whether an identifier stands for a type or a namespace that is
// found by its name alone: it names neither a declaration nor a member.
func (s *source) free(id syntax.Ident) bool {
	if _, declared := s.Tree.Declared(id.Span.Start); declared {
		return false
	}
	if at := skipBack(s.Content, id.Span.Start); at > 0 && s.Content[at-1] == '.' {
		return false
	}
	if slices.ContainsFunc(s.Tree.Imports, func(im syntax.Import) bool { return im.Span.Contains(id.Span.Start) }) {
		return false
	}
	// A local, a parameter or a member of that name in this file is what is meant.
	if slices.ContainsFunc(s.Tree.Symbols, func(x graph.Symbol) bool { return x.Name == id.Name && !isType(x.Kind) }) {
		return false
	}
	switch next := strings.TrimLeft(string(s.Content[id.Span.End:min(len(s.Content), id.Span.End+8)]), " \t\r\n"); {
	case strings.HasPrefix(next, ":") && !strings.HasPrefix(next, "::"):
		return false // the name of an argument
	case strings.HasPrefix(next, "=") && !strings.HasPrefix(next, "=="):
		return false // a member in an initialiser
	case strings.HasPrefix(next, "("):
		word := wordBefore(s.Content, id.Span.Start)
		return word == "new"
	}
	return true
}

func wordBefore(content []byte, at int) string {
	at = skipBack(content, at)
	return string(content[wordStart(content, at):at])
}

// taken refuses a name with the place of what has it.
func (r *renamer) taken(ctx context.Context, by graph.Symbol, format string, args ...any) error {
	out := &adapters.Refusal{Reason: adapters.NameConflict, Message: fmt.Sprintf(format, args...)}
	content, _, err := r.Bench.Snapshot().Read(ctx, by.Path)
	if err != nil {
		return out
	}
	f := text.NewFile(content)
	p := f.PointOf(by.NameSpan.Start)
	out.Message += fmt.Sprintf(" (%s:%d:%d)", recipe.Relative(r.Bench, by.Path), p.Line, p.Column)
	out.Places = []adapters.Place{{Path: by.Path, Span: by.NameSpan, File: f}}
	return out
}
