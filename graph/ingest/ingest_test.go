package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func three(t *testing.T) *world {
	w := newWorld(t)
	w.set("/w/a", "one two", "1")
	w.set("/w/b", "three", "1")
	w.set("/w/sub/c", "four", "1")
	return w
}

func TestARestartReadsOnlyWhatChanged(t *testing.T) {
	w := three(t)
	every := []string{"/w/a", "/w/b", "/w/sub/c"}
	l := w.begin().all()
	l.check(every, every)
	l.end()
	l = w.begin().all()
	l.check(nil, nil)
	l.end()

	w.set("/w/b", "changed", "2")
	w.set("/w/d", "new", "1")
	delete(w.files, "/w/a")
	l = w.begin().all()
	l.check([]string{"/w/b", "/w/d"}, []string{"/w/b", "/w/d"})
	l.end()

	w.set("/w/b", "changed", "3") // touched
	l = w.begin().all()
	l.check([]string{"/w/b"}, nil)
	l.end()
	l = w.begin().all()
	l.check(nil, nil)
	if st := l.store.Status(); st.Loaded != 3 {
		t.Errorf("the store holds %d files, want 3: what is gone must not stay", st.Loaded)
	}
}

// C09: what another program, language version or place made is not used.
func TestC09OtherMaker(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"build":     func(w *world) { w.build = "another" },
		"extractor": func(w *world) { w.spec.Version = "2" },
	} {
		t.Run(name, func(t *testing.T) {
			w := three(t)
			w.begin().all().end()
			change(w)
			l := w.begin().all()
			l.check([]string{"/w/a", "/w/b", "/w/sub/c"}, []string{"/w/a", "/w/b", "/w/sub/c"})
		})
	}
	w := three(t)
	w.begin().all().end()
	l := w.begin()
	s := l.source("/w/a")
	s.Place.Project = "sub"
	l.g.Add([]index.Source{s}, false)
	l.wait()
	if got, err := l.index.InFile(t.Context(), "/w/a"); err != nil || len(got) != 2 || got[0].Project != "sub" {
		t.Errorf("%v, %v", got, err)
	}
}

// F06: an equal stamp from the racy window proves nothing; the content decides.
func TestF06EqualStampInTheRacyWindow(t *testing.T) {
	w := newWorld(t)
	w.set("/w/a", "one", "") // young: its stamp proves nothing
	w.begin().all().end()
	w.set("/w/a", "two", "1") // changed within the same tick, seen as old now
	l := w.begin().all()
	l.check([]string{"/w/a"}, []string{"/w/a"})
	l.end()

	// The other way round: what is racy now is read, whatever was kept.
	w.set("/w/a", "six", "")
	l = w.begin().all()
	l.check([]string{"/w/a"}, []string{"/w/a"})
	l.end()
	w.set("/w/a", "six", "2")
	l = w.begin().all()
	l.check([]string{"/w/a"}, nil) // read once more, and now proven
	l.end()
	l = w.begin().all()
	l.check(nil, nil)
}

func TestUnsavedTextIsNotKept(t *testing.T) {
	w := newWorld(t)
	w.set("/w/a", "saved", "1")
	w.begin().all().end()
	w.files["/w/a"] = fileOf{text: "unsaved", owned: true}
	l := w.begin().all()
	l.check([]string{"/w/a"}, []string{"/w/a"})
	l.end()
	w.set("/w/a", "saved", "1")
	l = w.begin().all()
	l.check(nil, nil)
}

func TestWhatIsGoneOrBrokenLeavesIndexAndStore(t *testing.T) {
	w := three(t)
	l := w.begin().all()
	w.set("/w/a", "broken", "2")
	delete(w.files, "/w/b")
	l.some("/w/a", "/w/b")
	if diff := cmp.Diff([]string{"/w/sub/c"}, l.index.Paths()); diff != "" {
		t.Error(diff)
	}
	if f := l.index.Failed(); len(f) != 1 || f["/w/a"] == nil {
		t.Errorf("failed: %v", f)
	}
	l.end()
	l = w.begin()
	l.g.Add(nil, false)
	if entries, err := l.store.Entries(t.Context()); err != nil || len(entries) != 1 {
		t.Errorf("%d entries are kept, %v", len(entries), err)
	}
}

func TestTheFileThatIsAskedAboutComesFirst(t *testing.T) {
	w := newWorld(t)
	w.hold = make(chan struct{})
	var sources []index.Source
	l := w.begin()
	for i := range 100 {
		p := fmt.Sprintf("/w/%03d", i)
		w.set(p, "word", "1")
		sources = append(sources, l.source(p))
	}
	l.g.Add(sources, false)
	asked := make(chan error, 1)
	go func() { asked <- l.g.First(t.Context(), "/w/099") }()
	for range 3 { // two that were begun, and the one asked about
		w.hold <- struct{}{}
	}
	for done := false; !done; {
		select {
		case err := <-asked:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		case w.hold <- struct{}{}: // a worker was faster
		}
	}
	if !l.index.Has("/w/099") {
		t.Error("it was not looked at")
	}
	if left := l.g.Pending(); left < 50 {
		t.Errorf("only %d of 100 files wait: others came first", left)
	}
	close(w.hold)
	l.wait()
	if l.index.Files() != 100 {
		t.Errorf("%d files", l.index.Files())
	}
}

func TestWaitingTellsHowFarItIsAndEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.hold = make(chan struct{})
	l := w.begin()
	w.set("/w/a", "one", "1")
	w.set("/w/b", "two", "1")
	l.g.Add([]index.Source{l.source("/w/a"), l.source("/w/b")}, false)
	ctx, cancel := context.WithCancel(t.Context())
	told := ""
	err := l.g.Wait(ctx, l.g.Mark(), func(done, total int) {
		told = fmt.Sprintf("%d of %d", done, total)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || told != "0 of 2" {
		t.Errorf("%v, told %q", err, told)
	}
	close(w.hold)
	l.wait()
	if err := l.g.Wait(t.Context(), ingest.Mark{}, nil); err != nil {
		t.Error(err)
	}
}

// It is told when nothing waits any more: after a first index, when all was
// kept, and after a change.
func TestTellsWhenItIsDone(t *testing.T) {
	w := three(t)
	last := func(when string) {
		t.Helper()
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.told) == 0 || w.told[len(w.told)-1] != 0 {
			t.Errorf("%s: told %v", when, w.told)
		}
		w.told = nil
	}
	l := w.begin().all()
	l.end()
	last("all are new")
	l = w.begin().all()
	last("all are kept")
	w.set("/w/a", "changed", "9")
	l.some("/w/a")
	l.end()
	last("one was changed")
}

func TestCloseBreaksOff(t *testing.T) {
	w := newWorld(t)
	w.hold = make(chan struct{}, 1000)
	l := w.begin()
	var sources []index.Source
	for i := range 500 {
		p := fmt.Sprintf("/w/%d", i)
		w.set(p, "word", "1")
		sources = append(sources, l.source(p))
	}
	l.g.Add(sources, true)
	mark := l.g.Mark()
	waited := make(chan error, 1)
	go func() { waited <- l.g.Wait(context.Background(), mark, nil) }()
	w.hold <- struct{}{}
	closed := make(chan struct{})
	go func() { l.g.Close(); close(closed) }()
	for done := false; !done; {
		select {
		case <-closed:
			done = true
		case w.hold <- struct{}{}:
		}
	}
	if err := <-waited; !errors.Is(err, ingest.ErrClosed) {
		t.Errorf("%v", err)
	}
	if n := l.index.Files(); n == 500 {
		t.Error("nothing was broken off")
	}
}

// C06: after thousands of random edits, restarts and rereads the index says
// what a clean one does.
func TestC06RandomEditsEqualACleanRebuild(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	l := w.begin().all()
	stamp := 0
	for range 10_000 {
		p := fmt.Sprintf("/w/d%d/f%d", r.IntN(5), r.IntN(40))
		stamp++
		switch n := r.IntN(100); {
		case n < 60:
			st := fmt.Sprint(stamp)
			if r.IntN(4) == 0 {
				st = "" // racy
			}
			w.set(p, strings.Repeat("word ", r.IntN(4))+fmt.Sprint("w", r.IntN(50)), st)
			l.g.Add([]index.Source{l.source(p)}, false)
		case n < 80:
			w.mu.Lock()
			delete(w.files, p)
			w.mu.Unlock()
			l.g.Add([]index.Source{l.source(p)}, false)
		case n < 90:
			if err := l.g.First(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		case n < 98:
			l.wait()
		case n == 98 && r.IntN(4) == 0:
			l.end()
			l = w.begin().all()
		case n == 99 && r.IntN(4) == 0:
			l.all()
		}
	}
	l.wait()
	l.same()
	l.end()
	l = w.begin().all()
	l.same()
}

// same compares the index with a new one by every question that it answers.
func (l *life) same() {
	t := l.w.t
	t.Helper()
	clean := index.New()
	var sources []index.Source
	for p := range l.w.files {
		sources = append(sources, l.source(p))
	}
	if err := clean.Refresh(t.Context(), sources, l.w.readText); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(clean.Paths(), l.index.Paths()); diff != "" {
		t.Fatal(diff)
	}
	if clean.Len() != l.index.Len() {
		t.Errorf("%d symbols, want %d", l.index.Len(), clean.Len())
	}
	for i := range 50 {
		name := fmt.Sprint("w", i)
		want, err := clean.ByName(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.index.ByName(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, s := range want {
			byID, err := l.index.ByID(t.Context(), s.ID)
			if err != nil || !slices.ContainsFunc(byID, func(g graph.Symbol) bool { return g.Path == s.Path }) {
				t.Errorf("%s of %s is not found by its id: %v", name, s.Path, err)
			}
		}
	}
	found, err := l.g.Verify(t.Context(), sources, nil)
	if err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	w := three(t)
	w.set("/w/e", "fine", "1")
	l := w.begin().all()
	w.set("/w/a", "one other", "2") // nobody told the index
	w.set("/w/new", "x", "1")
	delete(w.files, "/w/b")
	var sources []index.Source
	for p := range w.files {
		sources = append(sources, l.source(p))
	}
	found, err := l.g.Verify(t.Context(), sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range found {
		got[filepath.Base(d.Path)] = d.Detail
	}
	want := map[string]string{
		"a": "the index has another content", "b": "the index has it, the workspace does not", "new": "the index does not have it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
