package proc

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Status says how a process ended.
type Status struct {
	Code   int            // exit code; -1 when a signal ended it
	Signal syscall.Signal // 0 when it exited by itself
	// Asked says that Stop or Kill was called before it ended.
	Asked bool
	// OutOfMemory says that it was killed while the kernel's counter of
	// out-of-memory kills moved: a good guess, not a proof.
	OutOfMemory bool
	CPU         time.Duration // user and system, with its reaped children
	Lived       time.Duration
	Err         error // of waiting itself
}

// String says it in words: "exit status 2", "killed by SIGKILL".
func (s Status) String() string {
	switch {
	case s.OutOfMemory:
		return "killed, most likely because memory ran out"
	case s.Signal != 0:
		return "killed by " + signalName(s.Signal)
	case s.Err != nil && s.Code < 0:
		return s.Err.Error()
	}
	return fmt.Sprintf("exit status %d", s.Code)
}

func statusOf(state *os.ProcessState, err error) Status {
	s := Status{Code: -1}
	if state == nil {
		s.Err = err
		return s
	}
	s.Code = state.ExitCode()
	s.CPU = state.UserTime() + state.SystemTime()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		s.Signal = ws.Signal()
	}
	return s
}

func signalName(sig syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM", syscall.SIGSEGV: "SIGSEGV",
		syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGPIPE: "SIGPIPE",
		syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL", syscall.SIGFPE: "SIGFPE",
	}
	if n, ok := names[sig]; ok {
		return n
	}
	return "signal " + sig.String()
}

// Usage is what a process and its descendants use.
type Usage struct {
	Processes int
	CPU       time.Duration // since their start, with reaped children; 10 ms steps on Linux
	RSS       int64         // bytes
	PSS       int64         // bytes, shared pages divided; RSS where the kernel does not say
	Stopped   bool          // the leader is stopped by a signal
}
