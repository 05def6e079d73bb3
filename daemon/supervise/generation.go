package supervise

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/proc"
)

// generation is one process of an instance, from its start to its end.
type generation struct {
	i       *instance
	process *proc.Process
	client  *lspclient.Client // set before the generation is published
	pulling atomic.Bool       // diagnostics are asked for, so that what is pushed is not passed on
	stream  *stream
	mirror  *mirror
	beside  map[string]stamp // what it reads beside the project, as it was before the start
	work    sync.WaitGroup   // looks at requests, probes
	dead    chan struct{}    // closed once death is set

	mu        sync.Mutex // guards driver's calls and the fields below; taken after instance.mu
	driver    adapters.Driver
	readiness adapters.Readiness
	warm      *patience // of the wait for Ready; nil when ready
	overdue   bool      // warm ran out: leases are granted although it loads
	wasReady  bool
	reason    string // why we killed it, in words
	silent    time.Duration
	death     death
	over      bool // end has begun: nothing new is started for it
	turning   bool // a turn is on: what arrives belongs to it
}

// death is how a generation ended.
type death struct {
	how    string // "exit status 2", "killed by SIGKILL", "stopped answering"
	stderr []byte
	asked  bool // it was stopped on purpose
	// blame says that it ended by itself, so that what it worked on may be why.
	blame bool
}

// begin starts a process, runs the handshake and attends to the server until
// it has ended. The instance's state is then Absent or Crashed.
func (i *instance) begin(ctx context.Context) {
	start, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(i.life, cancel)
	defer stop()
	g, err := i.spawn(start)
	if err != nil {
		i.mu.Lock()
		i.failures++
		i.lastErr, i.lastTail = err, nil
		i.fire(refused)
		i.mu.Unlock()
		i.log.Warn("server cannot be started", "error", err)
		i.sup.o.Changed(i.status(false))
		return
	}
	i.step(spawned)
	if err := g.handshake(start); err != nil {
		g.bury(ctx, err)
		return
	}
	i.mu.Lock()
	i.gen = g
	i.fire(initialized)
	i.mu.Unlock()
	g.refresh()
	i.sup.o.Changed(i.status(false))
	g.attend(ctx)
}

// spawn resolves the command anew, as program and settings may have changed
// since the last start, and starts it.
func (i *instance) spawn(ctx context.Context) (g *generation, failed *api.Error) {
	defer func() {
		if p := recover(); p != nil {
			g, failed = nil, i.panicked("starting "+i.engine.ID, p, debug.Stack())
		}
	}()
	want := i.want
	want.Project = i.unit()
	launch, _, err := i.sup.launch(ctx, want)
	if err != nil {
		return nil, unavailable(i.engine, err)
	}
	driver := i.engine.New(launch) // before the process, as it may panic
	g = &generation{i: i, driver: driver, dead: make(chan struct{}), beside: stamped(launch.Beside)}
	// What changes from here on is told; what is older the server reads itself.
	g.mirror = newMirror(g, i.view.Seq())
	p, err := i.sup.o.Spawner.Start(ctx, proc.Command{Argv: launch.Argv, Env: launch.Env, Dir: launch.Dir})
	if err != nil {
		return nil, unavailable(i.engine, err)
	}
	g.process, g.stream = p, newStream(p, i.sup.o.Trace(i.engine.ID, p.PID()))
	i.mu.Lock()
	i.launch, i.became = launch, instanceKey(want, launch)
	i.starts++
	i.mu.Unlock()
	return g, nil
}

func (g *generation) handshake(ctx context.Context) error {
	i := g.i
	limit := i.limits.Start
	if d := i.engine.Deadline["initialize"]; d > 0 {
		limit = d
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, g.process.Kill)
	defer stop()
	i.mu.Lock()
	settings, root := i.launch.Settings, i.launch.Root
	i.mu.Unlock()
	if root == "" {
		root = i.want.Project.Root
	}
	g.warm = newPatience(i.limits.Warm, time.Now())
	_, resend := g.driver.(adapters.Resender)
	client, err := lspclient.Start(ctx, g.stream, lspclient.Options{
		ProcessID: os.Getpid(),
		Root:      root,
		Settings:  settings,
		Version:   i.sup.o.Build,
		Configure: g.configure,
		OnEvent:   g.onEvent,
		Trace:     g.stream.transcript,

		ResendOpened: resend,
		Log:          i.log,
	})
	if err != nil {
		return err
	}
	g.client = client
	g.pulling.Store(g.pulls())
	return g.mirror.replay(ctx)
}

// ask calls the driver, one call at a time, whatever becomes of it.
func ask[T any](g *generation, f func(adapters.Driver) T) T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return f(g.driver)
}

func (g *generation) configure(section, scope string) (value any) {
	defer func() {
		if p := recover(); p != nil {
			value = nil
			_ = g.i.panicked("configuration of "+g.i.engine.ID, p, debug.Stack())
		}
	}()
	return ask(g, func(d adapters.Driver) any { return d.Configure(section, scope) })
}

// onEvent runs on the connection's consumer, in wire order.
func (g *generation) onEvent(e lspclient.Event) {
	ev := adapters.Event{Time: e.Time, Method: e.Method, Params: e.Params, Err: e.Err}
	switch e.Kind {
	case lspclient.Initialized:
		ev.Kind = adapters.Initialized
	case lspclient.Notification:
		ev.Kind = adapters.Notification
	case lspclient.Request:
		ev.Kind = adapters.Request
	case lspclient.Sent:
		ev.Kind = adapters.Sent
	case lspclient.Replied:
		ev.Kind = adapters.Replied
	}
	turning := g.observe(ev)
	if ev.Kind != adapters.Notification || turning {
		return
	}
	// What a server pushes on its own time may still be about the text of a turn
	// that is over; where it can be asked, it is.
	if !g.pulling.Load() || ev.Method != "textDocument/publishDiagnostics" {
		g.i.sup.o.Event(g.i.want.Project.Root, g.i.engine.ID, ev)
	}
}

// observe tells the driver, and the instance what it concludes.
func (g *generation) observe(e adapters.Event) (turning bool) {
	moved := false
	var now adapters.Readiness
	func() {
		defer func() {
			if p := recover(); p != nil {
				_ = g.i.panicked("an event of "+g.i.engine.ID, p, debug.Stack())
			}
		}()
		g.mu.Lock()
		defer g.mu.Unlock()
		before := g.readiness
		if next := g.driver.Observe(e); !givenUp(before) {
			g.readiness = next
		}
		turning, now = g.turning, g.readiness
		moved = g.readiness.State != before.State || g.readiness.Progress != before.Progress || g.readiness.Waiting != before.Waiting
		if g.readiness.Progress != before.Progress && g.warm != nil {
			g.warm.restart(time.Now())
			g.overdue = false
		}
	}()
	if moved {
		switch now.State {
		case adapters.Lost:
			g.kill(now.Waiting)
		case adapters.Outdated:
			g.i.log.Info("server is started anew", "reason", now.Waiting)
			g.i.renew()
		}
		g.refresh()
	}
	return turning
}

// refresh brings the instance's state in line with the driver's belief.
func (g *generation) refresh() {
	i := g.i
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gen != g {
		return
	}
	g.mu.Lock()
	ready := g.readiness.State == adapters.Ready
	if ready {
		g.warm, g.overdue, g.wasReady = nil, false, true
	} else if g.warm == nil {
		g.warm = newPatience(i.limits.Warm, time.Now())
	}
	g.mu.Unlock()
	e := loading
	if ready {
		e = settled
	}
	if !i.fire(e) {
		i.broadcast()
	}
}

// belief returns what the driver concludes, and whether the wait for more has
// taken too long.
func (g *generation) belief() (r adapters.Readiness, overdue bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.readiness, g.overdue
}

// tick lets time pass while the server loads.
func (g *generation) tick(now time.Time) {
	g.observe(adapters.Event{Time: now, Kind: adapters.Tick})
	g.mu.Lock()
	late := false
	if g.warm != nil && !g.overdue {
		late = g.warm.look(now)
		if d := g.readiness.Deadline; !d.IsZero() {
			late = late || now.After(d)
		}
		g.overdue = late
	}
	g.mu.Unlock()
	if late {
		g.i.log.Warn("server loads without progress; answers are marked incomplete")
		g.refresh()
	}
}

// attend watches the server until it has ended.
func (g *generation) attend(ctx context.Context) {
	i := g.i
	timer := time.NewTimer(0)
	defer timer.Stop()
	told := Warming
	for {
		i.mu.Lock()
		changed, state, leases, idle, again := i.changed, i.state, i.leases, i.idle, i.again
		closing, parked := i.closing, i.parked
		i.mu.Unlock()
		if state != told {
			told = state
			i.sup.o.Changed(i.status(false))
			i.sup.looked()
		}
		wait := time.Duration(-1)
		switch {
		case parked != "":
			i.log.Info("server is stopped", "reason", parked)
			g.drain(ctx)
			return
		case closing || again || ctx.Err() != nil:
			g.drain(ctx)
			return
		case leases == 0 && time.Since(idle) >= i.limits.Idle:
			i.evict("nobody had used it for " + words(i.limits.Idle))
			continue
		case leases == 0:
			wait = i.limits.Idle - time.Since(idle)
		}
		if state == Warming {
			wait = tickWarming
		}
		if wait >= 0 {
			timer.Reset(wait)
		}
		select {
		case <-changed:
		case <-g.process.Exited():
			g.bury(ctx, nil)
			return
		case <-g.client.Done():
			g.bury(ctx, g.client.Err())
			return
		case now := <-timer.C:
			if state == Warming {
				g.tick(now)
			}
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// drain stops the server in its own way.
func (g *generation) drain(ctx context.Context) {
	g.i.step(stop)
	ladder := g.i.limits.Stop
	ladder.Ask = g.client.Shutdown
	status, err := g.process.Stop(ctx, ladder)
	if err != nil {
		g.i.log.Error("server does not end", "pid", g.process.PID(), "error", err)
	}
	g.end(death{how: status.String(), asked: true})
	i := g.i
	i.mu.Lock()
	again := i.again
	i.again = false
	i.fire(died)
	if again && !i.closing {
		i.fire(asked)
	}
	i.mu.Unlock()
	i.sup.o.Changed(i.status(false))
}

// bury ends a server that ended by itself, or that must.
func (g *generation) bury(ctx context.Context, cause error) {
	i := g.i
	// An exit is seen on the pipe a moment before the kernel reports it.
	t := time.NewTimer(100 * time.Millisecond)
	defer t.Stop()
	select {
	case <-g.process.Exited():
	case <-t.C:
	}
	ownExit := g.process.Status()
	exited := isClosed(g.process.Exited())
	g.process.Kill()
	select {
	case <-g.process.Gone():
	case <-time.After(3 * time.Second):
		i.log.Error("server does not end", "pid", g.process.PID())
	}
	stderr := g.process.Stderr(proc.TailSize)
	g.mu.Lock()
	d := death{how: g.reason, stderr: stderr}
	ready := g.wasReady
	g.mu.Unlock()
	if d.how == "" {
		switch {
		case exited:
			d.how = ownExit.String()
		case cause != nil:
			d.how = cause.Error()
		default:
			d.how = "its connection ended"
		}
	}
	// A plain SIGKILL came from outside and says nothing about the request.
	d.blame = exited && !ownExit.Asked && (ownExit.Signal != syscall.SIGKILL || ownExit.OutOfMemory)
	if d.blame {
		i.poison.died(time.Now())
	}
	shaken := g.client != nil
	g.end(d)

	i.mu.Lock()
	defer i.mu.Unlock()
	i.lastTail = stderr
	if shaken {
		i.lastErr = crashed(i.engine, i.want.Project.Root, "its work", d.how, stderr)
	} else {
		i.failures++
		if exited {
			cause = nil // that the pipe ended says less than how the process did
		} else if errors.Is(cause, context.DeadlineExceeded) {
			cause = errors.New("the handshake took longer than " + words(i.limits.Start))
		}
		i.lastErr = exitedEarly(i.engine, i.want.Project.Root, g.process.Status(), cause, stderr)
	}
	i.crashedLocked(crash{at: time.Now(), wasReady: ready, outOfMemory: ownExit.OutOfMemory})
	if ctx.Err() != nil || i.closing {
		i.fire(stop)
	}
	i.fire(died)
}

// end closes what belongs to the generation; nothing of it runs afterwards.
func (g *generation) end(d death) {
	i := g.i
	i.mu.Lock()
	if i.gen == g {
		i.gen = nil
	}
	i.mu.Unlock()
	g.mu.Lock()
	g.death, g.over = d, true
	g.mu.Unlock()
	close(g.dead)
	if g.client != nil {
		if err := g.client.Close(); err != nil {
			i.log.Warn("connection of an ended server", "error", err)
		}
	}
	g.stream.end()
	g.work.Wait()
}

// kill ends the process for a reason; attend sees it and buries it.
func (g *generation) kill(reason string) {
	g.doom(reason)
	g.process.Kill()
}

// doom says that the process is to be killed, and why.
func (g *generation) doom(reason string) {
	g.mu.Lock()
	if g.reason == "" {
		g.reason = reason
	}
	g.mu.Unlock()
	g.i.log.Warn("server is killed", "pid", g.process.PID(), "reason", reason)
}

// doomed reports whether the process has ended or was killed: nothing more is
// sent to it, even if it could still answer.
func (g *generation) doomed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over || g.reason != ""
}

// deathOf waits until the generation has ended and returns how.
func (g *generation) deathOf(ctx context.Context) death {
	select {
	case <-g.dead:
	case <-ctx.Done():
		return death{how: "it is ending"}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.death
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
