package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/watch"
)

// storm is a repository that is switched between two states while it is asked.
type storm struct {
	t    *testing.T
	root string

	mu    sync.Mutex // guards spans
	spans []span     // what was on disk when, in order
}

// span is a time in which the files were those of one state, or of both.
type span struct {
	states   string // "a", "b" or "ab"
	from, to time.Time
}

const stormFiles = 300

func newStorm(t *testing.T) *storm {
	s := &storm{t: t, root: t.TempDir()}
	s.git("init", "-q", "-b", "a")
	s.write("a")
	s.git("commit", "-qm", "a")
	s.git("checkout", "-qb", "b")
	s.write("b")
	s.git("commit", "-qm", "b")
	s.spans = []span{{states: "b", from: time.Now()}}
	return s
}

func (s *storm) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", s.root, "-c", "user.name=t", "-c", "user.email=t@t", "-c", "gc.auto=0"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// write makes the files of a state: each declares a function that the other
// state calls otherwise; every tenth is in one of the states only.
func (s *storm) write(state string) {
	s.t.Helper()
	for i := range stormFiles {
		path := filepath.Join(s.root, fmt.Sprintf("p%d", i%20), fmt.Sprintf("f%d.go", i))
		if i%10 == 0 && state == "b" {
			if err := os.Remove(path); err != nil {
				s.t.Fatal(err)
			}
			path = filepath.Join(filepath.Dir(path), fmt.Sprintf("only_b%d.go", i))
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		text := fmt.Sprintf("package p\n\nfunc In_%s_%d() {}\n\nfunc Both_%d() { In_%s_%d() }\n", state, i, i, state, i)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.git("add", "-A")
}

// turn switches to a state.
func (s *storm) turn(state string) {
	s.enter("ab")
	s.git("checkout", "-q", state)
	s.enter(state)
}

func (s *storm) enter(states string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.spans[len(s.spans)-1].to = now
	s.spans = append(s.spans, span{states: states, from: now})
}

// during returns the states that were there at some time between two.
func (s *storm) during(from, to time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := ""
	for _, sp := range s.spans {
		if sp.from.Before(to) && (sp.to.IsZero() || sp.to.After(from)) {
			out += sp.states
		}
	}
	return out
}

// ask asks for both names of a file, and holds the answer to what was there.
func (s *storm) ask(ws *workbench.Workspace, i int) error {
	from := time.Now()
	session, err := ws.Begin(s.t.Context(), workbench.Caller{})
	if err != nil {
		return err
	}
	defer session.Close()
	count := func(name string) (int, error) {
		found, err := session.Reader().ByName(s.t.Context(), name)
		return len(found), err
	}
	a, errA := count(fmt.Sprintf("In_a_%d", i))
	b, errB := count(fmt.Sprintf("In_b_%d", i))
	both, errBoth := count(fmt.Sprintf("Both_%d", i))
	if err := errors.Join(errA, errB, errBoth); err != nil {
		return err
	}
	there := s.during(from, time.Now())
	switch {
	case a > 1 || b > 1 || both > 2:
		return fmt.Errorf("file %d is there twice: %d, %d, %d", i, a, b, both)
	case a > 0 && !strings.Contains(there, "a"), b > 0 && !strings.Contains(there, "b"):
		return fmt.Errorf("file %d: %d of a and %d of b, though there was %q", i, a, b, there)
	case !strings.Contains(there, "b") && (a != 1 || both != 1), !strings.Contains(there, "a") && (b != 1 || both != 1):
		return fmt.Errorf("file %d: %d of a, %d of b, %d of both are not what there was all the time: %q", i, a, b, both, there)
	}
	return nil
}

// F05: a repository is switched back and forth while clients ask. Every answer
// is right for something that was there between asking and answering.
func TestF05SwitchingBranchesWhileClientsAsk(t *testing.T) {
	s := newStorm(t)
	watcher, err := watch.Start(t.Context(), watch.Options{CookieDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := watcher.Close(); err != nil {
			t.Error(err)
		}
	}()
	o := workbench.Options{Root: s.root, Watcher: watcher, Languages: registry.Languages(), Cache: t.TempDir()}
	ws, err := workbench.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var mu sync.Mutex
	var wrong []string
	answers := 0
	for n := range 4 {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 5))
			for ctx.Err() == nil {
				<-time.After(time.Millisecond) // git needs a processor too
				err := s.ask(ws, r.IntN(stormFiles))
				mu.Lock()
				answers++
				if err != nil && len(wrong) < 10 {
					wrong = append(wrong, err.Error())
				}
				mu.Unlock()
			}
		})
	}
	for n := range 50 {
		s.turn([]string{"a", "b"}[n%2])
		<-time.After(time.Duration(n%5) * 10 * time.Millisecond) // some switches follow each other at once
	}
	stop()
	clients.Wait()
	if len(wrong) > 0 || answers < 50 {
		t.Errorf("of %d answers these were wrong: %s", answers, strings.Join(wrong, "\n"))
	}
	t.Logf("%d answers", answers)

	// What was saved of all that is right as well, and so is what is read of it.
	for _, state := range []string{"b", "a"} {
		verify(t, ws)
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
		s.turn(state)
		if ws, err = workbench.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		for i := range stormFiles {
			if err := s.ask(ws, i); err != nil {
				t.Error(err)
			}
		}
	}
	verify(t, ws)
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
}

// verify compares an index with a new reading of its files.
func verify(t *testing.T, ws *workbench.Workspace) {
	t.Helper()
	session, err := ws.Begin(t.Context(), workbench.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	found, err := session.VerifyIndex(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	if have := ws.Indexed(); have.Files != stormFiles || len(have.Failed) > 0 {
		t.Errorf("%+v", have)
	}
}
