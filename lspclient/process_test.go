package lspclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// child is a server process as its stdin and stdout.
type child struct {
	io.Reader
	io.WriteCloser
	out io.Closer
	cmd *exec.Cmd
}

func (c child) Close() error { return errors.Join(c.WriteCloser.Close(), c.out.Close()) }

// spawn starts a server, which is killed when the test ends.
func spawn(t testing.TB, dir string, stderr io.Writer, argv, env []string) child {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), stderr
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
		r.Close()
	})
	return child{Reader: r, WriteCloser: in, out: r, cmd: cmd}
}

func TestChildProcess(t *testing.T) {
	dir := write(t, map[string]string{"a.fake": "func Foo\n"})
	journal := filepath.Join(t.TempDir(), "journal")
	argv, env := lsptest.Command(t, lsptest.Config{Journal: journal, Faults: []lsptest.Fault{
		{On: "textDocument/hover", Do: lsptest.Stderr, Bytes: 1 << 20},
	}})
	var stderr bytes.Buffer
	server := spawn(t, dir, &stderr, argv, env)
	ctx := testContext(t)
	client, err := lspclient.Start(ctx, server, lspclient.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Call(ctx, "textDocument/hover", at(filepath.Join(dir, "a.fake"), 0, 5), nil); err != nil {
		t.Error(err)
	}
	if err := client.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if stderr.Len() < 1<<20 {
		t.Errorf("stderr has %d bytes", stderr.Len())
	}
	list, err := lsptest.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for _, r := range list {
		if r.PID != server.cmd.Process.Pid {
			t.Errorf("journal of process %d, want %d", r.PID, server.cmd.Process.Pid)
		}
		if r.Method != "" {
			methods = append(methods, r.Method)
		}
	}
	want := []string{"initialize", "initialized", "textDocument/hover", "shutdown", "exit"}
	if diff := cmp.Diff(want, methods); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestP03_KilledWithRequestsInFlight(t *testing.T) {
	argv, env := lsptest.Command(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Hang}}})
	server := spawn(t, t.TempDir(), io.Discard, argv, env)
	ctx := testContext(t)
	client, err := lspclient.Start(ctx, server, lspclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	errs := make(chan error, n)
	for range n {
		go func() { errs <- client.Call(ctx, "textDocument/hover", at("/a", 0, 0), nil) }()
	}
	if err := client.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := <-errs; !errors.Is(err, io.EOF) {
			t.Fatalf("error is %v", err)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestP07_StoppedServer(t *testing.T) {
	argv, env := lsptest.Command(t, lsptest.Config{})
	server := spawn(t, t.TempDir(), io.Discard, argv, env)
	ctx := testContext(t)
	client, err := lspclient.Start(ctx, server, lspclient.Options{WriteTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// What fits into the pipe is taken, and a call ends with its context.
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := client.Call(short, "textDocument/hover", at("/a", 0, 0), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("call: %v", err)
	}
	if err := client.DidOpen(ctx, "/a", "fake", bytes.Repeat([]byte("x"), 1<<20)); err != nil {
		t.Errorf("open: %v", err)
	}
	if err := client.Call(ctx, "textDocument/hover", at("/a", 0, 0), nil); !errors.Is(err, lspclient.ErrWriteTimeout) {
		t.Errorf("call behind a full pipe: %v", err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestP01_NotALanguageServer(t *testing.T) {
	cases := []struct {
		name string
		argv []string
		want string // in the error
	}{
		{"prints usage and ends", []string{"/bin/sh", "-c", "echo usage: tool FILE; exit 3"}, "usage: tool FILE"},
		{"prints for ever", []string{"/bin/sh", "-c", "while echo no frames here; do :; done"}, "no frames here"},
		{"echoes", []string{"/bin/cat"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := spawn(t, t.TempDir(), io.Discard, c.argv, nil)
			ctx, cancel := context.WithTimeout(testContext(t), time.Second)
			defer cancel()
			_, err := lspclient.Start(ctx, server, lspclient.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestRealGopls is one session with the real server.
func TestRealGopls(t *testing.T) {
	bin := lsptest.Gopls(t)
	dir := write(t, map[string]string{
		"go.mod":   "module example.test/m\n\ngo 1.24\n",
		"a/a.go":   "package a\n\n// Süß is 🙂.\ntype Süß struct{ Name string }\n\nfunc (s Süß) Hello() string { return \"🙂\" + s.Name }\n",
		"b/b.go":   "package b\n\nimport \"example.test/m/a\"\n\nvar _ = a.Süß{Name: \"🙂\"}.Hello()\n",
		"bad/b.go": "package bad\n\nvar x int = \"s\"\n",
	})
	a, b, bad := filepath.Join(dir, "a/a.go"), filepath.Join(dir, "b/b.go"), filepath.Join(dir, "bad/b.go")
	asked := make(chan string, 16)
	ctx := testContext(t)
	server := spawn(t, dir, io.Discard, []string{bin, "serve"}, nil)
	client, err := lspclient.Start(ctx, server, lspclient.Options{
		ProcessID: os.Getpid(), Root: dir,
		Settings: map[string]any{"pullDiagnostics": true, "symbolScope": "workspace"},
		Configure: func(section, scope string) any {
			asked <- section + " " + scope
			return map[string]any{"pullDiagnostics": true, "symbolScope": "workspace"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if info := client.ServerInfo(); info.Name != "gopls" {
		t.Errorf("server is %+v", info)
	}
	for _, method := range []string{
		"textDocument/definition", "textDocument/references", "textDocument/prepareRename", "textDocument/rename",
		"textDocument/implementation", "textDocument/prepareTypeHierarchy", "callHierarchy/incomingCalls", "textDocument/diagnostic",
	} {
		if !client.Supports(method) {
			t.Errorf("%s is not supported", method)
		}
	}
	// A name behind a character that counts two: "var _ = a.Süß{Name: "🙂"}.Hello()".
	hello := at(b, 4, 26)
	var definition []protocol.Location
	if err := client.Call(ctx, "textDocument/definition", hello, &definition); err != nil {
		t.Fatal(err)
	}
	if got := places(t, dir, definition); len(got) != 1 || got[0] != "a/a.go:5:13" {
		t.Errorf("definition is %q", got)
	}
	if got, want := <-asked, "gopls "+dir; got != want {
		t.Errorf("it asked for the configuration %q, want %q", got, want)
	}
	var references []protocol.Location
	params := &protocol.ReferenceParams{TextDocumentPositionParams: at(a, 3, 6), Context: protocol.ReferenceContext{IncludeDeclaration: true}}
	if err := client.Call(ctx, "textDocument/references", params, &references); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/a.go:3:5", "a/a.go:5:8", "b/b.go:4:10"}, places(t, dir, references)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	var edit protocol.WorkspaceEdit
	rename := &protocol.RenameParams{TextDocumentPositionParams: at(a, 3, 6), NewName: "Sweet"}
	if err := client.Call(ctx, "textDocument/rename", rename, &edit); err != nil {
		t.Fatal(err)
	}
	if len(edit.DocumentChanges) != 2 {
		t.Errorf("rename changes %d documents, want 2", len(edit.DocumentChanges))
	}
	if open, moves := client.Progress(); len(open) != 0 || moves == 0 {
		t.Errorf("after an answer: progress %+v, %d moves", open, moves)
	}
	if err := client.DidOpen(ctx, bad, "go", []byte("package bad\n\nvar x string = 5\n\nvar y int = \"\"\n")); err != nil {
		t.Fatal(err)
	}
	d, err := client.PullDiagnostics(ctx, bad)
	if err != nil || len(d.Items) != 2 || d.Dropped != 0 {
		t.Errorf("pulled %+v, %v", d, err)
	}
	pushed, err := client.AwaitDiagnostics(ctx, bad, func(p lspclient.Diagnostics) bool { return p.Version == d.Version })
	if err != nil || len(pushed.Items) != 2 {
		t.Errorf("pushed %+v, %v", pushed, err)
	}
	var raw json.RawMessage
	err = client.Call(ctx, "textDocument/rename", &protocol.RenameParams{TextDocumentPositionParams: at(a, 0, 0), NewName: "x"}, &raw)
	var refused *lspclient.CallError
	if !errors.As(err, &refused) {
		t.Errorf("renaming a keyword: %s, %v", raw, err)
	}
	if len(client.Registrations("workspace/didChangeWatchedFiles")) == 0 {
		t.Error("no watched files were registered")
	}
	if err := client.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if s := client.Stats(); s.Dropped != 0 || s.StrayLines != 0 || s.Panics != 0 {
		t.Errorf("stats %+v", s)
	}
}

// places makes locations readable: file:line:character below a folder.
func places(t testing.TB, dir string, list []protocol.Location) []string {
	t.Helper()
	var out []string
	for _, l := range list {
		path, err := lspclient.Path(l.URI)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		start, _ := json.Marshal([]uint32{l.Range.Start.Line, l.Range.Start.Character})
		out = append(out, rel+":"+strings.NewReplacer("[", "", "]", "", ",", ":").Replace(string(start)))
	}
	return out
}
