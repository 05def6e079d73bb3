package watch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/graph/watch"
)

func TestBarrierSeesEveryKindOfChange(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		write(t, p("a"), "1")
		write(t, p("sub/b"), "1")
		f := follow(t, start(t, opts), dir, watch.Rules{})
		f.agree()
		write(t, p("a"), "2")
		f.agree()
		write(t, p("x/y/z/new"), "1")
		f.agree()
		must(t, os.Rename(p("a"), p("sub/a")))
		f.agree()
		must(t, os.Remove(p("sub/b")))
		f.agree()
		must(t, os.Rename(p("x"), p("sub/x")))
		f.agree()
		write(t, p("sub/x/y/z/new"), "2")
		f.agree()
		must(t, os.RemoveAll(p("sub")))
		f.agree()
		write(t, p("sub/x/y/z/new"), "3")
		f.agree()
	})
}

func TestSettledBatchComesWithoutABarrier(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		opts.PollInterval = 5 * time.Millisecond
		f := follow(t, start(t, opts), dir, watch.Rules{})
		for i := range 50 {
			write(t, filepath.Join(dir, "sub", fmt.Sprint(i)), "x")
		}
		f.until("50 files", func() bool { return len(f.files) == 50 })
		if n := len(f.batches); n > 10 {
			t.Errorf("50 writes came in %d batches", n)
		}
	})
}

func TestF17_AtomicSaves(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		path := filepath.Join(dir, "file.go")
		write(t, path, "0")
		f := follow(t, start(t, opts), dir, watch.Rules{})
		styles := map[string]func(now string){
			"in place": func(now string) { write(t, path, now) },
			"temp and rename": func(now string) {
				write(t, path+".tmp", now)
				must(t, os.Rename(path+".tmp", path))
			},
			"backup and rename": func(now string) {
				must(t, os.Rename(path, path+"~"))
				write(t, path, now)
				must(t, os.Remove(path+"~"))
			},
			"vim": func(now string) {
				write(t, filepath.Join(dir, "4913"), "")
				must(t, os.Remove(filepath.Join(dir, "4913")), os.Rename(path, path+"~"))
				write(t, path, now)
				must(t, os.Remove(path+"~"))
			},
			"swap": func(now string) {
				write(t, path+".new", now)
				must(t, os.Rename(path, path+".old"), os.Rename(path+".new", path), os.Remove(path+".old"))
			},
		}
		for name, save := range styles {
			for i := range 3 {
				save(fmt.Sprint(name, i))
				f.agree()
			}
		}
	})
}

func TestF03_RandomOperationsEqualAWalk(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		dir, away := t.TempDir(), t.TempDir()
		f := follow(t, start(t, opts), dir, watch.Rules{})
		name := func() string {
			parts := []string{dir}
			for range 1 + r.IntN(4) {
				parts = append(parts, string(rune('a'+r.IntN(4))))
			}
			return filepath.Join(parts...)
		}
		outside := filepath.Join(away, "x")
		for i := range 10_000 {
			a, b := name(), name()
			switch r.IntN(10) {
			case 0, 1, 2:
				_ = os.MkdirAll(filepath.Dir(a), 0o755)
				_ = os.WriteFile(a, []byte(fmt.Sprint(i)), 0o644)
			case 3, 4:
				_ = os.MkdirAll(a, 0o755)
				_ = os.WriteFile(filepath.Join(a, "f"), []byte(fmt.Sprint(i)), 0o644)
			case 5:
				_ = os.RemoveAll(a)
			case 6, 7:
				_ = os.Rename(a, b)
			case 8:
				_ = os.RemoveAll(outside)
				_ = os.Rename(a, outside)
			case 9:
				_ = os.Rename(outside, a)
			}
			if r.IntN(40) == 0 {
				f.agree()
			}
		}
		f.agree()
	})
}

func TestF01_OverflowLooksAtEverythingAgain(t *testing.T) {
	dir := t.TempDir()
	p := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	w := start(t, watch.Options{})
	f := follow(t, w, dir, watch.Rules{})
	write(t, p("a/deep/f"), "1")
	write(t, p("c/f"), "1")
	f.agree()
	release := watch.Stall(f.root)
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	var queued int
	if _, err := fmt.Sscan(string(limit), &queued); err != nil {
		t.Fatal(err)
	}
	must(t, os.Mkdir(p("x"), 0o755))
	for range queued/2 + 100 {
		must(t, os.Mkdir(p("d"), 0o755), os.Remove(p("d")))
	}
	// Nobody is told of what follows.
	must(t, os.Rename(p("a"), p("x/b")), os.RemoveAll(p("c")))
	write(t, p("a/deep/g"), "new")
	barrier := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() { barrier <- f.root.Barrier(ctx) }() // its cookie is lost too
	release()
	must(t, <-barrier)
	if w.Status().Overflows == 0 {
		t.Fatal("no notification was lost: the test tested nothing")
	}
	f.agree()
	write(t, p("x/b/deep/f"), "2")
	write(t, p("a/deep/g"), "2")
	f.agree()
}

func TestF04_RootMovedAwayAndBack(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := filepath.Join(t.TempDir(), "root")
		write(t, filepath.Join(dir, "sub/a"), "1")
		f := follow(t, start(t, opts), dir, watch.Rules{})
		must(t, os.Rename(dir, dir+".away"))
		if err := f.root.Barrier(t.Context()); !errors.Is(err, watch.ErrRootLost) {
			t.Fatalf("Barrier of a root that is gone: %v", err)
		}
		if !f.lost || !f.root.Status().Lost {
			t.Errorf("lost is not told: %v, %+v", f.lost, f.root.Status())
		}
		write(t, filepath.Join(dir+".away", "sub/b"), "1")
		write(t, filepath.Join(dir, "foreign"), "1") // another folder at the root's place
		if err := f.root.Barrier(t.Context()); !errors.Is(err, watch.ErrRootLost) {
			t.Fatalf("Barrier of a root that was replaced: %v", err)
		}
		if n := len(f.known()); n != 0 {
			t.Errorf("%d files of a foreign folder are told", n)
		}
		must(t, os.RemoveAll(dir), os.Rename(dir+".away", dir))
		f.agree()
		write(t, filepath.Join(dir, "sub/a"), "2")
		f.agree()
	})
}

func TestF04_FolderMovedIntoANewFolder(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		f := follow(t, start(t, opts), dir, watch.Rules{})
		for i := range 200 {
			write(t, p("a/deep/f"), fmt.Sprint(i))
			if i%3 == 0 {
				f.agree()
			}
			must(t, os.Mkdir(p("x"), 0o755), os.Rename(p("a"), p("x/b")))
			if i%2 == 0 {
				f.agree()
			}
			write(t, p("x/b/deep/f"), fmt.Sprint("moved", i))
			f.agree()
			must(t, os.RemoveAll(p("x")))
		}
	})
}

func TestF09_LinksAndPipes(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir, away := t.TempDir(), t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		write(t, filepath.Join(away, "secret"), "x")
		must(t,
			os.Symlink(".", p("loop")), os.Symlink(away, p("out")),
			syscall.Mkfifo(p("pipe"), 0o644), os.Symlink("pipe", p("link-to-pipe")))
		f := follow(t, start(t, opts), dir, watch.Rules{})
		f.agree()
		write(t, filepath.Join(away, "secret2"), "x")
		must(t, os.Mkdir(p("sub"), 0o755), os.Symlink("..", p("sub/up")), syscall.Mkfifo(p("sub/pipe"), 0o644))
		write(t, p("sub/file"), "x")
		f.agree()
		for _, b := range f.batches {
			for _, path := range b.Paths {
				if strings.Contains(path, "secret") || strings.Contains(path, "loop/") {
					t.Errorf("a link was followed: %s", path)
				}
			}
		}
	})
}

func TestF15_IgnoredFoldersAndRefresh(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		write(t, p("node_modules/m/a.js"), "x")
		write(t, p("src/a.js"), "x")
		ignored := "node_modules"
		ignore := func(path string, _ bool) bool { return filepath.Base(path) == ignored }
		f := follow(t, start(t, opts), dir, watch.Rules{Ignore: ignore})
		f.agree()
		if got := f.root.Status().Dirs; got != 2 {
			t.Errorf("%d folders are followed, want 2", got)
		}
		write(t, p("node_modules/m/b.js"), "x")
		write(t, p("src/node_modules/x"), "x")
		f.agree()
		must(t, f.root.Barrier(t.Context()))
		ignored = "src" // nothing happens now, so the root's goroutine does not read it
		f.root.Refresh()
		f.agree()
		write(t, p("node_modules/m/c.js"), "x")
		f.agree()
	})
}

func TestF16_NestedRoots(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		inner := filepath.Join(dir, "inner")
		write(t, filepath.Join(inner, "sub/a"), "1")
		w := start(t, opts)
		outer := follow(t, w, dir, watch.Rules{})
		f := follow(t, w, inner, watch.Rules{})
		write(t, filepath.Join(inner, "sub/a"), "2")
		f.agree()
		outer.agree()
		must(t, os.Rename(filepath.Join(inner, "sub"), filepath.Join(inner, "moved")))
		write(t, filepath.Join(inner, "moved/b"), "2")
		outer.agree()
		f.agree()
		twin := follow(t, w, inner, watch.Rules{}) // the same folder once more
		must(t, f.root.Close())
		write(t, filepath.Join(inner, "moved/c"), "3")
		outer.agree()
		twin.agree()
		if err := f.root.Barrier(t.Context()); !errors.Is(err, watch.ErrClosed) {
			t.Errorf("Barrier of a closed root: %v", err)
		}
	})
}

func TestBusyHoldsBatchesBackButNotBarriers(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		lock := filepath.Join(dir, ".git", "index.lock")
		write(t, lock, "")
		busy := func() bool { _, err := os.Lstat(lock); return err == nil }
		opts.BusyWait, opts.PollInterval, opts.Settle = time.Minute, 5*time.Millisecond, 100*time.Millisecond
		ignore := func(path string, _ bool) bool { return filepath.Base(path) == ".git" }
		f := follow(t, start(t, opts), dir, watch.Rules{Busy: busy, Ignore: ignore})
		first := len(f.batches)
		for i := range 20 {
			write(t, filepath.Join(dir, fmt.Sprint(i)), "x")
		}
		must(t, os.Remove(lock))
		f.until("the files", func() bool { return len(f.files) == 20 })
		if n := len(f.batches) - first; n != 1 {
			t.Errorf("a checkout came in %d batches", n)
		}
		write(t, lock, "")
		write(t, filepath.Join(dir, "more"), "x")
		f.agree()
	})
}

func TestBarrierEndsWithItsContext(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		f := follow(t, start(t, opts), t.TempDir(), watch.Rules{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.root.Barrier(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Barrier: %v", err)
		}
		f.agree()
	})
}

func TestAddRefusesWhatIsNoFolder(t *testing.T) {
	w := start(t, watch.Options{})
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	must(t, os.Symlink(dir, filepath.Join(dir, "link")))
	for _, path := range []string{"relative", filepath.Join(dir, "file"), filepath.Join(dir, "none"), filepath.Join(dir, "link"), dir + "/../x"} {
		if _, err := w.Add(t.Context(), path, watch.Rules{}); err == nil {
			t.Errorf("Add(%q) gave no error", path)
		}
	}
}
