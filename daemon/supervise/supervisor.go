package supervise

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient/proc"
)

// Limits bound what a server may take. Each zero takes the default named.
type Limits struct {
	Start    time.Duration // of the handshake (60 s)
	Request  time.Duration // of a request whose engine names none (30 s)
	Warm     time.Duration // of loading without any progress (60 s)
	Busy     time.Duration // of computing without any output before it counts as stuck (3 min)
	Idle     time.Duration // unused before it is stopped (10 min)
	Restore  time.Duration // of giving a server its text back after a turn (5 s)
	Settle   time.Duration // of silence after which pushed diagnostics are taken as whole (400 ms)
	Client   int           // waiting requests of one client (512)
	Queue    int           // waiting requests of one instance (4096)
	Open     int           // documents kept open on request of recipes (64)
	Instance int           // instances of a supervisor (64)
	Weigh    time.Duration // between two looks at the memory of the servers (10 s)
	Renew    time.Duration // at least between two new starts for what changed beside the project (10 s)
	Resolve  time.Duration // after which the command of a server in use is resolved again (10 s)
	Restart  Restart
	Stop     proc.Ladder // times only
}

func (l Limits) withDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	count := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	def(&l.Start, time.Minute)
	def(&l.Request, 30*time.Second)
	def(&l.Warm, time.Minute)
	def(&l.Busy, 3*time.Minute)
	def(&l.Idle, 10*time.Minute)
	def(&l.Restore, 5*time.Second)
	def(&l.Settle, 400*time.Millisecond)
	count(&l.Client, 512)
	count(&l.Queue, 4096)
	count(&l.Open, 64)
	count(&l.Instance, 64)
	def(&l.Weigh, 10*time.Second)
	def(&l.Resolve, 10*time.Second)
	def(&l.Renew, 10*time.Second)
	l.Restart = l.Restart.withDefaults()
	return l
}

// Options are the settings of a Supervisor.
type Options struct {
	Log     *slog.Logger  // nil discards
	Spawner *proc.Spawner // starts and outlives the servers
	Limits  Limits
	Build   string // version of Aura that servers are told
	Scratch string // private folder for generated configuration
	// Look finds a program for an engine: in the client's PATH, in the tool
	// folder. nil looks in the PATH of this process.
	Look func(engine, name, path string) (string, error)
	// Version asks a program of an engine for its version, with the client's PATH; nil knows none.
	Version func(engine, bin, path string) (string, error)
	// Memory returns how many bytes all servers may use together; nil or 0 is half of the machine's.
	Memory func() int64
	// Command replaces an engine's command by the user's configuration; nil or an empty result does not.
	Command func(engine string) []string
	// Disabled says that the user does not want an engine; nil wants all.
	Disabled func(engine string) bool
	// Setting is the user's configuration of an engine; nil has none.
	Setting func(engine, key string) (any, bool)
	// Changed is told of each change of an instance's state. It is called on the
	// instance's goroutine, must not block and must not call the Supervisor; nil is told nothing.
	Changed func(Status)
	// Trace opens where all messages to and from a process are written down, as
	// wire.TraceLines, and which is closed when it has ended; a nil result is for
	// none, as is a nil Trace.
	Trace func(engine string, pid int) io.WriteCloser
	// Event is told of what servers send outside of turns, for doors that
	// forward it. The same rules hold; Event.Params is valid during the call only.
	Event func(root, engine string, e adapters.Event)
}

// Want says which server is needed, for whom and at which text.
type Want struct {
	View     *view.View
	Project  adapters.Project
	Language adapters.Language
	Engine   adapters.Engine
	Env      map[string]string // the client's named variables, PATH and HOME
	Trusted  bool
	Purpose  string // "" is the shared instance; anything else has one of its own
	Client   string // for fairness in the queue
	Class    Class
	Seq      uint64 // of the view, that answers must not be older than
	// Partial takes a server that is still loading instead of waiting for it.
	Partial bool
	// Within bounds the wait for a server that is not ready; zero waits while it
	// makes progress. The server goes on loading.
	Within time.Duration
	// Waiting is told in words what the lease waits for; nil is told nothing.
	Waiting func(string)
}

// Supervisor owns the instances. Close stops them all.
type Supervisor struct {
	o      Options
	limits Limits
	log    *slog.Logger
	ctx    context.Context // of the instances' goroutines
	cancel context.CancelFunc
	wg     sync.WaitGroup

	heavier chan struct{} // asks for a look at the memory
	scales  sync.WaitGroup
	balance context.CancelFunc // ends it

	mu        sync.Mutex // guards the rest; never held while calling out
	memory    Memory
	closed    bool
	sites     map[site]*resolved   // by what was asked for
	instances map[string]*instance // by what that resolved to
}

// Start returns a Supervisor without instances.
func Start(o Options) *Supervisor {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Look == nil {
		o.Look = func(_, name, _ string) (string, error) { return exec.LookPath(name) }
	}
	if o.Version == nil {
		o.Version = func(string, string, string) (string, error) { return "", errors.New("version is not known") }
	}
	if o.Command == nil {
		o.Command = func(string) []string { return nil }
	}
	if o.Disabled == nil {
		o.Disabled = func(string) bool { return false }
	}
	if o.Setting == nil {
		o.Setting = func(string, string) (any, bool) { return nil, false }
	}
	if o.Changed == nil {
		o.Changed = func(Status) {}
	}
	if o.Trace == nil {
		o.Trace = func(string, int) io.WriteCloser { return nil }
	}
	if o.Event == nil {
		o.Event = func(string, string, adapters.Event) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Supervisor{
		o: o, limits: o.Limits.withDefaults(), log: o.Log, ctx: ctx, cancel: cancel, heavier: make(chan struct{}, 1),
		sites: make(map[site]*resolved), instances: make(map[string]*instance),
	}
	weighing, stop := context.WithCancel(ctx)
	s.balance = stop
	s.scales.Go(func() { s.weigh(weighing) })
	return s
}

// Lease returns the use of a server that is running and, unless w.Partial,
// ready. It starts the server if needed and waits while that makes progress.
// A server that goes on loading without progress past its deadline is leased
// all the same: Lease.Complete then says so. Errors are *api.Error.
func (s *Supervisor) Lease(ctx context.Context, w Want) (*Lease, error) {
	if w.Waiting == nil {
		w.Waiting = func(string) {}
	}
	i, err := s.instance(ctx, w)
	if err != nil {
		return nil, err
	}
	l := &Lease{i: i, want: w, incomplete: i.refreshed(time.Now())}
	if w.Within > 0 {
		l.until = time.Now().Add(w.Within)
	}
	if _, err := l.ready(ctx); err != nil {
		i.unlease()
		return nil, err
	}
	return l, nil
}

// evictLocked retires the instance that has been unused for the longest time.
func (s *Supervisor) evictLocked() {
	var oldest *instance
	var since time.Time
	for _, i := range s.instances {
		if t, idle := i.idleSince(); idle && (oldest == nil || t.Before(since)) {
			oldest, since = i, t
		}
	}
	if oldest != nil && oldest.retire() {
		s.dropLocked(oldest)
	}
}

func (s *Supervisor) forget(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(i)
}

func (s *Supervisor) dropLocked(i *instance) {
	maps.DeleteFunc(s.sites, func(_ site, have *resolved) bool { return have.i == i })
	if s.instances[i.key] == i {
		delete(s.instances, i.key)
	}
}

// Forget stops the instances that follow a view and waits for them. The view
// may be closed afterwards.
func (s *Supervisor) Forget(ctx context.Context, v *view.View) error {
	var gone []*instance
	s.mu.Lock()
	for _, i := range s.instances {
		if i.view == v {
			gone = append(gone, i)
			s.dropLocked(i)
		}
	}
	s.mu.Unlock()
	for _, i := range gone {
		i.shut()
	}
	for _, i := range gone {
		select {
		case <-i.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Restart asks the instances of an engine (all when engine is empty) in the
// workspace at root to start anew, also those that have failed, and returns them.
func (s *Supervisor) Restart(root, engine string) []Status {
	return s.restart(root, engine, func(State) bool { return true })
}

// Retry is Restart for those that have failed only.
func (s *Supervisor) Retry(root, engine string) []Status {
	return s.restart(root, engine, func(now State) bool { return now == Failed })
}

func (s *Supervisor) restart(root, engine string, which func(State) bool) []Status {
	var out []Status
	for _, i := range s.all() {
		if i.view.Root() == root && (engine == "" || i.engine.ID == engine) && i.askRestart(which) {
			out = append(out, i.status(false))
		}
	}
	return out
}

func (s *Supervisor) all() []*instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.instances))
}

// Status describes the instances, ordered by root and engine.
func (s *Supervisor) Status() []Status {
	var out []Status
	for _, i := range s.all() {
		out = append(out, i.status(true))
	}
	slices.SortFunc(out, func(a, b Status) int {
		return strings.Compare(a.Root+"\x00"+a.Engine+a.ID, b.Root+"\x00"+b.Engine+b.ID)
	})
	return out
}

// Close stops all servers side by side and waits until nothing of them is
// left. A context that ends first makes it kill them.
func (s *Supervisor) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.balance()
	s.scales.Wait()
	for _, i := range s.all() {
		i.shut()
	}
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	s.wg.Wait() // bounded: stopping an instance is, and ends at once when s.ctx does
	s.cancel()
	return ctx.Err()
}
