package watch

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// errAlias says that a folder is watched under another path already (a bind
// mount), so that its notifications would carry that path.
var errAlias = errors.New("the same folder is watched under another path")

// registry shares the kernel's watches between roots: one for each folder.
//
// fsnotify finds a watch by path, the kernel by inode. A folder that was moved
// keeps its kernel watch under the old path, and adding the new path would do
// nothing; so a watch is always ended before its folder is watched anew.
type registry struct {
	fs *fsnotify.Watcher

	mu     sync.Mutex // guards what follows and the handles
	epoch  int        // how often notifications were lost
	byPath map[string]*handle
	byID   map[ID]*handle
}

// handle is a live watch of one folder, shared by its users.
type handle struct {
	path string
	id   ID
	refs int
	// epoch is the registry's when the watch was made. The kernel may have
	// dropped or moved an older one without anybody having been told.
	epoch int
	dead  bool
}

// acquire watches the folder at path. Errors: errAlias, a full watch table
// (see exhausted), or what the file system says of the path.
func (g *registry) acquire(path string) (*handle, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byPath == nil {
		g.byPath, g.byID = map[string]*handle{}, map[ID]*handle{}
	}
	for range 8 {
		before, err := Lstat(path)
		if err != nil {
			return nil, err
		}
		if !before.Mode.IsDir() {
			return nil, &notFolderError{path}
		}
		if h := g.byPath[path]; h != nil {
			if h.id == before.ID && h.epoch == g.epoch {
				h.refs++
				return h, nil
			}
			g.end(h)
		}
		if h := g.byID[before.ID]; h != nil {
			if there, err := Lstat(h.path); err == nil && there.ID == h.id && h.epoch == g.epoch {
				return nil, errAlias
			}
			g.end(h)
		}
		if err := g.fs.Add(path); err != nil {
			return nil, err
		}
		h := &handle{path: path, id: before.ID, refs: 1, epoch: g.epoch}
		g.byPath[path], g.byID[h.id] = h, h
		if after, err := Lstat(path); err == nil && after.ID == h.id {
			return h, nil
		}
		g.end(h) // another folder took the place meanwhile
	}
	return nil, fmt.Errorf("%s: %w", path, syscall.EAGAIN)
}

// release gives up one use of a watch.
func (g *registry) release(h *handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.refs--; h.refs <= 0 {
		g.end(h)
	}
}

// kill ends a watch for all users, because its folder left its path.
func (g *registry) kill(h *handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(h)
}

// end ends a watch; mu is held. An error means that the kernel has dropped it
// by itself, as it does for deleted folders.
func (g *registry) end(h *handle) {
	if h.dead {
		return
	}
	h.dead = true
	delete(g.byPath, h.path)
	delete(g.byID, h.id)
	_ = g.fs.Remove(h.path)
}

// doubt makes acquire trust no watch made so far.
func (g *registry) doubt() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.epoch++
}

func (g *registry) alive(h *handle) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !h.dead
}

type notFolderError struct{ path string }

func (e *notFolderError) Error() string { return e.path + " is not a folder" }

// scarce says in words of what there is too little, and what to do; err is exhausted.
func scarce(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the kernel has no more watches for this user: leave folders out by an ignore file, or raise fs.inotify.max_user_watches by sysctl"
	case errors.Is(err, syscall.ENOMEM):
		return "the kernel has no memory for more watches"
	}
	return "the limit of open files or of notification instances is reached: raise fs.inotify.max_user_instances by sysctl, or ulimit -n (" + err.Error() + ")"
}

// exhausted reports whether err says that the kernel's table of watches, or of
// open files, is full.
func exhausted(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) ||
		errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
