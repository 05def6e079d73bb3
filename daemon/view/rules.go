package view

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/graph/watch"
)

// rules decide which folders are followed and which files are listed. A folder
// that is skipped is neither; a file that .gitignore or .ignore names, or that
// is vendored, is followed but not listed: a compiler may read it.
//
// No command of git is run: a repository's own configuration could name programs.
type rules struct {
	root string
	top  string // folder whose .gitignore is the first that counts
	lock string // git's index.lock, empty when there is no repository

	mu   sync.Mutex // guards dirs
	dirs map[string]*dirRules
}

// dirRules are the patterns that one folder's files hold.
type dirRules struct {
	ignore patterns
	cached bool // the folder calls itself a cache or an environment
	vendor bool // the folder holds copies of others' code
	linked bool // the folder is another work tree of a repository
}

func newRules(root string) *rules {
	r := &rules{root: root, top: root, dirs: map[string]*dirRules{}}
	for dir := root; ; dir = filepath.Dir(dir) {
		if git := gitDir(dir); git != "" {
			r.top, r.lock = dir, filepath.Join(git, "index.lock")
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for dir := root; len(dir) > len(r.top); dir = filepath.Dir(dir) {
		if r.ignored(dir, true) {
			// The repository around it wants to know nothing of this folder; the
			// user who opened it does, and its own files say what to leave out.
			r.top = root
		}
	}
	return r
}

// gitDir returns the folder that holds the repository of a work tree, or "".
func gitDir(tree string) string {
	path := filepath.Join(tree, ".git")
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return path
	}
	data, _, _, err := readRegular(path, nil, 4096)
	if err != nil {
		return ""
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(tree, to)
	}
	return to
}

// Worktree reports whether a folder is a linked work tree of a git repository.
// It holds the same code as another folder, in another state, and so is a
// workspace of its own wherever it lies.
func Worktree(dir string) bool {
	git := gitDir(dir)
	return git != "" && git != filepath.Join(dir, ".git") && filepath.Base(filepath.Dir(git)) == "worktrees"
}

// busy reports whether git is at work on the tree.
func (r *rules) busy() bool {
	if r.lock == "" {
		return false
	}
	_, err := os.Lstat(r.lock)
	return err == nil
}

// forget drops what was read of ignore files.
func (r *rules) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.dirs)
}

// isRules reports whether a path is a file of rules.
func isRules(path string) bool {
	base := filepath.Base(path)
	return base == ".gitignore" || base == ".ignore" || base == ".git" // a file where the folder is a work tree
}

// outdated reports whether a work tree among the listed folders was entered
// before it said that it is one: the folder is made first.
func (r *rules) outdated(listed []string) bool {
	return slices.ContainsFunc(listed, func(path string) bool {
		dir := filepath.Dir(path)
		return filepath.Base(path) == ".git" && dir != r.root && r.lock != "" && Worktree(dir) && !r.of(dir).linked
	})
}

// skip is the watcher's question: is a file or folder, whose parent is
// followed, to be left out altogether?
func (r *rules) skip(path string, dir bool) bool {
	if !dir {
		return isLitter(filepath.Base(path))
	}
	// The watcher asks as it enters: what an earlier folder of that path held
	// counts no more.
	r.mu.Lock()
	delete(r.dirs, path)
	r.mu.Unlock()
	return r.skipDir(path)
}

func (r *rules) skipDir(path string) bool {
	switch filepath.Base(path) {
	case ".git", ".hg", ".svn", ".jj", ".aura", "node_modules", "__pycache__":
		return path != r.root
	}
	return path != r.root && (r.of(path).cached || r.of(path).linked || r.ignored(path, true))
}

// skipped reports whether a folder, or one above it, is left out.
func (r *rules) skipped(dir string) bool {
	for ; len(dir) > len(r.root); dir = filepath.Dir(dir) {
		if r.skipDir(dir) {
			return true
		}
	}
	return false
}

// isLitter tells the short-lived files of editors.
func isLitter(base string) bool {
	return base == "4913" || strings.HasSuffix(base, "~") || strings.HasPrefix(base, ".#") ||
		strings.HasSuffix(base, ".swp") || strings.HasSuffix(base, ".swx")
}

// unlisted reports whether a followed file is left out of lists.
func (r *rules) unlisted(path string) bool {
	for dir := filepath.Dir(path); len(dir) > len(r.root); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "vendor" && r.of(dir).vendor {
			return true
		}
	}
	return r.ignored(path, false)
}

// ignored asks the ignore files from the nearest folder outwards; the last
// matching line of the nearest one decides, as in git.
func (r *rules) ignored(path string, isDir bool) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if list := r.of(dir).ignore; len(list) > 0 {
			rel := filepath.ToSlash(strings.TrimPrefix(path[len(dir):], "/"))
			if ignored, found := list.match(rel, isDir); found {
				return ignored
			}
		}
		if dir == r.top || len(dir) <= len(r.top) {
			return false
		}
	}
}

// of returns the rules that a folder's own files hold.
func (r *rules) of(dir string) *dirRules {
	r.mu.Lock()
	d := r.dirs[dir]
	r.mu.Unlock()
	if d != nil {
		return d
	}
	d = r.read(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dirs[dir] = d
	return d
}

func (r *rules) read(dir string) *dirRules {
	d := &dirRules{}
	var files []string
	if dir == r.top && gitDir(dir) != "" {
		files = append(files, filepath.Join(filepath.Dir(r.lock), "info", "exclude"))
	}
	files = append(files, filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".ignore"))
	for _, path := range files {
		const limit = 1 << 20
		data, _, _, err := readRegular(path, nil, limit)
		if err != nil {
			continue // none, or nothing that could be read as one
		}
		d.ignore = append(d.ignore, parsePatterns(data)...)
	}
	if dir != r.root {
		d.cached = has(dir, "CACHEDIR.TAG") || has(dir, "pyvenv.cfg")
		d.linked = r.lock != "" && Worktree(dir)
	}
	if filepath.Base(dir) == "vendor" {
		d.vendor = has(dir, "modules.txt") || has(dir, "autoload.php") || has(dir, "bundle")
	}
	return d
}

func has(dir, name string) bool {
	_, err := watch.Lstat(filepath.Join(dir, name))
	return err == nil
}
