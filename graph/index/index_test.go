package index_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/syntax"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is a set of files in which each word declares a symbol, one that begins
// with "_" a local one; what stands behind a colon is its base.
type disk struct {
	mu     sync.Mutex
	files  map[string]string
	parsed int
	spec   *syntax.Spec
}

func newDisk() *disk {
	d := &disk{files: map[string]string{}}
	d.spec = &syntax.Spec{Parse: func(path string, content []byte) (*syntax.Tree, error) {
		d.mu.Lock()
		d.parsed++
		d.mu.Unlock()
		if strings.Contains(string(content), "broken") {
			return nil, errors.New("broken")
		}
		t := &syntax.Tree{Path: path}
		at := 0
		for _, w := range strings.Split(string(content), " ") {
			s := graph.Span{Start: at, End: at + len(w)}
			name, base, based := strings.Cut(w, ":")
			sym := graph.Symbol{Name: name, Qualified: name, Path: path, NameSpan: s, Decl: s, Local: strings.HasPrefix(w, "_")}
			if based {
				sym.Bases = []string{base}
			}
			t.Symbols = append(t.Symbols, sym)
			at = s.End + 1
		}
		return t, nil
	}}
	return d
}

func (d *disk) read(_ context.Context, path string) ([]byte, index.Hash, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.files[path]
	if !ok {
		return nil, index.Hash{}, fs.ErrNotExist
	}
	return []byte(text), sha256.Sum256([]byte(text)), nil
}

func (d *disk) refresh(t *testing.T, x *index.Index, paths ...string) {
	t.Helper()
	var list []index.Source
	for _, p := range paths {
		list = append(list, index.Source{Path: p, Spec: d.spec, Place: syntax.Place{Language: "w", Project: "."}})
	}
	if err := x.Refresh(t.Context(), list, d.read); err != nil {
		t.Fatal(err)
	}
}

func places(t *testing.T, x *index.Index, name string) []string {
	t.Helper()
	list, err := x.ByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, s := range list {
		out = append(out, fmt.Sprintf("%s:%d", s.Path, s.NameSpan.Start))
		byID, err := x.ByID(t.Context(), s.ID)
		if err != nil || len(byID) == 0 {
			t.Errorf("%s is not found by its id %s: %v", name, s.ID, err)
		}
	}
	return out
}

func TestRefresh(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files = map[string]string{"/a": "one two one", "/b": "two three", "/c": "broken"}
	d.refresh(t, x, "/a", "/b", "/c", "/gone")
	if diff := gocmp.Diff([]string{"/a:0", "/a:8"}, places(t, x, "one")); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]string{"/a:4", "/b:0"}, places(t, x, "two")); diff != "" {
		t.Error(diff)
	}
	if f := x.Failed(); len(f) != 1 || f["/c"] == nil {
		t.Errorf("failed: %v", f)
	}
	if diff := gocmp.Diff([]string{"/a", "/b"}, x.Paths()); diff != "" {
		t.Error(diff)
	}

	before := d.parsed
	d.refresh(t, x, "/a", "/b")
	if d.parsed != before {
		t.Errorf("%d files were parsed again without a change", d.parsed-before)
	}
	d.files["/a"], d.files["/c"] = "three", "whole"
	delete(d.files, "/b")
	d.refresh(t, x, "/a", "/b", "/c")
	for name, want := range map[string][]string{"one": {}, "two": {}, "three": {"/a:0"}, "whole": {"/c:0"}} {
		if diff := gocmp.Diff(want, places(t, x, name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if len(x.Failed()) != 0 || x.Len() != 2 {
		t.Errorf("failed %v, %d symbols", x.Failed(), x.Len())
	}
	x.Drop("/a", "/c")
	if x.Len() != 0 || len(places(t, x, "three")) != 0 {
		t.Error("dropped files are still known")
	}
}

// A content that a parser gave up on is not given to it again.
func TestWhatCannotBeParsedIsTriedOnce(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files["/a"] = "broken"
	d.refresh(t, x, "/a")
	d.refresh(t, x, "/a")
	if d.parsed != 1 || x.Failed()["/a"] == nil {
		t.Errorf("parsed %d times, failed: %v", d.parsed, x.Failed())
	}
	d.files["/a"] = "broken otherwise"
	d.refresh(t, x, "/a")
	d.files["/a"] = "whole"
	d.refresh(t, x, "/a")
	if d.parsed != 3 || len(x.Failed()) != 0 || x.Len() != 1 {
		t.Errorf("parsed %d times, failed: %v, %d symbols", d.parsed, x.Failed(), x.Len())
	}
}

func TestInFile(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files["/a"] = "b a"
	d.refresh(t, x, "/a")
	list, err := x.InFile(t.Context(), "/a")
	if err != nil || len(list) != 2 || list[0].Name != "b" {
		t.Fatalf("%v, %v", list, err)
	}
	list[0].Name = "changed by the caller"
	if again, err := x.InFile(t.Context(), "/a"); err != nil || again[0].Name != "b" {
		t.Errorf("the index holds what a caller wrote: %v, %v", again, err)
	}
	if none, err := x.InFile(t.Context(), "/none"); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func TestNames(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files["/a"] = "Command Commands Comment _Command Run runner command"
	d.refresh(t, x, "/a")
	for _, c := range []struct {
		name  string
		limit int
		want  []string
	}{
		{"Comand", 10, []string{"Command", "command", "Commands", "Comment"}},
		{"Comamnd", 2, []string{"Command", "command"}},
		{"Run", 1, []string{"Run"}},
		{"Rum", 0, []string{}},
		{"Entirely", 10, []string{}},
	} {
		got, err := x.Names(t.Context(), c.name, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestNearestNamesAfterAnyChanges compares with measuring every name that there is.
func TestNearestNamesAfterAnyChanges(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	word := func() string {
		b := make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = "abcXYd_1"[r.IntN(8)]
		}
		if b[0] == '_' {
			b[0] = 'd' // not a local one
		}
		return strings.Replace(string(b), "d", "é", 1)
	}
	d, x := newDisk(), index.New()
	for range 60 {
		path := fmt.Sprintf("/f%d", r.IntN(6))
		d.files[path] = strings.Join([]string{word(), word(), word(), word()}, " ")
		d.refresh(t, x, path)
		declared := map[string]bool{}
		for _, text := range d.files {
			for w := range strings.FieldsSeq(text) {
				declared[w] = true
			}
		}
		name := word()
		type near struct {
			name     string
			distance int
		}
		var all []near
		for w := range declared {
			if n := edits([]rune(strings.ToLower(name)), []rune(strings.ToLower(w))); n <= max(2, len([]rune(name))/2) {
				all = append(all, near{w, n})
			}
		}
		slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.distance-b.distance, strings.Compare(a.name, b.name)) })
		want := []string{}
		for _, n := range all[:min(4, len(all))] {
			want = append(want, n.name)
		}
		got, err := x.Names(t.Context(), name, 4)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s (-want +got):\n%s", seed, name, diff)
		}
	}
}

// edits counts insertions, deletions, replacements and swaps of neighbours, in the
// plainest way.
func edits(a, b []rune) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return len(a) + len(b)
	case a[0] == b[0]:
		return edits(a[1:], b[1:])
	}
	least := 1 + min(edits(a[1:], b), edits(a, b[1:]), edits(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, 1+edits(a[2:], b[2:]))
	}
	return least
}

func TestConcurrentRefresh(t *testing.T) {
	d, x := newDisk(), index.New()
	paths := []string{"/a", "/b", "/c", "/d"}
	for _, p := range paths {
		d.files[p] = "one"
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				d.mu.Lock()
				d.files[paths[(i+n)%4]] = strings.Repeat("one ", n) + "one"
				d.mu.Unlock()
				d.refresh(t, x, paths...)
				if _, err := x.ByName(t.Context(), "one"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	d.refresh(t, x, paths...)
	want := 0
	for _, text := range d.files {
		want += len(strings.Split(text, " "))
	}
	if got := len(places(t, x, "one")); got != want || x.Len() != want {
		t.Errorf("%d by name, %d in all, want %d", got, x.Len(), want)
	}
}

func TestRefreshCancelled(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files["/a"] = "one"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := x.Refresh(ctx, []index.Source{{Path: "/a", Spec: d.spec}}, d.read)
	if !errors.Is(err, context.Canceled) || x.Len() != 0 {
		t.Errorf("%v, %d symbols", err, x.Len())
	}
}

func TestByBaseFollowsTheFiles(t *testing.T) {
	d, x := newDisk(), index.New()
	d.files = map[string]string{"/a": "Base One:Base Two:m.Base<T>", "/b": "Three:Mixin(Base) Four:Other"}
	d.refresh(t, x, "/a", "/b")
	below := func(name string) []string {
		t.Helper()
		list, err := x.ByBase(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, s := range list {
			out = append(out, s.Name)
		}
		return out
	}
	for name, want := range map[string][]string{
		"Base": {"One", "Two", "Three"}, "Mixin": {"Three"}, "T": {}, "": {"One", "Two", "Three", "Four"},
	} {
		if diff := gocmp.Diff(want, below(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
	d.files["/a"] = "Base One:Other"
	d.refresh(t, x, "/a")
	x.Drop("/b")
	if diff := gocmp.Diff([]string{}, below("Base")); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]string{"One"}, below("Other")); diff != "" {
		t.Error(diff)
	}
}
