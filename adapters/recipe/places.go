package recipe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// Usage names what a place does with the symbol it refers to: call, read,
// write, import or type. The content is that of the place.
type Usage func(sym graph.Symbol, p adapters.Place) string

// Locate asks a server about the name of a symbol and returns the places that
// it answers, in the server's order. extra holds further parameters.
func Locate(ctx context.Context, b adapters.Bench, role adapters.Role, method string, sym graph.Symbol, extra map[string]any) ([]adapters.Place, error) {
	if g, ok := b.(*byGraph); ok {
		return g.locate(ctx, method, sym)
	}
	srv, err := b.Server(ctx, role)
	if err != nil {
		return nil, err
	}
	pos, err := srv.Position(ctx, sym.Path, sym.NameSpan.Start)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"textDocument": pos.TextDocument, "position": pos.Position}
	for k, v := range extra {
		params[k] = v
	}
	var raw json.RawMessage
	if err := srv.Call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	locs, err := locations(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %s answered what is no list of places: %w", method, srv.Engine(), err)
	}
	return places(ctx, b, srv, locs)
}

// places converts locations. A file that the server names and nobody can read
// is left out, and the answer says so.
func places(ctx context.Context, b adapters.Bench, srv adapters.Server, locs []protocol.Location) ([]adapters.Place, error) {
	out := make([]adapters.Place, 0, len(locs))
	for _, l := range locs {
		p, err := srv.Place(ctx, l)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			b.Incomplete(fmt.Sprintf("%s names a file that cannot be read: %v", srv.Engine(), err))
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// locations decodes Location | Location[] | LocationLink[] | null.
func locations(raw json.RawMessage) ([]protocol.Location, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '{':
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	if bytes.Contains(raw, []byte(`"targetUri"`)) {
		var links []protocol.LocationLink
		if err := protocol.Unmarshal(raw, &links); err != nil {
			return nil, err
		}
		out := make([]protocol.Location, len(links))
		for i, l := range links {
			out[i] = protocol.Location{URI: l.TargetURI, Range: l.TargetSelectionRange}
		}
		return out, nil
	}
	var out []protocol.Location
	err := protocol.Unmarshal(raw, &out)
	return out, err
}

// Definition answers where a symbol is declared, with the whole declaration.
func Definition(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	return declared(ctx, b, t, protocol.MethodTextDocumentDefinition)
}

// TypeDefinition answers where the type of a symbol is declared.
func TypeDefinition(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	return declared(ctx, b, t, protocol.MethodTextDocumentTypeDefinition)
}

func declared(ctx context.Context, b adapters.Bench, t adapters.Target, method string) (adapters.Found, error) {
	list, err := Locate(ctx, b, adapters.Navigate, method, t.Symbol, nil)
	if err != nil {
		return adapters.Found{}, err
	}
	var out adapters.Found
	for _, p := range list {
		h := adapters.Hit{Place: p, IsDeclaration: true}
		if sym, ok := SymbolAt(ctx, b, p); ok {
			h.Body, h.Symbol = sym.Decl, &sym
		}
		out.Hits = append(out.Hits, h)
	}
	return out, nil
}

// SymbolAt returns the declaration whose name stands at a place, by syntax.
func SymbolAt(ctx context.Context, b adapters.Bench, p adapters.Place) (graph.Symbol, bool) {
	t, err := b.Tree(ctx, p.Path)
	if err != nil {
		return graph.Symbol{}, false
	}
	return t.Declared(p.Span.Start)
}

// References returns the question of all places that refer to a symbol, its
// declarations included and marked.
func References(usage Usage) func(context.Context, adapters.Bench, adapters.Target) (adapters.Found, error) {
	return func(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
		list, err := Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentReferences, t.Symbol,
			map[string]any{"context": map[string]any{"includeDeclaration": true}})
		if err != nil {
			return adapters.Found{}, err
		}
		decls, err := declarations(ctx, b, t.Symbol)
		if err != nil {
			return adapters.Found{}, err
		}
		out := adapters.Found{Hits: make([]adapters.Hit, 0, len(list))}
		for _, p := range list {
			h := adapters.Hit{Place: p, IsDeclaration: decls[mark{p.Path, p.Span.Start}]}
			if !h.IsDeclaration && usage != nil {
				h.Usage = usage(t.Symbol, p)
			}
			out.Hits = append(out.Hits, h)
		}
		return out, nil
	}
}

// mark is a place to compare by.
type mark struct {
	path  string
	start int
}

// declarations returns where a symbol is declared. Of a member, the
// declarations of the same name in other types count as well: servers list a
// method together with those that implement it.
func declarations(ctx context.Context, b adapters.Bench, sym graph.Symbol) (map[mark]bool, error) {
	out := map[mark]bool{{sym.Path, sym.NameSpan.Start}: true}
	if sym.Local {
		return out, nil
	}
	same, err := b.Graph().ByName(ctx, sym.Name)
	if err != nil {
		return nil, err
	}
	for _, s := range same {
		if s.ID == sym.ID || sym.Kind == graph.KindMethod && s.Kind == graph.KindMethod {
			out[mark{s.Path, s.NameSpan.Start}] = true
		}
	}
	return out, nil
}

// Implementations answers with the symbols that implement the one asked about,
// or that it implements. Some servers name a class among its own.
func Implementations(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	list, err := Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentImplementation, t.Symbol, nil)
	if err != nil {
		return adapters.Found{}, err
	}
	list = slices.DeleteFunc(list, func(p adapters.Place) bool { return p.Path == t.Symbol.Path && p.Span == t.Symbol.NameSpan })
	return asSymbols(ctx, b, list), nil
}

// asSymbols makes a hit of each place with the symbol declared there.
func asSymbols(ctx context.Context, b adapters.Bench, list []adapters.Place) adapters.Found {
	var out adapters.Found
	seen := map[mark]bool{}
	for _, p := range list {
		if m := (mark{p.Path, p.Span.Start}); seen[m] {
			continue
		} else {
			seen[m] = true
		}
		h := adapters.Hit{Place: p}
		if sym, ok := SymbolAt(ctx, b, p); ok {
			h.Symbol = &sym
		}
		out.Hits = append(out.Hits, h)
	}
	sortHits(b.Root(), out.Hits)
	return out
}

// sortHits puts the workspace before the outside, then orders by level, path and position.
func sortHits(root string, hits []adapters.Hit) {
	rank := func(h adapters.Hit) int {
		if Inside(root, h.Place.Path) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(hits, func(a, b adapters.Hit) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Place.Path, b.Place.Path), cmp.Compare(a.Place.Span.Start, b.Place.Span.Start))
	})
}

// Inside reports whether an absolute, clean path lies in a folder.
func Inside(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}
