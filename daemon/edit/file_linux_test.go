package edit

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// asNobody runs fn on a thread of its own that has lost root's powers; modes
// mean nothing to root. The bed then belongs to that user.
func (b *bed) asNobody(fn func()) {
	b.t.Helper()
	if os.Geteuid() != 0 {
		fn()
		return
	}
	const nobody = 65534
	top := filepath.Dir(b.root)
	for dir := top; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	must(b.t, filepath.WalkDir(top, func(p string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, nobody, nobody)
		}
		return err
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends here
		for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
			if _, _, err := syscall.RawSyscall(call, nobody, nobody, nobody); err != 0 {
				b.t.Errorf("drop root: %v", err)
				return
			}
		}
		fn()
	}()
	<-done
}

func TestE07_ReadOnlyFileIsRefused(t *testing.T) {
	for _, who := range []string{"root or user", "nobody"} {
		t.Run(who, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "a\n", "ro.txt": "ro\n"})
			must(t, os.Chmod(b.path("ro.txt"), 0o444))
			before := b.tree()
			try := func() {
				_, err := b.begin(b.edit("a.txt", "A\n"), b.edit("ro.txt", "RO\n"))
				b.refused(err, api.PermissionDenied, before, "ro.txt", "0444", "chmod u+w")
				if got := namedFiles(err); !slices.Equal(got, []string{"ro.txt"}) {
					t.Errorf("the refusal names %v", got)
				}
				_, err = b.begin(change.File{Kind: change.Delete, Path: b.path("ro.txt"), Before: []byte("ro\n")})
				b.refused(err, api.PermissionDenied, before, "ro.txt")
				tx, err := b.e.Begin(context.Background(), Plan{Root: b.root, Files: []change.File{b.edit("ro.txt", "RO\n")}, AllowReadOnly: true})
				must(t, err)
				must(t, tx.Apply(context.Background()))
				_, err = tx.Commit(context.Background(), CommitInfo{})
				must(t, err)
			}
			if who == "nobody" {
				b.asNobody(try)
			} else {
				try()
			}
			if got := b.tree()["ro.txt"]; got != "0444 RO\n" {
				t.Errorf("with AllowReadOnly the file is %q", got)
			}
		})
	}
}

func TestE08_ReadOnlyFolderIsRefusedOrRolledBack(t *testing.T) {
	b := newBed(t, map[string]string{"a/1.txt": "1\n", "b/2.txt": "2\n"})
	b.asNobody(func() {
		before := b.tree()
		must(t, os.Chmod(b.path("b"), 0o555))
		_, err := b.begin(b.edit("a/1.txt", "ONE\n"), b.edit("b/2.txt", "TWO\n"))
		b.refused(err, api.PermissionDenied, before, "b is a folder", "chmod u+w")
		_, err = b.begin(b.edit("a/1.txt", "ONE\n"), change.File{Kind: change.Create, Path: b.path("b/new/3.txt"), After: []byte("3\n")})
		b.refused(err, api.PermissionDenied, before, "b is a folder")
		must(t, os.Chmod(b.path("b"), 0o755))
		tx, err := b.begin(b.edit("a/1.txt", "ONE\n"), b.edit("b/2.txt", "TWO\n"))
		must(t, err)
		must(t, os.Chmod(b.path("b"), 0o555)) // after the look
		err = tx.Apply(context.Background())
		b.refused(err, api.PermissionDenied, before)
		must(t, os.Chmod(b.path("b"), 0o755))
	})
}

func TestE08_ImmutableFileIsRefusedOrRolledBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: chattr +i")
	}
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	before := b.tree()
	pin := func(flag string) {
		t.Helper()
		if out, err := exec.Command("chattr", flag, b.path("b.txt")).CombinedOutput(); err != nil {
			t.Skipf("chattr %s does not work here: %v %s", flag, err, out)
		}
	}
	files := []change.File{b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"), b.edit("c.txt", "C\n")}
	for _, kind := range []string{"i", "a"} {
		pin("+" + kind)
		t.Cleanup(func() { exec.Command("chattr", "-i", "-a", b.path("b.txt")).Run() })
		_, err := b.begin(files...)
		b.refused(err, api.PermissionDenied, before, "b.txt", "immutable or append-only", "chattr")
		pin("-" + kind)
		tx, err := b.begin(files...)
		must(t, err)
		pin("+" + kind) // after the look: the exchange fails in the middle
		err = tx.Apply(context.Background())
		b.refused(err, api.PermissionDenied, before, "nothing was changed")
		pin("-" + kind)
	}
	b.mustApply(files...)
}

// acl is a POSIX ACL that lets user 12345 read and write
// (include/uapi/linux/posix_acl_xattr.h: version, then tag, permissions, id).
func acl() []byte {
	b := []byte{2, 0, 0, 0}
	for _, e := range [][3]uint32{{0x01, 6, 0xffffffff}, {0x02, 6, 12345}, {0x04, 4, 0xffffffff}, {0x10, 6, 0xffffffff}, {0x20, 0, 0xffffffff}} {
		b = append(b, byte(e[0]), 0, byte(e[1]), 0, byte(e[2]), byte(e[2]>>8), byte(e[2]>>16), byte(e[2]>>24))
	}
	return b
}

// meta describes all that a file is besides its content.
func meta(t testing.TB, p string) map[string]string {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Stat(p, &st))
	out := map[string]string{"mode": fmt.Sprintf("%o", st.Mode), "owner": fmt.Sprint(st.Uid, ":", st.Gid), "links": fmt.Sprint(st.Nlink)}
	names := make([]byte, 4096)
	n, err := unix.Listxattr(p, names)
	must(t, err)
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if name != "" {
			value := make([]byte, 4096)
			n, err := unix.Getxattr(p, name, value)
			must(t, err)
			out[name] = string(value[:n])
		}
	}
	return out
}

func TestE09_ModeOwnerAttributesAndACLAreKept(t *testing.T) {
	root := os.Geteuid() == 0
	cases := map[string]func(p string) error{
		"0644":   func(p string) error { return os.Chmod(p, 0o644) },
		"0755":   func(p string) error { return os.Chmod(p, 0o755) },
		"0600":   func(p string) error { return os.Chmod(p, 0o600) },
		"0666":   func(p string) error { return os.Chmod(p, 0o666) },
		"setuid": func(p string) error { return syscall.Chmod(p, 0o4755) },
		"setgid": func(p string) error { return syscall.Chmod(p, 0o2755) },
		"user xattr": func(p string) error {
			return unix.Setxattr(p, "user.note", []byte("kept"), 0)
		},
		"large xattr": func(p string) error {
			return unix.Setxattr(p, "user.large", []byte(strings.Repeat("x", 2000)), 0)
		},
		"acl": func(p string) error { return unix.Setxattr(p, "system.posix_acl_access", acl(), 0) },
	}
	if root {
		cases["owner"] = func(p string) error { return os.Chown(p, 12345, 23456) }
		cases["owner and setuid"] = func(p string) error {
			if err := os.Chown(p, 12345, 23456); err != nil {
				return err
			}
			return syscall.Chmod(p, 0o6711|0o200)
		}
		cases["trusted xattr"] = func(p string) error { return unix.Setxattr(p, "trusted.note", []byte("kept"), 0) }
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "a\n", "m.txt": "m\n"})
			for _, rel := range []string{"a.txt", "m.txt"} {
				if err := cases[name](b.path(rel)); err != nil {
					t.Skipf("this file system does not know it: %v", err)
				}
			}
			want, ino := meta(t, b.path("a.txt")), b.inodes()["a.txt"]
			token := b.mustApply(b.edit("a.txt", "A\n"), change.File{
				Kind: change.Rename, Path: b.path("m.txt"), NewPath: b.path("n.txt"), Before: []byte("m\n"), After: []byte("M\n"),
			})
			for _, rel := range []string{"a.txt", "n.txt"} {
				if diff := cmp.Diff(want, meta(t, b.path(rel))); diff != "" {
					t.Errorf("%s after apply (-want +got):\n%s", rel, diff)
				}
			}
			_, err := b.undo(token)
			must(t, err)
			for _, rel := range []string{"a.txt", "m.txt"} {
				if diff := cmp.Diff(want, meta(t, b.path(rel))); diff != "" {
					t.Errorf("%s after undo (-want +got):\n%s", rel, diff)
				}
			}
			if b.inodes()["a.txt"] != ino {
				t.Error("the undo did not bring the old inode back")
			}
		})
	}
}

// A file whose owner cannot be kept is refused, rather than taken over.
func TestE09_OwnerThatCannotBeKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a file of another user")
	}
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	b.asNobody(func() {}) // hands the tree over
	must(t, os.Chown(b.path("b.txt"), 0, 0))
	must(t, os.Chmod(b.path("b.txt"), 0o666))
	before := b.tree()
	b.asNobodyKeeping("b.txt", func() {
		_, err := b.begin(b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"))
		b.refused(err, api.PermissionDenied, before, "b.txt", "owner")
	})
}

// asNobodyKeeping is asNobody, but leaves one file to root.
func (b *bed) asNobodyKeeping(rel string, fn func()) {
	b.t.Helper()
	b.asNobody(func() {})
	must(b.t, os.Chown(b.path(rel), 0, 0))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
			if _, _, err := syscall.RawSyscall(call, 65534, 65534, 65534); err != 0 {
				b.t.Errorf("drop root: %v", err)
				return
			}
		}
		fn()
	}()
	<-done
}

// New files come out as if they had been made in their folder.
func TestE09_NewFilesInheritFromTheirFolder(t *testing.T) {
	b := newBed(t, map[string]string{"d/a.txt": "a\n"})
	if os.Geteuid() == 0 {
		must(t, os.Chown(b.path("d"), 0, 23456))
	}
	must(t, syscall.Chmod(b.path("d"), 0o2775))
	must(t, os.WriteFile(b.path("d/control.txt"), nil, 0o666))
	b.mustApply(change.File{Kind: change.Create, Path: b.path("d/new.txt"), After: []byte("n\n")})
	if diff := cmp.Diff(meta(t, b.path("d/control.txt")), meta(t, b.path("d/new.txt"))); diff != "" {
		t.Errorf("a new file is not as one that was made in place (-want +got):\n%s", diff)
	}
}

// An undo keeps a mode that was changed after the edit.
func TestE09_ModeChangedAfterTheEditIsKept(t *testing.T) {
	b := newBed(t, map[string]string{"run.sh": "echo one\n"})
	token := b.mustApply(b.edit("run.sh", "echo two\n"))
	must(t, os.Chmod(b.path("run.sh"), 0o755))
	res, err := b.undo(token)
	must(t, err)
	if got := b.tree()["run.sh"]; got != "0755 echo one\n" {
		t.Errorf("after the undo the file is %q", got)
	}
	_, err = b.undo(res.RedoToken)
	must(t, err)
	if got := b.tree()["run.sh"]; got != "0755 echo two\n" {
		t.Errorf("after the redo the file is %q", got)
	}
}

func TestE10_HardLinkIsRefused(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	must(t, os.Link(b.path("b.txt"), b.path("twin.txt")))
	before := b.tree()
	_, err := b.begin(b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"))
	b.refused(err, api.PermissionDenied, before, "b.txt", "2 hard links")
}
