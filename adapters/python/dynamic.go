package python

import (
	"bytes"
	"context"
	"regexp"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// asked matches what stands before the string by which a program asks a value
// for an attribute; the group is the value.
var asked = regexp.MustCompile(`(?:^|[^\w.])(?:getattr|hasattr|setattr|delattr|(?:\w+\.)*patch\.object|monkeypatch\.(?:setattr|delattr))\(\s*(?:\w+\.)*(\w+)\s*,\s*$`)

// dynamic changes the strings by which the program asks values of the family's
// classes for the member: getattr(self, "name").
func (r *renamer) dynamic(ctx context.Context) error {
	if !isMember(r.Symbol) {
		return nil
	}
	pages, err := r.pages(ctx)
	if err != nil {
		return err
	}
	owners := r.owners(ctx)
	var kept []string
	for _, src := range pages {
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if m.Token.Kind != syntax.String || string(bytes.Trim(src.Content[m.Token.Span.Start:m.Token.Span.End], `"'`)) != r.Symbol.Name {
				continue
			}
			from := max(0, m.Token.Span.Start-around)
			at := asked.FindSubmatchIndex(src.Content[from:m.Token.Span.Start])
			if at == nil || r.Edits.Covers(src.Path, m.Span) {
				continue
			}
			meant, known, err := r.holds(ctx, src, graph.Span{Start: from + at[2], End: from + at[3]}, owners)
			switch {
			case err != nil:
				return err
			case meant:
				r.Edits.Add(src.Path, m.Span, r.In.NewName)
			case !known:
				kept = append(kept, r.where(src, m.Span.Start))
			}
		}
	}
	if len(kept) > 0 {
		r.Warn("the program asks for %q by a string where nobody can tell of what: %s", r.Symbol.Name, recipe.Listed(kept, 5))
	}
	return nil
}

// holds reports whether a value is of one of the classes or of one derived
// from them; known is false when nobody can tell its class.
func (r *renamer) holds(ctx context.Context, src *source, value graph.Span, owners []graph.Symbol) (meant, known bool, err error) {
	var class graph.Symbol
	switch name := string(src.Content[value.Start:value.End]); name {
	case "self", "cls":
		for _, c := range src.Tree.Symbols {
			if (c.Kind == graph.KindClass || c.Kind == graph.KindEnum) && c.Decl.Contains(value.Start) {
				class = c // the innermost comes last
			}
		}
	default:
		for _, method := range []string{"textDocument/definition", "textDocument/typeDefinition"} {
			places, err := recipe.Locate(ctx, r.Bench, lookup, method, graph.Symbol{Path: src.Path, NameSpan: value}, nil)
			if err != nil {
				return false, false, err
			}
			for _, p := range places {
				if s, ok := recipe.SymbolAt(ctx, r.Bench, p); ok && (s.Kind == graph.KindClass || s.Kind == graph.KindEnum) && class.Name == "" {
					class = s
				}
			}
		}
	}
	if class.Name == "" {
		return false, false, nil
	}
	is := func(c graph.Symbol) bool {
		return slices.ContainsFunc(owners, func(o graph.Symbol) bool { return o.Path == c.Path && o.NameSpan == c.NameSpan })
	}
	if is(class) {
		return true, true, nil
	}
	above, err := recipe.SupertypesBySyntax(ctx, r.Bench, adapters.Target{Symbol: class, Transitive: true})
	if err != nil {
		return false, true, err
	}
	return slices.ContainsFunc(above.Hits, func(h adapters.Hit) bool { return h.Symbol != nil && is(*h.Symbol) }), true, nil
}
