package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// turnReferences asks within a turn.
func turnReferences(ctx context.Context, t *Turn, path string) ([]string, error) {
	var locations []protocol.Location
	err := t.Call(ctx, "textDocument/references", referencesAt(path), &locations)
	return places(locations), err
}

func wantSkipped(t *testing.T, err error, says string) {
	t.Helper()
	var s *SkippedError
	if !errors.As(err, &s) || !strings.Contains(s.Reason, says) {
		t.Errorf("error %v; want it skipped because %q", err, says)
	}
}

// The promise of turns: whoever else asks, however often, sees only the real text.
func TestTurnIsSeenByNobodyElse(t *testing.T) {
	for name, pull := range map[string]bool{"pushed diagnostics": false, "pulled diagnostics": true} {
		t.Run(name, func(t *testing.T) {
			var events atomic.Int64
			r := newRig(t, lsptest.Config{Pull: pull}, twoFiles, func(o *Options, _ *adapters.Engine, _ *driver) {
				o.Event = func(_, _ string, e adapters.Event) {
					if e.Method == "textDocument/publishDiagnostics" && strings.Contains(string(e.Params), "ERROR") {
						events.Add(1)
					}
				}
			})
			if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte("the order in an editor\n")); err != nil {
				t.Fatal(err)
			}
			real := []string{"a.txt:1:1", "b.txt:1:5"}
			stop := make(chan struct{})
			var wg sync.WaitGroup
			var asked atomic.Int64
			for n := range 3 {
				l := r.lease(fmt.Sprint("other", n))
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						asked.Add(1)
						got, err := references(t.Context(), l, r.path("a.txt"))
						if err != nil {
							t.Error(err)
							return
						}
						if diff := cmp.Diff(real, got); diff != "" {
							t.Errorf("another client sees planned text (-want +got):\n%s", diff)
							return
						}
						if n == 0 {
							d, err := l.Diagnostics(t.Context(), r.path("b.txt"))
							if err != nil || len(d.Items) != 0 {
								t.Errorf("another client gets diagnostics of planned text: %v, %v", d.Items, err)
								return
							}
						}
					}
				})
			}
			mine := r.lease("planner")
			for round := range 10 {
				planned := map[string][]byte{
					r.path("a.txt"):   []byte("purchase one\n"),
					r.path("b.txt"):   []byte("ERROR the purchase\n"),
					r.path("new.txt"): []byte("purchase order\n"),
				}
				err := mine.Turn(t.Context(), Budget{Time: 10 * time.Second}, planned, func(turn *Turn) error {
					got, err := turnReferences(t.Context(), turn, r.path("a.txt"))
					if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:11", "new.txt:1:1"}, got); err != nil || diff != "" {
						t.Errorf("in the turn: %v (-want +got):\n%s", err, diff)
					}
					d, err := turn.Diagnostics(t.Context(), r.path("b.txt"))
					if err != nil || len(d.Items) != 1 {
						t.Errorf("diagnostics in the turn: %+v, %v", d.Items, err)
					}
					if text, err := turn.Text(t.Context(), r.path("b.txt")); err != nil || string(text) != "ERROR the purchase\n" {
						t.Errorf("text in the turn %q, %v", text, err)
					}
					return err
				})
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			close(stop)
			wg.Wait()
			if asked.Load() < 20 {
				t.Errorf("the others asked only %d times", asked.Load())
			}
			if events.Load() != 0 {
				t.Errorf("%d publications of planned text were forwarded", events.Load())
			}
			s := r.state(mine)
			if len(s.Documents) > 2 || s.Documents[r.path("b.txt")].Text != "the order in an editor\n" {
				t.Errorf("documents after the turns: %+v", s.Documents)
			}
			if _, open := s.Documents[r.path("new.txt")]; open {
				t.Error("a file that was only planned is still open")
			}
			if st := r.only(); st.Starts != 1 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestTurnIsSkippedWhereTheServerCannot(t *testing.T) {
	r := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, _ *adapters.Engine, d *driver) { d.over = adapters.Edits })
	l := r.lease("one")
	never := func(*Turn) error { t.Error("the function was called"); return nil }
	a, b := r.path("a.txt"), r.path("b.txt")
	wantSkipped(t, l.Turn(t.Context(), Budget{Files: 1}, map[string][]byte{a: []byte("x"), b: []byte("y")}, never), "2 files are more than the 1")
	wantSkipped(t, l.Turn(t.Context(), Budget{}, map[string][]byte{r.path("new.txt"): []byte("x")}, never), "do not exist yet")
	wantSkipped(t, l.Turn(t.Context(), Budget{Moves: true}, map[string][]byte{a: []byte("x")}, never), "a file moves")
	wantSkipped(t, l.Turn(t.Context(), Budget{}, map[string][]byte{a: nil}, never), "deleted")
	wantSkipped(t, l.Turn(t.Context(), Budget{}, map[string][]byte{r.path("go.mod"): []byte("x")}, never), "not a file")
	wantSkipped(t, l.Turn(t.Context(), Budget{}, map[string][]byte{a: []byte("\xff\xfe")}, never), "UTF-8")
	if len(r.state(l).Documents) != 0 {
		t.Error("documents are left open")
	}
	none := newRig(t, lsptest.Config{}, twoFiles, func(_ *Options, _ *adapters.Engine, d *driver) { d.over = 0 })
	wantSkipped(t, none.lease("one").Turn(t.Context(), Budget{}, map[string][]byte{none.path("a.txt"): []byte("x")}, never), "not on disk")
}

func TestTurnBudget(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Silent}}}, twoFiles)
	l := r.lease("one")
	r.state(l)
	began := time.Now()
	err := l.Turn(t.Context(), Budget{Time: 150 * time.Millisecond}, map[string][]byte{r.path("a.txt"): []byte("purchase\n")}, func(turn *Turn) error {
		return turn.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
	})
	wantSkipped(t, err, "within 150 ms")
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
	if got, err := references(t.Context(), l, r.path("a.txt")); err != nil || len(got) != 2 {
		t.Errorf("after the turn: %v, %v", got, err)
	}
	if s := r.only(); s.Starts != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestTurnYieldsToAnInteractiveRequest(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Silent}}}, twoFiles)
	l, editor := r.lease("one"), r.lease("editor")
	r.state(editor)
	began := time.Now()
	answered := make(chan error, 1)
	err := l.Turn(t.Context(), Budget{Time: time.Minute, Yield: true}, map[string][]byte{r.path("a.txt"): []byte("purchase\n")}, func(turn *Turn) error {
		go func() {
			got, err := references(t.Context(), editor, r.path("a.txt"))
			if err == nil && len(got) != 2 {
				err = fmt.Errorf("the editor sees %v", got)
			}
			answered <- err
		}()
		return turn.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
	})
	wantSkipped(t, err, "another request")
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the editor waited %v", took)
	}
}

func TestTurnRestoresAfterErrorAndPanic(t *testing.T) {
	r := newRig(t, lsptest.Config{Pull: true}, twoFiles)
	l := r.lease("one")
	mine := errors.New("mine")
	planned := map[string][]byte{r.path("a.txt"): []byte("purchase\n")}
	if err := l.Turn(t.Context(), Budget{}, planned, func(*Turn) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
	err := l.Turn(t.Context(), Budget{}, planned, func(*Turn) error { panic("a bug of the caller") })
	wantCode(t, err, api.Internal)
	ctx, cancel := context.WithCancel(t.Context())
	err = l.Turn(ctx, Budget{}, planned, func(*Turn) error { cancel(); return ctx.Err() })
	wantCode(t, err, api.Cancelled)
	if got, err := references(t.Context(), l, r.path("a.txt")); err != nil || len(got) != 2 {
		t.Errorf("after the turns: %v, %v", got, err)
	}
	if s := r.only(); s.Panics != 1 || s.Starts != 1 || s.Running != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestTurnInWhichTheServerDies(t *testing.T) {
	r := newRig(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Crash, Code: 4}}}, twoFiles)
	l := r.lease("one")
	err := l.Turn(t.Context(), Budget{}, map[string][]byte{r.path("a.txt"): []byte("purchase\n")}, func(turn *Turn) error {
		return turn.Call(t.Context(), "textDocument/hover", referencesAt(r.path("a.txt")), nil)
	})
	wantCode(t, err, api.ServerCrashed)
	got, err := references(t.Context(), l, r.path("a.txt"))
	if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:5"}, got); err != nil || diff != "" {
		t.Errorf("after the restart: %v (-want +got):\n%s", err, diff)
	}
	if s := r.only(); s.Starts != 2 {
		t.Errorf("status %+v", s)
	}
}

func TestTurnWhoseRestoringCannotBeProvenRestartsTheServer(t *testing.T) {
	r := newRig(t, lsptest.Config{Pull: true}, twoFiles)
	l := r.lease("one")
	pid := r.state(l).PID
	err := l.Turn(t.Context(), Budget{}, map[string][]byte{r.path("a.txt"): []byte("purchase\n")}, func(turn *Turn) error {
		stopProcess(t, pid)
		return nil
	})
	if err != nil {
		t.Errorf("what the turn found is lost: %v", err)
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:5"}, got); err != nil || diff != "" {
		t.Errorf("after the restart: %v (-want +got):\n%s", err, diff)
	}
	if s := r.only(); s.PID == pid || !strings.Contains(s.LastError, "could not be proven") {
		t.Errorf("status %+v", s)
	}
}

// What changes while a turn is on reaches the server after it.
func TestTurnDoesNotSwallowChanges(t *testing.T) {
	r := newRig(t, lsptest.Config{Pull: true}, twoFiles)
	l := r.lease("one")
	err := l.Turn(t.Context(), Budget{}, map[string][]byte{r.path("a.txt"): []byte("purchase\n")}, func(turn *Turn) error {
		r.wrote("b.txt", "order order\n")
		r.wrote("a.txt", "order three\n")
		if err := r.view.OpenBuffer("editor", r.path("c.txt"), 1, []byte("order in a buffer\n")); err != nil {
			t.Fatal(err)
		}
		return os.Remove(r.path("c.txt"))
	})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	got, err := references(t.Context(), l, r.path("a.txt"))
	if diff := cmp.Diff([]string{"a.txt:1:1", "b.txt:1:1", "b.txt:1:7", "c.txt:1:1"}, got); err != nil || diff != "" {
		t.Errorf("after the turn: %v (-want +got):\n%s", err, diff)
	}
}

func TestDiagnosticsFollowTheText(t *testing.T) {
	for name, pull := range map[string]bool{"pushed": false, "pulled": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lsptest.Config{Pull: pull}, map[string]string{"a.txt": "fine\n", "b.txt": "ERROR and ERROR\n"})
			l := r.lease("one")
			count := func(name string, want int) {
				t.Helper()
				d, err := l.Diagnostics(t.Context(), r.path(name))
				if err != nil || len(d.Items) != want {
					t.Errorf("%s: %d diagnostics, %v; want %d", name, len(d.Items), err, want)
				}
			}
			count("a.txt", 0)
			count("b.txt", 2)
			r.wrote("a.txt", "an ERROR\n")
			count("a.txt", 1)
			if err := r.view.OpenBuffer("editor", r.path("b.txt"), 1, []byte("mended\n")); err != nil {
				t.Fatal(err)
			}
			count("b.txt", 0)
		})
	}
}
