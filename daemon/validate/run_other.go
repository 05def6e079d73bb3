//go:build unix && !linux

package validate

import (
	"os/exec"
	"syscall"
)

// isolate gives the command a session of its own, hence a process group and no terminal.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func onThread(f func() error) error { return f() }
