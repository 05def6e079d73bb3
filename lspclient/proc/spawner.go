package proc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// MarkVariable is the environment variable that every child and what it starts
// carries; its value is the instance mark. Processes are found by it in
// /proc/*/environ when they left their group.
const MarkVariable = "AURA_INSTANCE"

// Defaults of Command and Ladder.
const (
	// TailSize is how many bytes of standard error are kept.
	TailSize = 64 << 10
	// DefaultGrace is how long the pipes of an ended process stay open for a
	// reader when something that could not be killed still holds them.
	DefaultGrace = 500 * time.Millisecond
)

// ErrClosed says that the Spawner was closed.
var ErrClosed = errors.New("proc: spawner is closed")

// StartError says that a program could not be started at all. It wraps the
// operating system's reason: fs.ErrNotExist, fs.ErrPermission, ENOEXEC, EAGAIN.
type StartError struct {
	Program string
	Err     error
}

// Error names the program and the reason.
func (e *StartError) Error() string { return fmt.Sprintf("start %s: %v", e.Program, e.Err) }

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// Options are the settings of a Spawner.
type Options struct {
	// Ledger is a private folder in which running children are recorded; it is
	// made when missing. Empty means that nothing is recorded.
	Ledger string
	Log    *slog.Logger // nil discards
}

// Command says what to start.
type Command struct {
	Argv []string // absolute program first
	Env  []string // complete environment; the mark is added to it
	Dir  string   // absolute
	// Mark identifies the process and all that it starts; empty means a random one.
	Mark string
	// NoInput gives the child the null device as standard input.
	NoInput bool
	// Merge sends standard error into standard output instead of the tail.
	Merge bool
	// Grace replaces DefaultGrace.
	Grace time.Duration
}

// Spawner starts processes. It must live as long as they shall: on Linux they
// are killed when its thread ends.
type Spawner struct {
	log    *slog.Logger
	ledger *ledger
	guard  guard
	work   chan spawn
	stop   chan struct{} // closed to end the thread
	done   chan struct{} // closed when it has ended

	mu       sync.Mutex // guards closed, live and each live Process's pid
	closed   bool
	live     map[*Process]struct{}
	starting sync.WaitGroup // calls of Start that have entered
}

type spawn struct {
	cmd *exec.Cmd
	err chan error
}

// NewSpawner kills what the ledger's earlier owners left behind, if they are
// dead, and starts the thread that starts processes. Close ends it.
func NewSpawner(ctx context.Context, o Options) (*Spawner, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Spawner{
		log:  log,
		work: make(chan spawn),
		stop: make(chan struct{}),
		done: make(chan struct{}),
		live: make(map[*Process]struct{}),
	}
	if o.Ledger != "" {
		l, err := openLedger(o.Ledger, log)
		if err != nil {
			return nil, err
		}
		if err := l.sweep(ctx); err != nil {
			return nil, fmt.Errorf("proc: sweep ledger: %w", err)
		}
		s.ledger = l
	}
	go s.run()
	return s, nil
}

// run is the locked thread. It unlocks before it returns, so that the thread
// goes on living in the runtime's pool instead of ending.
func (s *Spawner) run() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case w := <-s.work:
			sealDescriptors()
			w.err <- w.cmd.Start()
		case <-s.stop:
			return
		}
	}
}

// Start starts a process. The context bounds the start only, not the process's
// life. Errors are *StartError, ErrClosed and those of the context.
func (s *Spawner) Start(ctx context.Context, c Command) (*Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("proc: empty command")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Mark == "" {
		c.Mark = NewMark()
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	p, cmd, child, err := prepare(c)
	if err != nil {
		return nil, &StartError{Program: c.Argv[0], Err: err}
	}
	p.spawner = s
	if err := s.enter(p); err != nil {
		p.closePipes()
		closeAll(child)
		return nil, err
	}
	defer s.starting.Done()
	if s.ledger != nil {
		if err := s.ledger.intend(p); err != nil {
			s.log.Warn("child is not in the ledger", "error", err)
		}
	}
	p.oomBefore = oomKills()
	err = s.spawn(ctx, cmd)
	closeAll(child)
	if err != nil {
		p.closePipes()
		s.leave(p)
		if errors.Is(err, ErrClosed) || ctx.Err() != nil {
			return nil, err
		}
		return nil, &StartError{Program: c.Argv[0], Err: err}
	}
	s.mu.Lock()
	p.started = time.Now()
	p.pid = cmd.Process.Pid
	s.mu.Unlock()
	if s.ledger != nil {
		if err := s.ledger.started(p); err != nil {
			s.log.Warn("child is not in the ledger", "pid", p.pid, "error", err)
		}
	}
	yield(p.pid)
	if err := s.guard.add(p); err != nil {
		s.log.Warn("what a child starts may outlive a killed daemon", "error", err)
	}
	p.run()
	return p, nil
}

// spawn hands the command to the locked thread. Once handed over it waits for
// the result whatever the context says: a started child has to be owned.
func (s *Spawner) spawn(ctx context.Context, cmd *exec.Cmd) error {
	w := spawn{cmd: cmd, err: make(chan error, 1)}
	select {
	case s.work <- w:
		return <-w.err
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter registers the process before it exists, so that Close cannot miss it.
func (s *Spawner) enter(p *Process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.live[p] = struct{}{}
	s.starting.Add(1)
	return nil
}

func (s *Spawner) leave(p *Process) {
	if err := s.guard.remove(p); err != nil {
		s.log.Warn("what a child starts may outlive a killed daemon", "error", err)
	}
	if s.ledger != nil {
		s.ledger.ended(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, p)
}

// Processes returns the processes that are not gone.
func (s *Spawner) Processes() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Process, 0, len(s.live))
	for p := range s.live {
		if p.pid != 0 {
			out = append(out, p)
		}
	}
	return out
}

// Close kills what still runs, waits until it is gone and ends the thread.
// Stop processes first to let them end in their own way.
func (s *Spawner) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.done
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	<-s.done
	s.starting.Wait() // every live process has its pid now
	for _, p := range s.Processes() {
		p.Kill()
		<-p.Gone()
	}
	s.guard.close()
	return nil
}

// NewMark returns a fresh random instance mark.
func NewMark() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
