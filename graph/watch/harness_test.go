package watch_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/auralsp/aura/graph/watch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// follower believes only what batches tell it: it looks at a path when a batch
// names it, and never otherwise.
type follower struct {
	t    testing.TB
	dir  string
	w    *watch.Watcher
	root *watch.Root

	mu      sync.Mutex
	files   map[string]string // content by path
	batches []watch.Batch
	lost    bool
	told    chan struct{}
	ignore  func(path string, dir bool) bool
}

// forms runs a test with notifications and with polling.
func forms(t *testing.T, test func(t *testing.T, opts watch.Options)) {
	for name, poll := range map[string]bool{"notify": false, "poll": true} {
		t.Run(name, func(t *testing.T) { test(t, watch.Options{Poll: poll}) })
	}
}

func start(t testing.TB, opts watch.Options) *watch.Watcher {
	t.Helper()
	if opts.CookieDir == "" {
		opts.CookieDir = filepath.Join(t.TempDir(), "run")
	}
	w, err := watch.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w
}

func follow(t testing.TB, w *watch.Watcher, dir string, rules watch.Rules) *follower {
	t.Helper()
	f := &follower{t: t, dir: dir, w: w, files: map[string]string{}, told: make(chan struct{}, 1)}
	f.ignore = rules.Ignore
	rules.Deliver = f.deliver
	root, err := w.Add(t.Context(), dir, rules)
	if err != nil {
		t.Fatal(err)
	}
	f.root = root
	return f
}

func (f *follower) deliver(b watch.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches = append(f.batches, b)
	f.lost = b.Lost
	if b.Full || b.Lost {
		clear(f.files)
	}
	for _, p := range b.Paths {
		f.look(p)
	}
	select {
	case f.told <- struct{}{}:
	default:
	}
}

func (f *follower) look(path string) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() {
		data, _ := os.ReadFile(path)
		f.files[path] = string(data)
	} else {
		delete(f.files, path)
	}
	for known := range f.files {
		if strings.HasPrefix(known, path+"/") {
			if _, err := os.Lstat(known); err != nil {
				delete(f.files, known)
			} else {
				f.look(known)
			}
		}
	}
}

// walk is the oracle.
func (f *follower) walk() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case path != f.dir && f.ignore != nil && f.ignore(path, d.IsDir()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			data, _ := os.ReadFile(path)
			out[path] = string(data)
		}
		return nil
	})
	return out
}

// agree asks for a barrier and compares with the oracle.
func (f *follower) agree() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	if err := f.root.Barrier(ctx); err != nil {
		f.t.Fatalf("Barrier: %v; status %+v", err, f.w.Status())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(f.walk(), f.files); diff != "" {
		f.t.Fatalf("after a barrier (-disk +told):\n%s", diff)
	}
}

func (f *follower) known() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.files)
}

// until waits for batches until cond holds.
func (f *follower) until(what string, cond func() bool) {
	f.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		f.mu.Lock()
		ok := cond()
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-f.told:
		case <-deadline:
			f.t.Fatalf("timed out: %s; status %+v", what, f.w.Status())
		}
	}
}

// until waits for a condition that other goroutines bring about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
