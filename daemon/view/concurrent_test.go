package view_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/change"
)

// TestConcurrentUse has clients, editors and commits at one view while files
// change, and checks in the end that the log told the tree.
func TestConcurrentUse(t *testing.T) {
	r := open(t, map[string]string{"a": "0", "b": "0", "sub/c": "0", "sub/d": "0"}, view.Options{})
	m := r.mirror()
	names := []string{"a", "b", "sub/c", "sub/d"}
	within, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 4 { // who changes files, each its own
		wg.Go(func() {
			path := r.path(names[i])
			for n := range 300 {
				switch text := fmt.Sprint(i, n); {
				case n%7 == 0:
					_ = os.Remove(path)
				case n%5 == 0:
					_ = os.WriteFile(path, []byte(text), 0o644)
					r.v.Wrote(within, []change.File{{Kind: change.Edit, Path: path, After: []byte(text)}})
				case n%3 == 0:
					_ = os.WriteFile(path+".tmp", []byte(text), 0o644)
					_ = os.Rename(path+".tmp", path)
				default:
					_ = os.WriteFile(path, []byte(text), 0o644)
				}
			}
		})
	}
	for i := range 4 { // who asks
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 0))
			for range 200 {
				seq, err := r.v.Barrier(within)
				if err != nil {
					t.Errorf("Barrier: %v", err)
					return
				}
				s := r.v.Snapshot(seq)
				if _, _, err := s.Read(within, r.path(names[rnd.IntN(4)])); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, view.ErrStale) {
					t.Errorf("Read: %v", err)
				}
				if _, err := s.Grep(within, "10"); err != nil && !errors.Is(err, view.ErrStale) {
					t.Errorf("Grep: %v", err)
				}
			}
		})
	}
	for i := range 2 { // who edits
		wg.Go(func() {
			client := fmt.Sprint("editor", i)
			for n := range 200 {
				path := r.path(names[n%4])
				switch err := r.v.OpenBuffer(client, path, 1, []byte(fmt.Sprint("buffer", n))); {
				case err == nil:
					_ = r.v.ChangeBuffer(client, path, 2, []byte("other"))
					_ = r.v.CloseBuffer(client, path)
				case !errors.Is(err, view.ErrOwned):
					t.Errorf("OpenBuffer: %v", err)
				}
			}
			r.v.CloseClient(client)
		})
	}
	wg.Wait()
	m.agree()
}

func TestF05_CheckoutOfManyFilesIsLoggedOnceEach(t *testing.T) {
	r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "repo")}
	const n = 1000
	for i := range n {
		r.write(fmt.Sprintf("d%02d/f%d", i%50, i), "old")
	}
	r.write(".git/index", "")
	r.start(watch.Options{}, view.Options{})
	at := r.barrier()
	r.write(".git/index.lock", "")
	for i := range n {
		r.write(fmt.Sprintf("d%02d/f%d", i%50, i), "new")
	}
	r.must(os.Remove(r.path(".git/index.lock")))
	until(t, "the checkout is logged", func() bool { return r.v.Seq() >= at+n })
	r.barrier()
	if got := len(r.entries(at)); got != n {
		t.Errorf("%d entries for %d files", got, n)
	}
}

// TestR07_NothingIsLeftOpen counts what the process holds of the kernel.
func TestR07_NothingIsLeftOpen(t *testing.T) {
	r := open(t, map[string]string{"a/b/c": "0"}, view.Options{})
	before := kernelObjects(t)
	for range 50 {
		v, err := view.Open(ctx, view.Options{Root: r.path("a"), Watcher: r.w})
		r.must(err)
		_, err = v.Barrier(ctx)
		r.must(err)
		r.must(v.Close())
	}
	r.must(os.RemoveAll(r.path("a")))
	r.barrier()
	r.must(os.MkdirAll(r.path("a/b"), 0o755))
	r.barrier()
	if after := kernelObjects(t); after != before {
		t.Errorf("%d open files and watches, before it were %d", after, before)
	}
}

// kernelObjects counts open files and inotify watches.
func kernelObjects(t *testing.T) int {
	t.Helper()
	infos, err := filepath.Glob("/proc/self/fdinfo/*")
	if err != nil || len(infos) == 0 {
		t.Fatalf("no list of open files: %v", err)
	}
	n := 0
	for _, path := range infos {
		data, err := os.ReadFile(path)
		if err == nil {
			n += 1 + strings.Count(string(data), "inotify wd:")
		}
	}
	return n
}
