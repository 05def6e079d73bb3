package resolve

import (
	"bytes"
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
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// Match is one symbol that an address stands for.
type Match struct {
	// Declarations are its places, in order of path and position; the first is
	// where servers are asked. There is at least one.
	Declarations []graph.Symbol
	// External says that it is declared outside the workspace. Where nobody knows
	// where, its symbol has no path.
	External bool
	// From is a file of the workspace that names what is declared outside, and
	// Use where; empty when the address says it.
	From string
	Use  graph.Span
}

// Symbol returns the first declaration.
func (m Match) Symbol() graph.Symbol { return m.Declarations[0] }

// All returns every symbol that the address stands for, at least one; the
// error is INVALID_ARGUMENT, SYMBOL_NOT_FOUND, FILE_NOT_FOUND or what a server
// gave. Where no server can say what a name at a place means, the symbol graph
// does, and the session's notes tell.
func All(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	matches, err := all(ctx, s, a)
	if u := new(use); errors.As(err, &u) {
		return u.byGraph(ctx, s)
	}
	return matches, err
}

func all(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	switch {
	case a.SymbolID != "":
		return byID(ctx, s, a)
	case a.SymbolName != "":
		return byName(ctx, s, a)
	case a.FilePath != "" && a.Line > 0 && a.Column > 0:
		return byPosition(ctx, s, a)
	case a.FilePath != "" && a.Line > 0:
		return byLine(ctx, s, a)
	}
	return nil, api.Errorf(api.InvalidArgument, "name a symbol: symbolName, symbolId, or filePath with line and column")
}

// One returns the only symbol that the address stands for. Several are
// AMBIGUOUS_SYMBOL with the candidates: it never guesses.
func One(ctx context.Context, s *workbench.Session, a api.Address) (Match, error) {
	found, err := all(ctx, s, a)
	if err != nil {
		return Match{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := api.Errorf(api.AmbiguousSymbol, "%d symbols match %s; pass symbolId, or narrow by containingType, symbolKind, filePath or line",
		len(found), describe(a))
	e.Candidates, err = Candidates(ctx, s, found)
	if err != nil {
		return Match{}, err
	}
	return Match{}, e
}

// Candidates lists matches for a person or a program to choose from.
func Candidates(ctx context.Context, s *workbench.Session, matches []Match) ([]api.Candidate, error) {
	out := make([]api.Candidate, 0, min(len(matches), maxCandidates))
	for _, m := range matches[:min(len(matches), maxCandidates)] {
		sym := m.Symbol()
		if sym.Path == "" {
			continue
		}
		f, err := s.File(ctx, sym.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, api.Candidate{
			SymbolID:  string(sym.ID),
			Name:      sym.Name,
			Kind:      string(sym.Kind),
			Container: sym.Container,
			File:      s.Relative(sym.Path),
			Line:      f.PointOf(sym.NameSpan.Start).Line,
		})
	}
	return out, nil
}

func describe(a api.Address) string {
	switch {
	case a.SymbolName != "":
		return fmt.Sprintf("%q", a.SymbolName)
	case a.SymbolID != "":
		return "that symbolId"
	default:
		return fmt.Sprintf("%s:%d", a.FilePath, a.Line)
	}
}

func byID(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	syms, err := s.Reader().ByID(ctx, graph.ID(a.SymbolID))
	if err != nil {
		return nil, err
	}
	if len(syms) == 0 {
		name := graph.NameOf(graph.ID(a.SymbolID))
		return nil, notFound(ctx, s.Reader(), "with this symbolId ("+name+")", name)
	}
	return []Match{{Declarations: collect(syms)[0]}}, nil
}

func byName(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	q := parse(a.SymbolName)
	if q.last == "" {
		return nil, api.Errorf(api.InvalidArgument, "symbolName %q holds no name", a.SymbolName)
	}
	syms, err := s.Reader().ByName(ctx, q.last)
	if err != nil {
		return nil, err
	}
	known := best(q, syms)
	if len(q.path) > 0 && len(known) == 0 && len(syms) > 0 {
		e := api.Errorf(api.SymbolNotFound, "no symbol %q in this workspace", a.SymbolName)
		e.Suggestions = qualified(syms)
		if len(e.Suggestions) > 0 {
			e.Message += "; did you mean " + strings.Join(e.Suggestions, ", ") + "?"
		}
		return nil, e
	}
	narrowed := slices.DeleteFunc(slices.Clone(known), func(x graph.Symbol) bool {
		return !Kind(x, a.SymbolKind) || !InContainer(x, a.ContainingType)
	})
	if a.FilePath != "" && a.Line > 0 {
		return byNameAt(ctx, s, a, q.last, narrowed)
	}
	if a.FilePath != "" {
		if _, err := File(ctx, s, a.FilePath); err != nil {
			return nil, err
		}
		narrowed = slices.DeleteFunc(narrowed, func(x graph.Symbol) bool { return !samePath(s.Root(), x.Path, a.FilePath) })
	}
	narrowed = preferDeclared(preferGlobal(narrowed, a.SymbolKind, false), a.SymbolKind)
	if len(narrowed) == 0 {
		what := fmt.Sprintf("%q", a.SymbolName)
		if len(known) > 0 {
			what += " of that kind and place"
			e := api.Errorf(api.SymbolNotFound, "no symbol %s; symbols of that name: %s", what, strings.Join(qualified(known), ", "))
			e.Suggestions = qualified(known)
			return nil, e
		}
		return nil, notFound(ctx, s.Reader(), what, q.last)
	}
	var out []Match
	for _, g := range collect(narrowed) {
		out = append(out, Match{Declarations: g})
	}
	return out, nil
}

// preferGlobal drops locals and parameters unless the address asks for them by
// kind or place: a bare name of a function is not the parameters that share it.
func preferGlobal(syms []graph.Symbol, kind string, placed bool) []graph.Symbol {
	if placed || strings.EqualFold(kind, "parameter") || strings.EqualFold(kind, "variable") {
		return syms
	}
	global := slices.DeleteFunc(slices.Clone(syms), func(x graph.Symbol) bool { return x.Local })
	if len(global) > 0 {
		return global
	}
	return syms
}

// preferDeclared drops members that only repeat the name of a type that they
// embed or construct, unless the address asks for them by kind: they cannot be
// renamed apart from it.
func preferDeclared(syms []graph.Symbol, kind string) []graph.Symbol {
	if kind != "" {
		return syms
	}
	declared := slices.DeleteFunc(slices.Clone(syms), func(x graph.Symbol) bool {
		return slices.Contains(x.Modifiers, "embedded") || x.Kind == graph.KindConstruct && slices.ContainsFunc(syms, func(t graph.Symbol) bool {
			return t.Qualified == x.Container && t.Name == x.Name && t.Kind != graph.KindConstruct
		})
	})
	if len(declared) > 0 {
		return declared
	}
	return syms
}

// qualified lists the qualified names of symbols that are not local.
func qualified(syms []graph.Symbol) []string {
	var out []string
	for _, s := range syms {
		if !s.Local && !slices.Contains(out, s.Qualified) && len(out) < maxSuggestions {
			out = append(out, s.Qualified)
		}
	}
	return out
}

// byNameAt narrows by a line: the declaration there, else what a use of the
// name on that line stands for.
func byNameAt(ctx context.Context, s *workbench.Session, a api.Address, name string, syms []graph.Symbol) ([]Match, error) {
	path := s.Absolute(a.FilePath)
	f, err := File(ctx, s, a.FilePath)
	if err != nil {
		return nil, err
	}
	var here []graph.Symbol
	for _, x := range syms {
		if x.Path == path && f.PointOf(x.NameSpan.Start).Line == a.Line {
			here = append(here, x)
		}
	}
	if len(here) > 0 {
		var out []Match
		for _, g := range collect(here) {
			out = append(out, Match{Declarations: g})
		}
		return out, nil
	}
	tree, err := s.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, id := range tree.Idents {
		if id.Name == name && f.PointOf(id.Span.Start).Line == a.Line {
			return at(ctx, s, path, f, id.Span.Start, a)
		}
	}
	return nil, api.Errorf(api.SymbolNotFound, "no %q on line %d of %s", name, a.Line, a.FilePath)
}

// byLine stands for the only declaration on a line.
func byLine(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	path := s.Absolute(a.FilePath)
	f, err := File(ctx, s, a.FilePath)
	if err != nil {
		return nil, err
	}
	tree, err := s.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	var here []graph.Symbol
	for _, x := range tree.Symbols {
		if f.PointOf(x.NameSpan.Start).Line == a.Line && Kind(x, a.SymbolKind) {
			here = append(here, x)
		}
	}
	here = preferGlobal(here, a.SymbolKind, false)
	if len(here) == 0 {
		return nil, api.Errorf(api.SymbolNotFound, "nothing is declared on line %d of %s; pass column to name a use", a.Line, a.FilePath)
	}
	var out []Match
	for _, g := range collect(here) {
		out = append(out, Match{Declarations: g})
	}
	return out, nil
}

func byPosition(ctx context.Context, s *workbench.Session, a api.Address) ([]Match, error) {
	path := s.Absolute(a.FilePath)
	f, err := File(ctx, s, a.FilePath)
	if err != nil {
		return nil, err
	}
	offset, err := f.OffsetOf(text.Point{Line: a.Line, Column: a.Column})
	if err != nil {
		return nil, api.Errorf(api.InvalidArgument, "%s:%d:%d: %v", a.FilePath, a.Line, a.Column, err)
	}
	return at(ctx, s, path, f, offset, a)
}

// at finds the symbol whose name, declared or used, holds the offset.
func at(ctx context.Context, s *workbench.Session, path string, f *text.File, offset int, a api.Address) ([]Match, error) {
	tree, err := s.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	if sym, ok := declared(tree.Symbols, offset); ok {
		return whole(ctx, s, sym)
	}
	name, onName := tree.IdentAt(offset)
	if !onName {
		return nil, api.Errorf(api.SymbolNotFound, "no name at %s:%d:%d; put the position on an identifier", a.FilePath, a.Line, max(a.Column, 1))
	}
	bench, err := s.BenchFor(ctx, path)
	if err != nil {
		return nil, err
	}
	places, err := Definition(ctx, bench, path, offset)
	if why, ok := api.Unserved(err); ok {
		return nil, &use{bench: bench, path: path, name: name, why: why}
	}
	if err != nil {
		return nil, err
	}
	return placedAll(ctx, s, bench, places, a)
}

// placedAll finds the symbols that are declared at the places that a name was
// said to mean.
func placedAll(ctx context.Context, s *workbench.Session, bench *workbench.Bench, places []adapters.Place, a api.Address) ([]Match, error) {
	var out []Match
	for _, p := range places {
		m, ok, err := placed(ctx, s, bench, p)
		if err != nil {
			return nil, err
		}
		if ok && !slices.ContainsFunc(out, func(have Match) bool { return have.Symbol().ID == m.Symbol().ID }) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, api.Errorf(api.SymbolNotFound, "the server knows no declaration for the name at %s:%d:%d",
			a.FilePath, a.Line, max(a.Column, 1))
	}
	return out, nil
}

// Definition asks the server where the name at an offset is declared.
func Definition(ctx context.Context, b adapters.Bench, path string, offset int) ([]adapters.Place, error) {
	srv, err := b.Server(ctx, adapters.Navigate)
	if err != nil {
		return nil, err
	}
	pos, err := srv.Position(ctx, path, offset)
	if err != nil {
		return nil, err
	}
	var raw json.RawMessage
	if err := srv.Call(ctx, protocol.MethodTextDocumentDefinition, &protocol.DefinitionParams{TextDocumentPositionParams: pos}, &raw); err != nil {
		return nil, err
	}
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte("{")) {
		raw = slices.Concat([]byte("["), raw, []byte("]")) // a single place needs no list
	}
	var locs []protocol.Location
	if len(raw) > 0 {
		if err := protocol.Unmarshal(raw, &locs); err != nil {
			return nil, fmt.Errorf("%s answered what is no list of places: %w", srv.Engine(), err)
		}
	}
	places := make([]adapters.Place, 0, len(locs))
	for _, l := range locs {
		p, err := srv.Place(ctx, l)
		if errors.Is(err, fs.ErrNotExist) {
			continue // servers name what they know of compiled code as files that nobody has
		}
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// placed finds the declaration at a place that a server named, which may be
// outside the workspace.
func placed(ctx context.Context, s *workbench.Session, b adapters.Bench, p adapters.Place) (Match, bool, error) {
	tree, err := b.Tree(ctx, p.Path)
	if err != nil {
		return Match{}, false, err
	}
	sym, ok := declared(tree.Symbols, p.Span.Start)
	if !ok {
		return Match{}, false, nil
	}
	if !s.Inside(p.Path) {
		return Match{Declarations: []graph.Symbol{sym}, External: true}, true, nil
	}
	all, err := whole(ctx, s, sym)
	if err != nil {
		return Match{}, false, err
	}
	return all[0], true, nil
}

// declared returns the declaration whose name holds the offset.
func declared(syms []graph.Symbol, offset int) (graph.Symbol, bool) {
	for _, x := range syms {
		if x.NameSpan.Contains(offset) {
			return x, true
		}
	}
	return graph.Symbol{}, false
}

// whole adds the other declarations of a symbol; the one asked at stays first.
func whole(ctx context.Context, s *workbench.Session, sym graph.Symbol) ([]Match, error) {
	all, err := s.Reader().ByID(ctx, sym.ID)
	if err != nil {
		return nil, err
	}
	decls := []graph.Symbol{sym}
	for _, x := range all {
		if x.Path != sym.Path || x.NameSpan != sym.NameSpan {
			decls = append(decls, x)
		}
	}
	return []Match{{Declarations: decls}}, nil
}

// File reads a file of a request. The error is OUTSIDE_WORKSPACE, FILE_NOT_FOUND,
// or BINARY_FILE when it is no text.
func File(ctx context.Context, s *workbench.Session, path string) (*text.File, error) {
	abs := s.Absolute(path)
	if !s.Inside(abs) {
		return nil, api.Errorf(api.OutsideWorkspace, "%s is outside the workspace %s; ask with -C in the one that holds it", path, s.Root())
	}
	f, err := s.File(ctx, abs)
	if err != nil {
		return nil, fileError(err, path)
	}
	if bytes.IndexByte(f.Content(), 0) >= 0 {
		return nil, api.Errorf(api.BinaryFile, "%s holds zero bytes, so it is no text", path)
	}
	return f, nil
}

// fileError says in the caller's words that a file of the address cannot be read.
func fileError(err error, path string) error {
	var e *api.Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return api.Errorf(api.FileNotFound, "no file %s in the workspace", filepath.ToSlash(path))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Named returns the declarations that a bare or qualified name means, none where
// there are none: those within functions are left out, and namespaces where
// something else has the name.
func Named(ctx context.Context, s *workbench.Session, name string) ([]graph.Symbol, error) {
	q := parse(name)
	if q.last == "" {
		return nil, nil
	}
	syms, err := s.Reader().ByName(ctx, q.last)
	if err != nil {
		return nil, err
	}
	syms = slices.DeleteFunc(best(q, syms), func(x graph.Symbol) bool { return x.Local })
	if named := slices.DeleteFunc(slices.Clone(syms), func(x graph.Symbol) bool { return Kind(x, "namespace") }); len(named) > 0 {
		syms = named
	}
	return preferDeclared(syms, ""), nil
}
