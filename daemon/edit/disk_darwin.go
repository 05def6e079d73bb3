package edit

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	utimeOmit = -2 // UTIME_OMIT, sys/stat.h
	errNoAttr = unix.ENOATTR
)

// openBeneath opens rel below the directory one component at a time; none may
// be a symbolic link.
func openBeneath(dirfd int, rel string, flags int) (int, error) {
	at := dirfd
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		err := error(nil)
		if part == ".." || part == "" {
			err = syscall.EXDEV
		}
		want, fd := unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, -1
		if i == len(parts)-1 {
			want = flags
		}
		if err == nil {
			fd, err = retry(func() (int, error) { return unix.Openat(at, part, want|unix.O_NOFOLLOW, 0) })
		}
		if at != dirfd {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

func statFD(fd int) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	return infoOf(st), err
}

func statAt(dirfd int, name string) (Info, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return infoOf(st), err
}

func infoOf(st unix.Stat_t) Info {
	const pinned = unix.UF_IMMUTABLE | unix.SF_IMMUTABLE | unix.UF_APPEND | unix.SF_APPEND
	t := OtherFile
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		t = RegularFile
	case unix.S_IFDIR:
		t = Directory
	case unix.S_IFLNK:
		t = Symlink
	}
	return Info{
		Dev:    uint64(st.Dev),
		Ino:    st.Ino,
		Type:   t,
		Mode:   uint32(st.Mode) & 0o7777,
		UID:    st.Uid,
		GID:    st.Gid,
		Links:  uint64(st.Nlink),
		Size:   st.Size,
		Mtime:  time.Unix(st.Mtim.Sec, st.Mtim.Nsec),
		Pinned: st.Flags&pinned != 0,
	}
}

func renameAt(fd int, name string, toFD int, toName string, how RenameMode) error {
	switch how {
	case NoReplace:
		return unix.RenameatxNp(fd, name, toFD, toName, unix.RENAME_EXCL)
	case Exchange:
		return unix.RenameatxNp(fd, name, toFD, toName, unix.RENAME_SWAP)
	}
	return unix.Renameat(fd, name, toFD, toName)
}

// syncFD asks the drive itself to flush, which fsync does not do here.
func syncFD(fd int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); err == nil {
		return nil
	}
	return unix.Fsync(fd)
}

func datasyncFD(fd int) error { return syncFD(fd) }

func syncFS(int) error { return errors.ErrUnsupported }
