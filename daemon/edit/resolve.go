package edit

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/auralsp/aura/daemon/api"
)

// maxLinks is how many symbolic links one path may pass, as in Linux
// (path_resolution(7)).
const maxLinks = 40

// localPath reports whether p is a clean path below a folder: not empty,
// absolute or dotted.
func localPath(p string) bool {
	return p != "." && path.Clean(p) == p && filepath.IsLocal(p) && !strings.Contains(p, "\x00")
}

// relative returns an absolute path as a path below the root, by its spelling
// alone. given is another spelling of the root.
func (w *workspace) relative(abs, given string) (string, bool) {
	for _, root := range []string{w.root, given} {
		rel, err := filepath.Rel(root, abs)
		if err == nil && localPath(filepath.ToSlash(rel)) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

func outside(abs string) *api.Error {
	return api.Errorf(api.OutsideWorkspace,
		"%s is outside the workspace: open the workspace that holds it and run the operation there", abs)
}

// place is a path of a plan, resolved.
type place struct {
	path string // below the root, without symbolic links
	dir  string // of path, "." for the root
	name string // last part of path
	info Info   // of what is there
	// exists is false when there is nothing; missing are then the folders
	// that have to be made, outermost first.
	exists  bool
	missing []string
	linked  bool // the path's last part was a symbolic link to it
	// under is a file where the path needs a folder: the plan must remove it.
	under string
}

// resolve follows rel from the root through symbolic links, never out of the
// root. What does not exist is followed by its spelling.
func (w *workspace) resolve(h *handles, given, rel string) (*place, error) {
	// Mostly there are no links on the way.
	if dir, err := h.open(path.Dir(rel)); err == nil {
		if info, err := dir.Lstat(path.Base(rel)); err == nil && info.Type != Symlink {
			return &place{path: rel, dir: path.Dir(rel), name: path.Base(rel), info: info, exists: true}, nil
		}
	}
	rest := strings.Split(rel, "/")
	at := "." // resolved so far: no symbolic link in it
	p := &place{}
	links := 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return nil, outside(filepath.Join(w.root, rel))
			}
			at = path.Dir(at)
			continue
		}
		dir, err := h.open(at)
		if err != nil {
			return nil, err
		}
		info, err := dir.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return p.missingFrom(at, part, rest)
		case err != nil:
			return nil, err
		case info.Type == Symlink:
			if links++; links > maxLinks {
				return nil, &fs.PathError{Op: "resolve", Path: rel, Err: syscall.ELOOP}
			}
			target, err := dir.Readlink(part)
			if err != nil {
				return nil, err
			}
			if filepath.IsAbs(target) {
				inside, ok := w.relative(filepath.Clean(target), given)
				if !ok {
					return nil, outside(filepath.Join(w.root, rel))
				}
				at, target = ".", inside
			}
			p.linked = p.linked || len(rest) == 0
			rest = append(strings.Split(target, "/"), rest...)
			continue
		case len(rest) > 0 && info.Type != Directory:
			p.under = path.Join(at, part)
			return p.missingFrom(at, part, rest)
		}
		at = path.Join(at, part)
		p.info, p.exists = info, true
	}
	if at == "." {
		return nil, outside(filepath.Join(w.root, rel))
	}
	p.path, p.dir, p.name = at, path.Dir(at), path.Base(at)
	return p, nil
}

// missingFrom completes a place whose part in the folder at does not exist.
func (p *place) missingFrom(at, part string, rest []string) (*place, error) {
	p.exists, p.info = false, Info{}
	whole := path.Join(at, part)
	for _, next := range rest {
		if next == "" || next == "." {
			continue
		}
		if next == ".." {
			return nil, &fs.PathError{Op: "resolve", Path: whole, Err: syscall.ENOENT}
		}
		p.missing = append(p.missing, whole)
		whole = path.Join(whole, next)
	}
	p.path, p.dir, p.name = whole, path.Dir(whole), path.Base(whole)
	return p, nil
}

// handles keeps directories of a workspace open while one phase of a
// transaction works on them.
type handles struct {
	root  Dir
	umask *uint32 // of the user, for folders; nil for the process's
	dirs  map[string]Dir
	order []string
}

// maxHandles bounds the open directories of one transaction.
const maxHandles = 256

func newHandles(w *workspace) *handles {
	return &handles{root: w.dir, umask: w.e.umask, dirs: map[string]Dir{}}
}

// open returns the directory at rel, which stays open until close or until
// maxHandles others were opened after it.
func (h *handles) open(rel string) (Dir, error) {
	if rel == "." {
		return h.root, nil
	}
	if d, ok := h.dirs[rel]; ok {
		return d, nil
	}
	d, err := h.root.Open(rel)
	if err != nil {
		return nil, err
	}
	if len(h.order) >= maxHandles {
		h.dirs[h.order[0]].Close()
		delete(h.dirs, h.order[0])
		h.order = h.order[1:]
	}
	h.dirs[rel] = d
	h.order = append(h.order, rel)
	return d, nil
}

// moved returns a directory that is no longer what is found under its name.
func (h *handles) moved() (string, error) {
	for _, rel := range h.order {
		was, err := h.dirs[rel].Stat()
		if err != nil {
			return "", err
		}
		d, err := h.root.Open(rel)
		if err != nil {
			return rel, nil
		}
		is, err := d.Stat()
		d.Close()
		if err != nil {
			return "", err
		}
		if was.Dev != is.Dev || was.Ino != is.Ino {
			return rel, nil
		}
	}
	return "", nil
}

// removeDir removes an empty folder. It is flushed first: after a power cut the
// folder could be gone, but the moves of files out of it not have happened.
func (h *handles) removeDir(rel string) error {
	d, err := h.open(rel)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return err
	}
	h.forget(rel)
	above, err := h.open(path.Dir(rel))
	if err != nil {
		return err
	}
	return above.RemoveDir(path.Base(rel))
}

// makeDir makes a folder, durably: else a file that is moved into it could
// have left its old place and be nowhere after a power cut.
func (h *handles) makeDir(rel string) error {
	above, err := h.open(path.Dir(rel))
	if err != nil {
		return err
	}
	switch err := above.Mkdir(path.Base(rel), 0o777); {
	case errors.Is(err, fs.ErrExist):
	case err != nil:
		return err
	case h.umask != nil:
		d, err := h.open(rel)
		if err != nil {
			return err
		}
		made, err := d.Stat()
		if err != nil {
			return err
		}
		if made.Mode&0o077 != 0 {
			break // the folder around it has a default ACL, which has decided
		}
		if err := d.Chmod(0o777 &^ *h.umask); err != nil {
			return err
		}
	}
	return above.Sync()
}

// forget closes the handle of a folder that is no longer there.
func (h *handles) forget(rel string) {
	if d, ok := h.dirs[rel]; ok {
		d.Close()
		delete(h.dirs, rel)
		h.order = slices.DeleteFunc(h.order, func(s string) bool { return s == rel })
	}
}

func (h *handles) close() {
	for _, d := range h.dirs {
		d.Close()
	}
	clear(h.dirs)
	h.order = nil
}
