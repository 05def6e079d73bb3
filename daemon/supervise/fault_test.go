package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestP01_MissingNotExecutableOrExitsAtOnce(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'component missing: run rustup' >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		launch func(adapters.Site) (adapters.Launch, error)
		says   []string
	}{
		"not found": {func(adapters.Site) (adapters.Launch, error) {
			return adapters.Launch{}, errors.New("fake is not in PATH")
		}, []string{"fake is not in PATH"}},
		"missing":        {launchOf("/nonexistent/fake"), []string{"no such file"}},
		"not executable": {launchOf(plain), []string{"permission denied"}},
		"exits at once":  {launchOf(broken), []string{"exit status 3", "component missing: run rustup"}},
		"no server":      {launchOf("/bin/echo", "hello"), []string{"exit status 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) {
				e.Launch = func(_ context.Context, s adapters.Site) (adapters.Launch, error) { return c.launch(s) }
			})
			began := time.Now()
			_, err := r.sup.Lease(t.Context(), r.want("one"))
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v; want under a second", took)
			}
			out := wantCode(t, err, api.ServerUnavailable)
			for _, s := range append(c.says, "to install it: make fake", "make fake") {
				if !strings.Contains(out.Message, s) {
					t.Errorf("%q does not say %q", out.Message, s)
				}
			}
			details, _ := out.Details.(ServerDetails)
			if details.Server != "fake" || details.Install != "make fake" {
				t.Errorf("details %+v", out.Details)
			}
			if name == "exits at once" && !strings.Contains(details.Stderr, "component missing") {
				t.Errorf("details have stderr %q", details.Stderr)
			}
		})
	}
}

func launchOf(argv ...string) func(adapters.Site) (adapters.Launch, error) {
	return func(s adapters.Site) (adapters.Launch, error) {
		return adapters.Launch{Argv: argv, Dir: s.Root, Root: s.Root, Env: os.Environ()}, nil
	}
}

// A program that was missing is used as soon as it is there.
func TestP01_InstalledLater(t *testing.T) {
	missing := true
	r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) {
		launch := e.Launch
		e.Launch = func(ctx context.Context, s adapters.Site) (adapters.Launch, error) {
			l, err := launch(ctx, s)
			if missing {
				l.Argv = []string{"/nonexistent/fake"}
			}
			return l, err
		}
	})
	_, err := r.sup.Lease(t.Context(), r.want("one"))
	wantCode(t, err, api.ServerUnavailable)
	missing = false
	r.state(r.lease("one"))
}

func TestP02_CrashBeforeInitializeReply(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "start", Do: lsptest.Stderr, Text: "cannot read settings\n"},
		{On: "initialize", Do: lsptest.Crash, Code: 9},
	}}, twoFiles)
	var failed atomic.Int32
	var first atomic.Pointer[string]
	together(10, func(n int) {
		_, err := r.sup.Lease(t.Context(), r.want(fmt.Sprint(n)))
		if api.CodeOf(err) != api.ServerUnavailable {
			t.Errorf("error %v", err)
			return
		}
		text := err.Error()
		first.CompareAndSwap(nil, &text)
		failed.Add(1)
	})
	if got := *first.Load(); !strings.Contains(got, "exit status 9") || !strings.Contains(got, "cannot read settings") {
		t.Errorf("%q does not say how it ended", got)
	}
	s := r.only()
	if failed.Load() != 10 || s.Crashes != 1 && s.Crashes != 2 {
		t.Errorf("%d of 10 failed, %d crashes counted; waiters of one start share its failure", failed.Load(), s.Crashes)
	}
	r.reconfigure(lsptest.Config{})
	r.state(r.lease("later"))
}

func TestP03_CrashWithRequestsInFlight(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "textDocument/references", Do: lsptest.Late, Millis: 30, Times: 3},
		{On: "textDocument/references", Do: lsptest.Crash, Code: 7, Once: once},
	}}, twoFiles)
	r.state(r.lease("warm"))
	if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte("order and order\n")); err != nil {
		t.Fatal(err)
	}
	together(100, func(n int) {
		l, err := r.sup.Lease(t.Context(), r.want(fmt.Sprint(n%7)))
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Release()
		got, err := references(t.Context(), l, r.path("a.txt"))
		if err != nil {
			t.Errorf("request %d: %v", n, err)
			return
		}
		// The buffer was opened again in the new process.
		if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:1", "b.txt:1:11"}, got); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", n, diff)
		}
	})
	s := r.only()
	if s.Crashes != 1 || s.Starts != 2 || !strings.Contains(s.LastError, "exit status 7") {
		t.Errorf("status %+v", s)
	}
}

func TestP03_WritesAreNeverRetried(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "initialized", Do: lsptest.Stderr, Text: "nil dereference\n"},
		{On: "workspace/executeCommand", Do: lsptest.Crash, Code: 2},
	}}, twoFiles)
	l := r.lease("one")
	r.state(l)
	began := time.Now()
	_, err := l.Command(t.Context(), "fake.applyEdit", []any{map[string]any{}}, nil)
	out := wantCode(t, err, api.ServerCrashed)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the failure took %v", took)
	}
	if d, _ := out.Details.(ServerDetails); d.Exit != "exit status 2" {
		t.Errorf("details %+v", out.Details)
	}
	if n := len(r.received("workspace/executeCommand")); n != 1 {
		t.Errorf("the command was sent %d times", n)
	}
	r.state(l) // and the lease goes on with a new process
}

// A request that ends the server each time is refused after its second death,
// and does not take the server from others.
func TestP05_PoisonRequest(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Crash, Code: 2}}}, twoFiles)
	l := r.lease("one")
	for range 3 {
		err := l.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
		wantCode(t, err, api.ServerCrashed)
	}
	if n := len(r.received("textDocument/hover")); n != 2 {
		t.Errorf("it was sent %d times; want 2", n)
	}
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Error(err)
	}
	if s := r.only(); s.State != "ready" || s.Crashes != 2 {
		t.Errorf("status %+v", s)
	}
}

func TestP05_PoisonDocumentIsQuarantined(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/didOpen", Path: "b.txt", Do: lsptest.Crash, Code: 2}}}, twoFiles)
	l := r.lease("one")
	r.state(l)
	if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte("order, poison\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "an answer in spite of the poisonous document", func() bool {
		_, err := references(t.Context(), l, r.path("a.txt"))
		return err == nil
	})
	if n := len(r.received("textDocument/didOpen")); n != 2 {
		t.Errorf("the document was sent %d times; want 2", n)
	}
	if s := r.only(); s.State != "ready" || s.Crashes != 2 {
		t.Errorf("status %+v", s)
	}
}

func TestP04_FailedAfterFiveUntilAsked(t *testing.T) {
	other := newRig(t, lsptest.Config{}, twoFiles)
	fine := other.lease("other")
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Crash, Code: 1}}}, twoFiles)
	for range 5 {
		_, err := r.sup.Lease(t.Context(), r.want("one"))
		wantCode(t, err, api.ServerUnavailable)
	}
	until(t, "the instance to fail", func() bool { return r.only().State == "failed" })
	began := time.Now()
	_, err := r.sup.Lease(t.Context(), r.want("one"))
	out := wantCode(t, err, api.ServerUnavailable)
	if took := time.Since(began); took > 50*time.Millisecond || !strings.Contains(out.Message, "ended 5 times within 5 minutes") {
		t.Errorf("after %v: %s", took, out.Message)
	}
	other.state(fine) // nobody else is touched
	r.reconfigure(lsptest.Config{})
	if n := len(r.sup.Restart(r.root, "")); n != 1 {
		t.Errorf("%d instances were asked to restart", n)
	}
	r.state(r.lease("one"))
	if s := r.only(); s.Starts != 6 || s.State != "ready" {
		t.Errorf("status %+v", s)
	}
}

func TestP04_FailedIsTriedAgainAfterTheWindow(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Crash, Code: 1}}}, twoFiles,
		func(o *Options, _ *adapters.Engine, _ *driver) {
			o.Limits.Restart = Restart{First: time.Millisecond, Max: time.Millisecond, Crashes: 2, Window: 800 * time.Millisecond}
		})
	for range 2 {
		_, err := r.sup.Lease(t.Context(), r.want("one"))
		wantCode(t, err, api.ServerUnavailable)
	}
	until(t, "the instance to fail", func() bool { return r.only().State == "failed" })
	r.reconfigure(lsptest.Config{})
	until(t, "another try", func() bool {
		l, err := r.sup.Lease(t.Context(), r.want("one"))
		if err == nil {
			l.Release()
		}
		return err == nil
	})
}

func TestP06_SilentButBusyServer(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/references", Do: lsptest.Silent}}}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) {
		e.Deadline = map[string]time.Duration{"textDocument/references": 200 * time.Millisecond}
	})
	l := r.lease("one")
	pid := r.state(l).PID
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { // somebody else gets answers meanwhile
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = l.Call(context.Background(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
			}
		}
	}()
	began := time.Now()
	_, err := references(t.Context(), l, r.path("a.txt"))
	took := time.Since(began)
	close(stop)
	<-done
	wantCode(t, err, api.ServerTimeout)
	if took < 200*time.Millisecond || took > 600*time.Millisecond {
		t.Errorf("the error came after %v; the deadline is 200 ms", took)
	}
	until(t, "the cancel request", func() bool { return len(r.received("$/cancelRequest")) == 1 })
	if got := r.state(l).PID; got != pid {
		t.Error("a server that answers others was killed")
	}
}

func TestP06_HungServerIsKilledAndRestarted(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/references", Do: lsptest.Hang, Once: once}}}, twoFiles,
		func(_ *Options, e *adapters.Engine, _ *driver) {
			e.Deadline = map[string]time.Duration{"": 300 * time.Millisecond}
		})
	l := r.lease("one")
	pid := r.state(l).PID
	began := time.Now()
	_, err := references(t.Context(), l, r.path("a.txt"))
	out := wantCode(t, err, api.ServerTimeout)
	if took := time.Since(began); took > 600*time.Millisecond {
		t.Errorf("the error came after %v; the deadline is 300 ms", took)
	}
	if !strings.Contains(out.Message, "textDocument/references within 300 ms") || !strings.Contains(out.Message, "started again") {
		t.Errorf("message %q", out.Message)
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 2 {
		t.Errorf("after the restart: %v, %v", got, err)
	}
	if r.state(l).PID == pid {
		t.Error("the hung process was not replaced")
	}
	if s := r.only(); !strings.Contains(s.LastError, "stopped answering") {
		t.Errorf("last error %q", s.LastError)
	}
}

// A server that only talks, and does not even answer the probe.
func TestP06_ProbeFindsATalkingCorpse(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/references", Do: lsptest.Hang}}}, twoFiles,
		func(_ *Options, e *adapters.Engine, _ *driver) {
			e.Deadline = map[string]time.Duration{"": 200 * time.Millisecond}
		})
	l := r.lease("one")
	pid := r.state(l).PID
	g := r.sup.all()[0].gen
	talked := make(chan struct{})
	go func() { // as if it wrote something, until it is dead
		defer close(talked)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for !isClosed(g.dead) {
			<-tick.C
			g.stream.read.Add(1)
		}
	}()
	_, err := references(t.Context(), l, r.path("a.txt"))
	wantCode(t, err, api.ServerTimeout)
	until(t, "the probe to find it out", func() bool { return syscall.Kill(pid, 0) != nil })
	<-talked
	r.state(l)
	if s := r.only(); !strings.Contains(s.LastError, "probe") {
		t.Errorf("last error %q", s.LastError)
	}
}

func TestP07_ServerThatStopsReading(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.StopReading, Once: once}}}, twoFiles,
		func(_ *Options, e *adapters.Engine, _ *driver) {
			e.Deadline = map[string]time.Duration{"": 400 * time.Millisecond}
		})
	l := r.lease("one")
	r.state(l)
	if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte(strings.Repeat("x", 256<<10)+"\norder\n")); err != nil {
		t.Fatal(err)
	}
	err := l.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
	wantCode(t, err, api.ServerTimeout)
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 2 {
		t.Errorf("after the restart: %d places, %v", len(got), err)
	}
}
