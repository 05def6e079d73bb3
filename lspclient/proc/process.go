package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is one running child, the leader of its process group.
type Process struct {
	spawner   *Spawner
	cmd       *exec.Cmd
	pid       int
	mark      string
	grace     time.Duration
	started   time.Time
	oomBefore uint64

	conn   *Conn
	stderr *os.File // our end; nil when merged
	tail   *ring
	asked  atomic.Bool // Stop or Kill was called

	mu     sync.Mutex // guards what follows
	reaped bool       // a signal is sent only while the id is ours
	strays []identity // descendants that neither group nor mark tells of, as last seen

	exited chan struct{}
	gone   chan struct{}
	status Status // written before exited is closed
}

// Conn is a child's standard output to read from and its standard input to
// write to. Read and Write may be used at the same time.
type Conn struct {
	in  *os.File // nil without input
	out *os.File
	end sync.Once
}

var _ io.ReadWriteCloser = (*Conn)(nil)

// Read reads standard output. The end of the stream is io.EOF: when the child
// and all that inherited the stream have ended, at the latest twice the
// command's Grace after the child, and after Close.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.out.Read(b)
	if errors.Is(err, os.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// Write writes standard input; a process that ended gives EPIPE.
func (c *Conn) Write(b []byte) (int, error) {
	if c.in == nil {
		return 0, os.ErrClosed
	}
	return c.in.Write(b)
}

// TryWrite writes as much as standard input takes without waiting, and returns
// how much that was. Write says why it may be nothing.
func (c *Conn) TryWrite(b []byte) (n int) {
	if c.in == nil {
		return 0
	}
	raw, err := c.in.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Write(func(fd uintptr) bool {
		if m, err := syscall.Write(int(fd), b); err == nil {
			n = m
		}
		return true
	})
	return n
}

// CloseWrite closes standard input; reading goes on.
func (c *Conn) CloseWrite() error {
	var err error
	c.end.Do(func() {
		if c.in != nil {
			err = c.in.Close()
		}
	})
	return err
}

// Close closes both streams and ends pending reads and writes.
func (c *Conn) Close() error {
	err := c.CloseWrite()
	if e := c.out.Close(); e != nil && !errors.Is(e, os.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// SetWriteDeadline bounds pending and later writes; they then fail with
// os.ErrDeadlineExceeded.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.in == nil {
		return os.ErrClosed
	}
	return c.in.SetWriteDeadline(t)
}

// prepare makes the pipes and the command; child are the ends to close once
// the child has them.
func prepare(c Command) (p *Process, cmd *exec.Cmd, child []*os.File, err error) {
	cmd = &exec.Cmd{
		Path:        c.Argv[0],
		Args:        c.Argv,
		Env:         append(c.Env[:len(c.Env):len(c.Env)], MarkVariable+"="+c.Mark),
		Dir:         c.Dir,
		SysProcAttr: groupAttr(),
	}
	p = &Process{
		cmd:    cmd,
		mark:   c.Mark,
		grace:  c.Grace,
		tail:   newRing(TailSize),
		conn:   &Conn{},
		exited: make(chan struct{}),
		gone:   make(chan struct{}),
	}
	fail := func(err error) (*Process, *exec.Cmd, []*os.File, error) {
		p.closePipes()
		closeAll(child)
		return nil, nil, nil, err
	}
	pipe := func(ours **os.File, reads bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirs := r
		*ours = w
		if reads {
			theirs, *ours = w, r
		}
		child = append(child, theirs)
		return theirs, nil
	}
	out, err := pipe(&p.conn.out, true)
	if err != nil {
		return fail(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if !c.NoInput {
		in, err := pipe(&p.conn.in, false)
		if err != nil {
			return fail(err)
		}
		cmd.Stdin = in
	}
	if !c.Merge {
		e, err := pipe(&p.stderr, true)
		if err != nil {
			return fail(err)
		}
		cmd.Stderr = e
	}
	return p, cmd, child, nil
}

func (p *Process) closePipes() {
	for _, f := range []*os.File{p.conn.in, p.conn.out, p.stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// PID returns the process id, which is also the id of its group.
func (p *Process) PID() int { return p.pid }

// Mark returns the instance mark that it and its descendants carry.
func (p *Process) Mark() string { return p.mark }

// Started returns when it was started.
func (p *Process) Started() time.Time { return p.started }

// Conn returns its standard streams. Who started the process closes it.
func (p *Process) Conn() *Conn { return p.conn }

// Stderr returns up to n of the last bytes that it wrote to standard error;
// at most TailSize are kept.
func (p *Process) Stderr(n int) []byte { return p.tail.tail(n) }

// StderrTotal returns how many bytes it wrote to standard error.
func (p *Process) StderrTotal() int64 {
	p.tail.mu.Lock()
	defer p.tail.mu.Unlock()
	return p.tail.total
}

// Exited is closed when the process itself has ended, whatever its descendants
// do. Status is valid from then on.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone is closed when its group and its marked descendants have ended as well
// (or could not be killed), the pipes are closed and the ledger has forgotten it.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Status returns how it ended; the zero Status before Exited is closed.
func (p *Process) Status() Status {
	select {
	case <-p.exited:
		return p.status
	default:
		return Status{}
	}
}

// Usage returns what the process and all that belongs to it use now: its group,
// its descendants, and what left both but carries its mark. It reads each one's
// memory map, which costs milliseconds for large processes.
func (p *Process) Usage() (Usage, error) {
	u, ok := usages([]*Process{p}, true)[p]
	if !ok {
		return u, os.ErrProcessDone
	}
	return u, nil
}

// Usages is Usage for many, in one pass. Without shared, pages that several
// processes share count for each, and PSS is 0: that is quick, and RSS then is
// a bound that PSS does not exceed. Those that have ended are left out.
func Usages(list []*Process, shared bool) map[*Process]Usage { return usages(list, shared) }

// MachineMemory returns how many bytes of memory there are to use: those of the
// machine, or what a control group allows if that is less; 0 when unknown.
func MachineMemory() int64 { return machineMemory() }

// CPU returns the processor time that the process, its group and its
// descendants have used (in steps of 10 ms on Linux), and whether the process
// is stopped by a signal. It fails when nothing runs or the system does not say.
func (p *Process) CPU() (used time.Duration, stopped bool, err error) { return cpuOf(p.pid) }

// run starts the goroutines of the process; Gone says that they ended.
func (p *Process) run() {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		if p.stderr != nil {
			p.tail.drain(p.stderr)
		}
	}()
	go p.wait(drained)
}

// wait kills the group while the leader is still a zombie: until it is reaped
// its id, and so its group's, cannot be given to a stranger.
func (p *Process) wait(drained <-chan struct{}) {
	zombie := awaitExit(p.pid)
	others := members(p.pid)
	werr := p.reap(zombie)
	p.status = statusOf(p.cmd.ProcessState, werr)
	p.status.Asked = p.asked.Load()
	p.status.Lived = time.Since(p.started)
	p.status.OutOfMemory = p.status.Signal == syscall.SIGKILL && !p.status.Asked && oomKills() > p.oomBefore
	close(p.exited)

	// With every holder dead the pipes end by themselves; one that could not be
	// found or killed must not keep their readers.
	held := time.Now().Add(2 * p.grace)
	_ = p.conn.out.SetReadDeadline(held)
	if p.stderr != nil {
		_ = p.stderr.SetReadDeadline(held)
	}
	killKnown(p.strayed())
	if left := killMarked(p.mark, append(others, p.strayed()...), time.Now().Add(p.grace)); left > 0 {
		p.spawner.log.Warn("descendants of a child could not be killed", "pid", p.pid, "left", left)
	}
	<-drained
	if p.stderr != nil {
		_ = p.stderr.Close()
	}
	_ = p.conn.CloseWrite()
	p.spawner.leave(p)
	close(p.gone)
}

func (p *Process) reap(zombie bool) error {
	if !zombie { // the system could not say, so Wait has to wait
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reaped = true
		}()
		return p.cmd.Wait()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = signalGroup(p.pid, syscall.SIGKILL)
	p.reaped = true
	return p.cmd.Wait()
}

// Kill kills the process group at once. It does not wait.
func (p *Process) Kill() {
	p.asked.Store(true)
	p.remember(straysOf(p))
	p.signal(syscall.SIGKILL)
}

// remember keeps descendants that could not be found by group or mark once the
// process has ended, here and for a successor of this daemon.
func (p *Process) remember(strays []identity) {
	if len(strays) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	before := len(p.strays)
	for _, id := range strays {
		if !slices.Contains(p.strays, id) {
			p.strays = append(p.strays, id)
		}
	}
	if l := p.spawner.ledger; l != nil && len(p.strays) > before {
		if err := l.record(p, p.strays); err != nil {
			p.spawner.log.Warn("what a child started is not in the ledger", "pid", p.pid, "error", err)
		}
	}
}

func (p *Process) strayed() []identity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.strays)
}

func (p *Process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = signalGroup(p.pid, sig)
	}
}

// Ladder says how long each step of Stop may take; zero takes the default.
type Ladder struct {
	// Ask is the polite request, LSP's shutdown and exit; nil is none.
	Ask func(context.Context) error
	// AskFor bounds Ask (default 1.5 s), CloseFor the wait after standard input
	// was closed (1 s), TermFor the wait after SIGTERM (1 s).
	AskFor, CloseFor, TermFor time.Duration
}

// ErrStuck says that a process did not end even after SIGKILL: the kernel
// holds it. It is not waited for any longer.
var ErrStuck = errors.New("proc: process does not end after SIGKILL")

// Stop ends the process: the polite request, the end of standard input,
// SIGTERM to the group, SIGKILL to the group, then waits until it is Gone.
// A context that ends skips to SIGKILL. It takes at most the ladder's times
// and two seconds.
func (p *Process) Stop(ctx context.Context, l Ladder) (Status, error) {
	p.asked.Store(true)
	p.remember(straysOf(p))
	if l.Ask != nil && !closed(p.exited) {
		actx, cancel := context.WithTimeout(ctx, or(l.AskFor, 1500*time.Millisecond))
		_ = l.Ask(actx) // a server that does not answer is what the next steps are for
		cancel()
	}
	_ = p.conn.CloseWrite()
	if !p.await(ctx, or(l.CloseFor, time.Second)) {
		p.signal(syscall.SIGTERM)
		p.signal(syscall.SIGCONT) // a stopped process takes SIGTERM only when it continues
		if !p.await(ctx, or(l.TermFor, time.Second)) {
			p.signal(syscall.SIGKILL)
		}
	}
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-p.gone:
		return p.status, nil
	case <-t.C:
		return p.Status(), ErrStuck
	}
}

func (p *Process) await(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return closed(p.exited)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func or(d, def time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return def
}
