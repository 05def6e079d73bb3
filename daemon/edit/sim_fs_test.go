package edit

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The FS seam over a simDisk.

func (d *simDisk) Canonical(p string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.walk(p); err != nil {
		return "", &fs.PathError{Op: "canonical", Path: p, Err: err}
	}
	return path.Clean(p), nil
}

func (d *simDisk) OpenRoot(p string) (Dir, error) {
	root := &simDir{d: d, ino: 1, path: "/"}
	return root.Open(strings.Trim(path.Clean(p), "/"))
}

type simDir struct {
	d    *simDisk
	ino  uint64
	path string
}

func (s *simDir) node() *simNode { return s.d.nodes[s.ino] }

// do runs a call under the disk's lock.
func (s *simDir) do(op, name string, fn func(dir *simNode) error) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.dead() {
		return errDead
	}
	return wrap(op, path.Join(s.path, name), fn(s.node()))
}

// mutate runs a mutating call, which is counted and may fail.
func (s *simDir) mutate(op, name string, grows bool, fn func(dir *simNode) error) error {
	return s.do(op, name, func(dir *simNode) error {
		if err := s.d.step(op+" "+path.Join(s.path, name), grows); err != nil {
			return err
		}
		if dir.links == 0 {
			return syscall.ENOENT // the folder was removed
		}
		return fn(dir)
	})
}

func (s *simDir) Open(rel string) (Dir, error) {
	var out *simDir
	err := s.do("open", rel, func(dir *simNode) error {
		n := dir
		for part := range strings.SplitSeq(rel, "/") {
			if part == "" || part == "." {
				continue
			}
			if part == ".." {
				return syscall.EXDEV
			}
			child := s.d.nodes[n.entries[part]]
			if child == nil {
				return syscall.ENOENT
			}
			if child.kind == Symlink {
				return syscall.ELOOP
			}
			if child.kind != Directory {
				return syscall.ENOTDIR
			}
			n = child
		}
		out = &simDir{d: s.d, ino: n.ino, path: path.Join(s.path, rel)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (n *simNode) info() Info {
	return Info{
		Dev: 1, Ino: n.ino, Mount: 1, Type: n.kind, Mode: n.meta.mode, UID: n.meta.uid, GID: n.meta.gid,
		Links: uint64(n.links), Size: int64(len(n.data)), Mtime: n.meta.mtime,
	}
}

func (s *simDir) child(dir *simNode, name string) (*simNode, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	n := s.d.nodes[dir.entries[name]]
	if n == nil {
		return nil, syscall.ENOENT
	}
	return n, nil
}

func (s *simDir) Stat() (info Info, err error) {
	err = s.do("stat", ".", func(dir *simNode) error { info = dir.info(); return nil })
	return
}

func (s *simDir) Lstat(name string) (info Info, err error) {
	err = s.do("stat", name, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err == nil {
			info = n.info()
		}
		return err
	})
	return
}

func (s *simDir) Readlink(name string) (target string, err error) {
	err = s.do("readlink", name, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err == nil && n.kind != Symlink {
			err = syscall.EINVAL
		}
		if err == nil {
			target = n.target
		}
		return err
	})
	return
}

func (s *simDir) Names() (names []string, err error) {
	err = s.do("readdir", ".", func(dir *simNode) error {
		for name := range dir.entries {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil
	})
	return
}

func (s *simDir) Writable(name string) error {
	return s.do("access", name, func(dir *simNode) error {
		n := dir
		if name != "." {
			var err error
			if n, err = s.child(dir, name); err != nil {
				return err
			}
		}
		if n.meta.mode&0o200 == 0 {
			return syscall.EACCES
		}
		return nil
	})
}

func (s *simDir) open(name string) (File, error) {
	var f *simFile
	err := s.do("open", name, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err == nil && n.kind != RegularFile {
			err = ErrNotRegular
		}
		if err == nil {
			f = &simFile{d: s.d, n: n, path: path.Join(s.path, name)}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *simDir) OpenFile(name string) (File, error) { return s.open(name) }
func (s *simDir) Edit(name string) (File, error)     { return s.open(name) }

func (s *simDir) Create(name string, mode uint32) (File, error) {
	var f *simFile
	err := s.mutate("create", name, true, func(dir *simNode) error {
		if err := checkName(name); err != nil {
			return err
		}
		if dir.entries[name] != 0 {
			return syscall.EEXIST
		}
		n := s.d.node(RegularFile, mode&^0o022)
		s.d.change(simCell{dir.ino, name, n.ino})
		f = &simFile{d: s.d, n: n, path: path.Join(s.path, name)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (s *simDir) Mkdir(name string, mode uint32) error {
	return s.mutate("mkdir", name, true, func(dir *simNode) error {
		if dir.entries[name] != 0 {
			return syscall.EEXIST
		}
		s.d.change(simCell{dir.ino, name, s.d.node(Directory, mode&^0o022).ino})
		return nil
	})
}

func (s *simDir) Remove(name string) error {
	return s.mutate("unlink", name, false, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err != nil {
			return err
		}
		if n.kind == Directory {
			return syscall.EISDIR
		}
		s.d.change(simCell{dir.ino, name, 0})
		return nil
	})
}

func (s *simDir) RemoveDir(name string) error {
	return s.mutate("rmdir", name, false, func(dir *simNode) error {
		n, err := s.child(dir, name)
		switch {
		case err != nil:
			return err
		case n.kind != Directory:
			return syscall.ENOTDIR
		case len(n.entries) > 0:
			return syscall.ENOTEMPTY
		}
		s.d.change(simCell{dir.ino, name, 0})
		return nil
	})
}

func (s *simDir) Rename(name string, to Dir, toName string, how RenameMode) error {
	return s.mutate("rename", name+" "+path.Join(to.(*simDir).path, toName), false, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err != nil {
			return err
		}
		other := to.(*simDir).node()
		if other.links == 0 {
			return syscall.ENOENT
		}
		there := s.d.nodes[other.entries[toName]]
		switch how {
		case Exchange:
			if s.d.noExchange {
				return syscall.EINVAL
			}
			if there == nil {
				return syscall.ENOENT
			}
			s.d.change(simCell{dir.ino, name, there.ino}, simCell{other.ino, toName, n.ino})
			return nil
		case NoReplace:
			if s.d.noReplace {
				return syscall.EINVAL
			}
			if there != nil {
				return syscall.EEXIST
			}
		default:
			if there != nil && there.kind == Directory {
				return syscall.EISDIR
			}
		}
		s.d.change(simCell{dir.ino, name, 0}, simCell{other.ino, toName, n.ino})
		return nil
	})
}

func (s *simDir) Link(name string, to Dir, toName string) error {
	return s.mutate("link", name, true, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err != nil {
			return err
		}
		other := to.(*simDir).node()
		if other.entries[toName] != 0 {
			return syscall.EEXIST
		}
		s.d.change(simCell{other.ino, toName, n.ino})
		return nil
	})
}

func (s *simDir) Chmod(mode uint32) error {
	return s.mutate("chmod", ".", false, func(dir *simNode) error { dir.meta.mode = mode; return nil })
}

func (s *simDir) Touch(name string, t time.Time) error {
	return s.mutate("touch", name, false, func(dir *simNode) error {
		n, err := s.child(dir, name)
		if err == nil {
			n.meta.mtime = t
		}
		return err
	})
}

func (s *simDir) Sync() error {
	return s.mutate("fsync", ".", false, func(dir *simNode) error {
		if !s.d.lies() {
			s.d.flushDir(dir.ino)
		}
		return nil
	})
}

func (s *simDir) SyncFS() error {
	return s.mutate("syncfs", ".", false, func(*simNode) error {
		if !s.d.lies() {
			s.d.flushAll()
		}
		return nil
	})
}

func (s *simDir) Lock(name string) (io.Closer, error) {
	err := s.mutate("lock", name, false, func(dir *simNode) error {
		if dir.entries[name] == 0 {
			s.d.change(simCell{dir.ino, name, s.d.node(RegularFile, 0o600).ino})
		}
		return nil
	})
	return io.NopCloser(nil), err
}

func (s *simDir) Close() error { return nil }

type simFile struct {
	d    *simDisk
	n    *simNode
	path string
	off  int64
}

func (f *simFile) do(op string, grows bool, mutates bool, fn func() error) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.dead() {
		return errDead
	}
	if mutates {
		if err := f.d.step(op+" "+f.path, grows); err != nil {
			return wrap(op, f.path, err)
		}
	}
	err := fn()
	if errors.Is(err, io.EOF) {
		return err
	}
	return wrap(op, f.path, err)
}

func (f *simFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *simFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", false, false, func() error {
		if off < int64(len(f.n.data)) {
			n = copy(p, f.n.data[off:])
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return
}

func (f *simFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.off)
	f.off += int64(n)
	return n, err
}

func (f *simFile) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	grows := off+int64(len(p)) > int64(len(f.n.data))
	f.d.mu.Unlock()
	err := f.do("write", grows, true, func() error {
		data := make([]byte, max(len(f.n.data), int(off)+len(p)))
		copy(data, f.n.data)
		copy(data[off:], p)
		f.n.data = data
		f.n.meta.mtime = f.d.now
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (f *simFile) Truncate(size int64) error {
	return f.do("truncate", false, true, func() error { f.n.data = f.n.data[:size]; return nil })
}

func (f *simFile) Stat() (info Info, err error) {
	err = f.do("stat", false, false, func() error { info = f.n.info(); return nil })
	return
}

func (f *simFile) flush(op string, meta bool) error {
	f.d.mu.Lock()
	again := f.n.poisoned
	f.n.poisoned = true
	f.d.mu.Unlock()
	return f.do(op, false, true, func() error {
		f.n.poisoned = false
		if again {
			f.d.reflushed = append(f.d.reflushed, f.path)
		}
		if !f.d.lies() {
			f.n.flush(meta)
		}
		return nil
	})
}

func (f *simFile) Sync() error     { return f.flush("fsync", true) }
func (f *simFile) Datasync() error { return f.flush("fdatasync", false) }

func (f *simFile) Attrs() (map[string][]byte, error) {
	attrs := map[string][]byte{}
	err := f.do("listxattr", false, false, func() error {
		for k, v := range f.n.meta.attrs {
			attrs[k] = []byte(v)
		}
		return nil
	})
	return attrs, err
}

func (f *simFile) SetAttr(name string, value []byte) error {
	return f.do("setxattr", true, true, func() error {
		attrs := map[string]string{name: string(value)}
		for k, v := range f.n.meta.attrs {
			if k != name {
				attrs[k] = v
			}
		}
		f.n.meta.attrs = attrs
		return nil
	})
}

func (f *simFile) Chmod(mode uint32) error {
	return f.do("chmod", false, true, func() error { f.n.meta.mode = mode; return nil })
}

func (f *simFile) Chown(uid, gid uint32) error {
	return f.do("chown", false, true, func() error { f.n.meta.uid, f.n.meta.gid = uid, gid; return nil })
}

func (f *simFile) Close() error { return nil }
