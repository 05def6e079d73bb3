package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// startWithin starts the daemon where the kernel gives this user no more than so
// much of something, by a name below /proc/sys/user.
func (w *world) startWithin(t *testing.T, limit string, n int) {
	t.Helper()
	w.stop(t)
	w.nothingRuns(t)
	cmd := exec.Command("sh", "-c", fmt.Sprintf("echo %d >/proc/sys/user/%s && exec %s status", n, limit, filepath.Join(w.bin, "auractl")))
	cmd.Dir, cmd.Env = w.ws, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		if len(out) == 0 && os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
			t.Skipf("no user namespaces here: %v", err)
		}
		t.Fatalf("status where %s is %d: %v\n%s", limit, n, err, out)
	}
}

// F02: where the kernel's watches or instances run out, folders are polled.
// Answers are as fresh as ever, and status and doctor say what is polled, why,
// and what to do.
func TestF02_PollingIsSaid(t *testing.T) {
	for _, c := range []struct {
		limit string
		n     int
		want  []string
	}{
		{"max_inotify_watches", 12, []string{"folders of", "polled", "fs.inotify.max_user_watches"}},
		{"max_inotify_instances", 0, []string{"all folders of", "polled", "fs.inotify.max_user_instances"}},
	} {
		t.Run(c.limit, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module m\n\ngo 1.24\n")
			at := func(i int) string { return filepath.Join(dir, fmt.Sprintf("p%02d", i), "a.go") }
			for i := range 30 {
				write(t, at(i), fmt.Sprintf("package p%02d\n\nfunc First%d() {}\n", i, i))
			}
			w := newStranger(t, dir)
			w.startWithin(t, c.limit, c.n)
			w.ok(t, "outline", at(0))
			for _, command := range []string{"status", "doctor"} {
				r := w.aura(t, command)
				out := r.stdout + r.stderr
				for _, word := range c.want {
					if !strings.Contains(out, word) {
						t.Errorf("%s does not say %q:\n%s", command, word, out)
					}
				}
			}
			for i := range 30 {
				write(t, at(i), fmt.Sprintf("package p%02d\n\nfunc Second%d() {}\n", i, i))
				if r := w.ok(t, "outline", at(i)); !strings.Contains(r.stdout, fmt.Sprint("Second", i)) {
					t.Errorf("after a change of %s: %s", at(i), r.stdout)
				}
				if r := w.aura(t, "symbol", fmt.Sprint("Second", i), "--json"); !strings.Contains(r.stdout, fmt.Sprint(`"Second`, i)) {
					t.Errorf("by name after a change of %s: %s%s", at(i), r.stdout, r.stderr)
				}
			}
		})
	}
}
