//go:build unix

package validate

import (
	"os"
	"os/exec"
	"syscall"
)

// endGroup asks the command's process group to end, or ends it.
func endGroup(cmd *exec.Cmd, kill bool) error {
	if cmd.Process == nil {
		return os.ErrProcessDone
	}
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
		return os.ErrProcessDone
	}
	return nil
}

// exitCode returns the status as a shell would give it.
func exitCode(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}
