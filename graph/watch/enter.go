package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// found is a folder that is to be followed, and what looking at it gave.
type found struct {
	path   string
	parent *node

	there   Stamp
	remote  string // name of its file system when that is remote
	handle  *handle
	err     error // why it is not watched
	skip    bool  // it is ignored, or not there any more
	list    []fs.DirEntry
	stamps  map[string]Stamp // of what is in it, when it is polled
	listErr error
}

// enter follows a folder and all below it, and adds every file to what is
// pending. The watch comes first, then the list, so that nothing falls between.
func (t *tree) enter(path string, parent *node) {
	for stack := []*found{{path: path, parent: parent}}; len(stack) > 0 && t.r.ctx.Err() == nil; {
		room := t.r.w.opts.MaxDirs - len(t.byPath)
		if room <= 0 {
			t.skipped += len(stack)
			t.tooMany = true
			return
		}
		rest := max(0, len(stack)-min(room, maxAhead))
		next := slices.Clone(stack[rest:])
		stack = stack[:rest]
		t.lookAll(next)
		for _, f := range next {
			n := t.link(f)
			if n == nil {
				continue
			}
			for _, e := range f.list {
				child := filepath.Join(f.path, e.Name())
				switch {
				case e.IsDir():
					stack = append(stack, &found{path: child, parent: n})
				case !interesting(e.Type()):
				case !t.r.rules.Ignore(child, false):
					t.add(child)
				}
			}
		}
	}
}

// maxAhead bounds the folders that are looked at before they are linked.
const maxAhead = 128

// lookAll looks at folders, by several goroutines when there are many.
func (t *tree) lookAll(list []*found) {
	workers := min(runtime.GOMAXPROCS(0), len(list)/4)
	if workers < 2 {
		for _, f := range list {
			t.look(f)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(list); i = next.Add(1) - 1 {
				t.look(list[i])
			}
		})
	}
	wg.Wait()
}

// look does what has to do with the disk and the kernel, and nothing to the tree.
func (t *tree) look(f *found) {
	if t.r.rules.Ignore(f.path, true) && f.path != t.r.path {
		f.skip = true
		return
	}
	there, err := Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.skip = true
		return
	}
	f.there = there
	switch {
	case f.parent != nil && f.parent.dev == there.ID.Dev:
		f.remote = f.parent.remote
	case t.r.w.fs != nil:
		f.remote = t.r.w.remote(f.path)
	}
	if t.r.w.fs != nil && f.remote == "" {
		f.handle, f.err = t.r.w.dirs.acquire(f.path)
		var notFolder *notFolderError
		if errors.Is(f.err, fs.ErrNotExist) || errors.As(f.err, &notFolder) {
			f.skip = true
			return
		}
	}
	f.list, f.listErr = os.ReadDir(f.path)
	if f.handle == nil {
		f.stamps = make(map[string]Stamp, len(f.list))
		for _, e := range f.list {
			if s, err := Lstat(filepath.Join(f.path, e.Name())); err == nil {
				f.stamps[e.Name()] = s
			}
		}
	}
}

// link makes the node of a folder that was looked at, unless it is to be skipped.
func (t *tree) link(f *found) *node {
	if n := t.byPath[f.path]; n != nil {
		t.leave(n, false)
	}
	if f.skip {
		return nil
	}
	n := &node{path: f.path, parent: f.parent, children: map[string]*node{}, dev: f.there.ID.Dev, remote: f.remote, watch: f.handle}
	t.byPath[f.path] = n
	if f.parent != nil {
		f.parent.children[filepath.Base(f.path)] = n
	}
	switch {
	case f.handle != nil:
	case t.r.w.fs == nil:
		t.pollNode(n, t.r.w.why, f.stamps)
	case f.remote != "":
		t.pollNode(n, "it lies on "+f.remote+", which does not tell what others change", f.stamps)
	case exhausted(f.err):
		t.pollNode(n, scarce(f.err), f.stamps)
	case errors.Is(f.err, fs.ErrPermission):
		t.close(n)
	default:
		t.pollNode(n, f.err.Error(), f.stamps)
	}
	if f.listErr != nil && !errors.Is(f.listErr, fs.ErrNotExist) {
		t.close(n)
	}
	return n
}

// interesting leaves out what must never be opened: pipes, sockets, devices.
func interesting(mode fs.FileMode) bool {
	return mode.IsRegular() || mode&fs.ModeSymlink != 0
}
