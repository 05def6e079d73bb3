package view_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/auralsp/aura/daemon/view"
)

// A linked work tree is told from a repository and from a submodule by where
// its .git file leads.
func TestWorktree(t *testing.T) {
	base := t.TempDir()
	for name, git := range map[string]string{
		"linked":    "gitdir: /repo/.git/worktrees/linked\n",
		"relative":  "gitdir: ../main/.git/worktrees/relative\n",
		"submodule": "gitdir: ../main/.git/modules/submodule\n",
		"nonsense":  "hello\n",
	} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, name, ".git"), []byte(git), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Its folder's name must not deceive.
	if err := os.MkdirAll(filepath.Join(base, "worktrees", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"linked": true, "relative": true, "submodule": false, "nonsense": false, "worktrees": false, "missing": false,
	} {
		if got := view.Worktree(filepath.Join(base, name)); got != want {
			t.Errorf("Worktree(%s) = %v, want %v", name, got, want)
		}
	}
}
