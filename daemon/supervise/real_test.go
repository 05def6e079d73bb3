package supervise

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// realDriver is the little that these tests need to know of the real server.
type realDriver struct{ driver }

func (d *realDriver) Configure(string, string) any { return map[string]any{"pullDiagnostics": true} }
func (d *realDriver) Probe() (string, any)         { return "workspace/symbol", map[string]any{"query": ""} }

// newRealRig is a module of two files and the real server.
func newRealRig(t testing.TB, adjust ...func(*Options, *adapters.Engine, *driver)) *rig {
	t.Helper()
	bin := lsptest.Gopls(t)
	adjust = append([]func(*Options, *adapters.Engine, *driver){func(o *Options, e *adapters.Engine, _ *driver) {
		o.Limits = Limits{Restart: Restart{First: 10 * time.Millisecond}}
		e.Launch = func(_ context.Context, s adapters.Site) (adapters.Launch, error) {
			return adapters.Launch{
				Argv: []string{bin, "serve"}, Dir: s.Root, Root: s.Root, Env: append(os.Environ(), "GOWORK=off"),
				Settings: map[string]any{"pullDiagnostics": true},
			}, nil
		}
		e.New = func(adapters.Launch) adapters.Driver {
			return &realDriver{driver{waits: true, over: adapters.Edits | adapters.Creates | adapters.Moves}}
		}
	}}, adjust...)
	return newRig(t, lsptest.Config{}, map[string]string{
		"go.mod":  "module example.com/m\n\ngo 1.21\n",
		"a.go":    "package m\n\ntype Order struct{}\n",
		"b.go":    "package m\n\nfunc Use() *Order { return &Order{} }\n",
		"c/c.go":  "package c\n\nimport \"example.com/m\"\n\nvar X m.Order\n",
		"doc.txt": "Order\n",
	}, adjust...)
}

var goLanguage = adapters.Language{ID: "go", Extensions: []string{".go"}, LanguageID: map[string]string{".go": "go"}}

func (r *rig) realLease(client string) *Lease {
	r.t.Helper()
	w := r.want(client)
	w.Language = goLanguage
	l, err := r.sup.Lease(r.t.Context(), w)
	if err != nil {
		r.t.Fatalf("lease: %v", err)
	}
	r.t.Cleanup(l.Release)
	return l
}

func orderReferences(ctx context.Context, l *Lease, r *rig) ([]string, error) {
	var locations []protocol.Location
	err := l.Call(ctx, "textDocument/references", orderParams(r), &locations)
	return places(locations), err
}

func orderParams(r *rig) any {
	return map[string]any{
		"textDocument": map[string]any{"uri": lspclient.URI(r.path("a.go"))},
		"position":     map[string]any{"line": 2, "character": 5},
		"context":      map[string]any{"includeDeclaration": true},
	}
}

var orders = []string{"a.go:3:6", "b.go:3:13", "b.go:3:29", "c.go:5:9"}

func wantOrders(t *testing.T, l *Lease, r *rig) {
	t.Helper()
	got, err := orderReferences(t.Context(), l, r)
	if diff := cmp.Diff(orders, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if ok, why := l.Complete(); !ok {
		t.Errorf("incomplete: %s", why)
	}
}

// slack is for noticing a death and starting a process.
const slack = time.Second

func TestReal_P03_KilledServerAnswersWithinItsColdTime(t *testing.T) {
	// Other tests may take the machine away once, but hardly three times.
	for try := 1; ; try++ {
		cold, killed := coldAndKilled(t)
		if killed <= cold+slack {
			return
		}
		if try == 3 {
			t.Fatalf("the answer took %v after a kill; cold it took %v", killed, cold)
		}
	}
}

// coldAndKilled times the first answer of a server and, after a kill, that of
// the next.
func coldAndKilled(t *testing.T) (coldTime, took time.Duration) {
	t.Helper()
	r := newRealRig(t)
	cold := time.Now()
	l := r.realLease("one")
	wantOrders(t, l, r)
	coldTime = time.Since(cold)
	warm := time.Now()
	wantOrders(t, l, r)
	t.Logf("cold %v, warm %v", coldTime, time.Since(warm))
	r.kill()
	killed := time.Now()
	wantOrders(t, l, r)
	took = time.Since(killed)
	t.Logf("after SIGKILL %v", took)
	if s := r.only(); s.Starts != 2 || s.Crashes != 1 || !strings.HasPrefix(s.Version, "v0.") || len(s.Version) > 20 {
		t.Errorf("status %+v", s)
	}
	return coldTime, took
}

func TestReal_P16_StoppedServer(t *testing.T) {
	const deadline = 2 * time.Second
	r := newRealRig(t, func(_ *Options, e *adapters.Engine, _ *driver) {
		e.Deadline = map[string]time.Duration{"textDocument/references": deadline}
	})
	l := r.realLease("one")
	wantOrders(t, l, r)
	stopProcess(t, r.only().PID)
	began := time.Now()
	_, err := orderReferences(t.Context(), l, r)
	took := time.Since(began)
	if err == nil {
		t.Fatalf("answered after %v; status %+v", took, r.only())
	}
	out := wantCode(t, err, api.ServerTimeout)
	if took < deadline || took > deadline+500*time.Millisecond {
		t.Errorf("the error came after %v; stated are %v", took, deadline)
	}
	if !strings.Contains(out.Message, "started again") {
		t.Errorf("message %q", out.Message)
	}
	wantOrders(t, l, r)
}

func TestReal_TurnIsSeenByNobodyElse(t *testing.T) {
	r := newRealRig(t)
	mine := r.realLease("planner")
	wantOrders(t, mine, r)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	asked := 0
	other := r.realLease("other")
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			asked++
			got, err := orderReferences(t.Context(), other, r)
			if diff := cmp.Diff(orders, got); err != nil || diff != "" {
				t.Errorf("another client: %v (-want +got):\n%s", err, diff)
				return
			}
			d, err := other.Diagnostics(t.Context(), r.path("b.go"))
			if err != nil || len(d.Items) != 0 {
				t.Errorf("another client's diagnostics: %v, %v", d.Items, err)
				return
			}
		}
	})
	planned := map[string][]byte{
		r.path("a.go"):   []byte("package m\n\n\n\ntype Purchase struct{}\n"),
		r.path("new.go"): []byte("package m\n\nvar p Purchase\n"),
	}
	for range 10 {
		err := mine.Turn(t.Context(), Budget{Time: 20 * time.Second}, planned, func(turn *Turn) error {
			d, err := turn.Diagnostics(t.Context(), r.path("b.go"))
			if err != nil || len(d.Items) == 0 || !strings.Contains(fmt.Sprint(d.Items[0].Message), "Order") {
				t.Errorf("diagnostics in the turn: %+v, %v", d.Items, err)
			}
			var locations []protocol.Location
			err = turn.Call(t.Context(), "textDocument/references", map[string]any{
				"textDocument": map[string]any{"uri": lspclient.URI(r.path("a.go"))},
				"position":     map[string]any{"line": 4, "character": 5},
				"context":      map[string]any{"includeDeclaration": true},
			}, &locations)
			if diff := cmp.Diff([]string{"a.go:5:6", "new.go:3:7"}, places(locations)); err != nil || diff != "" {
				t.Errorf("references in the turn: %v (-want +got):\n%s", err, diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if asked < 5 {
		t.Errorf("the other client asked only %d times", asked)
	}
	wantOrders(t, mine, r)
	if s := r.only(); s.Starts != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestReal_FollowsDiskAndBuffers(t *testing.T) {
	r := newRealRig(t)
	l := r.realLease("one")
	wantOrders(t, l, r)
	r.wrote("d.go", "package m\n\nvar d Order\n")
	got, err := orderReferences(t.Context(), l, r)
	if diff := cmp.Diff([]string{"a.go:3:6", "b.go:3:13", "b.go:3:29", "c.go:5:9", "d.go:3:7"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := r.view.OpenBuffer("editor", r.path("d.go"), 1, []byte("package m\n")); err != nil {
		t.Fatal(err)
	}
	wantOrders(t, l, r)
	r.kill()
	wantOrders(t, l, r) // the buffer is replayed
	if err := r.view.CloseBuffer("editor", r.path("d.go")); err != nil {
		t.Fatal(err)
	}
	if got, err := orderReferences(t.Context(), l, r); err != nil || len(got) != 5 {
		t.Errorf("%v, %v", got, err)
	}
}
