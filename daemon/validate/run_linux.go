package validate

import (
	"os/exec"
	"runtime"
	"syscall"
)

// isolate gives the command a session of its own, hence a process group and no
// terminal, and ends it with the thread that starts it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// onThread runs f on a thread that lives as long as f: the kernel sends a
// parent-death signal when the starting thread ends, not the process.
func onThread(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}
