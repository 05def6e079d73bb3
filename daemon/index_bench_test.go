package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/graph/watch"
)

// benchWorld is what workspaces are opened with.
type benchWorld struct {
	watcher *watch.Watcher
	langs   []adapters.Adapter
}

func newBenchWorld(b *testing.B) *benchWorld {
	b.Helper()
	w, err := watch.Start(context.Background(), watch.Options{CookieDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	return &benchWorld{w, registry.Languages()}
}

// ask opens a workspace, asks for one name and returns how long that took. done
// sees the workspace before it is closed, which is not measured.
func (w *benchWorld) ask(b *testing.B, root, cache, name string, done func(*workbench.Session)) time.Duration {
	b.Helper()
	began := time.Now()
	ws, err := workbench.Open(b.Context(), workbench.Options{Root: root, Watcher: w.watcher, Languages: w.langs, Cache: cache, Build: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := ws.Begin(b.Context(), workbench.Caller{})
	if err != nil {
		b.Fatal(err)
	}
	found, err := s.Reader().ByName(b.Context(), name)
	took := time.Since(began)
	if err != nil || len(found) == 0 {
		b.Fatalf("%s is not found: %v", name, err)
	}
	if done != nil {
		done(s)
	}
	s.Close()
	if err := ws.Close(); err != nil {
		b.Fatal(err)
	}
	return took
}

// parse is the floor of indexing: the same files through the same parser, in
// two goroutines, and nothing else.
func (w *benchWorld) parse(b *testing.B, paths []string, specs map[string]*syntax.Spec) time.Duration {
	began := time.Now()
	work := make(chan string)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for p := range work {
				content, err := os.ReadFile(p)
				if err == nil {
					_, err = specs[filepath.Ext(p)].Read(p, content, syntax.Place{Project: "."})
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for _, p := range paths {
		work <- p
	}
	close(work)
	wg.Wait()
	return time.Since(began)
}

// specs returns how files are read, by extension.
func (w *benchWorld) specs() map[string]*syntax.Spec {
	out := map[string]*syntax.Spec{}
	for _, l := range w.langs {
		for _, ext := range l.Language().Extensions {
			if l.Syntax().Missing == "" {
				out[ext] = l.Syntax()
			}
		}
	}
	return out
}

// walk is the floor of opening: every file is listed and looked at.
func walk(b *testing.B, root string) (paths []string, took time.Duration) {
	b.Helper()
	began := time.Now()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			_, err = os.Lstat(p)
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return paths, time.Since(began)
}

// old makes files look as old as files usually are.
func old(b *testing.B, root string) {
	b.Helper()
	paths, _ := walk(b, root)
	for _, p := range paths {
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(p, past, past); err != nil {
			b.Fatal(err)
		}
	}
	<-time.After(3 * time.Second) // the change time cannot be set back
}

// cpu returns the processor time of this process, which other load does not change.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// BenchmarkFullIndex reads real code for the first time, against its parser
// alone and beside universal-ctags; then asks once more after a restart.
func BenchmarkFullIndex(b *testing.B) {
	b.Run("go", func(b *testing.B) {
		fullIndex(b, library(b, "go", "net", "cmd/compile", "crypto"), "ServeMux")
	})
	b.Run("python", func(b *testing.B) {
		out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
		if err != nil {
			b.Logf("MISSING: there is no python3, whose library would be read: %v", err)
			return
		}
		root := b.TempDir()
		for _, part := range []string{"asyncio", "email", "http", "json", "logging", "multiprocessing", "unittest", "xml"} {
			if err := os.CopyFS(filepath.Join(root, part), os.DirFS(filepath.Join(strings.TrimSpace(string(out)), part))); err != nil {
				b.Fatal(err)
			}
		}
		old(b, root)
		fullIndex(b, root, "BaseEventLoop")
	})
}

// fullIndex measures the first index of a tree in which a name is declared.
func fullIndex(b *testing.B, root, name string) {
	w := newBenchWorld(b)
	specs := w.specs()
	var paths []string
	all, _ := walk(b, root)
	for _, p := range all {
		if specs[filepath.Ext(p)] != nil && !strings.Contains(p, "testdata") {
			paths = append(paths, p)
		}
	}
	list := filepath.Join(b.TempDir(), "list")
	if err := os.WriteFile(list, []byte(strings.Join(paths, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	tags, err := exec.LookPath("ctags")
	if err != nil {
		b.Log("MISSING: universal-ctags is not installed, there is no ratio to it")
	}
	var full, again, floor, verify, other []time.Duration
	for b.Loop() {
		floor = append(floor, w.parse(b, paths, specs))
		cache := b.TempDir()
		full = append(full, w.ask(b, root, cache, name, nil))
		again = append(again, w.ask(b, root, cache, name, nil))
		_, took := walk(b, root)
		verify = append(verify, took)
		if tags != "" {
			began := time.Now()
			if out, err := exec.Command(tags, "-f", "/dev/null", "-L", list).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			other = append(other, time.Since(began))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(len(paths)), "files")
	b.ReportMetric(float64(median(full).Milliseconds()), "first-ms")
	b.ReportMetric(float64(median(full))/float64(median(floor)), "first/parser")
	if tags != "" {
		b.ReportMetric(float64(median(full))/float64(median(other)), "first/ctags")
	}
	b.ReportMetric(float64(median(again).Milliseconds()), "restart-ms")
	b.ReportMetric(float64(median(again))/float64(median(verify)), "restart/walk")
}

// BenchmarkSaveToQueryable saves a file and asks for the name that it declares
// now, against writing the file and reading it again.
func BenchmarkSaveToQueryable(b *testing.B) {
	w := newBenchWorld(b)
	root := library(b, "net", "crypto")
	w.ask(b, root, b.TempDir(), "ServeMux", func(s *workbench.Session) {
		path := filepath.Join(root, "net", "http", "server.go")
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		var took, floor []time.Duration
		for b.Loop() {
			for i := range 200 {
				name := fmt.Sprintf("Saved%d", i)
				content := fmt.Appendf(slices.Clone(text), "\nfunc %s() {}\n", name)
				began := time.Now()
				if err := os.WriteFile(path, content, 0o644); err != nil {
					b.Fatal(err)
				}
				written := time.Now()
				now, err := s.Workspace().Begin(b.Context(), workbench.Caller{})
				if err != nil {
					b.Fatal(err)
				}
				found, err := now.Reader().ByName(b.Context(), name)
				if err != nil || len(found) != 1 {
					b.Fatalf("%s: %v, %v", name, found, err)
				}
				took = append(took, time.Since(written))
				now.Close()
				again := time.Now()
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
				floor = append(floor, time.Since(again)+written.Sub(began))
			}
		}
		slices.Sort(took)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		b.ReportMetric(float64(took[len(took)/2])/float64(median(floor)), "p50/write+read")
	})
}

// BenchmarkOpen50000 opens a workspace of many small files that was indexed
// before, against a walk that looks at each.
func BenchmarkOpen50000(b *testing.B) {
	w := newBenchWorld(b)
	root, cache := b.TempDir(), b.TempDir()
	const files = 50_000
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i/500), fmt.Sprintf("e%d", i/50%10))
		if i%50 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		text := fmt.Sprintf("package p\n\n// Type%d is one.\ntype Type%d struct{ A, B int }\n\nfunc (t Type%d) Sum(x int) int { return t.A + x }\n", i, i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	old(b, root)
	w.ask(b, root, cache, "Type77", nil)
	var warm, floor []time.Duration
	var floorCPU, warmCPU time.Duration
	for b.Loop() {
		before := cpu(b)
		_, took := walk(b, root)
		floor = append(floor, took)
		between := cpu(b)
		warm = append(warm, w.ask(b, root, cache, "Type77", nil))
		floorCPU += between - before
		warmCPU += cpu(b) - between
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(warmCPU)/float64(floorCPU), "cpu/walk-cpu")
	b.ReportMetric(float64(median(floor).Milliseconds()), "walk-ms")
	b.ReportMetric(float64(median(warm).Milliseconds()), "open-ms")
	b.ReportMetric(float64(median(warm))/float64(median(floor)), "open/walk")
}
