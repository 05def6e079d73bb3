//go:build unix

package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// RunningError says that another daemon holds the socket's lock.
type RunningError struct {
	Socket string
	PID    int // 0 when it has not written it yet
}

// Error names the other daemon.
func (e *RunningError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another daemon serves %s", e.Socket)
	}
	return fmt.Sprintf("another daemon serves %s (process %d)", e.Socket, e.PID)
}

// AlreadyRunning lets callers tell the error by its behaviour.
func (e *RunningError) AlreadyRunning() bool { return true }

// errLockLost says that the lock file was removed: another daemon may start now.
var errLockLost = errors.New("the lock file is gone")

// Listener is the bound socket and the lock that goes with it.
type Listener struct {
	path string
	lock *os.File
	ln   *net.UnixListener
	ino  uint64 // of the socket file
}

// Listen takes the lock path+".lock" and binds the socket in its folder, which
// must be ours, private (0700) and no symbolic link; it is made when it is
// missing. A socket that a dead daemon left is removed, under the lock, and
// nothing else ever is. While another daemon holds the lock and does not
// accept (it starts, or stops), Listen waits until ctx is done; then, or when
// it accepts, the error is a *RunningError.
func Listen(ctx context.Context, path string) (*Listener, error) {
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	lock, err := takeLock(path)
	for errors.As(err, new(*RunningError)) {
		if c, derr := net.Dial("unix", path); derr == nil {
			_ = c.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-poll.C:
		}
		lock, err = takeLock(path)
	}
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, lock: lock}
	if err := l.bind(); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return l, nil
}

func privateDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("folder of the socket: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("folder of the socket: %w", err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return fmt.Errorf("%s must be a folder and not a symbolic link; remove it", dir)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat %s: %w", dir, err)
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d; choose another place with --socket or XDG_RUNTIME_DIR", dir, st.Uid)
	}
	if st.Mode&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others (mode %04o): chmod 700 %s", dir, st.Mode&0o7777, dir)
	}
	return nil
}

func takeLock(path string) (*os.File, error) {
	name := path + ".lock"
	for {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		f := os.NewFile(uintptr(fd), name)
		if err := lockFile(f, path); err != nil {
			_ = f.Close()
			return nil, err
		}
		if sameFile(f, name) {
			if err := writePID(f); err != nil {
				_ = f.Close()
				return nil, fmt.Errorf("write %s: %w", name, err)
			}
			return f, nil
		}
		_ = f.Close() // it was removed between open and lock: take the new one
	}
}

func lockFile(f *os.File, socket string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("stat %s: %w", f.Name(), err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; remove it", f.Name())
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		b := make([]byte, 32)
		n, _ := f.ReadAt(b, 0)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
		return &RunningError{Socket: socket, PID: pid}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func sameFile(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}

// bind makes the socket file. The private folder closes the gap between bind and chmod.
func (l *Listener) bind() error {
	if err := removeStale(l.path); err != nil {
		return err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: l.path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ln.SetUnlinkOnClose(false)
	if err := os.Chmod(l.path, 0o600); err != nil {
		_ = ln.Close()
		return fmt.Errorf("socket: %w", err)
	}
	ino, ok := inode(l.path)
	if !ok {
		_ = ln.Close()
		return fmt.Errorf("socket %s vanished", l.path)
	}
	l.ln, l.ino = ln, ino
	return nil
}

// removeStale removes the socket of a dead daemon, whose lock we hold.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode().Type() != fs.ModeSocket || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is in the way and is not our socket; remove it or choose another place with --socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("another program listens on %s", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("stale socket: %w", err)
	}
	return nil
}

func inode(path string) (uint64, bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode().Type() != fs.ModeSocket {
		return 0, false
	}
	return uint64(st.Ino), true
}

// reachable looks whether clients still find the socket. rebind is true when
// only the socket file is gone; an error means that the lock is lost.
func (l *Listener) reachable() (rebind bool, err error) {
	if !sameFile(l.lock, l.lock.Name()) {
		return false, errLockLost
	}
	ino, ok := inode(l.path)
	return !ok || ino != l.ino, nil
}

// remove stops listening and removes the socket if it is still ours.
func (l *Listener) remove() error {
	err := l.ln.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if ino, ok := inode(l.path); ok && ino == l.ino && sameFile(l.lock, l.lock.Name()) {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}

// Close stops listening and gives up the lock. It comes last of all that a daemon does.
func (l *Listener) Close() error { return errors.Join(l.remove(), l.lock.Close()) }
