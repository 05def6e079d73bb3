//go:build cgo

package csharp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// where is the folder that the recordings of OmniSharp are about.
const where = "/ws/sample"

// tree is an adapters.Snapshot in memory.
type tree map[string][]byte

func (f tree) Root() string { return where }
func (f tree) Seq() uint64  { return 1 }

func (f tree) Read(_ context.Context, path string) ([]byte, text.Hash, error) {
	b, ok := f[path]
	if !ok {
		return nil, text.Hash{}, fs.ErrNotExist
	}
	return b, text.Sum(b), nil
}

func (f tree) Glob(_ context.Context, pattern string) ([]string, error) {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(f)) {
		if ok, err := filepath.Match(strings.TrimPrefix(pattern, "**/"), filepath.Base(p)); ok && err == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

func (f tree) Grep(_ context.Context, word string) ([]string, error) {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(f)) {
		if len(text.Words(f[p], word)) > 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// desk is an adapters.Bench over text in memory and a server that only answers
// what was recorded.
type desk struct {
	t     *testing.T
	a     *Adapter
	files tree
	index *index.Index
	srv   adapters.Server
	notes *[]string
}

// sample returns the solution that OmniSharp was recorded on.
func sample(t *testing.T, srv *recorded) *desk {
	t.Helper()
	archive, err := txtar.ParseFile("../../testdata/workspaces/csharp/sample.txtar")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, a: New(), files: tree{}, srv: srv, notes: new([]string)}
	for _, f := range archive.Files {
		d.files[filepath.Join(where, f.Name)] = f.Data
	}
	srv.files = d.files
	return d.read()
}

func (d *desk) read() *desk {
	d.t.Helper()
	d.index = index.New()
	var sources []index.Source
	for _, p := range slices.Sorted(maps.Keys(d.files)) {
		if filepath.Ext(p) == ".cs" {
			sources = append(sources, index.Source{Path: p, Spec: d.a.Syntax(), Place: place})
		}
	}
	err := d.index.Refresh(d.t.Context(), sources, func(ctx context.Context, path string) ([]byte, index.Hash, error) {
		content, hash, err := d.files.Read(ctx, path)
		return content, index.Hash(hash), err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return d
}

var place = syntax.Place{Language: "csharp", Root: where, Project: "."}

func (d *desk) Snapshot() adapters.Snapshot { return d.files }
func (d *desk) Graph() graph.Reader         { return d.index }
func (d *desk) Root() string                { return where }
func (d *desk) Incomplete(reason string)    { *d.notes = append(*d.notes, "incomplete: "+reason) }
func (d *desk) Warn(note string)            { *d.notes = append(*d.notes, note) }
func (d *desk) Project() adapters.Project {
	return adapters.Project{Language: "csharp", Root: where, Marker: where + "/Sample.sln"}
}

func (d *desk) Server(context.Context, adapters.Role) (adapters.Server, error) { return d.srv, nil }

func (d *desk) Tree(ctx context.Context, path string) (*syntax.Tree, error) {
	content, _, err := d.files.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return d.a.Syntax().Read(path, content, place)
}

func (d *desk) With(set change.Set) (adapters.Bench, error) {
	resolved, err := set.Resolve(func(path string) ([]byte, error) {
		b, _, err := d.files.Read(context.Background(), path)
		return b, err
	})
	if err != nil {
		return nil, err
	}
	after := *d
	after.files = maps.Clone(d.files)
	for _, f := range resolved {
		delete(after.files, f.Path)
		after.files[f.Target()] = f.After
	}
	return &after, nil
}

// find returns the first declaration with a qualified name.
func (d *desk) find(qualified string) graph.Symbol {
	d.t.Helper()
	all, err := d.index.ByName(d.t.Context(), qualified[strings.LastIndexByte(qualified, '.')+1:])
	if err != nil {
		d.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s graph.Symbol) bool { return s.Qualified == qualified })
	if i < 0 {
		d.t.Fatalf("no symbol %s among %d of that name", qualified, len(all))
	}
	return all[i]
}

// recorded is an OmniSharp that answers from recordings. A question counts as
// recorded when it was asked with the caret anywhere on the same name.
type recorded struct {
	t       *testing.T
	files   tree
	answers map[string]json.RawMessage
	refused map[string]refusal
	asked   []string
}

type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e refusal) Error() string                       { return e.Message }
func (e refusal) Refusal() (code int, message string) { return e.Code, e.Message }

// question is the part of a request's parameters that tells questions apart.
type question struct {
	TextDocument struct{ URI string }
	Position     protocol.Position
	NewName      string
	Context      struct{ IncludeDeclaration bool }
}

// record reads one or several files of testdata/transcripts/omnisharp.
func record(t *testing.T, names ...string) (*recorded, *desk) {
	t.Helper()
	r := &recorded{t: t, answers: map[string]json.RawMessage{}, refused: map[string]refusal{}}
	d := sample(t, r)
	for _, name := range names {
		for _, line := range lines(t, name) {
			var exchange struct {
				Method   string
				Params   json.RawMessage
				Response struct {
					Result json.RawMessage
					Error  *refusal
				}
			}
			if err := json.Unmarshal(line, &exchange); err != nil {
				t.Fatal(err)
			}
			key := r.key(exchange.Method, exchange.Params)
			if exchange.Response.Error != nil {
				r.refused[key] = *exchange.Response.Error
				continue
			}
			r.answers[key] = exchange.Response.Result
		}
	}
	return r, d
}

// lines returns the lines of a recording.
func lines(t *testing.T, name string) [][]byte {
	t.Helper()
	content, err := os.ReadFile("../../testdata/transcripts/omnisharp/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for s := bufio.NewScanner(bytes.NewReader(content)); s.Scan(); {
		out = append(out, bytes.Clone(s.Bytes()))
	}
	return out
}

func (r *recorded) key(method string, params any) string {
	raw, ok := params.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			r.t.Fatal(err)
		}
	}
	var q question
	if err := json.Unmarshal(raw, &q); err != nil {
		r.t.Fatal(err)
	}
	at := fmt.Sprintf("%d:%d", q.Position.Line, q.Position.Character)
	if path, err := lspclient.Path(q.TextDocument.URI); err == nil {
		f := text.NewFile(r.files[path])
		if offset, err := f.Offset(text.Position{Line: q.Position.Line, Character: q.Position.Character}, text.UTF16); err == nil {
			at = fmt.Sprint(wordStart(f.Content(), offset))
		}
	}
	return fmt.Sprintf("%s %s %s %s %t", method, q.TextDocument.URI, at, q.NewName, q.Context.IncludeDeclaration)
}

func (r *recorded) Engine() string { return omnisharpID }

func (r *recorded) Call(_ context.Context, method string, params, result any) error {
	key := r.key(method, params)
	r.asked = append(r.asked, key)
	if refused, ok := r.refused[key]; ok {
		return refused
	}
	answer, ok := r.answers[key]
	if !ok {
		return fmt.Errorf("nothing is recorded of %s", key)
	}
	if raw, ok := result.(*json.RawMessage); ok {
		*raw = answer
		return nil
	}
	return protocol.Unmarshal(answer, result)
}

func (r *recorded) Command(context.Context, string, []any, any) ([]protocol.WorkspaceEdit, error) {
	return nil, fmt.Errorf("OmniSharp has no commands")
}

func (r *recorded) Open(context.Context, []string) error { return nil }

func (r *recorded) Position(_ context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	p, err := text.NewFile(r.files[path]).Position(offset, text.UTF16)
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: lspclient.URI(path)},
		Position:     protocol.Position{Line: p.Line, Character: p.Character},
	}, err
}

func (r *recorded) Place(ctx context.Context, loc protocol.Location) (adapters.Place, error) {
	path, err := lspclient.Path(loc.URI)
	if err != nil {
		return adapters.Place{}, err
	}
	content, _, err := r.files.Read(ctx, path)
	if err != nil {
		return adapters.Place{}, err
	}
	f := text.NewFile(content)
	start, end, err := f.Slice(span(loc.Range), text.UTF16)
	return adapters.Place{Path: path, Span: graph.Span{Start: start, End: end}, File: f}, err
}

func span(r protocol.Range) text.Range {
	return text.Range{
		Start: text.Position{Line: r.Start.Line, Character: r.Start.Character},
		End:   text.Position{Line: r.End.Line, Character: r.End.Character},
	}
}

func (r *recorded) Normalise(edit protocol.WorkspaceEdit) (change.Set, error) {
	var set change.Set
	for u, edits := range edit.Changes {
		path, err := lspclient.Path(string(u))
		if err != nil {
			return set, err
		}
		var ranges []text.RangeEdit
		for _, e := range edits {
			ranges = append(ranges, text.RangeEdit{Range: span(e.Range), New: e.NewText})
		}
		if len(ranges) == 0 {
			continue
		}
		list, err := text.FromLSP(text.NewFile(r.files[path]), ranges, text.UTF16, true)
		if err != nil {
			return set, err
		}
		set = set.Append(change.FromEdits(path, list))
	}
	return set, nil
}

// said lists the places of an answer with the word that stands there.
func said(found adapters.Found) []string {
	var out []string
	for _, h := range found.Hits {
		p := h.Place.File.PointOf(h.Place.Span.Start)
		end := wordEnd(h.Place.File.Content(), h.Place.Span.Start)
		line := fmt.Sprintf("%s:%d %s", strings.TrimPrefix(h.Place.Path, where+"/"), p.Line, h.Place.File.Content()[h.Place.Span.Start:end])
		if h.IsDeclaration {
			line += " declaration"
		}
		if h.Usage != "" {
			line += " " + h.Usage
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
