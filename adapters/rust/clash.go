package rust

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// Rust keeps types, values and macros apart; a name may mean one of each.
const (
	types  = 1
	values = 2
	macros = 4
	member = 8  // fields
	loops  = 16 // lifetimes and labels
)

// spaces returns where the name of a declaration counts.
func spaces(s graph.Symbol, lifetime bool) int {
	switch s.Kind {
	case graph.KindTrait, graph.KindEnum, graph.KindTypeAlias, graph.KindModule, graph.KindNamespace:
		return types
	case graph.KindStruct:
		if strings.HasSuffix(strings.TrimSpace(s.Signature), ")") || strings.Contains(s.Signature, "(") || s.Body == (graph.Span{}) {
			return types | values
		}
		return types
	case graph.KindTypeParam:
		if lifetime {
			return loops
		}
		return types
	case graph.KindEnumMem:
		return types | values
	case graph.KindField:
		return member
	case graph.KindFunction:
		if strings.HasPrefix(s.Signature, "macro_rules!") {
			return macros
		}
	}
	return values
}

// clashes refuses a name that is declared already where the symbol is: the
// compiler would say so too, later.
func (r *renamer) clashes(ctx context.Context) error {
	if r.Symbol.Local {
		return nil // a let may hide another; captures looks at what is meant
	}
	same, err := r.Bench.Graph().ByName(ctx, r.In.NewName)
	if err != nil {
		return err
	}
	mine := spaces(r.Symbol, r.lifetime)
	for _, s := range same {
		if s.Local || s.Language != r.Symbol.Language || s.Project != r.Symbol.Project || s.ID == r.Symbol.ID || spaces(s, false)&mine == 0 || !r.together(s) {
			continue
		}
		src, err := r.Source(ctx, s.Path)
		if err != nil {
			return err
		}
		if conditional(s) && conditional(r.Symbol) {
			r.Warn("%s is declared at %s as well, and #[cfg] may keep the two apart", s.Name, r.Where(src, s.NameSpan.Start))
			continue
		}
		return r.conflict(src, s.NameSpan, "%s is declared already in the same place", r.In.NewName)
	}
	return nil
}

// together reports whether another declaration stands where the symbol does:
// in one module, in one type or trait, or in impl blocks for the same.
func (r *renamer) together(s graph.Symbol) bool {
	return around(r.Symbol) == around(s)
}

func conditional(s graph.Symbol) bool {
	return slices.ContainsFunc(s.Attributes, func(a string) bool { return strings.Contains(a, "cfg") })
}

func (r *renamer) conflict(f *recipe.Source, at graph.Span, format string, args ...any) error {
	err, _ := recipe.Refuse(adapters.NameConflict, format, args...).(*adapters.Refusal)
	err.Message += " (" + r.Where(f, at.Start) + ")"
	err.Places = []adapters.Place{{Path: f.Path, Span: at, File: f.File}}
	return err
}

// captures refuses a name that would mean something else where the symbol is
// used, or under which the symbol would be taken where something else is meant.
func (r *renamer) captures(ctx context.Context) error {
	if r.Symbol.Local {
		return r.capturedInOwner(ctx)
	}
	mine := spaces(r.Symbol, r.lifetime)
	if mine&(types|values) == 0 || r.Symbol.Kind == graph.KindEnumMem || r.Symbol.Container != "" && r.Symbol.Kind != graph.KindModule && !topLevel(r.Symbol) {
		return nil // it is always written behind its type or a value
	}
	for _, path := range r.Edits.Paths() {
		src, err := r.Source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.Edits.Of(path) {
			if e.Start == e.End || qualified(src.Content, e.Start) || inUse(src.Content, e.Start) {
				continue
			}
			if err := r.hidden(src, e.Start, mine); err != nil {
				return err
			}
		}
	}
	return nil
}

// topLevel reports whether a symbol stands in a module and not in a type.
func topLevel(s graph.Symbol) bool {
	switch s.Kind {
	case graph.KindFunction, graph.KindConstant, graph.KindVariable, graph.KindStruct, graph.KindEnum, graph.KindTrait, graph.KindTypeAlias:
		return s.Container == "" || !strings.Contains(s.Container, "<") && !isUpper(lastName(s.Container))
	}
	return false
}

func isUpper(name string) bool { return !binds(name) }

// qualified reports whether a name is written behind a path, a value or an apostrophe.
func qualified(content []byte, offset int) bool {
	before := bytes.TrimRight(content[:offset], " \t\r\n")
	return bytes.HasSuffix(before, []byte("::")) || bytes.HasSuffix(before, []byte(".")) && !bytes.HasSuffix(before, []byte("..")) ||
		bytes.HasSuffix(before, []byte("'"))
}

// hidden refuses a use of the symbol that a local of the new name would take.
func (r *renamer) hidden(src *recipe.Source, offset, mine int) error {
	owner, ok := src.Tree.Enclosing(offset)
	if !ok {
		return nil
	}
	for _, s := range src.Tree.Symbols {
		if !s.Local || s.Name != r.In.NewName || s.Kind == graph.KindNamespace || !owner.Decl.Contains(s.NameSpan.Start) || spaces(s, r.apostrophe(src, s))&mine == 0 ||
			s.NameSpan.Start > offset && mine != types {
			continue // a let counts from its end on
		}
		return r.conflict(src, s.NameSpan, "%s is a %s in %s, where %s is used", s.Name, s.Kind, owner.Qualified, r.Symbol.Name)
	}
	for _, im := range src.Tree.Imports {
		name := im.Alias
		if name == "" {
			name = im.Path[strings.LastIndexByte(im.Path, ':')+1:]
		}
		if name == r.In.NewName && im.Span.Start < offset && (mine == types) == isUpper(name) {
			return r.conflict(src, im.Span, "%s is imported in %s, where %s is used", name, recipe.Relative(r.Bench, src.Path), r.Symbol.Name)
		}
	}
	return nil
}

func (r *renamer) apostrophe(src *recipe.Source, s graph.Symbol) bool {
	return s.NameSpan.Start > 0 && src.Content[s.NameSpan.Start-1] == '\''
}

// capturedInOwner refuses a local's name that means something else within the
// function that declares it. Locals among themselves the server judges.
func (r *renamer) capturedInOwner(ctx context.Context) error {
	src, err := r.Source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	if !ok || r.Symbol.Kind == graph.KindNamespace {
		return nil
	}
	mine := spaces(r.Symbol, r.lifetime)
	for _, s := range src.Tree.Symbols {
		if s.Local && s.Name == r.In.NewName && owner.Decl.Contains(s.NameSpan.Start) && spaces(s, r.apostrophe(src, s))&mine != 0 {
			if r.Symbol.Kind == graph.KindParameter && s.Kind == graph.KindParameter || r.Symbol.Kind == graph.KindTypeParam {
				return r.conflict(src, s.NameSpan, "%s is a %s of %s already", s.Name, s.Kind, owner.Qualified)
			}
			return nil
		}
	}
	for _, id := range src.Tree.Named(r.In.NewName) {
		if !owner.Decl.Contains(id.Span.Start) || r.Edits.Covers(src.Path, id.Span) || qualified(src.Content, id.Span.Start) {
			continue
		}
		after := src.Content[id.Span.End:]
		rest := bytes.TrimLeft(after, " \t\r\n")
		if bytes.HasPrefix(after, []byte("!")) || named(after) || bytes.HasPrefix(rest, []byte("::")) || mine == types != isUpper(id.Name) && mine != loops {
			continue // a macro, a field, a module or what is of another kind
		}
		if (mine == loops) != (src.Content[id.Span.Start-1] == '\'') {
			continue
		}
		return r.conflict(src, id.Span, "%s means something else already in %s", r.In.NewName, owner.Qualified)
	}
	return nil
}
