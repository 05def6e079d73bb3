package watch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// tree is what a root's goroutine knows of its folders.
type tree struct {
	r       *Root
	byPath  map[string]*node
	polled  int
	sample  *node // one of the polled, which stands for them in the status
	skipped int
	tooMany bool

	pending         map[string]struct{}
	full            bool // pending is everything there is
	firstAt, lastAt time.Time
	held            bool // the tree was being rewritten while pending was gathered
	lost, lostNow   bool

	nextPoll time.Time
}

// node is a followed folder.
type node struct {
	path     string
	parent   *node
	children map[string]*node // by name
	dev      uint64           // its file system
	remote   string           // name of that when it is remote
	watch    *handle          // nil when it is polled or unreadable
	polled   bool
	reason   string           // why it is polled
	closed   bool             // unreadable
	entries  map[string]Stamp // of what is in it, when it is polled
}

func (t *tree) owes() bool { return len(t.pending) > 0 || t.full || t.lostNow }

func (t *tree) report() RootStatus {
	s := RootStatus{Root: t.r.path, Dirs: len(t.byPath), Polled: t.polled, Skipped: t.skipped, TooMany: t.tooMany, Lost: t.lost}
	if n := t.uppermost(); n != nil {
		s.PolledFrom, s.Reason = n.path, n.reason
	}
	return s
}

// uppermost returns a polled folder that is nearest to the root, or was when
// it was looked for; nil when none is polled.
func (t *tree) uppermost() *node {
	if n := t.sample; t.polled > 0 && (n == nil || !n.polled || t.byPath[n.path] != n) {
		t.sample = nil
		for _, n := range t.byPath {
			if n.polled && (t.sample == nil || len(n.path) < len(t.sample.path) || len(n.path) == len(t.sample.path) && n.path < t.sample.path) {
				t.sample = n
			}
		}
	}
	if t.polled == 0 {
		t.sample = nil
	}
	return t.sample
}

func (t *tree) add(path string) {
	t.lastAt = time.Now()
	if !t.owes() {
		t.firstAt = t.lastAt
	}
	t.pending[path] = struct{}{}
}

// rebuild forgets everything and looks at the whole root again.
func (t *tree) rebuild() {
	t.drop()
	clear(t.pending)
	there, err := Lstat(t.r.path)
	if err != nil || there.ID != t.r.id {
		t.lose()
		return
	}
	t.lost = false
	t.enter(t.r.path, nil)
	t.full = true
}

// lose notes that the root is gone.
func (t *tree) lose() {
	t.drop()
	clear(t.pending)
	t.full = false
	if !t.lost {
		t.lost, t.lostNow = true, true
	}
	t.nextPoll = time.Now().Add(t.r.w.opts.PollInterval)
}

// drop ends all watches of the root.
func (t *tree) drop() {
	for _, n := range t.byPath {
		if n.watch != nil {
			t.r.w.dirs.release(n.watch)
		}
	}
	clear(t.byPath)
	t.polled, t.skipped, t.tooMany = 0, 0, false
}

// handle takes one notification.
func (t *tree) handle(ev fsnotify.Event) {
	if t.lost {
		return
	}
	known := t.byPath[ev.Name]
	switch {
	case ev.Name == t.r.path:
		if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
			t.lose()
		}
		return
	case ev.Has(fsnotify.Remove), ev.Has(fsnotify.Rename), ev.Has(fsnotify.Create):
		// News may be older than what is known, and later news of the same name
		// may be lost with the watch that it came by: so look, whatever it says.
		if known != nil && !ev.Has(fsnotify.Create) {
			t.leave(known, true)
			known = nil
		}
		if t.arrived(ev.Name, known) {
			return
		}
	case known != nil: // Chmod of a folder
		if known.closed == readable(ev.Name) {
			t.add(ev.Name)
			t.leave(known, false)
			t.enter(ev.Name, known.parent)
		}
		return
	}
	// The watch may be another root's alone, which follows what this one ignores.
	if t.byPath[filepath.Dir(ev.Name)] != nil && !t.r.rules.Ignore(ev.Name, known != nil) {
		t.add(ev.Name)
	}
}

// arrived takes the news of a new name; it reports whether that is a folder,
// which is entered.
func (t *tree) arrived(path string, known *node) bool {
	there, err := Lstat(path)
	tooLong := errors.Is(err, syscall.ENAMETOOLONG) // a folder for all we know, which enter skips
	if !tooLong && (err != nil || !there.Mode.IsDir()) {
		if known != nil {
			t.leave(known, true)
		}
		return false
	}
	if known != nil && known.watch != nil && known.watch.id == there.ID && t.r.w.dirs.alive(known.watch) {
		return true // found by listing its parent already
	}
	if known != nil {
		t.leave(known, true)
	}
	parent := t.byPath[filepath.Dir(path)]
	if parent != nil {
		t.add(path) // something known may have been here before
		t.enter(path, parent)
	}
	return true
}

// leave forgets a folder and all below it. With gone the folder has left its
// path, so that its watches are ended for every root.
func (t *tree) leave(n *node, gone bool) {
	if n.parent != nil {
		delete(n.parent.children, filepath.Base(n.path))
	}
	for stack := []*node{n}; len(stack) > 0; {
		n, stack = stack[len(stack)-1], stack[:len(stack)-1]
		for _, c := range n.children {
			stack = append(stack, c)
		}
		switch {
		case n.watch != nil && gone:
			t.r.w.dirs.kill(n.watch)
		case n.watch != nil:
			t.r.w.dirs.release(n.watch)
		case n.polled:
			t.polled--
		case n.closed:
			t.skipped--
		}
		delete(t.byPath, n.path)
	}
}

func readable(dir string) bool {
	f, err := os.Open(dir)
	return err == nil && f.Close() == nil
}

// close marks a folder that cannot be read.
func (t *tree) close(n *node) {
	if n.closed {
		return
	}
	if n.polled {
		n.polled, n.entries = false, nil
		t.polled--
	}
	if n.watch != nil {
		t.r.w.dirs.release(n.watch)
		n.watch = nil
	}
	n.closed = true
	t.skipped++
}
