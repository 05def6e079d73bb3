package daemon

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/watch"
)

// repositories are the marks of a version control system, and of a workspace
// that says so itself.
var repositories = []string{".git", ".jj", ".hg", ".svn", ".aura.toml"}

// nearestRoot returns the workspace that a folder belongs to when its client
// names none: the nearest folder above it with a language's marker, where an
// earlier marker of a language (that of a whole, as of all modules of a tree)
// beats a nearer one of a part; else the nearest repository; else the folder.
// It looks no higher than the repository, and not into a folder above that
// anybody may write to, such as /tmp: a stranger could put a marker there. The
// home folder and the root of the file system hold everything: they are none
// without a mark, and the answer is "".
func nearestRoot(markers [][]string, home string) func(context.Context, string) (string, error) {
	lists := listings{seen: map[string]listing{}}
	for _, language := range markers {
		lists.patterns = append(lists.patterns, slices.DeleteFunc(slices.Clone(language), literal)...)
	}
	has := func(dir, name string) bool {
		if !literal(name) {
			return slices.Contains(lists.matches(dir), name)
		}
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return func(_ context.Context, folder string) (string, error) {
		best, rank, of := folder, -1, 0 // the rank of the marker at best, -1 when there is none, and its language
		for dir := filepath.Clean(folder); dir != home || dir == folder; dir = filepath.Dir(dir) {
			if dir != filepath.Clean(folder) && public(dir) {
				break
			}
			for l, language := range markers {
				for i, name := range language {
					if (rank < 0 || l == of && i < rank) && has(dir, name) {
						best, rank, of = dir, i, l
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

// public reports whether every user may make files in a folder.
func public(dir string) bool {
	stamp, err := watch.Stat(dir)
	return err == nil && stamp.Mode.Perm()&0o002 != 0
}

// literal reports whether a marker is a name and no pattern.
func literal(marker string) bool { return !strings.ContainsAny(marker, "*?[") }

// listings remembers which patterns fit the files of a folder: the folders
// above a project are asked about at each connection, and may hold thousands.
type listings struct {
	patterns []string

	mu   sync.Mutex // guards seen
	seen map[string]listing
}

// listing is what a folder held when it had a stamp.
type listing struct {
	stamp   watch.Stamp
	matches []string
}

// maxListings bounds the folders that are remembered.
const maxListings = 1024

// matches returns the patterns that a file in a folder fits.
func (l *listings) matches(dir string) []string {
	now := time.Now()
	stamp, err := watch.Stat(dir)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	have, ok := l.seen[dir]
	l.mu.Unlock()
	if ok && have.stamp == stamp {
		return have.matches
	}
	files, err := os.ReadDir(dir) // not filepath.Glob: the folder's own name may hold such signs
	if err != nil {
		return nil
	}
	var out []string
	for _, pattern := range l.patterns {
		if slices.ContainsFunc(files, func(f os.DirEntry) bool {
			ok, err := path.Match(pattern, f.Name())
			return ok && err == nil && !f.IsDir()
		}) {
			out = append(out, pattern)
		}
	}
	if !stamp.Racy(now) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.seen) >= maxListings {
			clear(l.seen)
		}
		l.seen[dir] = listing{stamp, out}
	}
	return out
}

func markers(languages []adapters.Adapter) [][]string {
	var out [][]string
	for _, l := range languages {
		out = append(out, l.Language().Markers)
	}
	return out
}
