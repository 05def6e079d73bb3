package serve

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf returns the user and the process at the other end, as the kernel noted
// them when it connected.
func peerOf(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var serr error
	if err := raw.Control(func(fd uintptr) {
		cred, serr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if serr != nil {
		return 0, 0, fmt.Errorf("SO_PEERCRED: %w", serr)
	}
	return int(cred.Uid), int(cred.Pid), nil
}

// hungUp reports whether the peer closed its socket wholly, and not only its
// sending half: then nobody waits for answers.
func hungUp(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	if err := raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		_, perr := unix.Poll(fds, 0)
		gone = perr == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	}); err != nil {
		return true
	}
	return gone
}
