package supervise

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// configured makes the fake's command depend on a file of the project.
func configured(e *adapters.Engine, name string) {
	plain := e.Launch
	e.Launch = func(ctx context.Context, s adapters.Site) (adapters.Launch, error) {
		l, err := plain(ctx, s)
		if content, rerr := s.Read(s.Root + "/" + name); rerr == nil {
			l.Settings = map[string]any{"configured": string(content)}
		}
		return l, err
	}
}

// What the command of a server rests on may change: then the next answer is
// that of a server started anew, and the old one goes once nobody uses it.
func TestChangedInputsOfTheCommandReplaceTheServer(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) { configured(e, "sample.toml") })
	first := r.lease("one")
	pid := r.state(first).PID
	r.wrote("b.txt", "order\n") // no input
	same := r.lease("two")
	if got := r.state(same).PID; got != pid {
		t.Errorf("a change of a file that the command does not rest on gave process %d after %d", got, pid)
	}
	same.Release()
	for _, content := range []string{"strict = true\n", "strict = false\n"} { // made, then changed
		r.wrote("sample.toml", content)
		l := r.lease("two")
		now := r.state(l).PID
		if now == pid {
			t.Errorf("after %q the old process answers", content)
		}
		if again := r.lease("three"); r.state(again).PID != now {
			t.Error("the next lease has another process")
		} else {
			again.Release()
		}
		l.Release()
		pid = now
	}
	if s := r.state(first); s.PID == pid {
		t.Error("the lease from before has changed its server")
	}
	first.Release()
	until(t, "the replaced servers to be gone", func() bool { return len(r.sup.Status()) == 1 && r.only().PID == pid })
}

// No log tells of a program that was installed or an environment that was made
// meanwhile; it is noticed all the same.
func TestChangedCommandIsNoticed(t *testing.T) {
	marker := t.TempDir() + "/environment"
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, e *adapters.Engine, _ *driver) {
		o.Limits.Resolve = time.Millisecond
		plain := e.Launch
		e.Launch = func(ctx context.Context, s adapters.Site) (adapters.Launch, error) {
			l, err := plain(ctx, s)
			if _, serr := os.Stat(marker); serr == nil {
				l.Named = map[string]string{"ENVIRONMENT": marker}
			}
			return l, err
		}
	})
	l := r.lease("one")
	pid := r.state(l).PID
	l.Release()
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "another process", func() bool {
		l := r.lease("one")
		defer l.Release()
		return r.state(l).PID != pid
	})
	until(t, "the old server to be gone", func() bool { return len(r.sup.Status()) == 1 })
}

// A project keeps its server when others join it, and the server then takes
// their documents too.
func TestNewMembersAreServed(t *testing.T) {
	r := newRig(t, lsptest.Config{}, map[string]string{"a/a.txt": "order\n", "b/b.txt": "order\n"})
	w := r.want("one")
	w.Project = adapters.Project{Language: "sample", Root: r.path("a"), Marker: r.path("a/mark")}
	if err := r.view.OpenBuffer("one", r.path("b/b.txt"), 1, []byte("unsaved order\n")); err != nil {
		t.Fatal(err)
	}
	l, err := r.sup.Lease(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	before := r.state(l)
	l.Release()
	w.Project.Members = []string{r.path("a"), r.path("b")}
	l, err = r.sup.Lease(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	after := r.state(l)
	if after.PID != before.PID || len(before.Documents) != 0 || len(after.Documents) != 1 {
		t.Errorf("process %d with %v open, then %d with %v; want the same with the new member's buffer", before.PID, before.Documents, after.PID, after.Documents)
	}
}

// A project that is gone loses its server, once nobody uses it.
func TestRetainGivesUpVanishedProjects(t *testing.T) {
	r := newRig(t, lsptest.Config{}, map[string]string{"a/a.txt": "order\n", "b/b.txt": "order\n"})
	lease := func(name string) *Lease {
		t.Helper()
		w := r.want("one")
		w.Project.Root = r.path(name)
		l, err := r.sup.Lease(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	a, b := lease("a"), lease("b")
	r.sup.Retain(r.view, func(language, root string) bool { return language == "sample" && root == r.path("a") })
	if n := len(r.sup.Status()); n != 2 {
		t.Fatalf("%d instances while both are in use", n)
	}
	a.Release()
	b.Release()
	until(t, "the server of the vanished project to be gone", func() bool { return len(r.sup.Status()) == 1 })
	if s := r.only(); s.Root != r.path("a") {
		t.Errorf("the server of %s was kept", s.Root)
	}
}

// Everything by which instances differ keeps them apart, and nothing else does:
// the project's root, the view of a workspace, the named environment.
func TestInstancesAreKeptApart(t *testing.T) {
	r := newRig(t, lsptest.Config{}, map[string]string{"a/a.txt": "order\n", "b/b.txt": "order\n"})
	worktree, err := os.MkdirTemp(t.TempDir(), "worktree")
	if err != nil {
		t.Fatal(err)
	}
	other := openView(t, worktree)
	defer func() {
		if err := r.sup.Forget(t.Context(), other); err != nil {
			t.Error(err)
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	lease := func(v *view.View, root, client, flags string) int {
		t.Helper()
		w := r.want(client)
		w.View, w.Project.Root = v, root
		w.Env["SAMPLEFLAGS"], w.Env["UNNAMED"] = flags, client
		l, err := r.sup.Lease(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		return r.state(l).PID
	}
	pids := []int{
		lease(r.view, r.path("a"), "one", ""),
		lease(r.view, r.path("b"), "one", ""),
		lease(other, worktree, "one", ""),
		lease(r.view, r.path("a"), "two", "-tags=x"),
	}
	if got := lease(r.view, r.path("a"), "three", ""); got != pids[0] {
		t.Errorf("a client that differs in nothing named got process %d, want %d", got, pids[0])
	}
	slices.Sort(pids)
	if len(slices.Compact(pids)) != 4 {
		t.Errorf("processes %v; want four", pids)
	}
}

// An engine that the user has disabled is as if it were not there.
func TestDisabledEngineIsNotStarted(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
		o.Disabled = func(engine string) bool { return engine == "fake" }
	})
	_, err := r.sup.Lease(t.Context(), r.want("one"))
	out := wantCode(t, err, api.ServerUnavailable)
	if !Missing(err) || !strings.Contains(out.Message, "servers.fake.disabled") || len(r.spawner.Processes()) != 0 {
		t.Errorf("%v (missing: %v) with %d processes", err, Missing(err), len(r.spawner.Processes()))
	}
}

// The command that a lease would run can be had without starting it.
func TestResolveStartsNothing(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	launch, now, err := r.sup.Resolve(t.Context(), r.want("one"))
	if err != nil || now.State != "absent" || len(launch.Argv) == 0 || len(r.spawner.Processes()) != 0 {
		t.Errorf("%+v, %+v, %v with %d processes", launch, now, err, len(r.spawner.Processes()))
	}
	l := r.lease("one")
	pid := r.state(l).PID
	if _, now, err = r.sup.Resolve(t.Context(), r.want("two")); err != nil || now.State != "ready" || now.PID != pid {
		t.Errorf("%+v, %v; want the running process %d", now, err, pid)
	}
}

// Packages are installed where no log tells of them: the next answer is that of
// a server which has read them, and one that is asked during an installation is
// not started again and again.
func TestWhatLiesBesideTheProjectIsReadAgain(t *testing.T) {
	packages := t.TempDir() + "/packages"
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, e *adapters.Engine, _ *driver) {
		o.Limits.Renew = time.Hour
		plain := e.Launch
		e.Launch = func(ctx context.Context, s adapters.Site) (adapters.Launch, error) {
			l, err := plain(ctx, s)
			l.Beside = []string{packages}
			return l, err
		}
	})
	ask := func() (pid int, whole bool) {
		t.Helper()
		l := r.lease("one")
		defer l.Release()
		pid = r.state(l).PID
		whole, _ = l.Complete()
		return pid, whole
	}
	first, _ := ask()
	if again, whole := ask(); again != first || !whole {
		t.Errorf("process %d after %d (complete: %v) although nothing has changed", again, first, whole)
	}
	if err := os.Mkdir(packages, 0o755); err != nil {
		t.Fatal(err)
	}
	second, whole := ask()
	if second == first || !whole {
		t.Errorf("process %d after %d (complete: %v) once packages are there", second, first, whole)
	}
	if err := os.Mkdir(packages+"/more", 0o755); err != nil {
		t.Fatal(err)
	}
	if third, whole := ask(); third != second || whole {
		t.Errorf("process %d after %d (complete: %v) while packages are being installed", third, second, whole)
	}
	if s := r.only(); s.Crashes != 0 || s.Starts != 2 {
		t.Errorf("status %+v", s)
	}
}
