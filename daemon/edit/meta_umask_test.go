package edit

import (
	"os"
	"syscall"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

// The daemon hides its own files from others. What it makes in the user's tree
// has the mode that the user would have given it.
func TestNewFilesAndFoldersFollowTheUsersUmask(t *testing.T) {
	users := uint32(syscall.Umask(0o077))
	defer syscall.Umask(int(users))
	users = 0o022
	b := newBed(t, map[string]string{"src/a.txt": "one\n"})
	b.close()
	var err error
	b.e, err = Open(Options{State: b.state, Umask: &users})
	must(t, err)
	must(t, os.Chmod(b.path("src/a.txt"), 0o640))
	token := b.mustApply(
		change.File{Kind: change.Rename, Path: b.path("src/a.txt"), NewPath: b.path("src/deep/er/b.txt"), Before: []byte("one\n"), After: []byte("one\n")},
		change.File{Kind: change.Create, Path: b.path("src/new.txt"), After: []byte("new\n")},
	)
	for path, want := range map[string]os.FileMode{"src/deep": 0o755, "src/deep/er": 0o755, "src/deep/er/b.txt": 0o640, "src/new.txt": 0o644} {
		info, err := os.Stat(b.path(path))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
	_, err = b.undo(token)
	must(t, err)
	if _, err := os.Stat(b.path("src/deep")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
