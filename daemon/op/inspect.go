package op

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// outline lists the symbols of a file as a tree, from its syntax.
func outline(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.Outline)
	path := s.Absolute(in.FilePath)
	f, err := resolve.File(ctx, s, in.FilePath)
	if err != nil {
		return nil, err
	}
	tree, err := s.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	out := &api.Symbols{Operation: "outline", Symbols: []api.SymbolEntry{}}
	var kept []graph.Symbol
	for _, sym := range tree.Symbols {
		if !sym.Local && resolve.Kind(sym, in.SymbolKind) && named(sym, in.SymbolName, in.ContainingType) {
			kept = append(kept, sym)
		}
	}
	if in.SymbolName != "" && len(kept) == 0 {
		return nil, api.Errorf(api.SymbolNotFound, "%s declares no %s", in.FilePath, in.SymbolName)
	}
	out.Total = len(kept)
	if in.Limit > 0 && len(kept) > in.Limit {
		kept, out.Truncated = kept[:in.Limit], true
	}
	list := func(sym graph.Symbol) api.SymbolEntry {
		e := entry(s.Root(), sym, f)
		e.Location = location(s.Root(), adapters.Place{Path: path, Span: sym.NameSpan, File: f}, false)
		return e
	}
	out.Symbols = nest(kept, list)
	out.Trust = api.Trust{Source: "syntax", Complete: len(tree.Errors) == 0, Warnings: []string{}}
	for _, e := range tree.Errors {
		out.Warnings = append(out.Warnings, "line "+strconv.Itoa(f.PointOf(e.Offset).Line)+" cannot be parsed: "+e.Message)
	}
	if out.Truncated {
		out.Warnings = append(out.Warnings, "cut by limit")
	}
	return out, nil
}

// named reports whether an outline that asks for one symbol holds sym.
func named(sym graph.Symbol, name, container string) bool {
	if container != "" && !resolve.InContainer(sym, container) {
		return false
	}
	return name == "" || sym.Name == name || resolve.InContainer(sym, name)
}

// nest puts symbols under the one that contains them, by qualified name.
func nest(syms []graph.Symbol, list func(graph.Symbol) api.SymbolEntry) []api.SymbolEntry {
	known := map[string]bool{}
	for _, s := range syms {
		known[s.Qualified] = true
	}
	children := map[string][]graph.Symbol{}
	for _, s := range syms {
		parent := s.Container
		if !known[parent] || parent == s.Qualified {
			parent = ""
		}
		children[parent] = append(children[parent], s)
	}
	done := map[string]bool{}
	var build func(parent string) []api.SymbolEntry
	build = func(parent string) []api.SymbolEntry {
		out := []api.SymbolEntry{}
		for _, s := range children[parent] {
			e := list(s)
			if !done[s.Qualified] {
				done[s.Qualified] = true
				e.Children = build(s.Qualified)
			}
			out = append(out, e)
		}
		return out
	}
	return build("")
}

// symbol describes every symbol that the address stands for.
func symbol(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.SymbolQuery)
	matches, err := resolve.All(ctx, s, in.Address)
	if err != nil {
		return nil, err
	}
	out := &api.SymbolDetails{Operation: "symbol", Symbols: []api.SymbolDetail{}, Total: len(matches)}
	if out.Candidates, err = candidates(ctx, s, matches); err != nil {
		return nil, err
	}
	if len(matches) == 1 {
		if out.Symbol, err = ref(ctx, s, matches[0].Symbol()); err != nil {
			return nil, err
		}
	}
	source := sources{}
	for _, m := range matches[:min(len(matches), max(in.Limit, 1))] {
		d, err := detail(ctx, s, m, source)
		if err != nil {
			return nil, err
		}
		out.Symbols = append(out.Symbols, d)
	}
	out.Truncated = out.Total > len(out.Symbols)
	out.Trust = source.trust(s)
	return out, nil
}

// detail joins what syntax says of a symbol with the counts that its server gives.
func detail(ctx context.Context, s *workbench.Session, m resolve.Match, source sources) (api.SymbolDetail, error) {
	sym := m.Symbol()
	for _, d := range m.Declarations[1:] {
		sym.Attributes = union(sym.Attributes, d.Attributes) // each part of a type may carry its own
	}
	f, err := s.File(ctx, sym.Path)
	if err != nil {
		return api.SymbolDetail{}, err
	}
	d := api.SymbolDetail{SymbolEntry: entry(s.Root(), sym, f), Documentation: sym.Doc}
	source.add("syntax")
	body := span(f, sym.Decl)
	d.BodyRange = &body
	lang, ok := s.Workspace().ByID(sym.Language)
	if !ok || m.External {
		return d, nil
	}
	r := lang.Recipes()
	bench, err := s.BenchFor(ctx, sym.Path)
	if err != nil {
		return d, err
	}
	count := func(q question, skip func(adapters.Hit) bool) (*int, error) {
		if q(r).Run == nil {
			return nil, nil
		}
		found, err := find(ctx, s, bench, "", q, adapters.Target{Symbol: sym, Depth: 1})
		if err != nil {
			return nil, err
		}
		source.add(found.Source)
		n := 0
		for _, h := range found.Hits {
			if skip == nil || !skip(h) {
				n++
			}
		}
		return &n, nil
	}
	d.Counts = &api.Counts{}
	if d.Counts.References, err = count(references, func(h adapters.Hit) bool { return h.IsDeclaration }); err != nil {
		// The declaration is known from syntax: without a server it is still an answer.
		s.Incomplete("no counts: " + err.Error())
		d.Counts = nil
		return d, nil
	}
	switch {
	case isCallable(sym.Kind):
		d.Counts.Callers, err = count(callers, nil)
	case isType(sym.Kind):
		d.Counts.Implementations, err = count(implementations, nil)
	}
	if err != nil {
		s.Incomplete("not all counts: " + err.Error())
	}
	return d, nil
}

func isCallable(k graph.Kind) bool {
	return k == graph.KindFunction || k == graph.KindMethod || k == graph.KindConstruct
}

func isType(k graph.Kind) bool {
	switch k {
	case graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindTrait, graph.KindEnum, graph.KindRecord:
		return true
	}
	return false
}

// severities are in order: the first is the gravest.
var severities = []string{"error", "warning", "information", "hint"}

// diagnostics lists what servers report about a file, or about all files that
// they have reported.
func diagnostics(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.DiagnosticsQuery)
	out := &api.Diagnostics{Operation: "diagnostics", Diagnostics: []api.Diagnostic{}}
	var all []api.Diagnostic
	if in.FilePath != "" {
		if _, err := resolve.File(ctx, s, in.FilePath); err != nil {
			return nil, err
		}
		path := s.Absolute(in.FilePath)
		bench, err := s.BenchFor(ctx, path)
		if err != nil {
			return nil, err
		}
		if all, err = bench.Diagnostics(ctx, path); err != nil {
			return nil, err
		}
	} else {
		buffers := s.Workspace().View().Buffers()
		if len(buffers) == 0 {
			s.Warn("no client has a file open; pass filePath to ask about one")
		}
		for _, doc := range buffers {
			if lang, ok := s.Workspace().Language(doc.Path); ok && len(lang.Engines()) == 0 {
				continue
			}
			bench, err := s.BenchFor(ctx, doc.Path)
			if err != nil {
				continue // a buffer of no known language has no server
			}
			got, err := bench.Diagnostics(ctx, doc.Path)
			if err != nil {
				return nil, err
			}
			all = append(all, got...)
		}
	}
	least := slices.Index(severities, strings.ToLower(in.MinSeverity))
	all = slices.DeleteFunc(all, func(d api.Diagnostic) bool {
		return least >= 0 && slices.Index(severities, d.Severity) > least
	})
	slices.SortStableFunc(all, func(a, b api.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	out.Total = len(all)
	out.Truncated = in.Limit > 0 && len(all) > in.Limit
	if out.Truncated {
		all = all[:in.Limit]
	}
	out.Diagnostics = append(out.Diagnostics, all...)
	out.Trust = sources{"server": true}.trust(s)
	return out, nil
}
