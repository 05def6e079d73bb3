package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestP10_P11_P12_CloseLeavesNothing(t *testing.T) {
	r := newRig(t, lsptest.Config{IgnoreTerm: true, IgnoreEOF: true, Grandchild: true, Setsid: true, HoldStdout: true}, twoFiles)
	l := r.lease("one")
	r.state(l)
	l.Release()
	mark := r.spawner.Processes()[0].Mark()
	until(t, "the grandchild to run", func() bool { return len(carriers(t, mark)) == 2 })
	began := time.Now()
	if err := r.sup.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
	if left := carriers(t, mark); len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// Servers that have to be killed are, side by side.
func TestP10_CloseStopsAllAtOnce(t *testing.T) {
	r := newRig(t, lsptest.Config{IgnoreTerm: true, IgnoreEOF: true}, twoFiles)
	for _, flags := range []string{"a", "b", "c", "d", "e"} {
		w := r.want("c")
		w.Env["SAMPLEFLAGS"] = flags
		l, err := r.sup.Lease(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		r.state(l)
		l.Release()
	}
	began := time.Now()
	if err := r.sup.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	// One takes 1 s to ask, as the fake ignores exit, and 0.6 s for the rest of the ladder.
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("closing five took %v", took)
	}
}

func TestP10_CloseInAHurryKills(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Hang}}}, twoFiles)
	failed := make(chan error, 1)
	go func() {
		_, err := r.sup.Lease(context.Background(), r.want("one"))
		failed <- err
	}()
	until(t, "the handshake", func() bool { return len(r.received("initialize")) == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if err := r.sup.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("closing took %v", took)
	}
	wantCode(t, <-failed, api.ServerUnavailable)
}

// A server that has missed more than the log keeps begins anew.
func TestMirrorStartsOverWhenTheLogIsShort(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	if err := r.view.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := view.Open(t.Context(), view.Options{Root: r.root, KeepEntries: 4})
	if err != nil {
		t.Fatal(err)
	}
	r.view = v
	l := r.lease("one")
	pid := r.state(l).PID
	for n := range 20 {
		r.wrote(fmt.Sprintf("f%02d.txt", n), "order\n")
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 22 {
		t.Errorf("%d places, %v; want 22", len(got), err)
	}
	if s := r.only(); s.PID == pid || s.Crashes != 0 {
		t.Errorf("status %+v", s)
	}
}

// carriers returns the processes with an instance mark.
func carriers(t *testing.T, mark string) (out []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(b), mark) {
			out = append(out, f)
		}
	}
	return out
}

func TestP14_ManyRestartsLeaveNothing(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	n := 30
	for k := range n {
		l := r.lease("one")
		r.state(l)
		if k%2 == 0 {
			r.kill()
			r.sup.all()[0].mu.Lock()
			r.sup.all()[0].crashes = nil
			r.sup.all()[0].mu.Unlock()
		} else {
			r.sup.Restart(r.root, "fake")
		}
		l.Release()
	}
	if s := r.only(); s.Starts < n/2 {
		t.Errorf("%d starts", s.Starts)
	}
	// That nothing is left is what the rig checks at its end.
}

func TestP16_StoppedServerGivesTypedErrorWithinTheDeadline(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) {
		e.Deadline = map[string]time.Duration{"": 400 * time.Millisecond}
	})
	l := r.lease("one")
	pid := r.state(l).PID
	stopProcess(t, pid)
	began := time.Now()
	_, err := references(t.Context(), l, r.path("a.txt"))
	wantCode(t, err, api.ServerTimeout)
	if took := time.Since(began); took > 700*time.Millisecond {
		t.Errorf("took %v; the deadline is 400 ms", took)
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 2 {
		t.Errorf("the next request: %v, %v", got, err)
	}
	if s := r.only(); s.Crashes != 1 || s.PID == pid {
		t.Errorf("status %+v", s)
	}
}

func TestP19_ReplacedProgramIsReadAgain(t *testing.T) {
	r := newRig(t, lsptest.Config{Version: "1", Encoding: "utf-16"}, twoFiles)
	l := r.lease("one")
	r.state(l)
	if l.Encoding().String() != "utf-16" || r.only().Version != "1" {
		t.Fatalf("encoding %s, version %s", l.Encoding(), r.only().Version)
	}
	r.reconfigure(lsptest.Config{Version: "2", Encoding: "utf-8", Pull: true})
	r.kill()
	until(t, "the restart", func() bool { return r.only().Starts == 2 })
	r.state(l)
	if l.Encoding().String() != "utf-8" || r.only().Version != "2" || !l.Supports("textDocument/diagnostic") {
		t.Errorf("encoding %s, version %s after the restart", l.Encoding(), r.only().Version)
	}
}

func TestP21_PanickingDriverDoesNotEndTheDaemon(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Notify, Text: "fake/boom"}}}, twoFiles,
		func(_ *Options, _ *adapters.Engine, d *driver) { d.panic = "fake/boom" })
	l := r.lease("one")
	if err := l.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil); err != nil {
		t.Fatal(err)
	}
	r.state(l)
	if s := r.only(); s.Panics != 1 {
		t.Errorf("%d panics are counted", s.Panics)
	}
}

func TestP21_PanickingAdapterFailsTheRequestOnly(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, _ *adapters.Engine, d *driver) { d.panic = "mirror" })
	l := r.lease("one")
	r.state(l)
	r.wrote("a.txt", "other\n")
	for range 2 {
		_, err := references(t.Context(), l, r.path("a.txt"))
		wantCode(t, err, api.Internal)
	}
	if s := r.only(); s.Panics != 2 || s.Running != 0 || s.State != "ready" {
		t.Errorf("status %+v", s)
	}
	broken := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, e *adapters.Engine, _ *driver) {
		e.New = func(adapters.Launch) adapters.Driver { panic("adapter") }
	})
	_, err := broken.sup.Lease(t.Context(), broken.want("one"))
	wantCode(t, err, api.Internal)
}

func TestOverloadedClientDoesNotTouchOthers(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/references", Do: lsptest.Silent}}}, twoFiles,
		func(o *Options, e *adapters.Engine, _ *driver) { o.Limits.Client, e.InFlight = 3, 1 })
	l := r.lease("greedy")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		together(4, func(int) { _, _ = references(ctx, l, r.path("a.txt")) })
	}()
	until(t, "the queue to fill", func() bool { s := r.only(); return s.Queued == 3 && s.Running == 1 })
	_, err := references(t.Context(), l, r.path("a.txt"))
	wantCode(t, err, api.Overloaded)
	other := r.lease("other")
	answered := make(chan error, 1)
	go func() {
		answered <- other.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
	}()
	until(t, "the other to wait", func() bool { return r.only().Queued == 4 })
	cancel()
	<-done
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := len(r.received("textDocument/references")); n != 1 {
		t.Errorf("%d requests of cancelled waiters were sent; want only the one in flight", n)
	}
}

func TestBadFramesAreACrash(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "textDocument/references", Do: lsptest.Raw, Text: "Content-Length: nonsense\r\n\r\n", Once: once},
	}}, twoFiles)
	l := r.lease("one")
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if s := r.only(); s.Starts != 2 || s.Crashes != 1 {
		t.Errorf("status %+v", s)
	}
	var ended *lspclient.EndedError
	if errors.As(err, &ended) {
		t.Error("a raw connection error reaches the caller")
	}
}
