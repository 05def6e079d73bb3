package recipe

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// bySyntax is the source of hits that syntax found and a server confirmed.
const bySyntax = "syntax"

// DerivedBySyntax answers with the types that name a type as their base, also
// by another name that it was imported or bound under. Of a type outside the
// workspace, those whose bases reach it by way of other types outside are the
// first level.
func DerivedBySyntax(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	return newLineage(b).derived(ctx, t.Symbol, t.Transitive)
}

func (l *lineage) derived(ctx context.Context, sym graph.Symbol, deep bool) (adapters.Found, error) {
	var found adapters.Found
	first := l.children
	if !Inside(l.b.Root(), sym.Path) {
		first = l.foreign
	}
	level, err := first(ctx, sym)
	seen := map[mark]bool{markOf(sym): true}
	for depth := 1; err == nil && len(level) > 0; depth++ {
		var next []graph.Symbol
		for _, s := range level {
			if seen[markOf(s)] {
				continue
			}
			seen[markOf(s)] = true
			h, err := l.hit(ctx, s, depth)
			if err != nil {
				return found, err
			}
			found.Hits = append(found.Hits, h)
			if !deep {
				continue
			}
			below, err := l.children(ctx, s)
			if err != nil {
				return found, err
			}
			next = append(next, below...)
		}
		if len(seen) > maxNodes {
			l.b.Incomplete(fmt.Sprintf("the type hierarchy was cut after %d types", maxNodes))
			break
		}
		level = next
	}
	sortHits(l.b.Root(), found.Hits)
	return found, err
}

// foreign returns the types of the workspace whose bases are a type outside it
// or reach it without passing through the workspace.
func (l *lineage) foreign(ctx context.Context, sym graph.Symbol) ([]graph.Symbol, error) {
	all, err := l.b.Graph().ByBase(ctx, "")
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s graph.Symbol) bool { return s.Language != sym.Language || !ofProject(l.b, s.Path) })
	if len(all) > maxNodes {
		l.b.Incomplete(fmt.Sprintf("%d types have bases, and the first %d were looked at", len(all), maxNodes))
		all = all[:maxNodes]
	}
	reaches := map[mark]bool{} // of types outside
	var out []graph.Symbol
	for _, s := range all {
		above, err := l.up(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, r := range above {
			if Inside(l.b.Root(), r.place.Path) {
				continue
			}
			m := mark{r.place.Path, r.place.Span.Start}
			yes, asked := reaches[m]
			if !asked {
				yes = l.is(r, sym, []graph.Symbol{sym})
				if !yes && r.known() {
					higher, _, err := l.ancestors(ctx, r.sym, true)
					if err != nil {
						return nil, err
					}
					yes = slices.ContainsFunc(higher, func(h relative) bool { return l.is(h, sym, []graph.Symbol{sym}) })
				}
				reaches[m] = yes
			}
			if yes {
				out = append(out, s)
				break
			}
		}
	}
	return out, nil
}

// hit makes an answer of a declaration.
func (l *lineage) hit(ctx context.Context, s graph.Symbol, depth int) (adapters.Hit, error) {
	f, err := fileOf(ctx, l.b, s.Path)
	if err != nil {
		return adapters.Hit{}, err
	}
	return adapters.Hit{Place: adapters.Place{Path: s.Path, Span: s.NameSpan, File: f}, Symbol: &s, Depth: depth, Source: bySyntax}, nil
}

// fileOf reads a file of the snapshot for places in it.
func fileOf(ctx context.Context, b adapters.Bench, path string) (*text.File, error) {
	content, _, err := b.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return text.NewFile(content), nil
}

// SupertypesBySyntax answers with the types that a type names as its bases,
// those outside the workspace included; all of them upwards when the target
// asks for that, as far as the server knows what the outer ones build on.
func SupertypesBySyntax(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	l := newLineage(b)
	list, depths, err := l.ancestors(ctx, t.Symbol, t.Transitive)
	var found adapters.Found
	for i, r := range list {
		h := adapters.Hit{Place: r.place, Depth: depths[i], Source: bySyntax}
		if r.known() {
			h.Symbol = &list[i].sym
		}
		found.Hits = append(found.Hits, h)
	}
	sortHits(b.Root(), found.Hits)
	return found, err
}

// ImplementationsBySyntax answers with the types derived from a type, directly
// or not, or with the members of such types that have a member's name.
func ImplementationsBySyntax(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	l := newLineage(b)
	if isType(t.Symbol.Kind) || t.Symbol.Kind == graph.KindTypeAlias {
		return l.derived(ctx, t.Symbol, true)
	}
	owner, ok := l.owner(ctx, t.Symbol)
	if !ok {
		return adapters.Found{}, nil
	}
	types, err := l.derived(ctx, owner, true)
	if err != nil {
		return adapters.Found{}, err
	}
	var found adapters.Found
	for _, h := range types.Hits {
		members, err := l.members(ctx, *h.Symbol)
		if err != nil {
			return found, err
		}
		for _, m := range members {
			if m.Name != t.Symbol.Name || !overrides(t.Symbol, m) {
				continue
			}
			hit, err := l.hit(ctx, m, h.Depth)
			if err != nil {
				return found, err
			}
			found.Hits = append(found.Hits, hit)
		}
	}
	return found, nil
}

// members returns the members that one declaration of a type holds.
func (l *lineage) members(ctx context.Context, sym graph.Symbol) ([]graph.Symbol, error) {
	t, err := l.b.Tree(ctx, sym.Path)
	if err != nil {
		if Inside(l.b.Root(), sym.Path) {
			return nil, err
		}
		return nil, nil
	}
	var out []graph.Symbol
	for _, m := range t.Symbols {
		if m.Container != sym.Qualified || !isMember(m.Kind) {
			continue
		}
		if owner, ok := ownerIn(t, m); ok && owner.NameSpan == sym.NameSpan {
			out = append(out, m)
		}
	}
	return out, nil
}

// isMember reports whether a kind is that of a member that can be overridden.
func isMember(k graph.Kind) bool {
	switch k {
	case graph.KindMethod, graph.KindFunction, graph.KindProperty, graph.KindField, graph.KindEvent, graph.KindConstant, graph.KindTypeAlias, graph.KindVariable:
		return true
	}
	return false
}

// overrides reports whether a member of a derived type can stand for one of
// its base, as far as their kinds tell.
func overrides(upper, lower graph.Symbol) bool {
	callable := func(k graph.Kind) bool { return k == graph.KindMethod || k == graph.KindFunction }
	return callable(upper.Kind) == callable(lower.Kind) || lower.Kind == graph.KindField || upper.Kind == graph.KindField ||
		lower.Kind == graph.KindProperty || upper.Kind == graph.KindProperty
}

// maxAliases bounds the other names that a type is looked for under.
const maxAliases = 20

// aliases returns the names that a type may go by as a base: its own, those of
// "A as B", "B = A" in files that hold the name, and those under which other
// files import what its file exports by default.
func (l *lineage) aliases(ctx context.Context, sym graph.Symbol) ([]string, error) {
	if names, ok := l.names[sym.ID]; ok && sym.ID != "" {
		return names, nil
	}
	names := []string{sym.Name}
	exported, err := l.defaults(ctx, sym)
	if err != nil {
		return nil, err
	}
	names = append(names, exported...)
	for i := 0; i < len(names) && len(names) < maxAliases; i++ {
		files, err := l.b.Snapshot().Grep(ctx, names[i])
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			if filepath.Ext(path) != filepath.Ext(sym.Path) && !l.speaks(ctx, path, sym.Language) {
				continue
			}
			content, _, err := l.b.Snapshot().Read(ctx, path)
			if err != nil {
				return nil, err
			}
			for _, at := range text.Words(content, names[i]) {
				if n := renamedTo(content, at, at+len(names[i])); n != "" && !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	l.names[sym.ID] = names
	return names, nil
}

// speaks reports whether the index holds a file as one of a language.
func (l *lineage) speaks(ctx context.Context, path, language string) bool {
	symbols, err := l.b.Graph().InFile(ctx, path)
	return err == nil && len(symbols) > 0 && symbols[0].Language == language
}

// defaults returns the names under which files import what the type's file
// exports by default, when that is the type.
func (l *lineage) defaults(ctx context.Context, sym graph.Symbol) ([]string, error) {
	content, err := l.content(ctx, sym.Path)
	if err != nil || content == nil {
		return nil, err
	}
	if !slices.Contains(sym.Modifiers, "default") && !bytes.Contains(content, []byte("export default "+sym.Name)) &&
		!bytes.Contains(content, []byte(sym.Name+" as default")) {
		return nil, nil
	}
	stem, _, _ := strings.Cut(filepath.Base(sym.Path), ".")
	if stem == "index" {
		stem = filepath.Base(filepath.Dir(sym.Path))
	}
	files, err := l.b.Snapshot().Grep(ctx, stem)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range files {
		if !l.speaks(ctx, path, sym.Language) {
			continue
		}
		t, err := l.b.Tree(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, im := range t.Imports {
			last := im.Path[strings.LastIndexByte(im.Path, '/')+1:]
			if last != stem && strings.TrimSuffix(last, filepath.Ext(last)) != stem {
				continue
			}
			for _, s := range t.Symbols {
				if im.Span.Start <= s.NameSpan.Start && s.NameSpan.End <= im.Span.End && !slices.Contains(out, s.Name) {
					out = append(out, s.Name)
				}
			}
		}
	}
	return out, nil
}

// renamedTo returns the name that code around a word gives to what it means:
// B of "A as B" and of "B = m.A".
func renamedTo(content []byte, start, end int) string {
	after := bytes.TrimLeft(content[end:], " \t\r\n")
	if rest, ok := bytes.CutPrefix(after, []byte("as")); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
		return leadingWord(bytes.TrimLeft(rest, " \t"))
	}
	before := bytes.TrimRight(content[:start], " \t")
	for {
		path, ok := bytes.CutSuffix(before, []byte("."))
		if !ok {
			path, ok = bytes.CutSuffix(before, []byte("::"))
		}
		if !ok {
			break
		}
		before = bytes.TrimRight(path[:len(path)-len(trailingWord(path))], " \t")
	}
	left, ok := bytes.CutSuffix(before, []byte("="))
	if !ok || len(left) == 0 || strings.IndexByte("=!<>+-*/%&|^:~", left[len(left)-1]) >= 0 {
		return ""
	}
	return trailingWord(bytes.TrimRight(left, " \t"))
}

func leadingWord(code []byte) string {
	n := 0
	for n < len(code) {
		r, size := utf8.DecodeRune(code[n:])
		if !text.IdentifierRune(r) && r != '$' {
			break
		}
		n += size
	}
	return string(code[:n])
}

func trailingWord(code []byte) string {
	n := len(code)
	for n > 0 {
		r, size := utf8.DecodeLastRune(code[:n])
		if !text.IdentifierRune(r) && r != '$' {
			break
		}
		n -= size
	}
	return string(code[n:])
}
