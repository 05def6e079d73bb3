//go:build linux || darwin

package edit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Disk returns the real file system.
func Disk() FS { return disk{} }

type disk struct{}

func (disk) Canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (disk) OpenRoot(path string) (Dir, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, wrap("open", path, err)
	}
	return &diskDir{fd: fd, path: path}, nil
}

// wrap adds what was tried to an error of the system.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// retry calls fn again for as long as a signal interrupts it.
func retry[T any](fn func() (T, error)) (T, error) {
	for {
		v, err := fn()
		if !errors.Is(err, syscall.EINTR) {
			return v, err
		}
	}
}

func again(fn func() error) error {
	_, err := retry(func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

// diskDir is a directory handle. Its path only serves messages.
type diskDir struct {
	fd   int
	path string
}

func (d *diskDir) join(name string) string { return filepath.Join(d.path, name) }

func (d *diskDir) Open(rel string) (Dir, error) {
	if rel == "" || rel == "." {
		rel = "."
	}
	fd, err := openBeneath(d.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, wrap("open", d.join(rel), err)
	}
	return &diskDir{fd: fd, path: d.join(rel)}, nil
}

func (d *diskDir) Stat() (Info, error) {
	info, err := statFD(d.fd)
	return info, wrap("stat", d.path, err)
}

func (d *diskDir) Lstat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, wrap("stat", d.join(name), err)
	}
	info, err := statAt(d.fd, name)
	return info, wrap("stat", d.join(name), err)
}

func (d *diskDir) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := retry(func() (int, error) { return unix.Readlinkat(d.fd, name, buf) })
	if err != nil {
		return "", wrap("readlink", d.join(name), err)
	}
	return string(buf[:n]), nil
}

func (d *diskDir) Names() ([]string, error) {
	// A handle of its own, since reading moves the offset that dups share.
	fd, err := openBeneath(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, wrap("open", d.path, err)
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d *diskDir) Writable(name string) error {
	mode := uint32(unix.W_OK)
	if name == "." {
		mode |= unix.X_OK
	}
	return wrap("access", d.join(name), again(func() error {
		return unix.Faccessat(d.fd, name, mode, unix.AT_EACCESS)
	}))
}

func (d *diskDir) openFile(op, name string, flags int) (File, error) {
	if err := checkName(name); err != nil {
		return nil, wrap(op, d.join(name), err)
	}
	// Looked at first, because opening a device can do something.
	info, err := statAt(d.fd, name)
	if err == nil && info.Type != RegularFile {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, wrap(op, d.join(name), err)
	}
	fd, err := openBeneath(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil {
		return nil, wrap(op, d.join(name), err)
	}
	f := &diskFile{fd: fd, path: d.join(name)}
	if info, err := statFD(fd); err != nil || info.Type != RegularFile {
		f.Close()
		if err == nil {
			err = ErrNotRegular
		}
		return nil, wrap(op, d.join(name), err)
	}
	return f, nil
}

func (d *diskDir) OpenFile(name string) (File, error) {
	return d.openFile("open", name, unix.O_RDONLY)
}

func (d *diskDir) Edit(name string) (File, error) { return d.openFile("open", name, unix.O_RDWR) }

func (d *diskDir) Create(name string, mode uint32) (File, error) {
	if err := checkName(name); err != nil {
		return nil, wrap("create", d.join(name), err)
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	})
	if err != nil {
		return nil, wrap("create", d.join(name), err)
	}
	return &diskFile{fd: fd, path: d.join(name)}, nil
}

func (d *diskDir) Mkdir(name string, mode uint32) error {
	if err := checkName(name); err != nil {
		return wrap("mkdir", d.join(name), err)
	}
	return wrap("mkdir", d.join(name), again(func() error { return unix.Mkdirat(d.fd, name, mode) }))
}

func (d *diskDir) Remove(name string) error {
	if err := checkName(name); err != nil {
		return wrap("remove", d.join(name), err)
	}
	return wrap("remove", d.join(name), again(func() error { return unix.Unlinkat(d.fd, name, 0) }))
}

func (d *diskDir) RemoveDir(name string) error {
	if err := checkName(name); err != nil {
		return wrap("rmdir", d.join(name), err)
	}
	return wrap("rmdir", d.join(name), again(func() error {
		return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR)
	}))
}

func (d *diskDir) Rename(name string, to Dir, toName string, how RenameMode) error {
	err := errors.Join(checkName(name), checkName(toName))
	if err == nil {
		t := to.(*diskDir)
		err = again(func() error { return renameAt(d.fd, name, t.fd, toName, how) })
	}
	return wrap("rename", d.join(name), err)
}

func (d *diskDir) Link(name string, to Dir, toName string) error {
	err := errors.Join(checkName(name), checkName(toName))
	if err == nil {
		t := to.(*diskDir)
		err = again(func() error { return unix.Linkat(d.fd, name, t.fd, toName, 0) })
	}
	return wrap("link", d.join(name), err)
}

func (d *diskDir) Chmod(mode uint32) error {
	return wrap("chmod", d.path, again(func() error { return unix.Fchmod(d.fd, mode) }))
}

func (d *diskDir) Touch(name string, t time.Time) error {
	if err := checkName(name); err != nil {
		return wrap("touch", d.join(name), err)
	}
	// The exact time, not the kernel's own now: that one is the last tick, up
	// to 4 ms old, and a file that was built in the same tick would look fresh.
	ts := []unix.Timespec{{Nsec: utimeOmit}, unix.NsecToTimespec(t.UnixNano())}
	return wrap("touch", d.join(name), again(func() error {
		return unix.UtimesNanoAt(d.fd, name, ts, unix.AT_SYMLINK_NOFOLLOW)
	}))
}

func (d *diskDir) Sync() error {
	return wrap("fsync", d.path, again(func() error { return syncFD(d.fd) }))
}
func (d *diskDir) SyncFS() error {
	return wrap("syncfs", d.path, again(func() error { return syncFS(d.fd) }))
}
func (d *diskDir) Close() error { return wrap("close", d.path, unix.Close(d.fd)) }

func (d *diskDir) Lock(name string) (io.Closer, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, wrap("open", d.join(name), err)
	}
	f := &diskFile{fd: fd, path: d.join(name)}
	err = again(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, wrap("lock", d.join(name), err)
	}
	return f, nil
}

// checkName refuses anything but one plain name.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return syscall.EINVAL
	}
	return nil
}
