package serve

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

func peerOf(c *net.UnixConn) (uid, pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Xucred
	var serr error
	if err := raw.Control(func(fd uintptr) {
		cred, serr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if serr != nil {
		return 0, 0, fmt.Errorf("LOCAL_PEERCRED: %w", serr)
	}
	return int(cred.Uid), 0, nil
}

func hungUp(*net.UnixConn) bool { return true }
