package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// gitBed is a bed in a real git repository, at its top or in a folder of it.
func gitBed(t *testing.T, sub string) *bed {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is not installed, and what git must not see cannot be shown without it")
	}
	b := newBed(t, nil)
	must(t, os.RemoveAll(b.path(".git")))
	b.git("init", "-q")
	top := b.root
	b.root = filepath.Join(top, sub)
	b.write("a.txt", "a\n")
	b.write("b.txt", "b\n")
	b.git("add", "-A")
	b.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x")
	return b
}

func (b *bed) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// At every step of a transaction git sees the user's files and nothing else,
// be the staging folder in .git or in .aura.
func TestE30_GitSeesNothingOfOurs(t *testing.T) {
	for _, sub := range []string{"", "pkg/inner"} {
		t.Run("workspace "+sub, func(t *testing.T) {
			b := gitBed(t, sub)
			status := func(when, want string) {
				t.Helper()
				got := strings.Join(strings.Fields(b.git("status", "--porcelain", "--untracked-files=all", ".")), " ")
				if got = strings.ReplaceAll(got, "pkg/inner/", ""); got != want {
					t.Errorf("%s git status says %q, want %q", when, got, want)
				}
			}
			files := []change.File{b.edit("a.txt", "A\n"), {Kind: change.Create, Path: b.path("new/n.txt"), After: []byte("n\n")}}
			status("before", "")
			tx, err := b.begin(files...)
			must(t, err)
			status("staged", "")
			must(t, tx.Apply(context.Background()))
			status("applied", "M a.txt ?? new/n.txt")
			must(t, tx.Abort(context.Background()))
			status("aborted", "")
			token := b.mustApply(files...)
			status("committed", "M a.txt ?? new/n.txt")
			if sub == "" {
				// What git cleans away does not take the undo with it.
				b.git("clean", "-xdfq", "-e", "new")
			}
			_, err = b.undo(token)
			must(t, err)
			status("undone", "")
			b.git("fsck", "--strict")
			b.git("gc", "-q")
			if h := b.history(); h != 2 {
				t.Errorf("%d transactions after git gc", h)
			}
		})
	}
}

// Compilers that glob for sources do not find the slots.
func TestE30_NoSourceFileAppears(t *testing.T) {
	b := newBed(t, map[string]string{"a.src": "a\n", "d/b.src": "b\n"})
	must(t, os.RemoveAll(b.path(".git")))
	sources := func() (n int) {
		must(t, filepath.WalkDir(b.root, func(p string, _ os.DirEntry, err error) error {
			if filepath.Ext(p) == ".src" {
				n++
			}
			return err
		}))
		return n
	}
	tx, err := b.begin(b.edit("a.src", "A\n"), change.File{Kind: change.Create, Path: b.path("d/c.src"), After: []byte("c\n")})
	must(t, err)
	if got := sources(); got != 2 {
		t.Errorf("staged: %d source files", got)
	}
	if ignore, err := filepath.Glob(b.path(".aura/*/.gitignore")); err != nil || len(ignore) != 1 {
		t.Errorf("the staging folder does not ignore itself: %v, %v", ignore, err)
	}
	must(t, tx.Apply(context.Background()))
	if got := sources(); got != 3 {
		t.Errorf("applied: %d source files", got)
	}
	must(t, tx.Abort(context.Background()))
	if _, err := os.Stat(b.path(".aura")); !os.IsNotExist(err) {
		t.Errorf(".aura is left: %v", err)
	}
}

// inotify reads the events of a folder: name and what happened, in order.
func inotify(t *testing.T, dir string) (read func() []string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_FROM|unix.IN_MOVED_TO|unix.IN_CREATE|unix.IN_DELETE)
	must(t, err)
	return func() (events []string) {
		buf := make([]byte, 1<<16)
		n, err := unix.Read(fd, buf)
		if err == unix.EAGAIN {
			return nil
		}
		must(t, err)
		for at := 0; at < n; {
			mask, size := binary.NativeEndian.Uint32(buf[at+4:]), int(binary.NativeEndian.Uint32(buf[at+12:]))
			name := string(bytes.TrimRight(buf[at+16:at+16+size], "\x00"))
			verb := map[bool]string{true: "in", false: "out"}[mask&(unix.IN_MOVED_TO|unix.IN_CREATE) != 0]
			events = append(events, name+" "+verb)
			at += 16 + size
		}
		return events
	}
}

// A watcher that folds events, so that the last one decides whether a file
// exists, believes that it does; and the name is never missing meanwhile.
func TestE33_NaiveWatcherStillBelievesInTheFile(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	events := inotify(t, b.root)
	var stop atomic.Bool
	missing := make(chan int)
	go func() {
		n := 0
		for !stop.Load() {
			var st unix.Stat_t
			if unix.Stat(b.path("a.txt"), &st) == unix.ENOENT {
				n++
			}
		}
		missing <- n
	}()
	last := func(when string) {
		t.Helper()
		all := events()
		if len(all) == 0 || all[len(all)-1] != "a.txt in" {
			t.Errorf("%s a naive watcher sees %v", when, all)
		}
	}
	ctx := context.Background()
	for range 20 {
		tx, err := b.begin(b.edit("a.txt", "A\n"))
		must(t, err)
		must(t, tx.Apply(ctx))
		last("after apply")
		must(t, tx.Abort(ctx))
		last("after abort")
		token := b.mustApply(b.edit("a.txt", "A\n"))
		last("after apply")
		_, err = b.undo(token)
		must(t, err)
		last("after undo")
	}
	stop.Store(true)
	if n := <-missing; n > 0 {
		t.Errorf("the file was missing %d times", n)
	}
}

// mounted mounts a small tmpfs and returns why that is not possible.
func mounted(t *testing.T, dir, options string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return "needs root, to mount a file system"
	}
	must(t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		return fmt.Sprintf("mount of a tmpfs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return ""
}

// A workspace that spans two file systems gets a staging folder on each.
func TestRootThatSpansMounts(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	if why := mounted(t, b.path("mnt"), "size=1m"); why != "" {
		t.Skip(why)
	}
	b.write("mnt/deep/b.txt", "b\n")
	b.write("mnt/c.txt", "c\n")
	old := b.tree()
	token := b.mustApply(b.edit("a.txt", "A\n"), b.edit("mnt/deep/b.txt", "B\n"), change.File{
		Kind: change.Rename, Path: b.path("mnt/c.txt"), NewPath: b.path("moved/c.txt"), Before: []byte("c\n"), After: []byte("C\n"),
	})
	for rel, want := range map[string]string{"a.txt": "A\n", "mnt/deep/b.txt": "B\n", "moved/c.txt": "C\n"} {
		if got := b.read(rel); got != want {
			t.Errorf("%s holds %q", rel, got)
		}
	}
	for _, base := range []string{stagingGit, "mnt/" + stagingFallback} {
		if _, err := os.Stat(b.path(base)); err != nil {
			t.Error(err)
		}
	}
	b.close()
	b.open()
	_, err := b.undo(token)
	must(t, err)
	must(t, os.RemoveAll(b.path("mnt/.aura")))
	b.same(old)
}

// A real disk is full: of the user's files none changes, and what is in place
// comes back without a new block.
func TestE04_RealFullDisk(t *testing.T) {
	b := newBed(t, nil)
	b.close()
	if why := mounted(t, b.root, "size=600k"); why != "" {
		t.Skip(why)
	}
	must(t, os.Mkdir(b.path(".git"), 0o755))
	for i := range 10 {
		b.write(fmt.Sprintf("f%d.txt", i), strings.Repeat("x", 20_000))
	}
	b.open()
	before := b.tree()
	var large, small []change.File
	for i := range 10 {
		large = append(large, b.edit(fmt.Sprintf("f%d.txt", i), strings.Repeat("y", 60_000)))
		small = append(small, b.edit(fmt.Sprintf("f%d.txt", i), strings.Repeat("y", 20_000)))
	}
	_, err := b.begin(large...)
	b.refused(err, api.Internal, before, "disk is full")
	tx, err := b.begin(small...)
	must(t, err)
	must(t, tx.Apply(context.Background()))
	full := b.path("filler")
	f, err := os.Create(full)
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	must(t, tx.Abort(context.Background()))
	after := b.tree()
	delete(after, "filler")
	if len(after) != len(before) {
		t.Errorf("%d entries after the abort, want %d", len(after), len(before))
	}
	for rel := range before {
		if after[rel] != before[rel] {
			t.Errorf("%s is not back", rel)
		}
	}
}

// Every system call that a signal can interrupt is interrupted once.
func TestE06_InterruptedCallsAreRepeated(t *testing.T) {
	st := strace(t)
	for _, call := range []string{"openat2", "write", "pwrite64", "pread64", "read", "fsync", "fdatasync", "renameat2", "fchmod", "utimensat", "mkdirat"} {
		if raceEnabled && strings.Contains(call, "read") {
			continue // the dynamic loader of such a binary reads too, and gives up
		}
		rt := realApply(3)
		j, _, want := rt.prepare(t)
		// From the second call on: the first openat and read are the runtime's.
		out, err := j.command(st, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call,
			"-e", fmt.Sprintf("inject=%s:error=EINTR:when=2+3", call)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ACK") {
			t.Errorf("%s interrupted: %v %s", call, err, out)
			continue
		}
		if bad := j.judge(t, want, want, true); len(bad) > 0 {
			t.Errorf("%s interrupted: %v", call, bad)
		}
	}
}

// A short write goes on where it stopped.
func TestE06_ShortWrites(t *testing.T) {
	var got []byte
	f := &diskFile{path: "x"}
	n, err := f.write([]byte("hello world"), func(rest []byte, _ int) (int, error) {
		k := min(3, len(rest))
		got = append(got, rest[:k]...)
		return k, nil
	})
	if err != nil || n != 11 || string(got) != "hello world" {
		t.Errorf("%d, %q, %v", n, got, err)
	}
	if _, err := f.write([]byte("x"), func([]byte, int) (int, error) { return 0, nil }); err == nil {
		t.Error("a write that writes nothing is no error")
	}
}

// ramDir is a folder in memory where there is one: many files, little to flush.
func ramDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "aura-edit-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// 10,000 files are renamed and the caller changes its mind in the middle.
func TestE27_TenThousandFilesCancelledMidway(t *testing.T) {
	dir := ramDir(t)
	root, state := filepath.Join(dir, "repo"), filepath.Join(dir, "state")
	must(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	for i := range MaxFiles {
		dir := filepath.Join(root, fmt.Sprint("d", i%100))
		if i < 100 {
			must(t, os.Mkdir(dir, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), bigContent(i), 0o644))
	}
	j := job{what: "big", root: root, state: state, n: MaxFiles}
	out := j.run(t)
	var rss int
	for line := range strings.Lines(out) {
		if kb, ok := strings.CutPrefix(line, "VmHWM "); ok {
			rss, _ = strconv.Atoi(strings.TrimSpace(kb))
		}
	}
	t.Logf("%d files, at most %d MB resident", MaxFiles, rss>>10)
	if rss == 0 || rss > 150<<10 && !raceEnabled {
		t.Errorf("resident set of %d kB, want at most 150 MB\n%s", rss, out)
	}
	for i := range MaxFiles {
		got, err := os.ReadFile(filepath.Join(root, fmt.Sprint("d", i%100), fmt.Sprint(i)))
		if err != nil || !bytes.Equal(got, bigContent(i)) {
			t.Fatalf("file %d: %.20q, %v", i, got, err)
		}
	}
	if names, err := os.ReadDir(filepath.Join(root, ".git")); err != nil || len(names) != 0 {
		t.Errorf("left over: %v, %v", names, err)
	}
}
