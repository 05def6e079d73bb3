package watch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/auralsp/aura/graph/watch"
)

const childEnv = "AURA_TEST_CHILD"

// inUserNamespace runs the calling test in a child process that has a user
// namespace and mounts of its own, as the given user in it and with the
// namespace's own limits. It reports whether the caller is that child.
func inUserNamespace(t *testing.T, uid int, limits map[string]int) bool {
	t.Helper()
	if os.Getenv(childEnv) == t.Name() {
		for name, n := range limits {
			must(t, os.WriteFile("/proc/sys/user/"+name, []byte(fmt.Sprint(n)), 0))
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 && os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
		t.Skipf("no user namespaces here: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a user namespace: %v\n%s", err, out)
	}
	return false
}

func TestF13_UnreadableFolder(t *testing.T) {
	if !inUserNamespace(t, 1000, nil) {
		return
	}
	forms(t, func(t *testing.T, opts watch.Options) {
		dir := t.TempDir()
		sub := filepath.Join(dir, "closed")
		write(t, filepath.Join(sub, "a"), "1")
		must(t, os.Chmod(sub, 0))
		if _, err := os.ReadDir(sub); err == nil {
			t.Fatal("the folder can be read: the test tests nothing")
		}
		f := follow(t, start(t, opts), dir, watch.Rules{})
		if f.root.Status().Skipped != 1 || !f.root.Status().Degraded() {
			t.Errorf("status %+v, want one folder skipped", f.root.Status())
		}
		f.agree()
		must(t, os.Chmod(sub, 0o755))
		f.agree()
		write(t, filepath.Join(sub, "b"), "1")
		f.agree()
		if f.root.Status().Skipped != 0 {
			t.Errorf("status %+v after the folder was opened", f.root.Status())
		}
		must(t, os.Chmod(sub, 0))
		f.agree()
		must(t, os.Chmod(sub, 0o755)) // for the removal of the temporary folder
	})
}

func TestF02_WatchLimit(t *testing.T) {
	const limit = 20
	if !inUserNamespace(t, 0, map[string]int{"max_inotify_watches": limit}) {
		return
	}
	dir := t.TempDir()
	p := func(i int, name string) string { return filepath.Join(dir, fmt.Sprintf("d%02d", i), "sub", name) }
	const n = 30
	for i := range n {
		write(t, p(i, "f"), "0")
	}
	w := start(t, watch.Options{})
	f := follow(t, w, dir, watch.Rules{})
	s := f.root.Status()
	if s.Dirs != 1+2*n || s.Polled == 0 || s.Dirs-s.Polled > limit || s.Reason == "" || !s.Degraded() {
		t.Fatalf("status %+v", s)
	}
	for round := range 3 {
		for i := range n {
			write(t, p(i, "f"), fmt.Sprint(round))
			write(t, p(i, fmt.Sprint("new/", round)), "x")
		}
		f.agree()
		must(t, os.RemoveAll(filepath.Join(dir, fmt.Sprintf("d%02d", 3*round))))
		must(t, os.Rename(p(20+round, "new"), p(10+round, "moved")))
		f.agree()
	}
}

func TestF02_WatchesComeBackWhenThereIsRoom(t *testing.T) {
	if !inUserNamespace(t, 0, map[string]int{"max_inotify_watches": 5}) {
		return
	}
	dir := t.TempDir()
	for i := range 10 {
		write(t, filepath.Join(dir, fmt.Sprint(i), "f"), "0")
	}
	f := follow(t, start(t, watch.Options{PollInterval: 1}), dir, watch.Rules{})
	if f.root.Status().Polled == 0 {
		t.Fatalf("status %+v: the test tests nothing", f.root.Status())
	}
	must(t, os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("1000"), 0))
	until(t, "nothing is polled", func() bool { return !f.root.Status().Degraded() })
	for i := range 10 {
		write(t, filepath.Join(dir, fmt.Sprint(i), "g"), "1")
	}
	f.agree()
}

func TestF02_InstanceLimit(t *testing.T) {
	if !inUserNamespace(t, 0, map[string]int{"max_inotify_instances": 0}) {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sub/f"), "0")
	w := start(t, watch.Options{})
	f := follow(t, w, dir, watch.Rules{})
	if s := w.Status(); s.Polling == "" || s.Roots[0].Polled != 2 {
		t.Fatalf("status %+v", s)
	}
	write(t, filepath.Join(dir, "sub/f"), "1")
	f.agree()
}

func TestF02_FileLimit(t *testing.T) {
	if !inUserNamespace(t, 0, nil) {
		return
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}))
	dir := t.TempDir()
	for i := range 300 {
		write(t, filepath.Join(dir, fmt.Sprint(i), "f"), "0")
	}
	f := follow(t, start(t, watch.Options{}), dir, watch.Rules{})
	f.agree()
	write(t, filepath.Join(dir, "7", "g"), "0")
	f.agree()
}
