package watch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/graph/watch"
)

func TestF08_OddNames(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		f := follow(t, start(t, opts), dir, watch.Rules{})
		for _, name := range []string{
			"new\nline", "per%20cent", "hash#", "bad\xff\xfeutf8", "caf\u00e9", "cafe\u0301", " space ", "-dash", "*", "...", strings.Repeat("n", 255), "back\\slash",
		} {
			write(t, filepath.Join(dir, "in "+name[:min(len(name), 250)], name), "x")
			f.agree()
			must(t, os.Rename(filepath.Join(dir, "in "+name[:min(len(name), 250)]), filepath.Join(dir, name)))
			write(t, filepath.Join(dir, name, name), "y")
			f.agree()
		}
	})
}

func TestF18_DeepFolders(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		f := follow(t, start(t, opts), dir, watch.Rules{})
		at, err := os.OpenRoot(dir)
		must(t, err)
		const name = "folder"
		for range 1200 { // the path grows beyond what a system call takes
			must(t, at.Mkdir(name, 0o755))
			next, err := at.OpenRoot(name)
			must(t, err, at.Close())
			at = next
		}
		must(t, at.WriteFile("unreachable", []byte("x"), 0o644), at.Close())
		f.agree()
		if s := f.root.Status(); s.Dirs < 500 || s.Skipped != 1 || !s.Degraded() {
			t.Errorf("status %+v: want the folder beyond the limit skipped", s)
		}
		write(t, filepath.Join(dir, name, name, "near"), "x")
		f.agree()
	})
}

func TestF18_TooManyFolders(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			write(t, filepath.Join(dir, name, "sub", "f"), "x")
		}
		opts.MaxDirs = 6
		f := follow(t, start(t, opts), dir, watch.Rules{})
		if s := f.root.Status(); s.Dirs != 6 || s.Skipped == 0 || !s.TooMany {
			t.Errorf("status %+v", s)
		}
	})
}

// F07, where names differ by case: a rename that changes the case alone, and two
// names that differ by nothing else.
func TestF07_CaseOnlyRename(t *testing.T) {
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		write(t, p("pkg/order.go"), "1")
		f := follow(t, start(t, opts), dir, watch.Rules{})
		must(t, os.Rename(p("pkg/order.go"), p("pkg/Order.go")))
		f.agree()
		must(t, os.Rename(p("pkg"), p("PKG")))
		write(t, p("PKG/Order.go"), "2")
		f.agree()
		write(t, p("PKG/order.go"), "3")
		write(t, p("pkg/order.go"), "4")
		f.agree()
		must(t, os.Rename(p("PKG/order.go"), p("PKG/Order.go")), os.RemoveAll(p("PKG")))
		f.agree()
	})
}
