package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/watch"
)

// openTree opens a workspace of these files, by relative path.
func openTree(t *testing.T, files map[string]string) *workbench.Workspace {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		put(t, filepath.Join(root, name), content)
	}
	watcher, err := watch.Start(t.Context(), watch.Options{CookieDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workbench.Open(t.Context(), workbench.Options{Root: root, Watcher: watcher, Languages: registry.Languages()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(ws.Close(), watcher.Close()); err != nil {
			t.Error(err)
		}
	})
	return ws
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// At once, so that nobody sees half of it.
	if err := os.WriteFile(path+".new", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, ws *workbench.Workspace, c workbench.Caller) *workbench.Session {
	t.Helper()
	s, err := ws.Begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// What the index says of a file and what the session reads of it are the same
// content, whatever happens to the file in between.
func TestFilesThatChangeWhileTheIndexIsAsked(t *testing.T) {
	const before, after = "package p\n\nfunc Asked() {}\n", "package p\n\n// Longer by a line.\nfunc Asked() {}\n"
	ws := openTree(t, map[string]string{"a.go": before})
	path := filepath.Join(ws.Root(), "a.go")
	settle := func() { // somebody else has the index catch up
		t.Helper()
		if found, err := begin(t, ws, workbench.Caller{}).Reader().ByName(t.Context(), "Asked"); err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
	}
	for name, other := range map[string]func(){"nobody looked again": func() {}, "the index caught up": settle} {
		t.Run(name, func(t *testing.T) {
			put(t, path, before)
			s := begin(t, ws, workbench.Caller{})
			if _, err := s.Reader().ByName(t.Context(), "Asked"); err != nil {
				t.Fatal(err)
			}
			put(t, path, after)
			other()
			if f, err := s.File(t.Context(), path); !errors.Is(err, view.ErrStale) {
				t.Errorf("asked, then read: %v, %v", f, err)
			}

			put(t, path, before)
			s = begin(t, ws, workbench.Caller{})
			f, err := s.File(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, path, after)
			other()
			found, err := s.Reader().ByName(t.Context(), "Asked")
			if errors.Is(err, view.ErrStale) {
				return
			}
			if err != nil || len(found) != 1 || !strings.HasPrefix(string(f.Content())[found[0].NameSpan.Start:], "Asked") {
				t.Errorf("read, then asked: %v, %v", found, err)
			}
		})
	}
}

// Who has little patience hears what is known while the index is being made, and
// that there may be more; what is not known yet is waited for.
func TestImpatientQuestionsWhileTheIndexIsMade(t *testing.T) {
	const files = 1500
	tree := map[string]string{}
	for i := range files {
		tree[fmt.Sprintf("f%04d.go", i)] = fmt.Sprintf("package p\n\nfunc Every() {}\n\nfunc Only%d() {}\n", i)
	}
	ws := openTree(t, tree)
	s := begin(t, ws, workbench.Caller{Patience: 1})
	first := filepath.Join(ws.Root(), fmt.Sprintf("f%04d.go", files/2))
	if found, err := s.Reader().InFile(t.Context(), first); err != nil || len(found) == 0 {
		t.Fatalf("%v, %v", found, err)
	}
	some, err := s.Reader().ByName(t.Context(), "Every")
	if err != nil || len(some) == 0 {
		t.Fatalf("%d, %v", len(some), err)
	}
	if whole, notes := s.Notes(); whole != (len(some) == files) || whole == s.Partial() {
		t.Errorf("%d of %d are said to be whole: %v %q", len(some), files, whole, notes)
	}
	if last, err := s.Reader().ByName(t.Context(), fmt.Sprintf("Only%d", files-1)); err != nil || len(last) != 1 {
		t.Errorf("what is not known yet is not waited for: %v, %v", last, err)
	}
	patient := begin(t, ws, workbench.Caller{})
	if all, err := patient.Reader().ByName(t.Context(), "Every"); err != nil || len(all) != files || patient.Partial() {
		t.Errorf("%d of %d, %v", len(all), files, err)
	}
}
