package watch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/auralsp/aura/graph/watch"
)

func TestF14_RemotePartsArePolledAndSaySo(t *testing.T) {
	if !inUserNamespace(t, 0, nil) {
		return
	}
	dir := t.TempDir()
	p := func(s string) string { return filepath.Join(dir, s) }
	write(t, p("near/a"), "1")
	write(t, p("far/deep/a"), "1")
	must(t, syscall.Mount("none", p("far"), "tmpfs", 0, ""))
	defer func() { must(t, syscall.Unmount(p("far"), syscall.MNT_DETACH)) }()
	write(t, p("far/deep/a"), "1")
	w := start(t, watch.Options{})
	watch.Pretend(w, func(path string) string {
		if strings.HasPrefix(path, p("far")) {
			return "NFS"
		}
		return ""
	})
	f := follow(t, w, dir, watch.Rules{})
	if s := f.root.Status(); s.Dirs != 4 || s.Polled != 2 || !strings.Contains(s.Reason, "NFS") {
		t.Errorf("status %+v: want far and far/deep polled", s)
	}
	for _, name := range []string{"near/a", "far/deep/a", "far/new/b", "near/new/b"} {
		write(t, p(name), "2")
		f.agree()
	}
	must(t, os.RemoveAll(p("far/deep")))
	f.agree()
	if s := f.root.Status(); s.Polled != 2 {
		t.Errorf("status %+v: want far and far/new polled", s)
	}
}

func TestF04_RootUnmounted(t *testing.T) {
	if !inUserNamespace(t, 0, nil) {
		return
	}
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		must(t, syscall.Mount("none", dir, "tmpfs", 0, ""))
		mounted := true
		defer func() {
			if mounted {
				must(t, syscall.Unmount(dir, syscall.MNT_DETACH))
			}
		}()
		write(t, filepath.Join(dir, "sub/a"), "1")
		f := follow(t, start(t, opts), dir, watch.Rules{})
		f.agree()
		must(t, syscall.Unmount(dir, 0))
		mounted = false
		if err := f.root.Barrier(t.Context()); !errors.Is(err, watch.ErrRootLost) || len(f.known()) != 0 {
			t.Errorf("after the unmounting: %v, %d files are known", err, len(f.known()))
		}
	})
}

// A bind mount shows a folder a second time, and the kernel has one watch for both.
func TestF09_BindMount(t *testing.T) {
	if !inUserNamespace(t, 0, nil) {
		return
	}
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		p := func(s string) string { return filepath.Join(dir, s) }
		write(t, p("a/sub/f"), "1")
		must(t, os.Mkdir(p("b"), 0o755), syscall.Mount(p("a"), p("b"), "", syscall.MS_BIND, ""))
		defer func() { must(t, syscall.Unmount(p("b"), syscall.MNT_DETACH)) }()
		f := follow(t, start(t, opts), dir, watch.Rules{})
		f.agree()
		write(t, p("a/sub/f"), "2")
		f.agree()
		write(t, p("b/sub/g"), "2")
		f.agree()
		must(t, os.RemoveAll(p("a/sub")))
		f.agree()
		write(t, p("b/new/f"), "3")
		f.agree()
		if s := f.root.Status(); !opts.Poll && (s.Polled == 0 || s.Reason == "") {
			t.Errorf("status %+v: want one of the two polled", s)
		}
	})
}
