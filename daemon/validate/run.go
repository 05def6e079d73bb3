package validate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/auralsp/aura/lspclient/proc"
)

// maxOutput bounds what is kept of a check's output; the rest is read and dropped.
const maxOutput = 8 << 20

// grace is how long a check in place has to end after it was asked to, and how
// long its pipe may stay open after it ended.
const grace = 2 * time.Second

// command is one check, ready to run.
type command struct {
	argv []string // absolute program first
	env  []string // complete
	dir  string
	kept string // folder where it keeps what it built; empty: none
	// drops says that what it builds of planned text must not stay there.
	drops bool
}

// result is how a command ended.
type result struct {
	output   []byte // both streams, in the order written
	dropped  int64  // bytes of output beyond maxOutput
	exit     int    // as a shell gives it: 128 and the signal's number for a killed one
	timedOut bool
}

// output keeps the first maxOutput bytes that are written to it.
type output struct {
	mu      sync.Mutex // guards the rest
	kept    bytes.Buffer
	dropped int64
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(p), maxOutput-o.kept.Len())
	o.kept.Write(p[:n])
	o.dropped += int64(len(p) - n)
	return len(p), nil
}

func (o *output) take() ([]byte, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.kept.Bytes()), o.dropped
}

// missingError says that a command's program is not there or does not run.
type missingError struct {
	program string
	err     error
}

func (e *missingError) Error() string { return fmt.Sprintf("%s does not run: %v", e.program, e.err) }

// runPlace runs a command on the real tree, to its end or that of ctx, with
// all that it started. A deadline gives timedOut, a cancellation an error.
func runPlace(ctx context.Context, s *proc.Spawner, c command) (result, error) {
	p, err := s.Start(ctx, proc.Command{Argv: c.argv, Env: c.env, Dir: c.dir, NoInput: true, Merge: true, Grace: grace})
	if failed := new(proc.StartError); errors.As(err, &failed) {
		return result{}, &missingError{c.argv[0], failed.Err}
	}
	if err != nil {
		return result{}, err
	}
	var out output
	var drained sync.WaitGroup // ends with the pipe
	drained.Go(func() { io.Copy(&out, p.Conn()) })
	select {
	case <-p.Exited():
	case <-ctx.Done(): // it cleans up after itself if it can
		if _, err := p.Stop(context.WithoutCancel(ctx), proc.Ladder{CloseFor: time.Nanosecond, TermFor: grace}); err != nil {
			p.Conn().Close()
			drained.Wait()
			return result{}, fmt.Errorf("stop %s: %w", c.argv[0], err)
		}
	}
	drained.Wait() // all holders of the pipe have ended, or had their time
	p.Conn().Close()
	<-p.Gone()
	var r result
	r.output, r.dropped = out.take()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.timedOut = true
	case ctx.Err() != nil:
		return result{}, context.Cause(ctx)
	}
	st := p.Status()
	if r.exit = st.Code; st.Signal != 0 {
		r.exit = 128 + int(st.Signal)
	}
	return r, nil
}

// exitCode returns how a process ended as a shell would give it.
func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// lookPath returns the absolute path of a program that env's PATH finds.
func lookPath(name string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if !strings.Contains(name, "/") {
		for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
			if path := filepath.Join(dir, name); filepath.IsAbs(path) && executable(path) {
				return path, nil
			}
		}
	}
	return "", &missingError{name, exec.ErrNotFound}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// setenv returns env with the variable set, earlier values dropped.
func setenv(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}
