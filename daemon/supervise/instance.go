package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
)

// tickWarming is how often a driver is told that time passed while it loads.
const tickWarming = 50 * time.Millisecond

// instance is one server of one project, through all its processes.
type instance struct {
	sup    *Supervisor
	log    *slog.Logger
	key    string
	engine adapters.Engine
	want   Want // of the first lease: view, project, language, environment, trust
	view   *view.View
	limits Limits
	queue  *queue
	poison *poison
	life   context.Context // ends when the instance is given up
	giveUp context.CancelFunc
	done   chan struct{} // closed when run has returned

	mu      sync.Mutex // guards all below; never held while calling out, except the generation's lock
	changed chan struct{}
	state   State
	since   time.Time // of the state
	launch  adapters.Launch
	gen     *generation // running, handshake done; nil otherwise
	opened  []string    // documents that recipes asked for, the longest unused first
	leases  int
	idle    time.Time        // since when there are none
	project adapters.Project // as last seen
	renewed time.Time        // for what changed beside the project
	became  string           // what the key would be by the latest launch
	// superseded says that it is given up as soon as nobody uses it.
	superseded bool
	parked     string // why it was or is being stopped although nothing is wrong with it; empty once it is used again
	closing    bool
	again      bool // start anew after the stop
	crashes    []crash
	starts     int
	panics     int
	failures   uint64     // starts that did not reach the handshake
	lastErr    *api.Error // of the last end or failed start
	lastTail   []byte     // standard error then
	dueAt      time.Time  // Backoff: of the next start
}

func newInstance(s *Supervisor, key string, w Want, launch adapters.Launch) *instance {
	w.Waiting, w.Client, w.Class, w.Seq = nil, "", 0, 0
	now := time.Now()
	life, giveUp := context.WithCancel(context.Background())
	return &instance{
		sup: s, life: life, giveUp: giveUp, key: key, engine: w.Engine, want: w, view: w.View, limits: s.limits, launch: launch, project: w.Project,
		log:    s.log.With("server", w.Engine.ID, "root", w.Project.Root),
		queue:  newQueue(w.Engine.InFlight, s.limits.Client, s.limits.Queue),
		poison: newPoison(),
		done:   make(chan struct{}), changed: make(chan struct{}), since: now, idle: now,
	}
}

// fire moves the state machine. The caller holds mu.
func (i *instance) fire(e event) bool {
	s, ok := next(i.state, e)
	if !ok {
		return false
	}
	if s != i.state {
		i.log.Debug("server state", "from", i.state.String(), "to", s.String(), "event", e.String())
		i.state, i.since = s, time.Now()
	}
	i.broadcast()
	return true
}

// broadcast wakes everybody who waits for something of the instance. The caller holds mu.
func (i *instance) broadcast() {
	close(i.changed)
	i.changed = make(chan struct{})
}

// step fires one event.
func (i *instance) step(e event) {
	i.mu.Lock()
	i.fire(e)
	i.mu.Unlock()
	i.sup.o.Changed(i.status(false))
}

// lease counts a user; it fails when the instance is being given up.
func (i *instance) lease() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closing {
		return false
	}
	i.leases++
	i.parked = ""
	return true
}

func (i *instance) unlease() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leases--
	if i.leases == 0 {
		i.idle = time.Now()
		i.broadcast()
		i.endLocked()
	}
}

func (i *instance) idleSince() (time.Time, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.idle, i.leases == 0 && !i.closing
}

// retire gives the instance up if nobody uses it.
func (i *instance) retire() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.leases > 0 {
		return false
	}
	i.closing = true
	i.giveUp()
	i.broadcast()
	return true
}

// shut gives the instance up whoever uses it.
func (i *instance) shut() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closing = true
	i.giveUp()
	i.broadcast()
}

// askRestart starts the server anew because a person asked for it, in the states
// that are meant.
func (i *instance) askRestart(which func(State) bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closing || !which(i.state) {
		return false
	}
	i.crashes = nil
	i.poison.clear()
	if i.state.running() {
		i.again = true
		i.broadcast()
		return true
	}
	i.fire(asked)
	return true
}

// renew replaces the process, politely.
func (i *instance) renew() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.again = true
	i.broadcast()
}

// run is the life of the instance. It returns when the instance was given up
// and its process has ended, or at once after ctx ended.
func (i *instance) run(ctx context.Context) {
	defer close(i.done)
	defer i.giveUp()
	for {
		i.mu.Lock()
		state, changed, closing := i.state, i.changed, i.closing || ctx.Err() != nil
		due := i.dueAt
		i.mu.Unlock()
		if closing && !state.running() {
			i.step(stop)
			return
		}
		switch state {
		case Absent, Failed:
			select {
			case <-changed:
			case <-ctx.Done():
			}
		case Starting:
			i.begin(ctx)
		case Backoff:
			i.await(ctx, changed, time.Until(due), i.rested)
		case Crashed:
			i.afterCrash()
		default: // begin returns only when the process has ended
			panic("supervise: unattended state " + state.String())
		}
	}
}

// await waits for a change, or calls late after d.
func (i *instance) await(ctx context.Context, changed <-chan struct{}, d time.Duration, late func()) {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
		late()
	case <-ctx.Done():
	}
}

// rested ends the back-off: with a start if somebody needs the server.
func (i *instance) rested() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.leases > 0 {
		i.fire(due)
	} else {
		i.fire(stop)
	}
}

// afterCrash asks the policy what follows.
func (i *instance) afterCrash() {
	i.mu.Lock()
	delay, again, why := i.limits.Restart.decide(i.crashes, jitter())
	if again {
		i.dueAt = time.Now().Add(delay)
		i.fire(retry)
	} else {
		i.fire(giveUp)
	}
	n := len(i.crashes)
	i.mu.Unlock()
	if again {
		i.log.Warn("server ended and will be started again", "in", delay, "why", why, "crashes", n)
	} else {
		i.log.Error("server ended too often and stays down", "why", why)
	}
	i.sup.o.Changed(i.status(false))
}

// crashed records an end that nobody asked for. The caller holds mu.
func (i *instance) crashedLocked(c crash) {
	keep := i.crashes[:0]
	for _, old := range i.crashes {
		if c.at.Sub(old.at) < i.limits.Restart.Window {
			keep = append(keep, old)
		}
	}
	i.crashes = append(keep, c)
}

// refusedLocked reports whether a failed instance stays down for a new lease,
// with the error to answer. After the window has passed it is tried again with
// a clean record. The caller holds mu.
func (i *instance) refusedLocked(now time.Time) *api.Error {
	if i.state != Failed {
		return nil
	}
	left := i.limits.Restart.Window - now.Sub(i.since)
	if left <= 0 {
		i.fire(asked)
		return nil
	}
	out := api.Errorf(api.ServerUnavailable, "%s ended %d times within %s and stays down for another %s, or until `auractl restart %s`; last: %s",
		i.engine.ID, len(i.crashes), words(i.limits.Restart.Window), words(left.Round(time.Second)), i.engine.ID, i.lastWords())
	if i.lastErr != nil {
		out.Details = i.lastErr.Details
	}
	return out
}

func (i *instance) lastWords() string {
	if i.lastErr == nil {
		return "unknown"
	}
	return i.lastErr.Message
}

// waitingLocked says in words what a lease waits for. The caller holds mu.
func (i *instance) waitingLocked(now time.Time) string {
	id := i.engine.ID
	switch i.state {
	case Starting, Absent, Crashed:
		return "starting " + id
	case Initializing:
		return id + " is starting"
	case Warming:
		if i.gen != nil {
			if r, _ := i.gen.belief(); r.Waiting != "" {
				return id + ": " + r.Waiting
			}
		}
		return id + " is loading"
	case Draining:
		return id + " is stopping"
	case Backoff:
		return fmt.Sprintf("%s ended; it is started again in %s", id, words(max(i.dueAt.Sub(now), 0).Round(100*time.Millisecond)))
	}
	return ""
}

// panicked counts a panic that was caught on behalf of a request.
func (i *instance) panicked(what string, value any, stack []byte) *api.Error {
	i.mu.Lock()
	i.panics++
	i.mu.Unlock()
	i.log.Error("panic", "during", what, "panic", value, "stack", string(stack))
	return api.Errorf(api.Internal, "%s failed in a way that is a bug of Aura; the log has it: `auractl logs`", what)
}

// status describes the instance; memory is asked of the kernel only when usage.
func (i *instance) status(usage bool) Status {
	waiting, running := i.queue.sizes()
	i.mu.Lock()
	s := Status{
		ID: i.key, Engine: i.engine.ID, Language: i.want.Language.ID, Root: i.want.Project.Root, Purpose: i.want.Purpose,
		State: i.state.String(), Since: i.since, Complete: i.state == Ready, Argv: i.launch.Argv, Notes: i.launch.Notes,
		Parked: i.parked, Leases: i.leases, Queued: waiting, Running: running, Starts: i.starts, Crashes: len(i.crashes), Panics: i.panics,
	}
	if i.state != Ready && i.state != Absent && i.state != Failed {
		s.Waiting = i.waitingLocked(time.Now())
	}
	if i.lastErr != nil {
		s.LastError, s.Stderr = i.lastErr.Message, shown(i.lastTail)
	}
	g := i.gen
	i.mu.Unlock()
	if g != nil {
		s.PID = g.process.PID()
		info := g.client.ServerInfo()
		s.Server, s.Version = info.Name, shortVersion(info.Version)
		if usage {
			if u, err := g.process.Usage(); err == nil {
				s.Memory, s.CPU = u.PSS, u.CPU
			}
		}
	}
	return s
}
