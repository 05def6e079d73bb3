//go:build linux || darwin

package edit

import (
	"io"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// diskFile is an open file by its descriptor, without os.File's poller.
type diskFile struct {
	fd   int
	path string
}

func (f *diskFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p) })
	if err != nil {
		return 0, wrap("read", f.path, err)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *diskFile) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry(func() (int, error) { return unix.Pread(f.fd, p[done:], off+int64(done)) })
		if err != nil {
			return done, wrap("read", f.path, err)
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f *diskFile) Write(p []byte) (int, error) {
	return f.write(p, func(rest []byte, _ int) (int, error) { return unix.Write(f.fd, rest) })
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	return f.write(p, func(rest []byte, done int) (int, error) { return unix.Pwrite(f.fd, rest, off+int64(done)) })
}

// write goes on after a short write, until all is written or one fails.
func (f *diskFile) write(p []byte, once func(rest []byte, done int) (int, error)) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry(func() (int, error) { return once(p[done:], done) })
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return done, wrap("write", f.path, err)
		}
		done += n
	}
	return done, nil
}

func (f *diskFile) Truncate(size int64) error {
	return wrap("truncate", f.path, again(func() error { return unix.Ftruncate(f.fd, size) }))
}

func (f *diskFile) Stat() (Info, error) {
	info, err := statFD(f.fd)
	return info, wrap("stat", f.path, err)
}

func (f *diskFile) Sync() error {
	return wrap("fsync", f.path, again(func() error { return syncFD(f.fd) }))
}

func (f *diskFile) Datasync() error {
	return wrap("fdatasync", f.path, again(func() error { return datasyncFD(f.fd) }))
}

// vouches says whether an attribute is about the content, so that a file with
// other content must not have it.
func vouches(attr string) bool { return attr == "security.ima" || attr == "security.evm" }

func (f *diskFile) Attrs() (map[string][]byte, error) {
	list := make([]byte, 512)
	n, err := flistxattr(f.fd, list)
	if err == syscall.ERANGE {
		if n, err = flistxattr(f.fd, nil); err == nil {
			list = make([]byte, n+512)
			n, err = flistxattr(f.fd, list)
		}
	}
	if err == syscall.ENOTSUP || err == syscall.ENOSYS {
		return nil, nil
	}
	if err != nil {
		return nil, wrap("listxattr", f.path, err)
	}
	attrs := map[string][]byte{}
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if name == "" || vouches(name) {
			continue
		}
		value, err := fgetxattr(f.fd, name)
		if err == errNoAttr {
			continue
		}
		if err != nil {
			return nil, wrap("getxattr "+name, f.path, err)
		}
		attrs[name] = value
	}
	return attrs, nil
}

func flistxattr(fd int, list []byte) (int, error) {
	return retry(func() (int, error) { return unix.Flistxattr(fd, list) })
}

func fgetxattr(fd int, name string) ([]byte, error) {
	size, err := retry(func() (int, error) { return unix.Fgetxattr(fd, name, nil) })
	if err != nil || size == 0 {
		return nil, err
	}
	value := make([]byte, size)
	size, err = retry(func() (int, error) { return unix.Fgetxattr(fd, name, value) })
	return value[:max(size, 0)], err
}

func (f *diskFile) SetAttr(name string, value []byte) error {
	return wrap("setxattr "+name, f.path, again(func() error { return unix.Fsetxattr(f.fd, name, value, 0) }))
}

func (f *diskFile) Chmod(mode uint32) error {
	return wrap("chmod", f.path, again(func() error { return unix.Fchmod(f.fd, mode) }))
}

func (f *diskFile) Chown(uid, gid uint32) error {
	return wrap("chown", f.path, again(func() error { return unix.Fchown(f.fd, int(uid), int(gid)) }))
}

func (f *diskFile) Close() error { return wrap("close", f.path, unix.Close(f.fd)) }
