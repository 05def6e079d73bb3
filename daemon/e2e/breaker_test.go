package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// fakeBelow is fake for the projects below one folder only.
func (w *world) fakeBelow(t testing.TB, dir string, config lsptest.Config) (mend func()) {
	t.Helper()
	w.fake(t, config)
	shim := filepath.Join(w.dir, "shim", "gopls")
	script := strings.Replace(read(t, shim), "\n", "\ncase $PWD in "+dir+"*) ;; *) exec "+w.gopls+" \"$@\" ;; esac\n", 1)
	write(t, shim, script)
	return func() {
		t.Helper()
		// Renamed into its place: a program that runs cannot be written.
		next := shim + ".next"
		write(t, next, "#!/bin/sh\nexec "+w.gopls+" \"$@\"\n")
		if err := os.Chmod(next, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, shim); err != nil {
			t.Fatal(err)
		}
	}
}

// TestP04_CircuitBreaker has a server that dies of every question. After five
// crashes in five minutes it stays down: the symbol graph answers at once in its
// place, with its last words and the way back. The server of another project goes on, and
// a person brings it back.
func TestP04_CircuitBreaker(t *testing.T) {
	dir := t.TempDir()
	below(t, filepath.Join(dir, "bad"), "go")
	below(t, filepath.Join(dir, "good"), "go")
	w := newWorld(t, dir)
	w.stop(t)
	mend := w.fakeBelow(t, filepath.Join(dir, "bad"), lsptest.Config{
		Extensions: []string{".go"},
		Loading:    lsptest.Loading{Millis: 1, Title: "Setting up workspace", Message: "Finished loading packages."},
		Faults: []lsptest.Fault{
			{On: "initialized", Do: lsptest.Stderr, Text: "panic: out of cheese\n"},
			{On: "textDocument/references", Do: lsptest.Crash, Code: 2},
		},
	})
	ask := func(name string, out *api.Places) *api.Error {
		t.Helper()
		return w.call(t, "aura_references", map[string]any{"symbolName": "Order", "filePath": name + "/store/store.go", "limit": all}, out)
	}
	want := shops()["go"].references
	good := func(when string) {
		t.Helper()
		var got api.Places
		if refusal := ask("good", &got); refusal != nil || got.Total != want {
			t.Errorf("%s the other project has %d references, %v; want %d", when, got.Total, refusal, want)
		}
	}
	good("before the crashes")
	var last api.Places
	for n := 0; ; n++ {
		last = api.Places{}
		if refusal := ask("bad", &last); refusal != nil || last.Source != "graph" || last.Total == 0 || last.Complete {
			t.Fatalf("question %d: %v, %+v; want what the graph knows", n, refusal, last.Trust)
		}
		if last.Unserved == api.ServerUnavailable {
			break
		}
		if last.Unserved != api.ServerCrashed || n > 10 {
			t.Fatalf("question %d: %+v", n, last.Trust)
		}
		// A request that has ended the server twice is not sent again; another one is.
		write(t, filepath.Join(dir, "bad", "store", "store.go"), strings.Repeat("\n", n+1)+read(t, filepath.Join(dir, "bad", "store", "store.go")))
	}
	notes := strings.Join(last.Warnings, "\n")
	for _, words := range []string{"ended 5 times within 5 minutes", "stays down", "auractl restart gopls", "out of cheese"} {
		if !strings.Contains(notes, words) {
			t.Errorf("%q does not say %q", notes, words)
		}
	}
	began := time.Now()
	again := api.Places{}
	if refusal := ask("bad", &again); refusal != nil || again.Unserved != api.ServerUnavailable {
		t.Errorf("asked again: %v, %+v", refusal, again.Trust)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the answer took %v", took)
	}
	good("while one is down")
	if r := w.aura(t, "doctor", "--no-start"); !strings.Contains(r.stdout, "broken") {
		t.Errorf("doctor does not see that the server is down:\n%s%s", r.stdout, r.stderr)
	}
	mend()
	w.ok(t, "restart", "gopls")
	var got api.Places
	if refusal := ask("bad", &got); refusal != nil || got.Total != want {
		t.Errorf("after the restart: %d references, %v; want %d", got.Total, refusal, want)
	}
	good("after the restart")
}

// TestWhy says of a file which server answers for it, where, and by what.
func TestWhy(t *testing.T) {
	dir := t.TempDir()
	below(t, filepath.Join(dir, "first"), "go")
	below(t, filepath.Join(dir, "second"), "go")
	write(t, filepath.Join(dir, "loose", "x.go"), "package x\n")
	w := newWorld(t, dir)
	w.env = append(w.env, "GOFLAGS=-tags=x")
	var why api.Why
	explain := func(file string) api.WhyEngine {
		t.Helper()
		why = api.Why{}
		w.must(t, "why", map[string]any{"filePath": file}, &why)
		if len(why.Engines) != 1 {
			t.Fatalf("engines %+v", why.Engines)
		}
		return why.Engines[0]
	}
	e := explain("first/store/store.go")
	if why.Project != "first" || why.Marker != "first/go.mod" || !strings.Contains(why.Reason, "nearest") || e.State != "absent" {
		t.Errorf("before anything runs: %+v", why)
	}
	if e.Version == "" || e.Root != filepath.Join(dir, "first") || e.Env["GOFLAGS"] != "-tags=x" || len(e.Argv) == 0 || e.Argv[0] != e.Path {
		t.Errorf("the command is not as it would be run: %+v", e)
	}
	if explain("loose/x.go"); why.Marker != "" || !strings.Contains(why.Reason, "go.mod") {
		t.Errorf("a loose file: %+v", why)
	}
	w.must(t, "aura_references", map[string]any{"symbolName": "Order", "filePath": "first/store/store.go"}, nil)
	if e = explain("first/main.go"); e.State != "ready" || e.PID == 0 {
		t.Errorf("once it runs: %+v", e)
	}
	if e = explain("second/main.go"); e.State != "absent" || e.PID != 0 {
		t.Errorf("the other project: %+v", e)
	}

	var doctor api.Doctor
	w.must(t, "doctor", map[string]any{}, &doctor)
	states := map[string]string{}
	for _, s := range doctor.Servers {
		if s.Language == "Go" {
			states[s.Project] = s.State
		}
	}
	if !doctor.Success || states["first"] != "ok" || states["second"] != "unused" {
		t.Errorf("doctor (success: %v) has %v", doctor.Success, states)
	}
	w.must(t, "doctor", map[string]any{"all": true}, &doctor)
	for _, s := range doctor.Servers {
		if s.Language == "Go" && (s.State != "ok" || s.StartMs == 0 && s.Project == "second") {
			t.Errorf("doctor --all: %+v", s)
		}
	}
}
