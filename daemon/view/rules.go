package view

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// rules decide which folders are followed and which files are listed. A folder
// that is skipped is neither; a file that .gitignore or .ignore names, or that
// is vendored, is followed but not listed: a compiler may read it.
//
// No command of git is run: a repository's own configuration could name programs.
type rules struct {
	root string
	at   atomic.Pointer[repository]

	mu    sync.Mutex // guards what follows
	dirs  map[string]*dirRules
	above map[string]watch.Stamp // files that were read of which the watcher does not tell
}

// repository is where the rules come from, besides the root's own folders.
type repository struct {
	top     string // folder whose .gitignore is the first that counts
	lock    string // git's index.lock, empty when there is no repository
	exclude string // git's info/exclude, of all work trees
}

// dirRules are the patterns that one folder's files hold.
type dirRules struct {
	ignore patterns
	cached bool // the folder calls itself a cache or an environment
	vendor bool // the folder holds copies of others' code
	linked bool // the folder is another work tree of a repository
	sum    text.Hash
}

func newRules(root string) *rules {
	r := &rules{root: root}
	r.forget()
	return r
}

// forget drops what was read of ignore files, and looks for the repository anew.
func (r *rules) forget() {
	r.mu.Lock()
	r.dirs, r.above = map[string]*dirRules{}, map[string]watch.Stamp{}
	r.mu.Unlock()
	at := repository{top: r.root}
	for dir := r.root; ; dir = filepath.Dir(dir) {
		if git := gitDir(dir); git != "" {
			at = repository{dir, filepath.Join(git, "index.lock"), filepath.Join(commonDir(git), "info", "exclude")}
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	r.at.Store(&at)
	for dir := r.root; len(dir) > len(at.top); dir = filepath.Dir(dir) {
		if r.ignored(dir, true) {
			// The repository around it wants to know nothing of this folder; the
			// user who opened it does, and its own files say what to leave out.
			at.top = r.root
			r.at.Store(&at)
		}
	}
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

// commonDir returns the folder of a repository that all its work trees share.
func commonDir(git string) string {
	data, _, _, err := readRegular(filepath.Join(git, "commondir"), nil, 4096)
	to := strings.TrimSpace(string(data))
	switch {
	case err != nil || to == "":
		return git
	case filepath.IsAbs(to):
		return to
	}
	return filepath.Join(git, to)
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
	lock := r.at.Load().lock
	if lock == "" {
		return false
	}
	_, err := watch.Lstat(lock)
	return err == nil
}

// Files by which a folder says of itself that it is a cache or an environment,
// and those by which one of the name "vendor" says that it holds others' code.
var (
	cacheMarks  = []string{"CACHEDIR.TAG", "pyvenv.cfg"}
	vendorMarks = []string{"modules.txt", "autoload.php", "bundle"}
)

// isRules reports whether a path is a file of rules.
func isRules(path string) bool {
	switch base := filepath.Base(path); base {
	case ".gitignore", ".ignore", ".git": // the last a file where the folder is a work tree
		return true
	default:
		return slices.Contains(cacheMarks, base) ||
			slices.Contains(vendorMarks, base) && filepath.Base(filepath.Dir(path)) == "vendor"
	}
}

// outdated reports whether a folder of which a file of rules is told was judged
// by other rules than it has now. A folder is made, and entered, before what is
// in it.
func (r *rules) outdated(told []string) bool {
	asked := map[string]bool{}
	for _, path := range told {
		dir := filepath.Dir(path)
		if !isRules(path) || asked[dir] {
			continue
		}
		asked[dir] = true
		r.mu.Lock()
		was := r.dirs[dir]
		r.mu.Unlock()
		if was != nil && was.sum != r.read(dir).sum {
			return true
		}
	}
	return false
}

// outdatedAbove is outdated for the files of which the watcher does not tell:
// those of the folders above the root, and git's own.
func (r *rules) outdatedAbove() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, was := range r.above {
		if now, _ := watch.Lstat(path); now != was {
			return true
		}
	}
	return false
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
	for dir := parent(path); len(dir) > len(r.root); dir = parent(dir) {
		if strings.HasSuffix(dir, "/vendor") && r.of(dir).vendor {
			return true
		}
	}
	return r.ignored(path, false)
}

// ignored asks the ignore files from the nearest folder outwards; the last
// matching line of the nearest one decides, as in git.
func (r *rules) ignored(path string, isDir bool) bool {
	top := r.at.Load().top
	for dir := parent(path); ; dir = parent(dir) {
		if list := r.of(dir).ignore; len(list) > 0 {
			rel := filepath.ToSlash(strings.TrimPrefix(path[len(dir):], "/"))
			if ignored, found := list.match(rel, isDir); found {
				return ignored
			}
		}
		if dir == top || len(dir) <= len(top) {
			return false
		}
	}
}

// parent is filepath.Dir of a path that is absolute and clean, at no cost.
func parent(path string) string {
	return path[:max(1, strings.LastIndexByte(path, '/'))]
}

// of returns the rules that a folder's own files hold.
func (r *rules) of(dir string) *dirRules {
	r.mu.Lock()
	dirs := r.dirs
	d := dirs[dir]
	r.mu.Unlock()
	if d != nil {
		return d
	}
	d = r.read(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs[dir] = d // not in r.dirs: it may be older than what forget was called for
	return d
}

func (r *rules) read(dir string) *dirRules {
	d, at := &dirRules{}, r.at.Load()
	files := []string{filepath.Join(dir, ".gitignore"), filepath.Join(dir, ".ignore")}
	told := len(dir) >= len(r.root)
	if dir == at.top && at.exclude != "" {
		files = slices.Insert(files, 0, at.exclude)
	}
	var all []byte
	for i, path := range files {
		if !told || path == at.exclude {
			stamp, _ := watch.Lstat(path)
			r.mu.Lock()
			r.above[path] = stamp
			r.mu.Unlock()
		}
		const limit = 1 << 20
		data, _, _, err := readRegular(path, nil, limit)
		if err != nil {
			continue // none, or nothing that could be read as one
		}
		d.ignore = append(d.ignore, parsePatterns(data)...)
		all = append(append(all, byte(i)), data...)
	}
	if dir != r.root {
		d.cached = has(dir, cacheMarks)
		d.linked = at.lock != "" && Worktree(dir)
	}
	d.vendor = filepath.Base(dir) == "vendor" && has(dir, vendorMarks)
	d.sum = text.Sum(fmt.Append(all, d.cached, d.linked, d.vendor))
	return d
}

func has(dir string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := watch.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}
