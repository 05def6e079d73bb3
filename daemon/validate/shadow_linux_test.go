package validate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/change"
)

func newShadow(t testing.TB) *shadow {
	t.Helper()
	return &shadow{helper: helper(t), mount: t.TempDir(), size: 1 << 30}
}

// look is what a test holds against what it saw before: that nothing of a tree moved.
type look struct {
	Mode    fs.FileMode
	Time    time.Time
	Content string
}

func lookAt(t testing.TB, root string) map[string]look {
	t.Helper()
	seen := make(map[string]look)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		l := look{Mode: info.Mode(), Time: info.ModTime()}
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			l.Content = string(content)
		}
		seen[path] = l
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

const mainGo = "package main\n\nimport \"example.com/m/dep\"\n\nfunc main() { println(dep.Old) }\n"

// module writes a small module and returns its root.
func module(t testing.TB, root string) {
	write(t, filepath.Join(root, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	write(t, filepath.Join(root, "main.go"), mainGo)
	write(t, filepath.Join(root, "dep", "dep.go"), "package dep\n\nconst Old = 1\n")
	write(t, filepath.Join(root, "dep", "gone.go"), "package dep\n\nconst Gone = 1\n")
	write(t, filepath.Join(root, "dep", "moved.go"), "package dep\n\nconst Moved = 1\n")
}

// rename is a plan over the module with one file of every kind.
func rename(root string) []change.File {
	return []change.File{
		{Kind: change.Edit, Path: filepath.Join(root, "main.go"), After: []byte("package main\n\nimport \"example.com/m/dep\"\n\nfunc main() { println(dep.New, dep.Moved, dep.Extra) }\n")},
		{Kind: change.Edit, Path: filepath.Join(root, "dep", "dep.go"), After: []byte("package dep\n\nconst New = 1\n")},
		{Kind: change.Delete, Path: filepath.Join(root, "dep", "gone.go")},
		{Kind: change.Rename, Path: filepath.Join(root, "dep", "moved.go"), NewPath: filepath.Join(root, "dep", "there.go"), After: []byte("package dep\n\nconst Moved = 2\n")},
		{Kind: change.Create, Path: filepath.Join(root, "dep", "extra.go"), After: []byte("package dep\n\nconst Extra = 3\n")},
	}
}

func mustStage(t testing.TB, root string, files []change.File) []staged {
	t.Helper()
	out, err := stage(root, files)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// runShadow runs both ways into a shadow: mounts of root's own, and a user's name space.
func runShadow(t *testing.T, test func(t *testing.T, run func(root string, files []staged, c command) (result, error))) {
	s := newShadow(t)
	start := func(userNS bool) func(string, []staged, command) (result, error) {
		return func(root string, files []staged, c command) (result, error) {
			return s.start(t.Context(), order{Root: root, Mount: s.mount, Size: s.size, UserNS: userNS,
				Files: files, Argv: c.argv, Env: c.env, Dir: c.dir})
		}
	}
	if os.Geteuid() == 0 {
		t.Run("root", func(t *testing.T) { test(t, start(false)) })
	}
	t.Run("user name space", func(t *testing.T) { test(t, start(true)) })
}

func TestShadow_BuildSeesThePlanAndTheTreeKeepsItsBytes(t *testing.T) {
	runShadow(t, func(t *testing.T, run func(string, []staged, command) (result, error)) {
		root := filepath.Join(t.TempDir(), "a, b:c")
		module(t, root)
		before := lookAt(t, root)
		c := command{argv: []string{program(t, "go"), "build", "-o", "bin/", "./..."}, env: os.Environ(), dir: root}

		r, err := run(root, mustStage(t, root, rename(root)), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.exit != 0 {
			t.Errorf("the build of the plan fails: %s", r.output)
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Errorf("the real tree moved (-before +after):\n%s", diff)
		}

		broken := rename(root)[:1]
		r, err = run(root, mustStage(t, root, broken), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.exit == 0 || !strings.Contains(string(r.output), "undefined: dep.New") {
			t.Errorf("the build of half the plan gives %d: %s", r.exit, r.output)
		}
		if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
			t.Errorf("the real tree moved (-before +after):\n%s", diff)
		}
	})
}

func TestShadow_SameTreeInside(t *testing.T) {
	runShadow(t, func(t *testing.T, run func(string, []staged, command) (result, error)) {
		root := t.TempDir()
		module(t, root)
		if err := os.Chmod(filepath.Join(root, "main.go"), 0o755); err != nil {
			t.Fatal(err)
		}
		script := `set -e
pwd
cat main.go; stat -c %a main.go
test ! -e dep/gone.go; test ! -e dep/moved.go; cat dep/there.go dep/extra.go
if read line; then echo "there is input"; fi
test ! -t 0; test ! -t 1
( : > /dev/tty ) 2>/dev/null && echo "there is a terminal"
test -n "$TMPDIR"; : > "$TMPDIR/x"
ls /proc/self/fd | tr '\n' ' '
id -u
: > litter`
		r, err := run(root, mustStage(t, root, rename(root)), command{argv: []string{program(t, "sh"), "-c", script}, env: os.Environ(), dir: root})
		if err != nil {
			t.Fatal(err)
		}
		want := root + "\n" + string(rename(root)[0].After) + "755\n" + "package dep\n\nconst Moved = 2\npackage dep\n\nconst Extra = 3\n" +
			"0 1 2 3 " + strconv.Itoa(os.Geteuid()) + "\n" // 3 is ls's own
		if diff := cmp.Diff(want, string(r.output)); diff != "" || r.exit != 0 {
			t.Errorf("exit %d, output (-want +got):\n%s", r.exit, diff)
		}
		if _, err := os.Lstat(filepath.Join(root, "litter")); !errors.Is(err, fs.ErrNotExist) {
			t.Error("a file that the build wrote is in the real tree")
		}
	})
}

// A link that leaves the root must not carry a planned byte out of the shadow.
func TestShadow_LinkOutOfTheRoot(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	write(t, outside, "precious")
	write(t, filepath.Join(root, "real"), "old")
	for link, to := range map[string]string{"out": outside, "in": "real"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := newShadow(t)
	cat := command{argv: []string{program(t, "cat"), "in"}, env: os.Environ(), dir: root}
	r, err := s.run(t.Context(), root, []staged{{Kind: change.Edit, Path: "in", Content: []byte("new")}}, cat)
	if err != nil || string(r.output) != "new" {
		t.Errorf("through a link inside the root: %q, %v", r.output, err)
	}
	_, err = s.run(t.Context(), root, []staged{{Kind: change.Edit, Path: "out", Content: []byte("new")}}, cat)
	if refused := new(NoShadowError); !errors.As(err, &refused) {
		t.Errorf("through a link out of the root: %v, want a NoShadowError", err)
	}
	if content, _ := os.ReadFile(outside); string(content) != "precious" {
		t.Errorf("the file outside holds %q", content)
	}
}

// An overlay does not show what is mounted inside the folder that it covers: a
// build in it would miss those files.
func TestShadow_MountInsideTheRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		return // nobody else may mount for the test; it runs as root in CI
	}
	root := t.TempDir()
	inner := filepath.Join(root, "a volume", "x")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", inner, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer syscall.Unmount(inner, 0)
	runShadow(t, func(t *testing.T, run func(string, []staged, command) (result, error)) {
		_, err := run(root, nil, command{argv: []string{program(t, "true")}, dir: root})
		if refused := new(NoShadowError); !errors.As(err, &refused) || !strings.Contains(refused.Reason, inner) {
			t.Errorf("got %v, want a NoShadowError that names %s", err, inner)
		}
	})
}

// The state folder may lie in the workspace, as when that is the home folder.
func TestShadow_StateInsideTheRoot(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a"), "a")
	s := &shadow{helper: helper(t)[2:], mount: filepath.Join(root, ".state", "shadow"), size: 1 << 20}
	if err := os.MkdirAll(s.mount, 0o700); err != nil {
		t.Fatal(err)
	}
	before := lookAt(t, root)
	r, err := s.run(t.Context(), root, []staged{{Kind: change.Edit, Path: "a", Content: []byte("A")}},
		command{argv: []string{program(t, "sh"), "-c", `echo x > "$TMPDIR/x" && cat a "$TMPDIR/x"`}, env: os.Environ(), dir: root})
	if err != nil || string(r.output) != "Ax\n" {
		t.Errorf("inside: %q, %v", r.output, err)
	}
	if diff := cmp.Diff(before, lookAt(t, root)); diff != "" {
		t.Errorf("the real tree moved (-before +after):\n%s", diff)
	}
}

func TestShadow_ReasonsForPlace(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a"), "a")
	reason := func(s *shadow, files []staged) string {
		t.Helper()
		_, err := s.run(t.Context(), root, files, command{argv: []string{program(t, "true")}, dir: root})
		refused := new(NoShadowError)
		if !errors.As(err, &refused) {
			t.Fatalf("got %v, want a NoShadowError", err)
		}
		return refused.Reason
	}
	if self, err := os.Executable(); err != nil || pinned(self) != "/proc/self/exe" || pinned("/bin/sh") != "/bin/sh" {
		t.Errorf("pinned: %q, %v", pinned(self), err)
	}
	s := newShadow(t)
	s.helper = nil
	if got := reason(s, nil); !strings.Contains(got, "helper") {
		t.Errorf("without a helper: %s", got)
	}
	s = newShadow(t)
	s.helper = []string{program(t, "false")}
	if got := reason(s, nil); !strings.Contains(got, "ended early") {
		t.Errorf("a helper that fails: %s", got)
	}
	// A kernel that refuses the mounts: the mount point cannot be used.
	s = newShadow(t)
	s.mount = filepath.Join(root, "a")
	if got := reason(s, nil); !strings.Contains(got, "the kernel refuses a mount") {
		t.Errorf("a refused mount: %s", got)
	}
	s = newShadow(t)
	if got := reason(s, []staged{{Kind: change.Delete, Path: "missing"}}); !strings.Contains(got, "missing") {
		t.Errorf("a file that cannot be placed: %s", got)
	}
	s = newShadow(t)
	s.size = 1 << 20
	s2 := command{argv: []string{program(t, "sh"), "-c", "head -c 4000000 /dev/zero > big"}, env: os.Environ(), dir: root}
	if _, err := s.run(t.Context(), root, nil, s2); !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("a build that fills the memory: %v", err)
	}
	if _, err := stage(root, []change.File{{Kind: change.Create, Path: filepath.Dir(root)}}); err == nil {
		t.Error("a file outside the root can be staged")
	}
}

// The whole tree of processes ends with its first one, even those that left
// their session.
func TestE22_ShadowDeadlineEndsAllProcesses(t *testing.T) {
	root := t.TempDir()
	runShadow(t, func(t *testing.T, _ func(string, []staged, command) (result, error)) {
		mark := "aura-test-" + strconv.Itoa(os.Getpid()) + "-" + strings.ReplaceAll(t.Name(), "/", "-")
		script := `setsid sh -c "exec sleep 1000" & sh -c "trap '' TERM; sleep 1000" & echo started; sleep 1000`
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		r, err := newShadow(t).run(ctx, root, nil, command{
			argv: []string{program(t, "sh"), "-c", script}, env: append(os.Environ(), "MARK="+mark), dir: root})
		if err != nil {
			t.Fatal(err)
		}
		if !r.timedOut || string(r.output) != "started\n" {
			t.Errorf("got %+v, want it timed out after its output", r)
		}
		if took := time.Since(start); took > 6*time.Second {
			t.Errorf("ended after %v", took)
		}
		until(t, "no process of the check is left", func() bool { return len(marked(mark)) == 0 })
	})
}

// A killed daemon leaves no process, no mount and no folder behind.
func TestE22_ShadowDiesWithItsParent(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	if os.Getenv("AURA_TEST_SHADOW_PARENT") != "" {
		return
	}
	mark := "aura-test-parent-" + strconv.Itoa(os.Getpid())
	daemon := exec.Command(helper(t)[2], "-test.run=TestShadowParent$")
	daemon.Env = append(os.Environ(), "AURA_TEST_SHADOW_PARENT="+dir, "AURA_TEST_SHADOW_ROOT="+root, "MARK="+mark)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	defer daemon.Wait()
	until(t, "the build runs in the shadow", func() bool { return len(marked(mark)) >= 3 })
	if err := syscall.Kill(daemon.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "nothing is left of it", func() bool { return len(marked(mark)) == 0 })
	if mounts, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(mounts), dir) || strings.Contains(string(mounts), root) {
		t.Error("a mount is left")
	}
	for _, d := range []string{dir, root} {
		if left, _ := os.ReadDir(d); len(left) != 0 {
			t.Errorf("%s holds %v", d, left)
		}
	}
}

// TestShadowParent is the daemon of TestE22_ShadowDiesWithItsParent.
func TestShadowParent(t *testing.T) {
	dir, root := os.Getenv("AURA_TEST_SHADOW_PARENT"), os.Getenv("AURA_TEST_SHADOW_ROOT")
	if dir == "" {
		return // it is run by the other test
	}
	s := &shadow{helper: helper(t), mount: dir, size: 1 << 20}
	s.run(t.Context(), root, nil, command{
		argv: []string{program(t, "sh"), "-c", "setsid sleep 1000 & : > litter; sleep 1000"}, env: os.Environ(), dir: root})
	t.Error("the build ended")
}

// A kernel that refuses name spaces: this one does so to a process whose user
// has no place in its own.
func TestShadow_RefusedByTheKernel(t *testing.T) {
	if os.Getenv("AURA_TEST_NO_NAMESPACE") != "" {
		v, err := New(Options{Helper: helper(t), Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		ok, why := v.Possible(t.Context())
		if ok || !strings.Contains(why, "the kernel refuses a private name space") {
			t.Errorf("possible: %v, %q", ok, why)
		}
		_, err = v.Shadow(t.Context(), Request{Root: t.TempDir()})
		if refused := new(NoShadowError); !errors.As(err, &refused) {
			t.Errorf("got %v, want a NoShadowError", err)
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(helper(t)[2], "-test.v", "-test.run=^TestShadow_RefusedByTheKernel$")
	cmd.Env = append(os.Environ(), "AURA_TEST_NO_NAMESPACE=1", "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestShadow_RefusedByTheKernel") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A user that may not do anything else may build in a shadow.
func TestShadow_AsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		return // the tests above ran as an ordinary user
	}
	home := t.TempDir()
	for dir := home; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	exe, err := os.ReadFile(helper(t)[2])
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "test")
	if err := os.WriteFile(bin, exe, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.v", "-test.run=^(TestShadow_BuildSees|TestShadow_SameTree|TestShadow_Link|TestE22_Shadow)")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "GOCACHE="+filepath.Join(home, "cache"), "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOPROXY=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as uid 65534: %v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS") + strings.Count(string(out), "\n    --- PASS"); n < 8 {
		t.Errorf("only %d tests ran as uid 65534:\n%s", n, out)
	}
}
