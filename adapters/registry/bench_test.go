package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// root is the workspace of the tests; what lies in /ext is outside of it.
const root = "/w"

// bench is an adapters.Bench over files in memory, read by the real syntax of
// a language, with a server that resolves names by simple rules.
type bench struct {
	t          *testing.T
	lang       adapters.Adapter
	files      map[string][]byte
	types      map[string]string // type by the name of a variable, for members
	index      *index.Index
	incomplete []string
	warnings   []string
	opened     []string
	asked      []string
	declines   map[string]string                                     // what the server says instead of renaming a qualified name
	extra      func(*bench, graph.Symbol, *protocol.WorkspaceEdit)   // what the server adds to a rename
	references func(b *bench, sym graph.Symbol) (places []placeOf)   // instead of the rules
	unknown    func(path string, at int, word string) (nothing bool) // what the server does not resolve
}

type placeOf struct {
	path string
	span graph.Span
}

var _ adapters.Bench = (*bench)(nil)

// open makes a bench of an archive; variables are "name type" pairs, with "?"
// for a type that nobody knows.
func open(t *testing.T, language, archive string, variables ...string) *bench {
	t.Helper()
	b := &bench{t: t, files: map[string][]byte{}, types: map[string]string{}, index: index.New(), declines: map[string]string{}}
	for _, l := range registry.Languages() {
		if l.Language().ID == language {
			b.lang = l
		}
	}
	for _, v := range variables {
		name, typ, _ := strings.Cut(v, " ")
		b.types[name] = typ
	}
	var sources []index.Source
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := f.Name
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		b.files[path] = f.Data
		if b.lang.Language().LanguageID[filepath.Ext(path)] != "" && recipe.Inside(root, path) {
			sources = append(sources, index.Source{Path: path, Spec: b.lang.Syntax(), Place: b.place(path)})
		}
	}
	if err := b.index.Refresh(t.Context(), sources, func(ctx context.Context, path string) ([]byte, index.Hash, error) {
		content, hash, err := b.Read(ctx, path)
		return content, index.Hash(hash), err
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) place(path string) syntax.Place {
	if !recipe.Inside(root, path) {
		return syntax.Place{Language: b.lang.Language().ID, Root: "/ext", Project: "/ext"}
	}
	return syntax.Place{Language: b.lang.Language().ID, Root: root, Project: "."}
}

func (b *bench) Seq() uint64 { return 1 }

func (b *bench) Read(_ context.Context, path string) ([]byte, text.Hash, error) {
	content, ok := b.files[path]
	if !ok {
		return nil, text.Hash{}, fs.ErrNotExist
	}
	return content, text.Sum(content), nil
}

func (b *bench) Glob(context.Context, string) ([]string, error) { return nil, nil }

func (b *bench) Grep(_ context.Context, word string) ([]string, error) {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(b.files)) {
		if recipe.Inside(root, path) && text.NextWord(b.files[path], word, 0) >= 0 {
			out = append(out, path)
		}
	}
	return out, nil
}

func (b *bench) Snapshot() adapters.Snapshot { return b }
func (b *bench) Graph() graph.Reader         { return b.index }
func (b *bench) Root() string                { return root }
func (b *bench) Incomplete(reason string)    { b.incomplete = append(b.incomplete, reason) }
func (b *bench) Warn(note string)            { b.warnings = append(b.warnings, note) }
func (b *bench) Project() adapters.Project {
	return adapters.Project{Language: b.lang.Language().ID, Root: root}
}

func (b *bench) Server(context.Context, adapters.Role) (adapters.Server, error) {
	return &server{b}, nil
}

func (b *bench) Tree(ctx context.Context, path string) (*syntax.Tree, error) {
	content, _, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return b.lang.Syntax().Read(path, content, b.place(path))
}

func (b *bench) With(set change.Set) (adapters.Bench, error) {
	files, err := set.Resolve(b.read)
	if err != nil {
		return nil, err
	}
	after := *b
	after.files = maps.Clone(b.files)
	for _, f := range files {
		delete(after.files, f.Path)
		after.files[f.Target()] = f.After
	}
	return &after, nil
}

func (b *bench) read(path string) ([]byte, error) {
	content, _, err := b.Read(context.Background(), path)
	return content, err
}

// find returns the declaration of a qualified name, as its last parts.
func (b *bench) find(qualified string) graph.Symbol {
	b.t.Helper()
	for path := range b.files {
		t, err := b.Tree(b.t.Context(), path)
		if err != nil {
			continue
		}
		for _, s := range t.Symbols {
			if s.Qualified == qualified || strings.HasSuffix(s.Qualified, "."+qualified) || strings.HasSuffix(s.Qualified, "::"+qualified) {
				return s
			}
		}
	}
	b.t.Fatalf("no symbol %s", qualified)
	return graph.Symbol{}
}

// server resolves names: to what is declared around them, in their file, under
// the name behind "as", or anywhere; members by the type of the variable.
type server struct{ *bench }

func (s *server) Engine() string { return "fake" }

type declined string

func (d declined) Error() string          { return string(d) }
func (d declined) Refusal() (int, string) { return -32602, string(d) }

var renamedImport = regexp.MustCompile(`(\w+)\s+as\s+(\w+)`)

func (s *server) define(path string, at int) (graph.Symbol, bool) {
	tree, err := s.Tree(s.t.Context(), path)
	if err != nil {
		return graph.Symbol{}, false
	}
	id, ok := tree.IdentAt(at)
	if !ok || s.unknown != nil && s.unknown(path, at, id.Name) {
		return graph.Symbol{}, false
	}
	for _, d := range tree.Symbols {
		inImport := slices.ContainsFunc(tree.Imports, func(im syntax.Import) bool { return im.Span.Contains(d.NameSpan.Start) })
		if d.NameSpan == id.Span && !inImport {
			return d, true
		}
	}
	content := s.files[path]
	if id.Span.Start > 0 && content[id.Span.Start-1] == '.' {
		receiver, _ := tree.IdentAt(id.Span.Start - 1)
		switch typ := s.types[receiver.Name]; typ {
		case "":
		case "?":
			return graph.Symbol{}, false
		default:
			return s.member(typ, id.Name)
		}
	}
	word := id.Name
	var best graph.Symbol
	for _, d := range tree.Symbols {
		if d.Name != word || slices.ContainsFunc(tree.Imports, func(im syntax.Import) bool { return im.Span.Contains(d.NameSpan.Start) }) {
			continue
		}
		if d.Local {
			if owner, ok := tree.Enclosing(d.NameSpan.Start); !ok || !owner.Decl.Contains(at) {
				continue
			}
			return d, true
		}
		best = d
	}
	if best.Name != "" {
		return best, true
	}
	for _, m := range renamedImport.FindAllStringSubmatch(string(content), -1) {
		if m[2] == word && m[1] != "default" {
			word = m[1]
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		t, err := s.Tree(s.t.Context(), path)
		if err != nil {
			continue
		}
		for _, d := range t.Symbols {
			if !d.Local && (d.Name == word || slices.Contains(d.Modifiers, "default") && s.imports(tree, word, path)) {
				return d, true
			}
		}
	}
	return graph.Symbol{}, false
}

// imports reports whether a file imports another under a name.
func (s *server) imports(t *syntax.Tree, name, path string) bool {
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return slices.ContainsFunc(t.Imports, func(im syntax.Import) bool {
		return strings.HasSuffix(im.Path, "/"+stem) && strings.HasPrefix(string(s.files[t.Path][im.Span.Start:im.Span.End]), "import "+name)
	})
}

func (s *server) member(typ, name string) (graph.Symbol, bool) {
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		t, err := s.Tree(s.t.Context(), path)
		if err != nil {
			continue
		}
		for _, d := range t.Symbols {
			if d.Name == name && !d.Local && (d.Container == typ || strings.HasSuffix(d.Container, "."+typ) || strings.HasSuffix(d.Container, "::"+typ)) {
				return d, true
			}
		}
	}
	return graph.Symbol{}, false
}

// uses returns the places of the workspace that the rules resolve to a symbol.
func (s *server) uses(sym graph.Symbol) (out []placeOf) {
	if s.references != nil {
		return s.references(s.bench, sym)
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		t, err := s.Tree(s.t.Context(), path)
		if err != nil || !recipe.Inside(root, path) {
			continue
		}
		for _, id := range t.Named(sym.Name) {
			if d, ok := s.define(path, id.Span.Start); ok && d.Path == sym.Path && d.NameSpan == sym.NameSpan {
				out = append(out, placeOf{path, id.Span})
			}
		}
	}
	return out
}

func (s *server) Call(_ context.Context, method string, params, result any) error {
	var at struct {
		TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
		Position     protocol.Position               `json:"position"`
		NewName      string                          `json:"newName"`
	}
	switch p := params.(type) {
	case map[string]any:
		at.TextDocument, at.Position = p["textDocument"].(protocol.TextDocumentIdentifier), p["position"].(protocol.Position)
	case *protocol.PrepareRenameParams:
		at.TextDocument, at.Position = p.TextDocument, p.Position
	case *protocol.RenameParams:
		at.TextDocument, at.Position, at.NewName = p.TextDocument, p.Position, p.NewName
	default:
		return fmt.Errorf("%s with %T", method, params)
	}
	path, err := lspclient.Path(at.TextDocument.URI)
	if err != nil {
		return err
	}
	offset, err := text.NewFile(s.files[path]).Offset(text.Position{Line: at.Position.Line, Character: at.Position.Character}, text.UTF16)
	if err != nil {
		return err
	}
	sym, ok := s.define(path, offset)
	s.asked = append(s.asked, strings.TrimPrefix(method, "textDocument/")+" "+sym.Qualified)
	if why := s.declines[sym.Qualified]; why != "" && method == "textDocument/rename" {
		return declined(why)
	}
	switch out := result.(type) {
	case *json.RawMessage:
		list := []placeOf{}
		switch {
		case !ok:
		case method == "textDocument/definition":
			list = append(list, placeOf{sym.Path, sym.NameSpan})
		case method == "textDocument/references":
			list = s.uses(sym)
		}
		locs := make([]map[string]any, len(list))
		for i, p := range list {
			locs[i] = map[string]any{"uri": lspclient.URI(p.path), "range": s.span(p)}
		}
		*out, err = json.Marshal(locs)
		return err
	case *protocol.PrepareRenameResult:
		if ok {
			*out = &protocol.PrepareRenameDefaultBehavior{DefaultBehavior: true}
		}
	case **protocol.WorkspaceEdit:
		edit := &protocol.WorkspaceEdit{}
		for _, p := range s.uses(sym) {
			put(&edit.Changes, lspclient.URI(p.path), protocol.TextEdit{Range: s.span(p), NewText: at.NewName})
		}
		if s.extra != nil {
			s.extra(s.bench, sym, edit)
		}
		*out = edit
	default:
		return fmt.Errorf("%s into %T", method, result)
	}
	return nil
}

// put adds an edit to those of a file.
func put[K comparable](changes *map[K][]protocol.TextEdit, file K, e protocol.TextEdit) {
	if *changes == nil {
		*changes = map[K][]protocol.TextEdit{}
	}
	(*changes)[file] = append((*changes)[file], e)
}

func (s *server) span(p placeOf) protocol.Range { return s.bench.rangeOf(p.path, p.span) }

func (b *bench) rangeOf(path string, span graph.Span) protocol.Range {
	f := text.NewFile(b.files[path])
	position := func(at int) protocol.Position {
		p, err := f.Position(at, text.UTF16)
		if err != nil {
			b.t.Fatal(err)
		}
		return protocol.Position{Line: p.Line, Character: p.Character}
	}
	return protocol.Range{Start: position(span.Start), End: position(span.End)}
}

func (s *server) Command(context.Context, string, []any, any) ([]protocol.WorkspaceEdit, error) {
	return nil, nil
}

func (s *server) Open(_ context.Context, paths []string) error {
	s.opened = append(s.opened, paths...)
	return nil
}

func (s *server) Position(_ context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	var out protocol.TextDocumentPositionParams
	out.TextDocument.URI = lspclient.URI(path)
	out.Position = s.bench.rangeOf(path, graph.Span{Start: offset, End: offset}).Start
	return out, nil
}

func (s *server) Place(_ context.Context, loc protocol.Location) (adapters.Place, error) {
	path, err := lspclient.Path(loc.URI)
	if err != nil {
		return adapters.Place{}, err
	}
	f := text.NewFile(s.files[path])
	start, end, err := f.Slice(rangeOf(loc.Range), text.UTF16)
	return adapters.Place{Path: path, Span: graph.Span{Start: start, End: end}, File: f}, err
}

func rangeOf(r protocol.Range) text.Range {
	return text.Range{
		Start: text.Position{Line: r.Start.Line, Character: r.Start.Character},
		End:   text.Position{Line: r.End.Line, Character: r.End.Character},
	}
}

func (s *server) Normalise(edit protocol.WorkspaceEdit) (change.Set, error) {
	var set change.Set
	for _, uri := range slices.Sorted(maps.Keys(edit.Changes)) {
		path, err := lspclient.Path(uri)
		if err != nil {
			return set, err
		}
		var list []text.RangeEdit
		for _, e := range edit.Changes[uri] {
			list = append(list, text.RangeEdit{Range: rangeOf(e.Range), New: e.NewText})
		}
		edits, err := text.FromLSP(text.NewFile(s.files[path]), list, text.UTF16, false)
		if err != nil {
			return set, err
		}
		set = set.Append(change.FromEdits(path, edits))
	}
	return set, nil
}
