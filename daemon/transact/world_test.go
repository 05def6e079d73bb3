package transact

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/proc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shadow-exec" {
		validate.ShadowMain()
	}
	goleak.VerifyTestMain(m)
}

// world is a workspace with everything real below the pipeline; only the
// language is a toy whose build is a shell script.
type world struct {
	t     testing.TB
	root  string
	out   string // folder outside the workspace, for what scripts leave behind
	view  *view.View
	edit  *edit.Engine
	pipe  *Pipeline
	build string // the script
	limit time.Duration
}

// newWorld opens a workspace that holds the files. Without a shadow, builds run in place.
func newWorld(t testing.TB, shadow bool, files map[string]string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, out: t.TempDir(), build: "true"}
	for name, content := range files {
		w.write(name, content)
	}
	state := t.TempDir()
	ctx := context.WithoutCancel(t.Context())
	watcher, err := watch.Start(ctx, watch.Options{CookieDir: filepath.Join(state, "run")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watcher.Close() })
	if w.view, err = view.Open(ctx, view.Options{Root: root, Watcher: watcher}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.view.Close() })
	if w.edit, err = edit.Open(edit.Options{State: filepath.Join(state, "aura")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.edit.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	spawner, err := proc.NewSpawner(ctx, proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { spawner.Close() })
	o := validate.Options{Spawner: spawner, Dir: filepath.Join(state, "validate")}
	if shadow {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		env, err := exec.LookPath("env")
		if err != nil {
			t.Fatal(err)
		}
		// The race detector would have the helper wait for a second before it exits.
		o.Helper = []string{env, "GORACE=atexit_sleep_ms=0", exe, "shadow-exec"}
	}
	v, err := validate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.pipe = New(Options{Edit: w.edit, Validate: v})
	return w
}

// both runs a test with builds in the shadow and with builds in place.
func both(t *testing.T, files map[string]string, test func(t *testing.T, w *world, where string)) {
	t.Run(validate.InShadow, func(t *testing.T) {
		if runtime.GOOS == "linux" {
			test(t, newWorld(t, true, files), validate.InShadow)
		}
	})
	t.Run(validate.InPlace, func(t *testing.T) { test(t, newWorld(t, false, files), validate.InPlace) })
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	content, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// set is a change that gives files new contents.
func (w *world) set(files map[string]string) change.Set {
	var s change.Set
	for name, content := range files {
		s.Ops = append(s.Ops, change.Op{Kind: change.Create, Path: w.path(name), Content: []byte(content), Overwrite: true})
	}
	return s
}

// draft plans a change on the text as it is now.
func (w *world) draft(ctx context.Context, s change.Set) (*Draft, error) {
	seq, err := w.view.Barrier(ctx)
	if err != nil {
		return nil, err
	}
	snapshot := w.view.Snapshot(seq)
	return &Draft{Change: s, Snapshot: snapshot, Complete: true, Source: "server", NewSymbolID: "new", Build: func(_ context.Context, files []change.File) (validate.Request, error) {
		u := validate.Unit{Project: adapters.Project{Language: "toy", Root: w.root}, Builder: toy(w.build)}
		for _, f := range files {
			u.Changed = append(u.Changed, f.Path, f.Target())
		}
		return validate.Request{Units: []validate.Unit{u}, Env: append(os.Environ(), "OUT="+w.out)}, nil
	}}, nil
}

// request asks for a change, with the defaults of the contract.
func (w *world) request(s change.Set) Request {
	return Request{
		Operation: "rename", Mutation: api.Mutation{ValidateCompilation: true, RollbackOnError: true},
		View: w.view, Client: "test", Session: "s",
		Plan: func(ctx context.Context) (*Draft, error) { return w.draft(ctx, s) },
	}
}

func (w *world) run(req Request) (*api.EditResult, error) {
	if w.pipe.timeout != w.limit { // changes that run at once leave it alone
		w.pipe.timeout = w.limit
	}
	return w.pipe.Run(w.t.Context(), req)
}

// must runs a change that has to succeed.
func (w *world) must(req Request) *api.EditResult {
	w.t.Helper()
	res, err := w.run(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// refused runs a change that has to be refused with the code.
func (w *world) refused(req Request, code api.Code) *api.Error {
	w.t.Helper()
	res, err := w.run(req)
	return asRefusal(w.t, res, err, code)
}

func asRefusal(t testing.TB, res *api.EditResult, err error, code api.Code) *api.Error {
	t.Helper()
	e, ok := err.(*api.Error)
	if !ok || e.Code != code || res != nil {
		t.Fatalf("got %+v, %v, want %s", res, err, code)
	}
	return e
}

// toy builds with a script; each line path:line: message of its output is an error.
type toy string

var problem = regexp.MustCompile(`(?m)^([^:\s]+):(\d+): (.*)$`)

func (script toy) Checks(_ context.Context, _ adapters.Snapshot, p adapters.Project, _ []string) ([]adapters.Check, error) {
	return []adapters.Check{{Name: "build", Argv: []string{"sh", "-c", string(script)}, Dir: p.Root, Parse: func(output []byte, _ int) ([]adapters.Problem, error) {
		var found []adapters.Problem
		for _, m := range problem.FindAllStringSubmatch(string(output), -1) {
			line, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, err
			}
			found = append(found, adapters.Problem{Path: filepath.Join(p.Root, m[1]), Line: line, Message: m[3]})
		}
		return found, nil
	}}}, nil
}

// lint is a build in which every line that holds BAD is an error.
const lint = `found=$(grep -rn BAD --include='*.txt' . | sed 's/^\.\/\([^:]*:[0-9]*\):.*BAD *\([a-zA-Z]*\).*/\1: bad \2/'); test -z "$found" || { echo "$found"; exit 1; }`

// file is how a file looks; a change that was taken back must leave all of it
// but the time.
type file struct {
	Mode    fs.FileMode
	Inode   uint64
	Content string
}

// tree looks at all files of the workspace and their latest change.
func (w *world) tree() (files map[string]file, times map[string]time.Time) {
	w.t.Helper()
	files, times = make(map[string]file), make(map[string]time.Time)
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".aura" {
			return fs.SkipDir // where the journal keeps what was replaced
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		name := relative(w.root, path)
		files[name] = file{info.Mode(), info.Sys().(*syscall.Stat_t).Ino, string(content)}
		times[name] = info.ModTime()
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return files, times
}

// until waits for a condition, 10 seconds at most.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited 10 s for: %s", what)
		}
	}
}
