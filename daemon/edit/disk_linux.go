package edit

import (
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	utimeOmit = unix.UTIME_OMIT
	errNoAttr = unix.ENODATA
)

// openBeneath opens rel below the directory; no component may be a symbolic
// link and none may lead out (openat2, Linux 5.6).
func openBeneath(dirfd int, rel string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS,
	}
	for {
		fd, err := unix.Openat2(dirfd, rel, &how)
		switch {
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
			// EAGAIN: something was renamed while the kernel walked the path.
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EPERM) && !openat2Works():
			return openStepwise(dirfd, rel, flags)
		default:
			return fd, err
		}
	}
}

// openat2Works tells EPERM of a sandbox's filter, which older ones answer to
// system calls they do not know, from EPERM of the file.
var openat2Works = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC})
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// openStepwise does the same one component at a time.
func openStepwise(dirfd int, rel string, flags int) (int, error) {
	at := dirfd
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		if part == ".." || part == "" {
			closeUnless(at, dirfd)
			return -1, syscall.EXDEV
		}
		want := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC
		if i == len(parts)-1 {
			want = flags
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, want|unix.O_NOFOLLOW, 0) })
		closeUnless(at, dirfd)
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

func closeUnless(fd, keep int) {
	if fd != keep {
		unix.Close(fd)
	}
}

func statFD(fd int) (Info, error) { return statx(fd, "", unix.AT_EMPTY_PATH) }

func statAt(dirfd int, name string) (Info, error) {
	return statx(dirfd, name, unix.AT_SYMLINK_NOFOLLOW)
}

func statx(fd int, name string, flags int) (Info, error) {
	var st unix.Statx_t
	err := again(func() error {
		return unix.Statx(fd, name, flags|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st)
	})
	if err != nil {
		return Info{}, err
	}
	return Info{
		Dev:    unix.Mkdev(st.Dev_major, st.Dev_minor),
		Ino:    st.Ino,
		Mount:  st.Mnt_id,
		Type:   fileType(uint32(st.Mode)),
		Mode:   uint32(st.Mode) & 0o7777,
		UID:    st.Uid,
		GID:    st.Gid,
		Links:  uint64(st.Nlink),
		Size:   int64(st.Size),
		Mtime:  time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)),
		Pinned: st.Attributes&(unix.STATX_ATTR_IMMUTABLE|unix.STATX_ATTR_APPEND) != 0,
	}, nil
}

func fileType(mode uint32) FileType {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return RegularFile
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Symlink
	}
	return OtherFile
}

func renameAt(fd int, name string, toFD int, toName string, how RenameMode) error {
	flags := uint(0)
	switch how {
	case NoReplace:
		flags = unix.RENAME_NOREPLACE
	case Exchange:
		flags = unix.RENAME_EXCHANGE
	}
	return unix.Renameat2(fd, name, toFD, toName, flags)
}

func syncFD(fd int) error     { return unix.Fsync(fd) }
func datasyncFD(fd int) error { return unix.Fdatasync(fd) }

func syncFS(fd int) error {
	if !syncfsReports() {
		return errors.ErrUnsupported
	}
	return unix.Syncfs(fd)
}

// syncfsReports says whether syncfs returns the errors of writing back, which
// it does since Linux 5.8 (syncfs(2), "Versions").
var syncfsReports = sync.OnceValue(func() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	major, minor := kernelVersion(unix.ByteSliceToString(u.Release[:]))
	return major > 5 || major == 5 && minor >= 8
})

func kernelVersion(release string) (major, minor int) {
	n := [2]int{}
	for i, part := range strings.SplitN(release, ".", 3) {
		if i == len(n) {
			break
		}
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return n[0], n[1]
}
