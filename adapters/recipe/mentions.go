package recipe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// mentions changes the name in comments and strings of the files that refer to
// the symbol, as the rename asks for. A local's name is looked for in its
// function only, and a word within another declaration of the name is that one's.
func (p *Plan) mentions(ctx context.Context) error {
	if !p.In.Comments && !p.In.Strings {
		return nil
	}
	sym := p.In.Symbol
	for _, path := range p.Edits.Paths() {
		content, t, err := p.Source(ctx, path)
		if err != nil {
			return err
		}
		for _, m := range Mentions(t, content, sym.Name) {
			asked := p.In.Comments
			if m.Token.Kind == syntax.String {
				asked = p.In.Strings && !inImport(t, m.Span.Start)
			}
			if !asked || p.Edits.Covers(path, m.Span) || !p.meant(path, t, m) || p.opts.Mention != nil && !p.opts.Mention(p, path, t, m) {
				continue
			}
			p.Edits.Add(path, m.Span, p.In.NewName)
		}
	}
	return nil
}

// meant reports whether a word can be the symbol by where it stands.
func (p *Plan) meant(path string, t *syntax.Tree, m Mention) bool {
	sym := p.In.Symbol
	if sym.Local {
		owner, ok := t.Enclosing(sym.NameSpan.Start)
		return ok && path == sym.Path && owner.Whole.Contains(m.Span.Start)
	}
	var nearest graph.Symbol
	for _, s := range t.Symbols {
		if s.Name == sym.Name && s.Whole.Contains(m.Span.Start) && (nearest.Kind == "" || s.Whole.End-s.Whole.Start < nearest.Whole.End-nearest.Whole.Start) {
			nearest = s
		}
	}
	return nearest.Kind == "" || slices.ContainsFunc(p.Members, func(m graph.Symbol) bool { return markOf(m) == markOf(nearest) })
}

// doubts reports members of the name that the server does not say anything of:
// it does not know their types, so that they may be the renamed one or not.
func (p *Plan) doubts(ctx context.Context) error {
	sym := p.In.Symbol
	if p.opts.Doubt == 0 || sym.Container == "" || sym.Local {
		return nil
	}
	l := newLineage(p.Bench)
	asked := 0
	var at []string
	for _, path := range p.Holders {
		content, t, err := p.Source(ctx, path)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue
		}
		for _, id := range t.Named(sym.Name) {
			if p.Edits.Covers(path, id.Span) || declaredAt(t, id.Span) || id.Span.Start == 0 || content[id.Span.Start-1] != '.' {
				continue
			}
			if asked++; asked > p.opts.Doubt {
				break
			}
			list, err := l.define(ctx, path, id.Span)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				at = append(at, fmt.Sprintf("%s:%d", Relative(p.Bench, path), text.NewFile(content).PointOf(id.Span.Start).Line))
			}
		}
	}
	if len(at) > 0 {
		p.Warn("%s does not know what %s is at %s; look at %s by hand", p.srv.Engine(), sym.Name, listed(at, 5), plural(len(at), "it", "them"))
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// listed joins up to n words and says how many more there are.
func listed(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}
