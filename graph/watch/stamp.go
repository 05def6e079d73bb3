package watch

import (
	"io/fs"
	"os"
	"time"
)

// ID is the identity of a file or folder while it exists.
type ID struct{ Dev, Ino uint64 }

// Stamp is what one stat tells of a file. Two equal Stamps mean an unchanged
// file unless it was changed within the granularity of the file system's clock
// (see Racy). The zero Stamp belongs to no file.
type Stamp struct {
	ID           ID
	Mode         fs.FileMode
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

// Lstat returns the stamp of path itself, of the link where it is a symbolic link.
func Lstat(path string) (Stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Stamp{}, err
	}
	return StampOf(info), nil
}

// Stat returns the stamp of what path leads to.
func Stat(path string) (Stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, err
	}
	return StampOf(info), nil
}
