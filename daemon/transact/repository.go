package transact

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// lockPatience is how long a git command that holds the index is waited for.
const lockPatience = 2 * time.Second

// lfsPointer begins the file that stands for content which Git LFS has not
// fetched (git-lfs's docs/spec.md).
const lfsPointer = "version https://git-lfs.github.com/spec/"

// states are files in git's folder that tell of an operation under way.
var states = []struct{ name, what string }{
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"BISECT_LOG", "a bisection"},
}

// repository looks at what git does with the workspace. Everything that is no
// reason to refuse is a note: the change itself is safe, the user may not
// expect it to meet that state.
func repository(ctx context.Context, root string, files []change.File, generated func(string, []byte) bool) (notes []string, err error) {
	for _, f := range files {
		if bytes.HasPrefix(f.Before, []byte(lfsPointer)) {
			return nil, api.Errorf(api.BinaryFile, "%s is a Git LFS pointer, its content is not here: run `git lfs pull` first", relative(root, f.Path))
		}
		if generated != nil && f.Kind != change.Create && generated(f.Path, f.Before) {
			notes = append(notes, relative(root, f.Path)+" is generated code: change what generates it too, or the next run takes this back")
		}
	}
	dir := gitDir(root)
	if dir == "" {
		return notes, nil
	}
	for _, s := range states {
		if exists(filepath.Join(dir, s.name)) {
			notes = append(notes, s.what+" is in progress in this repository")
			break
		}
	}
	if sparse(dir) {
		notes = append(notes, "the repository is checked out in part: files that are not here were not changed")
	}
	lock := filepath.Join(dir, "index.lock")
	if gone, err := waitGone(ctx, lock); err != nil {
		return nil, err
	} else if !gone {
		notes = append(notes, "a git command is at work here, or has left "+lock+" behind")
	}
	return notes, nil
}

// gitDir returns git's folder for a workspace, or nothing.
func gitDir(root string) string {
	for dir := root; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ".git")
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return path
		case err == nil && info.Mode().IsRegular() && info.Size() < 4096: // a worktree or a submodule
			content, _ := os.ReadFile(path)
			if to, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: "); ok {
				if !filepath.IsAbs(to) {
					to = filepath.Join(dir, to)
				}
				return to
			}
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// sparse reports whether only a part of the files is checked out.
func sparse(dir string) bool {
	if !exists(filepath.Join(dir, "info", "sparse-checkout")) {
		return false
	}
	for _, name := range []string{"config", "config.worktree"} {
		content, _ := os.ReadFile(filepath.Join(dir, name))
		for line := range strings.Lines(strings.ToLower(string(content))) {
			if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "sparsecheckout" {
				return strings.TrimSpace(value) == "true"
			}
		}
	}
	return false
}

// waitGone waits a little for a file to go.
func waitGone(ctx context.Context, path string) (gone bool, err error) {
	if !exists(path) {
		return true, nil
	}
	limit := time.NewTimer(lockPatience)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if !exists(path) {
				return true, nil
			}
		case <-limit.C:
			return false, nil
		case <-ctx.Done():
			return false, cancelled(ctx)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
