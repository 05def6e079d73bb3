package validate

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// run runs a command in a shadow of root in which the staged files are in
// place. The error is a *NoShadowError when the kernel, or what is mounted
// here, does not allow one; the command did not run then.
func (s *shadow) run(ctx context.Context, root string, files []staged, c command) (result, error) {
	if len(s.helper) == 0 {
		return result{}, noShadow("this program was built without the helper that sets it up")
	}
	o := order{Root: root, Mount: s.mount, Size: s.size, Files: files,
		Argv: c.argv, Env: c.env, Dir: c.dir}
	if c.drops && len(files) > 0 && !within(root, c.kept) {
		o.Drop = c.kept
	}
	if os.Geteuid() == 0 { // mounts of root's own keep access to files of every owner
		r, err := s.start(ctx, o)
		if refused := new(cloneError); !errors.As(err, &refused) {
			return r, err
		}
	}
	o.UserNS = true
	r, err := s.start(ctx, o)
	if refused := new(cloneError); errors.As(err, &refused) {
		return r, noShadow("the kernel refuses a private name space: %v", refused.err)
	}
	return r, err
}

// cloneError says that no process could be started in name spaces of its own.
type cloneError struct{ err error }

func (e *cloneError) Error() string { return "start in private name spaces: " + e.err.Error() }

func (s *shadow) start(ctx context.Context, o order) (result, error) {
	orders, give, err := os.Pipe()
	if err != nil {
		return result{}, err
	}
	defer orders.Close()
	defer give.Close()
	take, reports, err := os.Pipe()
	if err != nil {
		return result{}, err
	}
	defer take.Close()
	defer reports.Close()

	var out output
	cmd := exec.CommandContext(ctx, pinned(s.helper[0]), s.helper[1:]...)
	cmd.Env = []string{"GOMAXPROCS=2", "GOGC=off"} // the command's own stands in the order
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.ExtraFiles = []*os.File{orders, reports} // 3, 4
	cmd.SysProcAttr = attributes(o.UserNS)
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return result{}, &cloneError{err}
	}
	orders.Close()
	reports.Close()

	// The helper reads its order before it answers, so neither pipe fills up
	// while the other end waits; a helper that dies ends both.
	sent := send(give, o)
	var answer report
	received := receive(take, &answer)
	cmd.Wait() // the report says how the command ended, not the helper's status

	var r result
	r.output, r.dropped = out.take()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.timedOut = true
		return r, nil
	case ctx.Err() != nil:
		return result{}, context.Cause(ctx)
	case received != nil:
		tail := r.output[max(0, len(r.output)-512):]
		return result{}, noShadow("its helper ended early (%v, %s): %s", errors.Join(sent, received), cmd.ProcessState, tail)
	case answer.NoShadow != "":
		return result{}, &NoShadowError{Reason: answer.NoShadow}
	case answer.Missing != "":
		return result{}, &missingError{o.Argv[0], errors.New(answer.Missing)}
	case answer.Full && answer.Exit != 0:
		return result{}, noShadow("the build wrote more than %d MiB into the workspace", s.size>>20)
	}
	r.exit = answer.Exit
	return r, nil
}

// pinned returns a path of this very program where program names it, so that an
// upgrade of the file does not put another version into the helper's place.
func pinned(program string) string {
	if self, err := os.Executable(); err == nil && self == program {
		return "/proc/self/exe"
	}
	return program
}

// attributes starts the helper as process 1 of its own process ids, so that
// the kernel ends all that it started when it ends.
func attributes(userNS bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID,
	}
	if !userNS {
		return attr
	}
	uid, gid := os.Geteuid(), os.Getegid()
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// Without these an ordinary user's helper would lose what it needs for its
	// mounts when it is executed; it drops them before it starts the command.
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID}
	return attr
}

// startLifeline ends this process, and with it all others of its name space,
// when the other end of the pipe is gone.
func startLifeline(r io.Reader) {
	go func() {
		io.Copy(io.Discard, r)
		os.Exit(1)
	}()
}
