package edit

import (
	"os"
	"syscall"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

// The daemon hides its own files from others. What it makes in the user's tree
// is for those who may enter the folder around it.
func TestNewFilesAndFoldersAreForThoseAround(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	b := newBed(t, map[string]string{"src/a.txt": "one\n"})
	must(t, os.Chmod(b.path("src"), 0o755))
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
	_, err := b.undo(token)
	must(t, err)
	if _, err := os.Stat(b.path("src/deep")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
