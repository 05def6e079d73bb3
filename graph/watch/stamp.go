package watch

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// ID is the identity of a file or folder while it exists.
type ID struct{ Dev, Ino uint64 }

// Stamp is what one stat tells of a file. Two equal Stamps mean an unchanged
// file unless it was changed within the granularity of the file system's clock
// (see Racy). The zero Stamp belongs to no file.
type Stamp struct {
	ID           ID
	Mode         fs.FileMode // type and permissions, without setuid, setgid and sticky
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
}

// racyWindow covers the coarsest clock of a file system (FAT: 2 s).
const racyWindow = 2 * time.Second

// Racy reports whether a file with this stamp, read at the given time, could
// have been changed after the reading without a change of its stamp.
func (s Stamp) Racy(read time.Time) bool {
	limit := read.Add(-racyWindow).UnixNano()
	return s.Mtime > limit || s.Ctime > limit
}

// Lstat returns the stamp of path itself, of the link where it is a symbolic
// link. Errors are *fs.PathError.
func Lstat(path string) (Stamp, error) { return stat("lstat", path, syscall.Lstat) }

// Stat returns the stamp of what path leads to. Errors are *fs.PathError.
func Stat(path string) (Stamp, error) { return stat("stat", path, syscall.Stat) }

// Fstat returns the stamp of an open file; path is for the error.
func Fstat(fd int, path string) (Stamp, error) {
	return stat("fstat", path, func(_ string, st *syscall.Stat_t) error { return syscall.Fstat(fd, st) })
}

// stat is package os's without the FileInfo: it is on the way of each request.
func stat(op, path string, call func(string, *syscall.Stat_t) error) (Stamp, error) {
	var st syscall.Stat_t
	err := call(path, &st)
	for errors.Is(err, syscall.EINTR) {
		err = call(path, &st)
	}
	if err != nil {
		return Stamp{}, &fs.PathError{Op: op, Path: path, Err: err}
	}
	return stampOf(&st), nil
}

// modeOf translates the mode of a stat.
func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		mode |= fs.ModeSymlink
	case syscall.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		mode |= fs.ModeSocket
	case syscall.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case syscall.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}
