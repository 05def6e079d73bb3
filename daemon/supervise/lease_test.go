package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

var twoFiles = map[string]string{"a.txt": "order one\n", "b.txt": "the order two\n"}

func TestLeaseStartsOneServerAndShares(t *testing.T) {
	r := newRig(t, lsptest.Config{Version: "3"}, twoFiles)
	together(8, func(n int) {
		l, err := r.sup.Lease(t.Context(), r.want(fmt.Sprint(n)))
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Release()
		got, err := references(t.Context(), l, r.path("a.txt"))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:5"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if ok, why := l.Complete(); !ok {
			t.Errorf("incomplete: %s", why)
		}
	})
	s := r.only()
	if s.State != "ready" || s.Starts != 1 || s.Leases != 0 || s.PID == 0 || s.Memory == 0 || s.Server != "fake" || s.Version != "3" || !s.Complete {
		t.Errorf("status %+v", s)
	}
}

func TestInstancesAreKeyedByNamedEnvironment(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	pids := map[int]bool{}
	for _, flags := range []string{"", "-tags=a", "", "-tags=a"} {
		w := r.want("c")
		w.Env["SAMPLEFLAGS"] = flags
		w.Env["OTHER"] = fmt.Sprint(len(pids), flags) // not declared: makes no difference
		l, err := r.sup.Lease(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		pids[r.state(l).PID] = true
		l.Release()
	}
	if len(pids) != 2 || len(r.sup.Status()) != 2 {
		t.Errorf("%d servers for two environments", len(pids))
	}
}

// A path that finds the same program is the same instance.
func TestInstancesAreSharedWhenTheCommandIsTheSame(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	for _, path := range []string{"/bin", "/usr/bin"} {
		w := r.want("c")
		w.Env["PATH"] = path
		l, err := r.sup.Lease(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		l.Release()
	}
	r.only()
}

func TestMirrorFollowsTheView(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	ask := func(want ...string) {
		t.Helper()
		got, err := references(t.Context(), l, r.path("a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	ask("a.txt:1:1", "b.txt:1:5")
	r.wrote("c.txt", "\n\norder\n")
	ask("a.txt:1:1", "b.txt:1:5", "c.txt:3:1")
	r.wrote("b.txt", "nothing\n")
	ask("a.txt:1:1", "c.txt:3:1")

	if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte("order order\n")); err != nil {
		t.Fatal(err)
	}
	ask("a.txt:1:1", "b.txt:1:1", "b.txt:1:7", "c.txt:3:1")
	if err := r.view.ChangeBuffer("editor", r.path("b.txt"), 2, []byte("an order\n")); err != nil {
		t.Fatal(err)
	}
	ask("a.txt:1:1", "b.txt:1:4", "c.txt:3:1")
	if err := r.view.CloseBuffer("editor", r.path("b.txt")); err != nil {
		t.Fatal(err)
	}
	ask("a.txt:1:1", "c.txt:3:1")
	if docs := r.state(l).Documents; len(docs) != 0 {
		t.Errorf("documents are left open: %v", docs)
	}
}

func TestTextIsWhatTheServerHad(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Text(t.Context(), r.path("b.txt")); err != nil || string(got) != twoFiles["b.txt"] {
		t.Errorf("text %q, %v", got, err)
	}
	seq := r.wrote("b.txt", "moved the order\n")
	if got, err := l.Text(t.Context(), r.path("b.txt")); err != nil || string(got) != twoFiles["b.txt"] {
		t.Errorf("text within the same answer %q, %v; want what the server had", got, err)
	}
	r.wrote("a.txt", "moved, too\n")
	if _, err := l.Text(t.Context(), r.path("a.txt")); !errors.Is(err, ErrMoved) {
		t.Errorf("text of a file that moved before it was looked at: %v; want ErrMoved", err)
	}
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Text(t.Context(), r.path("b.txt")); err != nil || string(got) != "moved the order\n" || l.Seq() < seq {
		t.Errorf("text after another request %q, %v, seq %d of %d", got, err, l.Seq(), seq)
	}
}

func TestCallOnDoesNotSendWhenTheTextMoved(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	base := map[string]text.Hash{r.path("a.txt"): hashes(twoFiles["a.txt"])}
	var raw json.RawMessage
	if err := l.CallOn(t.Context(), base, "textDocument/references", referencesAt(r.path("a.txt")), &raw); err != nil {
		t.Fatal(err)
	}
	r.wrote("a.txt", "an order\n")
	before := len(r.received("textDocument/references"))
	if err := l.CallOn(t.Context(), base, "textDocument/references", referencesAt(r.path("a.txt")), &raw); !errors.Is(err, ErrMoved) {
		t.Errorf("error %v; want ErrMoved", err)
	}
	if n := len(r.received("textDocument/references")); n != before {
		t.Errorf("%d requests were sent", n-before)
	}
}

func TestOpenKeepsDocumentsByUse(t *testing.T) {
	files := map[string]string{}
	for n := range 6 {
		files[fmt.Sprintf("f%d.txt", n)] = "x\n"
	}
	r := newRig(t, lsptest.Config{}, files, func(o *Options, _ *adapters.Engine, _ *driver) { o.Limits.Open = 3 })
	l := r.lease("one")
	open := func(names ...string) {
		t.Helper()
		var paths []string
		for _, n := range names {
			paths = append(paths, r.path(n))
		}
		if err := l.Open(t.Context(), paths); err != nil {
			t.Fatal(err)
		}
	}
	opened := func() (names []string) {
		for path := range r.state(l).Documents {
			names = append(names, filepath.Base(path))
		}
		slices.Sort(names)
		return names
	}
	open("f0.txt", "f1.txt", "f2.txt")
	open("f0.txt")
	open("f3.txt")
	if diff := cmp.Diff([]string{"f0.txt", "f2.txt", "f3.txt"}, opened()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	open("f1.txt", "f2.txt", "f3.txt", "f4.txt", "f5.txt") // more than may stay: all of them for now
	if n := len(opened()); n != 5 {
		t.Errorf("%d are open; want the five that were asked for", n)
	}
	r.wrote("f5.txt", "changed\n")
	if got := r.state(l).Documents[r.path("f5.txt")].Text; got != "changed\n" {
		t.Errorf("an open document has %q after a change on disk", got)
	}
	open("f3.txt", "../outside.txt", "Makefile")
	if n := len(opened()); n != 5 {
		t.Errorf("%d are open after files that are none of the server's", n)
	}
	sent := len(r.received("textDocument/didOpen"))
	open("f3.txt", "f4.txt")
	if n := len(r.received("textDocument/didOpen")); n != sent {
		t.Errorf("%d documents were opened again", n-sent)
	}
}

func TestP18_LeaseWaitsWhileProgressMoves(t *testing.T) {
	r := newRig(t, lsptest.Config{Loading: lsptest.Loading{Millis: 900, Reports: 8}}, twoFiles,
		func(o *Options, _ *adapters.Engine, _ *driver) { o.Limits.Warm = 400 * time.Millisecond })
	var said atomic.Pointer[[]string]
	said.Store(&[]string{})
	w := r.want("one")
	w.Waiting = func(s string) { list := append(slices.Clone(*said.Load()), s); said.Store(&list) }
	l, err := r.sup.Lease(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if ok, why := l.Complete(); !ok {
		t.Errorf("incomplete although loading ended: %s", why)
	}
	if s := r.only(); s.Crashes != 0 || s.Starts != 1 || s.State != "ready" {
		t.Errorf("status %+v", s)
	}
	if all := strings.Join(*said.Load(), "; "); !strings.Contains(all, "fake: loading the sample") {
		t.Errorf("the wait said %q", all)
	}
}

func TestP18_LoadingWithoutProgressIsFlagged(t *testing.T) {
	r := newRig(t, lsptest.Config{Loading: lsptest.Loading{Never: true, Empty: true}}, twoFiles,
		func(o *Options, _ *adapters.Engine, _ *driver) { o.Limits.Warm = 150 * time.Millisecond })
	l := r.lease("one")
	if ok, _ := l.Complete(); ok {
		t.Error("complete before anything was asked")
	}
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if ok, why := l.Complete(); ok || why != "fake: loading the sample" {
		t.Errorf("complete %v (%q); an answer of a server that never finished loading is not whole", ok, why)
	}
	began := time.Now()
	second := r.lease("two")
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("a second lease waited %v for what the first had given up", took)
	}
	if _, err := references(t.Context(), second, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if ok, _ := second.Complete(); ok {
		t.Error("the second lease is complete")
	}
}

// Some servers load anew when a file comes: nothing is asked until they are done.
func TestP18_CallWaitsForAReload(t *testing.T) {
	end := json.RawMessage(`{"token":"reload","value":{"kind":"end"}}`)
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "workspace/didChangeWatchedFiles", Do: lsptest.Notify, Text: "$/progress", JSON: end, Times: 2},
	}}, twoFiles, func(o *Options, _ *adapters.Engine, d *driver) {
		d.reloads = true
		o.Limits.Warm = 300 * time.Millisecond
	})
	l := r.lease("one")
	for n := range 2 {
		r.wrote(fmt.Sprintf("new%d.txt", n), "order\n")
		got, err := references(t.Context(), l, r.path("a.txt"))
		if err != nil || len(got) != 3+n {
			t.Errorf("%v, %v; want the new file in the answer", got, err)
		}
		if ok, why := l.Complete(); !ok {
			t.Errorf("incomplete: %s", why)
		}
	}
	r.wrote("new2.txt", "order\n") // and this time it never ends
	began := time.Now()
	if _, err := references(t.Context(), l, r.path("a.txt")); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 200*time.Millisecond || took > 3*time.Second {
		t.Errorf("took %v; the wait for progress is 300 ms", took)
	}
	if ok, _ := l.Complete(); ok {
		t.Error("complete although the reload did not end")
	}
}

func TestPartialLeaseDoesNotWait(t *testing.T) {
	r := newRig(t, lsptest.Config{Loading: lsptest.Loading{Never: true, Empty: true}}, twoFiles)
	w := r.want("one")
	w.Partial = true
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	l, err := r.sup.Lease(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := references(ctx, l, r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	if ok, _ := l.Complete(); ok {
		t.Error("complete")
	}
}

func TestCancelledAndTimedOutCallers(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/references", Do: lsptest.Silent}}}, twoFiles)
	l := r.lease("one")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := references(ctx, l, r.path("a.txt"))
	wantCode(t, err, api.Timeout)
	ctx, cancel = context.WithCancel(t.Context())
	defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	_, err = references(ctx, l, r.path("a.txt"))
	wantCode(t, err, api.Cancelled)
	until(t, "both requests to be cancelled at the server", func() bool { return len(r.received("$/cancelRequest")) == 2 })
	if s := r.only(); s.Starts != 1 || s.Queued != 0 || s.Running != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestServerRefusalsPassThrough(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "textDocument/rename", Do: lsptest.Refuse, Code: -32602, Text: "cannot rename this"},
		{On: "textDocument/references", Do: lsptest.Refuse, Code: -32801, Text: "content modified", Times: 3},
	}}, twoFiles)
	l := r.lease("one")
	var refused *lspclient.CallError
	err := l.Call(t.Context(), "textDocument/rename", referencesAt(r.path("a.txt")), nil)
	if !errors.As(err, &refused) || refused.Message != "cannot rename this" {
		t.Errorf("error %v; want the server's own", err)
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v; want the answer after three times ContentModified", got, err)
	}
	if n := len(r.received("textDocument/references")); n != 4 {
		t.Errorf("asked %d times; want 4", n)
	}
}

func TestCommandCapturesEditsAndIsAlone(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	edit := map[string]any{"changes": map[string]any{
		string(lspclient.URI(r.path("a.txt"))): []any{map[string]any{
			"range":   map[string]any{"start": map[string]int{"line": 0, "character": 0}, "end": map[string]int{"line": 0, "character": 5}},
			"newText": "purchase",
		}},
	}}
	edits, err := l.Command(t.Context(), "fake.applyEdit", []any{edit}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(edits) != 1 || len(edits[0].Changes) != 1 {
		t.Errorf("captured %+v", edits)
	}
	if _, err := l.Command(t.Context(), "fake.other", nil, nil); err == nil {
		t.Error("an unknown command succeeded")
	}
}

func TestIdleServerIsStoppedAndComesBack(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) { o.Limits.Idle = 60 * time.Millisecond })
	l := r.lease("one")
	first := r.state(l).PID
	l.Release()
	until(t, "the idle server to be stopped", func() bool { return r.only().State == "absent" })
	if n := len(r.received("shutdown")); n != 1 {
		t.Errorf("%d shutdown requests; want a polite stop", n)
	}
	if s := r.only(); s.Crashes != 0 {
		t.Errorf("a stop on purpose counts as a crash: %+v", s)
	}
	again := r.lease("one")
	if second := r.state(again).PID; second == first {
		t.Error("the same process answers")
	}
}

func TestForgetStopsTheServersOfAView(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	l := r.lease("one")
	r.state(l)
	if err := r.sup.Forget(t.Context(), r.view); err != nil {
		t.Fatal(err)
	}
	if n := len(r.sup.Status()); n != 0 {
		t.Errorf("%d instances are left", n)
	}
	_, err := references(t.Context(), l, r.path("a.txt"))
	wantCode(t, err, api.ServerUnavailable)
}

func TestLeaseAfterClose(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles)
	if err := r.sup.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := r.sup.Lease(t.Context(), r.want("one"))
	wantCode(t, err, api.ServerUnavailable)
}

func TestInstanceLimitEvictsTheUnused(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) { o.Limits.Instance = 2 })
	lease := func(flags string) (*Lease, error) {
		w := r.want("c")
		w.Env["SAMPLEFLAGS"] = flags
		return r.sup.Lease(t.Context(), w)
	}
	a, err := lease("a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := lease("b")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lease("c")
	wantCode(t, err, api.Overloaded)
	a.Release()
	c, err := lease("c")
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	c.Release()
	until(t, "the evicted server to be gone", func() bool { return len(r.spawner.Processes()) == 2 })
}
