package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
)

// TestWholeFileSystemIsNoWorkspace: a command that is run in the wrong folder
// must not make the daemon follow and read everything.
func TestWholeFileSystemIsNoWorkspace(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	w := &workspaces{languages: registry.Languages()}
	for _, dir := range []string{"/", home} {
		if err := w.tooWide(dir); !errors.Is(err, &api.Error{Code: api.InvalidArgument}) {
			t.Errorf("tooWide(%s) = %v, want INVALID_ARGUMENT", dir, err)
		}
	}
	if err := w.tooWide(filepath.Join(home, "project")); err != nil {
		t.Errorf("a folder in the home folder is refused: %v", err)
	}
	if err := os.Mkdir(filepath.Join(home, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.tooWide(home); err != nil {
		t.Errorf("a home folder that is a project is refused: %v", err)
	}
}
