package daemon

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/watch"
)

var (
	oracleOperations = flag.Int("oracle.n", 200, "random operations on the tree")
	oracleSeed       = flag.Uint64("oracle.seed", 0, "of the operations; the time when 0")
)

// oracle is a workspace whose tree is changed at random, and what a clean one
// would say of it.
type oracle struct {
	t       *testing.T
	rnd     *rand.Rand
	dir     string // the workspace
	away    string // outside of it
	options workbench.Options
	ws      *workbench.Workspace
}

// path returns where something is, or may be made.
func (o *oracle) path(names ...string) string {
	p := o.dir
	for range o.rnd.IntN(4) {
		p = filepath.Join(p, string(rune('a'+o.rnd.IntN(3))))
	}
	if len(names) == 0 {
		return p
	}
	return filepath.Join(p, names[o.rnd.IntN(len(names))])
}

func (o *oracle) source() string {
	return o.path("f.go", "g.go", "m.py", "__init__.py", "t.ts", "u.tsx", "l.rs", "C.cs", "notes.txt", "go.mod", "Cargo.toml", "tsconfig.json", "x_generated.go")
}

// text returns what a file may hold: often what it held before.
func (o *oracle) text(path string) string {
	n, m := o.rnd.IntN(12), o.rnd.IntN(12)
	switch filepath.Ext(path) {
	case ".go":
		return fmt.Sprintf("package p\n\n// Doc%d is größer.\ntype T%d struct{ T%d }\n\nfunc (t T%d) F%d() { f%d() }\n", m, n, m, n, m, m)
	case ".py":
		return fmt.Sprintf("class T%d(T%d):\n    def f%d(self):\n        return word%d\n", n, m, m, n)
	case ".ts", ".tsx":
		return fmt.Sprintf("export class T%d extends T%d { f%d() { return word%d } }\n", n, m, m, n)
	case ".rs":
		return fmt.Sprintf("pub struct T%d;\nimpl T%d { fn f%d(&self) { word%d() } }\n", n, n, m, m)
	case ".cs":
		return fmt.Sprintf("namespace N%d { class T%d : T%d { void F%d() {} } }\n", m, n, m, n)
	case ".mod":
		return fmt.Sprintf("module example.com/m%d\n", n)
	case ".toml":
		return fmt.Sprintf("[package]\nname = \"c%d\"\nversion = \"0.1.0\"\n", n)
	case ".json":
		return "{}\n"
	}
	return fmt.Sprintf("word%d T%d\n", n, m)
}

// change does one thing to the tree, which may fail for want of what it is to be done to.
func (o *oracle) change() {
	at := o.source()
	switch o.rnd.IntN(14) {
	case 0, 1, 2, 3:
		_ = os.MkdirAll(filepath.Dir(at), 0o755)
		_ = os.WriteFile(at, []byte(o.text(at)), 0o644)
	case 4: // as editors save
		_ = os.WriteFile(at+".new", []byte(o.text(at)), 0o600)
		_ = os.Rename(at+".new", at)
	case 5:
		_ = os.Rename(at, o.source())
	case 6:
		_ = os.Remove(at)
	case 7:
		_ = os.MkdirAll(o.path(), 0o755)
	case 8:
		_ = os.RemoveAll(o.path("a", "b"))
	case 9:
		_ = os.Rename(o.path("a", "b", "c"), o.path("a", "b", "c"))
	case 10:
		_ = os.RemoveAll(o.away)
		_ = os.Rename(o.path("a", "b", "c"), o.away)
	case 11:
		_ = os.Rename(o.away, o.path("a", "b", "c"))
	case 12:
		_ = os.Chmod(at, os.FileMode([]int{0o644, 0o600, 0o000, 0o755}[o.rnd.IntN(4)]))
	case 13:
		lines := []string{"", "*.py\n", "b/\n", "/a\n!a/f.go\n", "f.go\n*.ts\n", "**/c\n"}
		_ = os.WriteFile(o.path(".gitignore", ".ignore"), []byte(lines[o.rnd.IntN(len(lines))]), 0o644)
	}
}

// says is all that a workspace says of its files.
func (o *oracle) says(ws *workbench.Workspace) map[string][]string {
	s, err := ws.Begin(o.t.Context(), workbench.Caller{})
	if err != nil {
		o.t.Fatal(err)
	}
	defer s.Close()
	out := map[string][]string{}
	note := func(question string, found []graph.Symbol, err error) {
		if err != nil {
			o.t.Fatal(question, err)
		}
		for _, f := range found {
			out[question] = append(out[question], fmt.Sprintf("%s %s %v %s", s.Relative(f.Path), f.ID, f.NameSpan, f.Signature))
		}
	}
	for n := range 12 {
		name, word := fmt.Sprint("T", n), fmt.Sprint("word", n)
		found, err := s.Reader().ByName(o.t.Context(), name)
		note("named "+name, found, err)
		found, err = s.Reader().ByBase(o.t.Context(), name)
		note("based on "+name, found, err)
		for _, w := range []string{name, word, fmt.Sprint("Doc", n), "größer"} {
			if out["holds "+w], err = s.Snapshot().Grep(o.t.Context(), w); err != nil {
				o.t.Fatal(err)
			}
		}
	}
	err = s.Reader().Each(o.t.Context(), graph.Keep{Locals: true}, func(f graph.Symbol) bool {
		note("all", []graph.Symbol{f}, nil)
		return true
	})
	note("all", nil, err)
	return out
}

// agree compares what the workspace says with what a new one says, which reads
// every file.
func (o *oracle) agree(step int) {
	o.t.Helper()
	clean := o.options
	clean.Cache = ""
	ws, err := workbench.Open(o.t.Context(), clean)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() {
		if err := ws.Close(); err != nil {
			o.t.Error(err)
		}
	}()
	if diff := cmp.Diff(o.says(ws), o.says(o.ws)); diff != "" {
		o.t.Fatalf("after %d operations the index says something else than a clean one: %s", step, diff)
	}
}

// C06, F03, F04, F15: files and folders are written, saved by renaming, moved
// within the tree, out of it and back, deleted, ignored, and the workspace is
// closed and opened: at any time it says what a clean one would.
func TestC06RandomOperationsOnTheTreeEqualACleanRebuild(t *testing.T) {
	seed := *oracleSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	watcher, err := watch.Start(t.Context(), watch.Options{CookieDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{
		t: t, rnd: rand.New(rand.NewPCG(seed, 6)), dir: t.TempDir(), away: filepath.Join(t.TempDir(), "away"),
	}
	supervisor := supervise.Start(supervise.Options{Scratch: t.TempDir()}) // nobody asks it for a server
	defer func() {
		if err := supervisor.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	o.options = workbench.Options{Root: o.dir, Watcher: watcher, Supervisor: supervisor, Languages: registry.Languages(), Cache: t.TempDir()}
	open := func() {
		if o.ws, err = workbench.Open(t.Context(), o.options); err != nil {
			t.Fatal(err)
		}
	}
	open()
	for step := range *oracleOperations {
		o.change()
		switch n := o.rnd.IntN(100); {
		case n < 8:
			o.says(o.ws) // what is asked is settled earlier
		case n < 12:
			o.agree(step + 1)
		case n == 12:
			if err := o.ws.Close(); err != nil {
				t.Fatal(err)
			}
			for range o.rnd.IntN(5) {
				o.change() // while nobody looks
			}
			open()
		}
	}
	o.agree(*oracleOperations)
	if err := errors.Join(o.ws.Close(), watcher.Close()); err != nil {
		t.Error(err)
	}
}
