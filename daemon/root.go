package daemon

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
)

// repositories are the marks of a version control system, and of a workspace
// that says so itself.
var repositories = []string{".git", ".jj", ".hg", ".svn", ".aura.toml"}

// nearestRoot returns the workspace that a folder belongs to when its client
// names none: the nearest folder above it with a language's marker, where an
// earlier marker of a language (that of a whole, as of all modules of a tree)
// beats a nearer one of a part; else the nearest repository; else the folder.
// It looks no higher than the repository. The home folder and the root of the
// file system hold everything: they are none without a mark, and the answer is "".
func nearestRoot(markers [][]string, home string) func(context.Context, string) (string, error) {
	has := func(dir, name string) bool {
		if !strings.ContainsAny(name, "*?[") {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		}
		files, err := os.ReadDir(dir) // not filepath.Glob: the folder's own name may hold such signs
		return err == nil && slices.ContainsFunc(files, func(f os.DirEntry) bool {
			ok, err := path.Match(name, f.Name())
			return ok && err == nil && !f.IsDir()
		})
	}
	return func(_ context.Context, folder string) (string, error) {
		best, rank := folder, -1 // the rank of the marker at best; -1 when there is none
		for dir := filepath.Clean(folder); dir != home || dir == folder; dir = filepath.Dir(dir) {
			for _, language := range markers {
				for i, name := range language {
					if (rank < 0 || i < rank) && has(dir, name) {
						best, rank = dir, i
					}
				}
			}
			for _, name := range repositories {
				if has(dir, name) {
					if rank < 0 {
						best = dir
					}
					return best, nil
				}
			}
			if dir == filepath.Dir(dir) || dir == home {
				break
			}
		}
		if rank < 0 && (best == home || best == filepath.Dir(best)) {
			return "", nil
		}
		return best, nil
	}
}

func markers(languages []adapters.Adapter) [][]string {
	var out [][]string
	for _, l := range languages {
		out = append(out, l.Language().Markers)
	}
	return out
}
