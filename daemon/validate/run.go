package validate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// maxOutput bounds what is kept of a check's output; the rest is read and dropped.
const maxOutput = 8 << 20

// grace is how long a check has to end after it was asked to.
const grace = 2 * time.Second

// command is one check, ready to run.
type command struct {
	argv []string
	env  []string // complete
	dir  string
}

// result is how a command ended.
type result struct {
	output   []byte // both streams, in the order written
	dropped  int64  // bytes of output beyond maxOutput
	exit     int
	timedOut bool
	missing  string // why the command could not be started
}

// output keeps the first maxOutput bytes that are written to it.
type output struct {
	mu      sync.Mutex
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

// runPlain runs a command on the real tree, to its end or that of ctx. A
// deadline gives timedOut, a cancellation an error.
func runPlain(ctx context.Context, c command) (result, error) {
	var out output
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	cmd.Stdout, cmd.Stderr = &out, &out
	isolate(cmd)
	cmd.Cancel = func() error { return endGroup(cmd, false) }
	cmd.WaitDelay = grace
	err := onThread(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		err := cmd.Wait()
		endGroup(cmd, true) // what it left running
		return err
	})
	var r result
	r.output, r.dropped = out.take()
	return finish(ctx, cmd, r, err)
}

// finish turns the end of a process into a result.
func finish(ctx context.Context, cmd *exec.Cmd, r result, err error) (result, error) {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.timedOut = true
		return r, nil
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case cmd.ProcessState != nil:
		r.exit = exitCode(cmd.ProcessState)
		return r, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		r.missing = err.Error()
		return r, nil
	}
	return r, fmt.Errorf("run %s: %w", cmd.Path, err)
}
