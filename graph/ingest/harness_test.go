package ingest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/ingest"
	"github.com/auralsp/aura/graph/store"
	"github.com/auralsp/aura/graph/syntax"
)

const root = "/w"

// world is files in which each word declares a symbol, and what looks at them tell.
type world struct {
	t     *testing.T
	dir   string // of the store
	build string
	spec  *syntax.Spec
	hold  chan struct{} // parsing waits for it, if not nil

	mu     sync.Mutex
	files  map[string]fileOf
	read   []string // paths, in order
	told   []int    // how many files wait
	parsed []string
}

type fileOf struct {
	text  string
	stamp string // empty in the racy window
	owned bool   // the text is a client's buffer
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), files: map[string]fileOf{}}
	w.spec = &syntax.Spec{Version: "1", Separator: ".", Parse: w.parse}
	return w
}

func (w *world) parse(path string, content []byte) (*syntax.Tree, error) {
	if w.hold != nil {
		<-w.hold
	}
	w.mu.Lock()
	w.parsed = append(w.parsed, path)
	w.mu.Unlock()
	if strings.Contains(string(content), "broken") {
		return nil, errors.New("broken")
	}
	t := &syntax.Tree{Path: path}
	at := 0
	for word := range strings.SplitSeq(string(content), " ") {
		s := graph.Span{Start: at, End: at + len(word)}
		t.Symbols = append(t.Symbols, graph.Symbol{Name: word, Qualified: word, Kind: graph.KindFunction, Path: path, NameSpan: s, Decl: s, Whole: s})
		at = s.End + 1
	}
	return t, nil
}

func (w *world) readText(_ context.Context, path string) ([]byte, index.Hash, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = append(w.read, path)
	f, ok := w.files[path]
	if !ok {
		return nil, index.Hash{}, fs.ErrNotExist
	}
	return []byte(f.text), sha256.Sum256([]byte(f.text)), nil
}

func (w *world) look(path string) (ingest.Look, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.files[path]
	if !ok || f.owned {
		return ingest.Look{}, false
	}
	read := slices.Contains(w.read, path)
	l := ingest.Look{Stamp: f.stamp, Read: read}
	if read {
		l.Hash = sha256.Sum256([]byte(f.text))
	}
	return l, true
}

func (w *world) tell(pending int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, pending)
}

func (w *world) set(path, text, stamp string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[path] = fileOf{text: text, stamp: stamp}
}

// life is one run of the program.
type life struct {
	w     *world
	index *index.Index
	store *store.Store
	g     *ingest.Ingester
}

func (w *world) begin() *life {
	w.t.Helper()
	l := &life{w: w, index: index.New(), store: store.Open(store.Options{Dir: w.dir, Root: root, Delay: time.Millisecond})}
	l.g = ingest.New(ingest.Options{Root: root, Index: l.index, Store: l.store, Build: w.build, Read: w.readText, Look: w.look, Tell: w.tell})
	w.t.Cleanup(l.end)
	w.mu.Lock()
	w.read, w.parsed = nil, nil
	w.mu.Unlock()
	return l
}

func (l *life) end() {
	l.g.Close()
	l.store.Close()
}

func (l *life) source(path string) index.Source {
	return index.Source{Path: path, Spec: l.w.spec, Place: syntax.Place{Language: "l", Project: "."}}
}

// all has every file looked at and waits for that.
func (l *life) all() *life {
	l.w.t.Helper()
	var sources []index.Source
	l.w.mu.Lock()
	for p := range l.w.files {
		sources = append(sources, l.source(p))
	}
	l.w.mu.Unlock()
	l.g.Add(sources, true)
	l.wait()
	return l
}

func (l *life) some(paths ...string) {
	l.w.t.Helper()
	var sources []index.Source
	for _, p := range paths {
		sources = append(sources, l.source(p))
	}
	l.g.Add(sources, false)
	l.wait()
}

func (l *life) wait() {
	l.w.t.Helper()
	if err := l.g.Wait(l.w.t.Context(), l.g.Mark(), nil); err != nil {
		l.w.t.Fatal(err)
	}
}

// check compares the index with the files and with what was read and parsed.
func (l *life) check(read, parsed []string) {
	l.w.t.Helper()
	l.w.mu.Lock()
	gotRead, gotParsed := sorted(l.w.read), sorted(l.w.parsed)
	want := map[string]string{}
	for p, f := range l.w.files {
		want[p] = f.text
	}
	l.w.mu.Unlock()
	if diff := cmp.Diff(sorted(read), gotRead); diff != "" {
		l.w.t.Errorf("read: %s", diff)
	}
	if diff := cmp.Diff(sorted(parsed), gotParsed); diff != "" {
		l.w.t.Errorf("parsed: %s", diff)
	}
	got := map[string]string{}
	for _, p := range l.index.Paths() {
		symbols, err := l.index.InFile(l.w.t.Context(), p)
		if err != nil {
			l.w.t.Fatal(err)
		}
		var words []string
		for _, s := range symbols {
			words = append(words, s.Name)
		}
		got[p] = strings.Join(words, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.w.t.Errorf("the index: %s", diff)
	}
}

func sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return out
}
