package supervise

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/proc"
	"github.com/auralsp/aura/lspclient/text"
)

// rig is a workspace, its view, and a supervisor whose engine is the fake
// server in a process of its own.
type rig struct {
	t       testing.TB
	root    string
	view    *view.View
	spawner *proc.Spawner
	sup     *Supervisor
	engine  adapters.Engine
	config  string // file that holds the fake's Config
	journal string
}

// driver is what an adapter knows of the fake server: it loads while a
// progress is open.
type driver struct {
	waits bool // for a progress to begin and end
	moves uint64
	ready bool
	over  adapters.Overlay
	panic string // method at which Observe panics
	// reloads makes it load anew, until a progress ends, when it is told of files.
	reloads bool
}

func (d *driver) Configure(section, _ string) any { return map[string]string{"section": section} }

func (d *driver) Observe(e adapters.Event) adapters.Readiness {
	if d.panic != "" && e.Method == d.panic {
		panic("driver")
	}
	switch {
	case e.Kind == adapters.Initialized && !d.waits:
		d.ready = true
	case e.Kind == adapters.Sent && e.Method == "workspace/didChangeWatchedFiles" && d.reloads:
		d.ready = false
	case e.Kind == adapters.Notification && e.Method == "$/progress":
		var p struct {
			Value struct{ Kind string }
		}
		_ = json.Unmarshal(e.Params, &p)
		d.moves++
		switch p.Value.Kind {
		case "begin":
			d.ready = false
		case "end":
			d.ready = true
		}
	}
	r := adapters.Readiness{State: adapters.Loading, Waiting: "loading the sample", Progress: d.moves}
	if d.ready {
		r.State, r.Waiting = adapters.Ready, ""
	}
	return r
}

func (d *driver) Mirror(changes []adapters.FileChange) []adapters.Message {
	if d.panic == "mirror" {
		panic("driver")
	}
	var events []map[string]any
	for _, c := range changes {
		kind := 2
		if c.Created {
			kind = 1
		} else if c.Deleted {
			kind = 3
		}
		events = append(events, map[string]any{"uri": lspclient.URI(c.Path), "type": kind})
	}
	return []adapters.Message{{Method: "workspace/didChangeWatchedFiles", Params: map[string]any{"changes": events}}}
}

func (d *driver) Overlay() adapters.Overlay { return d.over }

func (d *driver) Probe() (string, any) { return "fake/state", nil }

var sample = adapters.Language{ID: "sample", Extensions: []string{".txt"}, LanguageID: map[string]string{".txt": "plain"}}

// newRig makes a workspace of files and a supervisor with short limits.
func newRig(t testing.TB, config lsptest.Config, files map[string]string, adjust ...func(*Options, *adapters.Engine, *driver)) *rig {
	t.Helper()
	fds, kids := countFDs(t), len(children(t))
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, root: root, config: filepath.Join(t.TempDir(), "config.json"), journal: filepath.Join(t.TempDir(), "journal")}
	for name, content := range files {
		r.write(name, content)
	}
	config.Journal = r.journal
	config.Extensions = []string{".txt"}
	argv, env := lsptest.CommandFile(t, r.config, config)
	// Under -race a process would wait a second to end, under -cover complain on standard error.
	env = append(env, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+t.TempDir())
	prototype := driver{over: adapters.Edits | adapters.Creates | adapters.Moves, waits: config.Loading.Millis > 0 || config.Loading.Never}
	o := Options{Limits: Limits{
		Start: 5 * time.Second, Request: 5 * time.Second, Warm: 2 * time.Second, Settle: 60 * time.Millisecond, Restore: 500 * time.Millisecond,
		Restart: Restart{First: 10 * time.Millisecond, Max: 50 * time.Millisecond},
		Stop:    proc.Ladder{AskFor: time.Second, CloseFor: 300 * time.Millisecond, TermFor: 300 * time.Millisecond},
	}}
	r.engine = adapters.Engine{
		ID: "fake", InFlight: 2, Env: []string{"SAMPLEFLAGS"}, Install: "make fake",
		Launch: func(_ context.Context, s adapters.Site) (adapters.Launch, error) {
			return adapters.Launch{
				Argv: argv, Env: env, Dir: s.Root, Root: s.Root, Named: map[string]string{"SAMPLEFLAGS": s.Env["SAMPLEFLAGS"]},
			}, nil
		},
		New: func(adapters.Launch) adapters.Driver {
			d := prototype
			return &d
		},
	}
	for _, f := range adjust {
		f(&o, &r.engine, &prototype)
	}
	r.spawner, err = proc.NewSpawner(t.Context(), proc.Options{Ledger: filepath.Join(t.TempDir(), "ledger")})
	if err != nil {
		t.Fatal(err)
	}
	o.Spawner = r.spawner
	r.view = openView(t, root)
	r.sup = Start(o)
	t.Cleanup(func() {
		if err := r.sup.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		if left := r.spawner.Processes(); len(left) != 0 {
			t.Errorf("%d processes are left after Close", len(left))
		}
		if err := r.spawner.Close(); err != nil {
			t.Error(err)
		}
		if err := r.view.Close(); err != nil {
			t.Error(err)
		}
		r.closeWatcher()
		if n := len(children(t)); n > kids {
			t.Errorf("%d child processes are left", n-kids)
		}
		if n := countFDs(t); n > fds+2 {
			t.Errorf("descriptors grew from %d to %d", fds, n)
		}
	})
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.root, name) }

// write changes a file behind Aura's back.
func (r *rig) write(name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// wrote changes a file as a commit of ours does, and returns the view's number.
func (r *rig) wrote(name, content string) uint64 {
	r.t.Helper()
	kind := change.Edit
	before, err := os.ReadFile(r.path(name))
	if err != nil {
		kind = change.Create
	}
	r.write(name, content)
	return r.view.Wrote(r.t.Context(), []change.File{{Kind: kind, Path: r.path(name), Before: before, After: []byte(content)}})
}

func (r *rig) want(client string) Want {
	return Want{
		View: r.view, Project: adapters.Project{Language: "sample", Root: r.root},
		Language: sample, Engine: r.engine, Client: client, Env: map[string]string{"PATH": os.Getenv("PATH")},
	}
}

func (r *rig) lease(client string) *Lease {
	r.t.Helper()
	l, err := r.sup.Lease(r.t.Context(), r.want(client))
	if err != nil {
		r.t.Fatalf("lease: %v", err)
	}
	r.t.Cleanup(l.Release)
	return l
}

// reconfigure changes what the next process of the fake server does.
func (r *rig) reconfigure(c lsptest.Config) {
	r.t.Helper()
	c.Journal, c.Extensions = r.journal, []string{".txt"}
	lsptest.CommandFile(r.t, r.config, c)
}

func (r *rig) state(l *Lease) lsptest.State {
	r.t.Helper()
	var s lsptest.State
	if err := l.Call(r.t.Context(), "fake/state", nil, &s); err != nil {
		r.t.Fatalf("fake/state: %v", err)
	}
	if len(s.Violations) > 0 {
		r.t.Errorf("the client broke the protocol: %v", s.Violations)
	}
	return s
}

// received returns the methods that servers got, in order; pid 0 means all servers.
func (r *rig) received(method string) []lsptest.Received {
	r.t.Helper()
	all, err := lsptest.ReadJournal(r.journal)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []lsptest.Received
	for _, m := range all {
		if m.Method == method {
			out = append(out, m)
		}
	}
	return out
}

// only returns the status of the one instance.
func (r *rig) only() Status {
	r.t.Helper()
	all := r.sup.Status()
	if len(all) != 1 {
		r.t.Fatalf("%d instances; want one", len(all))
	}
	return all[0]
}

// kill ends the server's process as somebody outside would.
func (r *rig) kill() {
	r.t.Helper()
	until(r.t, "a server to kill", func() bool {
		pid := r.only().PID
		return pid > 1 && syscall.Kill(pid, syscall.SIGKILL) == nil
	})
}

// stopProcess stops a process by SIGSTOP and waits until it stands still, which
// takes a while on a machine under load.
func stopProcess(t testing.TB, pid int) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("process %d", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the process to stop", func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, f := range tasks {
			b, err := os.ReadFile(f)
			if _, rest, _ := strings.Cut(string(b), ") "); err == nil && rest != "" && rest[0] != 'T' {
				return false
			}
		}
		return len(tasks) > 0
	})
}

// references asks for the references of the identifier at the start of a file,
// and returns them as "name:line:column".
func references(ctx context.Context, l *Lease, path string) ([]string, error) {
	var locations []protocol.Location
	err := l.Call(ctx, "textDocument/references", referencesAt(path), &locations)
	return places(locations), err
}

func referencesAt(path string) any {
	return map[string]any{
		"textDocument": map[string]any{"uri": lspclient.URI(path)},
		"position":     map[string]any{"line": 0, "character": 0},
		"context":      map[string]any{"includeDeclaration": true},
	}
}

func places(locations []protocol.Location) []string {
	out := []string{}
	for _, loc := range locations {
		path, err := lspclient.Path(loc.URI)
		if err != nil {
			path = err.Error()
		}
		out = append(out, fmt.Sprintf("%s:%d:%d", filepath.Base(path), loc.Range.Start.Line+1, loc.Range.Start.Character+1))
	}
	return out
}

// wantCode fails the test unless err carries the code, and returns its Error.
func wantCode(t testing.TB, err error, code api.Code) *api.Error {
	t.Helper()
	if got := api.CodeOf(err); got != code {
		t.Fatalf("error %v has code %q; want %s", err, got, code)
	}
	out, _ := err.(*api.Error)
	if out == nil {
		out = &api.Error{}
	}
	return out
}

func countFDs(t testing.TB) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		if runtime.GOOS != "linux" {
			return 0
		}
		t.Fatal(err)
	}
	return len(d)
}

// children returns our child processes, zombies among them.
func children(t testing.TB) (out []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == fmt.Sprint(os.Getpid()) {
			out = append(out, f)
		}
	}
	return out
}

// together runs f n times at once and waits.
func together(n int, f func(int)) {
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { f(k) })
	}
	wg.Wait()
}

func hashes(content string) text.Hash { return text.Sum([]byte(content)) }
