package golang

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/protocol"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

// files is an adapters.Snapshot of a folder on disk, with planned text over it.
type files struct {
	root    string
	planned map[string][]byte // nil content: deleted
}

func (f files) Root() string { return f.root }
func (f files) Seq() uint64  { return 1 }

func (f files) Read(_ context.Context, path string) ([]byte, text.Hash, error) {
	if b, ok := f.planned[path]; ok {
		if b == nil {
			return nil, text.Hash{}, fs.ErrNotExist
		}
		return b, text.Sum(b), nil
	}
	b, err := os.ReadFile(path)
	return b, text.Sum(b), err
}

// Glob knows "**/NAME" and "**/*.EXT" only, which is all that the package asks.
func (f files) Glob(_ context.Context, pattern string) ([]string, error) {
	name, ok := strings.CutPrefix(pattern, "**/")
	if !ok || strings.Contains(name, "/") {
		return nil, errors.New("pattern is not known here: " + pattern)
	}
	var out []string
	err := filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if ok, _ := filepath.Match(name, d.Name()); ok {
				out = append(out, path)
			}
		}
		return err
	})
	return out, err
}

func (f files) Grep(ctx context.Context, word string) ([]string, error) {
	all, err := f.Glob(ctx, "**/*")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range all {
		b, _, err := f.Read(ctx, path)
		if err != nil {
			return nil, err
		}
		if len(text.Words(b, word)) > 0 {
			out = append(out, path)
		}
	}
	return out, nil
}

// bench is an adapters.Bench over a folder and one real gopls.
type bench struct {
	t       testing.TB
	a       *Adapter
	snap    files
	project adapters.Project
	index   *index.Index
	srv     *server
	notes   *notes
}

type notes struct {
	mu         sync.Mutex
	incomplete []string
	warnings   []string
}

var _ adapters.Bench = (*bench)(nil)

func (b *bench) Snapshot() adapters.Snapshot { return b.snap }
func (b *bench) Graph() graph.Reader         { return b.index }
func (b *bench) Project() adapters.Project   { return b.project }
func (b *bench) Root() string                { return b.snap.root }

func (b *bench) Incomplete(reason string) {
	b.notes.mu.Lock()
	defer b.notes.mu.Unlock()
	b.notes.incomplete = append(b.notes.incomplete, reason)
}

func (b *bench) Warn(note string) {
	b.notes.mu.Lock()
	defer b.notes.mu.Unlock()
	b.notes.warnings = append(b.notes.warnings, note)
}

func (b *bench) place(path string) syntax.Place {
	root := b.project.Root
	for _, m := range b.project.Members {
		if within(m, path) {
			root = m
		}
	}
	rel, err := filepath.Rel(b.snap.root, root)
	if err != nil {
		b.t.Fatal(err)
	}
	return syntax.Place{Language: "go", Root: root, Project: filepath.ToSlash(rel)}
}

func (b *bench) Tree(ctx context.Context, path string) (*syntax.Tree, error) {
	content, _, err := b.snap.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return b.a.Syntax().Read(path, content, b.place(path))
}

func (b *bench) With(set change.Set) (adapters.Bench, error) {
	resolved, err := set.Resolve(func(path string) ([]byte, error) {
		content, _, err := b.snap.Read(context.Background(), path)
		return content, err
	})
	if err != nil {
		return nil, err
	}
	c := *b
	c.snap.planned = map[string][]byte{}
	for _, f := range resolved {
		if f.Target() != f.Path || f.Kind == change.Delete {
			c.snap.planned[f.Path] = nil
		}
		if f.Kind != change.Delete {
			c.snap.planned[f.Target()] = f.After
		}
	}
	return &c, nil
}

func (b *bench) Server(context.Context, adapters.Role) (adapters.Server, error) { return b.srv, nil }

// refresh reads the folder into the index.
func (b *bench) refresh(ctx context.Context) {
	b.t.Helper()
	paths, err := b.snap.Glob(ctx, "**/*.go")
	if err != nil {
		b.t.Fatal(err)
	}
	var sources []index.Source
	for _, p := range paths {
		sources = append(sources, index.Source{Path: p, Spec: b.a.Syntax(), Place: b.place(p)})
	}
	err = b.index.Refresh(ctx, sources, func(ctx context.Context, path string) ([]byte, index.Hash, error) {
		content, hash, err := b.snap.Read(ctx, path)
		return content, index.Hash(hash), err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// server is an adapters.Server over a gopls of the test's own.
type server struct {
	client *lspclient.Client
	root   string
}

func (s *server) Engine() string { return "gopls" }

func (s *server) Call(ctx context.Context, method string, params, result any) error {
	err := s.client.Call(ctx, method, params, result)
	var call *lspclient.CallError
	if errors.As(err, &call) {
		return refused{call}
	}
	return err
}

// refused makes a server's own error known to recipes.
type refused struct{ *lspclient.CallError }

func (r refused) Refusal() (int, string) { return int(r.Code), r.Message }

func (s *server) Command(ctx context.Context, name string, args []any, result any) ([]protocol.WorkspaceEdit, error) {
	return s.client.Command(ctx, name, args, result)
}

func (s *server) Open(ctx context.Context, paths []string) error {
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := s.client.DidOpen(ctx, p, "go", b); err != nil && !errors.Is(err, lspclient.ErrOpen) {
			return err
		}
	}
	return nil
}

func (s *server) file(path string) (*text.File, error) {
	b, err := os.ReadFile(path)
	return text.NewFile(b), err
}

func (s *server) Position(_ context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	var out protocol.TextDocumentPositionParams
	f, err := s.file(path)
	if err != nil {
		return out, err
	}
	p, err := f.Position(offset, s.client.Encoding())
	out.TextDocument.URI = lspclient.URI(path)
	out.Position = protocol.Position{Line: p.Line, Character: p.Character}
	return out, err
}

func (s *server) Place(_ context.Context, loc protocol.Location) (adapters.Place, error) {
	path, err := lspclient.Path(loc.URI)
	if err != nil {
		return adapters.Place{}, err
	}
	f, err := s.file(path)
	if err != nil {
		return adapters.Place{}, err
	}
	start, end, err := f.Slice(lspRange(loc.Range), s.client.Encoding())
	return adapters.Place{Path: path, Span: graph.Span{Start: start, End: end}, File: f}, err
}

func lspRange(r protocol.Range) text.Range {
	return text.Range{
		Start: text.Position{Line: r.Start.Line, Character: r.Start.Character},
		End:   text.Position{Line: r.End.Line, Character: r.End.Character},
	}
}

func (s *server) Normalise(edit protocol.WorkspaceEdit) (change.Set, error) {
	var set change.Set
	for _, c := range edit.DocumentChanges {
		d, ok := c.(*protocol.TextDocumentEdit)
		if !ok {
			return set, errors.New("the edit does more than change text")
		}
		path, err := lspclient.Path(d.TextDocument.URI)
		if err != nil {
			return set, err
		}
		if !within(s.root, path) {
			return set, errors.New("outside the workspace: " + path)
		}
		f, err := s.file(path)
		if err != nil {
			return set, err
		}
		var ranges []text.RangeEdit
		for _, e := range d.Edits {
			ranges = append(ranges, text.RangeEdit{Range: lspRange(e.(*protocol.TextEdit).Range), New: e.(*protocol.TextEdit).NewText})
		}
		edits, err := text.FromLSP(f, ranges, s.client.Encoding(), false)
		if err != nil {
			return set, err
		}
		set = set.Append(change.FromEdits(path, edits))
	}
	return set, nil
}

// pipes is a child's standard input and output.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// unpack writes an archive into a folder of the test's.
func unpack(t testing.TB, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// open starts a real gopls on a folder and waits until its driver calls it
// ready; adjust changes where it runs.
func open(t testing.TB, root string, adjust ...func(*adapters.Site)) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b := &bench{t: t, a: New(), snap: files{root: root}, index: index.New(), notes: &notes{}}
	projects, err := b.a.Projects(ctx, b.snap, root)
	if err != nil || len(projects) == 0 {
		t.Fatalf("projects of %s: %v, %v", root, projects, err)
	}
	b.project = projects[0]
	b.refresh(ctx)
	bin := lsptest.Gopls(t)
	engine := b.a.Engines()[0]
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME")}
	for _, name := range engine.Env {
		if v, ok := os.LookupEnv(name); ok {
			env[name] = v
		}
	}
	site := adapters.Site{
		Root: b.project.Root, Marker: b.project.Marker, Members: b.project.Members, Trusted: true, Env: env,
		Look: func(string) (string, error) { return bin, nil }, Read: os.ReadFile, Scratch: t.TempDir(),
	}
	for _, f := range adjust {
		f(&site)
	}
	l, err := engine.Launch(ctx, site)
	if err != nil {
		t.Fatal(err)
	}
	if settings, ok := l.Settings.(map[string]any); ok {
		settings["diagnosticsDelay"] = "100ms" // gopls does not end before it is over
	}
	cmd := exec.Command(l.Argv[0], l.Argv[1:]...)
	cmd.Env, cmd.Dir = l.Env, l.Dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	driver := engine.New(l)
	ready := make(chan struct{})
	var once sync.Once
	var mu sync.Mutex
	client, err := lspclient.Start(ctx, pipes{out, in}, lspclient.Options{
		ProcessID: os.Getpid(), Root: l.Root, Settings: l.Settings, Configure: driver.Configure, Log: slog.New(slog.DiscardHandler),
		OnEvent: func(e lspclient.Event) {
			mu.Lock()
			defer mu.Unlock()
			kind := map[lspclient.EventKind]adapters.EventKind{
				lspclient.Initialized: adapters.Initialized, lspclient.Notification: adapters.Notification,
				lspclient.Request: adapters.Request, lspclient.Sent: adapters.Sent, lspclient.Replied: adapters.Replied,
			}[e.Kind]
			if driver.Observe(adapters.Event{Time: e.Time, Kind: kind, Method: e.Method, Params: e.Params, Err: e.Err}).State == adapters.Ready {
				once.Do(func() { close(ready) })
			}
		},
	})
	if err != nil {
		t.Fatalf("start gopls: %v; %s", err, stderr.String())
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := client.Shutdown(ctx); err != nil {
			t.Logf("gopls shutdown: %v", err) // it may end in the middle of a notification
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("gopls: %v; %s", err, stderr.String())
		}
	})
	select {
	case <-ready:
	case <-ctx.Done():
		t.Fatalf("gopls is not ready: %s", stderr.String())
	}
	b.srv = &server{client: client, root: root}
	return b
}

// find returns the only symbol with a qualified name, or the first declaration of it.
func (b *bench) find(t testing.TB, qualified string) graph.Symbol {
	t.Helper()
	name := qualified[strings.LastIndexByte(qualified, '.')+1:]
	all, err := b.index.ByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s graph.Symbol) bool { return s.Qualified == qualified })
	if i < 0 {
		t.Fatalf("no symbol %s among %d of that name", qualified, len(all))
	}
	return all[i]
}
