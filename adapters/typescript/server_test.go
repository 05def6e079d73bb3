package typescript

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

// running is a real server as Aura starts it, and what its driver concludes.
type running struct {
	t      *testing.T
	root   string
	client *lspclient.Client
	driver adapters.Driver
	launch adapters.Launch

	mu    sync.Mutex // guards the rest
	last  adapters.Readiness
	moved chan struct{} // closed and replaced with each conclusion
}

// pipes is a child's standard input and output.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// run starts the server on a folder and waits until its driver calls it ready.
func run(t *testing.T, root string, adjust ...func(*adapters.Site)) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	bin := lsptest.Tool(t, program)
	s := adapters.Site{
		Root: root, Trusted: true, Scratch: t.TempDir(), Read: os.ReadFile,
		Env:  map[string]string{"PATH": os.Getenv("PATH"), "HOME": t.TempDir()},
		Look: func(string) (string, error) { return bin, nil },
	}
	for _, f := range adjust {
		f(&s)
	}
	l, err := launch(ctx, s)
	if err != nil {
		t.Fatal(err)
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
	r := &running{t: t, root: root, driver: newDriver(l), launch: l, moved: make(chan struct{})}
	kinds := map[lspclient.EventKind]adapters.EventKind{
		lspclient.Initialized: adapters.Initialized, lspclient.Notification: adapters.Notification,
		lspclient.Request: adapters.Request, lspclient.Sent: adapters.Sent, lspclient.Replied: adapters.Replied,
	}
	r.client, err = lspclient.Start(ctx, pipes{out, in}, lspclient.Options{
		ProcessID: os.Getpid(), Root: l.Root, Settings: l.Settings, Log: slog.New(slog.DiscardHandler),
		Configure: func(section, scope string) any {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.driver.Configure(section, scope)
		},
		OnEvent: func(e lspclient.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.last = r.driver.Observe(adapters.Event{Time: e.Time, Kind: kinds[e.Kind], Method: e.Method, Params: e.Params, Err: e.Err})
			close(r.moved)
			r.moved = make(chan struct{})
		},
	})
	if err != nil {
		t.Fatalf("%v; %s", err, stderr.String())
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.client.Shutdown(ctx); err != nil {
			t.Logf("shutdown: %v", err)
		}
		_ = r.client.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its status after the kill says nothing
	})
	r.await(adapters.Ready)
	return r
}

func (r *running) belief() (adapters.Readiness, chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.moved
}

// await waits until the driver concludes a state.
func (r *running) await(want adapters.State) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	for {
		now, moved := r.belief()
		if now.State == want {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			r.t.Fatalf("the driver still concludes %d, %q", now.State, now.Waiting)
		}
	}
}

func (r *running) path(name string) string { return filepath.Join(r.root, name) }

func (r *running) open(names ...string) {
	r.t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(r.path(name))
		if err != nil {
			r.t.Fatal(err)
		}
		if err := r.client.DidOpen(r.t.Context(), r.path(name), New().Language().LanguageID[filepath.Ext(name)], content); err != nil {
			r.t.Fatal(err)
		}
	}
}

// at is where the first occurrence of a word in a file is asked about.
func (r *running) at(name, word string) protocol.TextDocumentPositionParams {
	r.t.Helper()
	content, err := os.ReadFile(r.path(name))
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := text.NewFile(content).Position(text.NextWord(content, word, 0), r.client.Encoding())
	if err != nil {
		r.t.Fatal(err)
	}
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: lspclient.URI(r.path(name))},
		Position:     protocol.Position{Line: p.Line, Character: p.Character},
	}
}

func (r *running) references(name, word string) []protocol.Location {
	r.t.Helper()
	var out []protocol.Location
	if err := r.client.Call(r.t.Context(), "textDocument/references", &protocol.ReferenceParams{
		TextDocumentPositionParams: r.at(name, word), Context: protocol.ReferenceContext{IncludeDeclaration: true},
	}, &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// tell mirrors a change on disk as Aura does.
func (r *running) tell(c adapters.FileChange) {
	r.t.Helper()
	for _, m := range r.driver.Mirror([]adapters.FileChange{c}) {
		if err := r.client.Notify(r.t.Context(), m.Method, m.Params); err != nil {
			r.t.Fatal(err)
		}
	}
}

const shop = `-- tsconfig.json --
{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", "target": "es2022", "types": []}, "include": ["src"]}
-- src/a.ts --
export function greet(name: string) {
    return name;
}
-- src/b.ts --
import { greet } from "./a";
greet("b");
-- src/c.ts --
import { greet } from "./a";
greet("c");
`

// TestServer_FirstAnswerIsWhole asks at once: with its second server for syntax,
// which Aura turns off, it answers with the declaration alone.
func TestServer_FirstAnswerIsWhole(t *testing.T) {
	r := run(t, unpack(t, shop))
	r.open("src/a.ts")
	if got := r.references("src/a.ts", "greet"); len(got) != 5 {
		t.Errorf("%d references, want 5", len(got))
	}
	if len(r.launch.Notes) != 1 || !strings.Contains(r.launch.Notes[0], "no TypeScript of its own") {
		t.Errorf("notes %q", r.launch.Notes)
	}
	method, params := r.driver.Probe()
	var answer struct {
		Body struct {
			Version string `json:"version"`
		} `json:"body"`
	}
	if err := r.client.Call(t.Context(), method, params, &answer); err != nil || answer.Body.Version == "" {
		t.Errorf("the probe: %+v, %v", answer, err)
	}
}

// TestServer_InnerDeath ends tsserver, after which the server answers every
// question with nothing. The driver has concluded so before the first of those
// answers is read.
func TestServer_InnerDeath(t *testing.T) {
	r := run(t, unpack(t, shop))
	r.open("src/a.ts")
	if got := r.references("src/a.ts", "greet"); len(got) != 5 {
		t.Fatalf("%d references, want 5", len(got))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // it is not answered
	defer cancel()
	_ = r.client.Call(ctx, "workspace/executeCommand", tsserverRequest{Command: "typescript.tsserverRequest", Arguments: []any{"exit"}}, nil)
	var got []protocol.Location
	if err := r.client.Call(t.Context(), "textDocument/references", &protocol.ReferenceParams{TextDocumentPositionParams: r.at("src/a.ts", "greet")}, &got); err != nil {
		t.Fatal(err)
	}
	if now, _ := r.belief(); len(got) != 0 || now.State != adapters.Lost || !strings.Contains(now.Waiting, "tsserver ended") {
		t.Errorf("%d references while the driver concludes %d, %q", len(got), now.State, now.Waiting)
	}
}

// TestServer_Fresh changes, makes and removes files on disk: the next answer knows.
func TestServer_Fresh(t *testing.T) {
	r := run(t, unpack(t, shop))
	r.open("src/a.ts")
	count := func(want int, after string) {
		t.Helper()
		if got := r.references("src/a.ts", "greet"); len(got) != want {
			t.Errorf("%s: %d references, want %d", after, len(got), want)
		}
	}
	count(5, "at first")
	put(t, r.path("src/b.ts"), "import { greet } from \"./a\";\ngreet(\"b\"); greet(\"again\");\n")
	r.tell(adapters.FileChange{Path: r.path("src/b.ts")})
	count(6, "a file changed")
	put(t, r.path("src/deep/er/d.ts"), "import { greet } from \"../../a\";\ngreet(\"d\");\n")
	r.tell(adapters.FileChange{Path: r.path("src/deep/er/d.ts"), Created: true})
	count(8, "a file in new folders")
	if err := os.Remove(r.path("src/c.ts")); err != nil {
		t.Fatal(err)
	}
	r.tell(adapters.FileChange{Path: r.path("src/c.ts"), Deleted: true})
	count(6, "a file was removed")
	put(t, r.path("tsconfig.json"), `{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}, "files": ["src/a.ts", "src/b.ts"]}`)
	r.tell(adapters.FileChange{Path: r.path("tsconfig.json")})
	count(4, "the configuration names fewer files")
}

// TestServer_Texts asks about files with a byte order mark, with the line ends
// of Windows and with characters outside the first plane.
func TestServer_Texts(t *testing.T) {
	root := unpack(t, shop)
	put(t, filepath.Join(root, "src", "bom.ts"), "\uFEFFexport const first = 1;\r\n/* 👋 */ export const second = first + first;\r\n")
	r := run(t, root)
	r.open("src/bom.ts")
	got := r.references("src/bom.ts", "first")
	content, err := os.ReadFile(r.path("src/bom.ts"))
	if err != nil {
		t.Fatal(err)
	}
	f := text.NewFile(content)
	if len(got) != 3 {
		t.Errorf("%d references, want 3", len(got))
	}
	for _, l := range got {
		at, err := f.Offset(text.Position{Line: l.Range.Start.Line, Character: l.Range.Start.Character}, r.client.Encoding())
		if err != nil || !strings.HasPrefix(string(content[at:]), "first") {
			t.Errorf("line %d, character %d is %q, %v", l.Range.Start.Line, l.Range.Start.Character, content[at:min(at+8, len(content))], err)
		}
	}
}

// TestServer_Untrusted has a TypeScript of its own in the workspace that tells
// when it runs: it does in a trusted workspace only.
func TestServer_Untrusted(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		root := unpack(t, shop)
		canary := filepath.Join(t.TempDir(), "ran")
		own := filepath.Join(root, "node_modules", "typescript")
		put(t, filepath.Join(own, "package.json"), `{"name": "typescript", "version": "5.9.3"}`)
		put(t, filepath.Join(own, "lib", "tsserver.js"), `require("fs").writeFileSync(`+string(mustJSON(t, canary))+`, "");
require(`+string(mustJSON(t, tsserverIn(besideServer(lsptest.Tool(t, program)))))+`);`)
		r := run(t, root, func(s *adapters.Site) { s.Trusted = trusted })
		r.open("src/a.ts")
		if got := r.references("src/a.ts", "greet"); len(got) != 5 {
			t.Errorf("trusted %v: %d references, want 5", trusted, len(got))
		}
		_, err := os.Stat(canary)
		if ran := err == nil; ran != trusted {
			t.Errorf("trusted %v: the workspace's own TypeScript ran: %v (%v)", trusted, ran, err)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
