package edit

import (
	"errors"
	"io"
	"time"
)

// FS is the file system as the engine sees it: operations on directory
// handles, so that no path is resolved twice. Disk returns the real one.
//
// Errors satisfy errors.Is with the sentinels of io/fs and carry the
// syscall.Errno that tells them apart.
type FS interface {
	// Canonical returns the absolute path without symbolic links.
	Canonical(path string) (string, error)
	// OpenRoot opens the directory at a canonical absolute path.
	OpenRoot(path string) (Dir, error)
}

// Dir is an open directory. Open takes a path below it; the other methods take
// one name in it. Nothing ever follows a symbolic link or leaves the directory.
type Dir interface {
	// Open opens the directory at rel, a path below this one with "/".
	Open(rel string) (Dir, error)
	// Stat describes the directory itself.
	Stat() (Info, error)
	// Lstat describes the entry called name.
	Lstat(name string) (Info, error)
	// Readlink returns the target of a symbolic link.
	Readlink(name string) (string, error)
	// Names returns the names of the entries, in no order.
	Names() ([]string, error)
	// Writable returns nil when this process may write the entry, or add and
	// remove entries of the directory itself when name is ".".
	Writable(name string) error

	// OpenFile opens a regular file for reading; anything else is ErrNotRegular.
	OpenFile(name string) (File, error)
	// Edit opens a regular file for reading and writing.
	Edit(name string) (File, error)
	// Create makes a new file for writing; one that exists is fs.ErrExist.
	Create(name string, mode uint32) (File, error)

	Mkdir(name string, mode uint32) error
	Remove(name string) error
	RemoveDir(name string) error
	// Rename moves the entry to another directory of the same mount.
	Rename(name string, to Dir, toName string, how RenameMode) error
	// Link makes a second name for a file.
	Link(name string, to Dir, toName string) error
	// Chmod sets the permission bits of the directory itself.
	Chmod(mode uint32) error
	// Touch sets the modification time and keeps the access time.
	Touch(name string, t time.Time) error

	// Sync makes the directory's entries durable.
	Sync() error
	// SyncFS makes everything on the directory's file system durable. It
	// returns errors.ErrUnsupported where the system does not report failures.
	SyncFS() error
	// Lock takes the exclusive lock of a file of that name, which it makes
	// when absent. One that is held is ErrLocked. Closing it lets go.
	Lock(name string) (io.Closer, error)
	Close() error
}

// File is an open regular file.
type File interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Stat() (Info, error)
	// Sync makes content and metadata durable. After an error the content on
	// disk is unknown: it must be written anew, not synced again.
	Sync() error
	// Datasync makes the content and the size durable.
	Datasync() error
	// Attrs returns the extended attributes, which include the ACL.
	Attrs() (map[string][]byte, error)
	SetAttr(name string, value []byte) error
	Chmod(mode uint32) error
	Chown(uid, gid uint32) error
	Close() error
}

// RenameMode says what Rename does with an entry that has the new name.
type RenameMode uint8

// The modes of Rename.
const (
	Replace   RenameMode = iota // it is replaced
	NoReplace                   // it is fs.ErrExist
	Exchange                    // the two entries change places
)

// FileType says what an entry is.
type FileType uint8

// The types of an entry.
const (
	RegularFile FileType = iota
	Directory
	Symlink
	OtherFile // device, pipe, socket
)

// Info describes an entry of a directory.
type Info struct {
	Dev, Ino uint64
	Mount    uint64 // id of the mount, 0 where unknown
	Type     FileType
	Mode     uint32 // permission bits with setuid, setgid and sticky (07777)
	UID, GID uint32
	Links    uint64
	Size     int64
	Mtime    time.Time
	// Pinned says that the file is immutable or append-only, so that nobody
	// may replace it (chattr +i, +a).
	Pinned bool
}

// Errors of an FS, besides those of the system.
var (
	// ErrNotRegular says that a name is not a regular file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrLocked says that another process holds the lock.
	ErrLocked = errors.New("locked by another process")
)
