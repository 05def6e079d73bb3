// Package daemon wires everything into the one process per user that serves
// Aura: configuration, watching, supervision, transactions, operations, the
// socket. Run reads top to bottom like a table of contents.
//
// It owns the order of start and stop; each component owns its goroutines.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/config"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/op"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/transact"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/proc"
)

// Options is what a daemon is started with.
type Options struct {
	Paths   config.Paths
	Config  *config.Store
	Version string
	Build   string // tells two builds apart
	Log     *slog.Logger
	Level   *slog.LevelVar // of Log; set again when the configuration is read again
	// Helper is the argv that starts this program as the helper of shadow
	// builds, for which it must call ShadowMain first thing.
	Helper []string
	// Umask is the user's, for what is made in their trees; nil is the process's.
	Umask *uint32
	// Reload asks for the configuration to be read again; nil never does.
	Reload <-chan struct{}
}

// Daemon is the running process.
type Daemon struct {
	o           Options
	log         *slog.Logger
	started     time.Time
	languages   []adapters.Adapter
	handlers    map[string]op.Handler
	methods     map[string]method
	trust       *trustStore
	tools       *tools
	transcripts *transcripts
	supervisor  *supervise.Supervisor
	engine      *edit.Engine
	validator   *validate.Validator
	pipeline    *transact.Pipeline
	workspaces  *workspaces
	events      *events
	server      *serve.Server
	stop        context.CancelFunc
}

// method answers a request about the daemon itself, its documents or its journal.
type method func(ctx context.Context, c serve.Call) (any, error)

// ShadowMain is the life of the helper that Options.Helper starts; it does not return.
func ShadowMain() { validate.ShadowMain() }

// startWait bounds the wait for a daemon that stops, or starts before us.
const startWait = 10 * time.Second

// stopTime bounds how long a stop waits for servers before it kills them.
const stopTime = 5 * time.Second

// tidyEvery is how often what builds have made is looked through.
const tidyEvery = 10 * time.Minute

// softMemory is the size of the daemon's own heap above which the collector
// works harder; servers have their own.
const softMemory = 1 << 30

// Run serves until ctx is done, a client asks for the stop, or nobody was
// connected for the idle time. Another daemon on the same socket is a
// *serve.RunningError.
func Run(ctx context.Context, o Options) (err error) {
	debug.SetMemoryLimit(softMemory)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, dir := range []string{o.Paths.State, o.Paths.Cache, o.Paths.Data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make Aura's own folders: %w", err)
		}
	}
	cfg, _ := o.Config.Get()

	// The lock comes first: of two daemons one must not touch anything.
	wait, cancel := context.WithTimeout(ctx, startWait)
	listener, err := serve.Listen(wait, o.Paths.Socket)
	cancel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()

	d := &Daemon{o: o, log: o.Log, started: time.Now(), languages: registry.Languages(), handlers: op.Handlers(), stop: stop}
	d.trust = &trustStore{path: filepath.Join(o.Paths.State, "trust.json"), roots: func() []string {
		c, _ := o.Config.Get()
		return c.Trust.Roots
	}}
	d.events = newEvents()

	spawner, err := proc.NewSpawner(ctx, proc.Options{Ledger: filepath.Join(o.Paths.State, "pids"), Log: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spawner.Close()) }()
	d.tools = newTools(o.Paths.Tools, spawner, d.languages)

	watcher, err := watch.Start(ctx, watch.Options{CookieDir: filepath.Join(filepath.Dir(o.Paths.Socket), "watch"), Log: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()

	d.transcripts = &transcripts{dir: filepath.Join(o.Paths.State, "transcripts"), log: o.Log, wanted: func(engine string) bool {
		c, _ := o.Config.Get()
		return c.Servers[engine].Trace
	}}
	d.supervisor = supervise.Start(supervise.Options{
		Trace:   d.transcripts.open,
		Log:     o.Log,
		Spawner: spawner,
		Scratch: filepath.Join(o.Paths.Cache, "servers"),
		Look:    d.tools.Look,
		Version: d.tools.Version,
		Memory:  d.memory,
		Command: d.command,
		Setting: d.setting,
		Disabled: func(engine string) bool {
			c, _ := o.Config.Get()
			return c.Servers[engine].Disabled
		},
		Changed: d.events.server,
		Limits: supervise.Limits{
			Warm:    time.Duration(cfg.Limits.LoadingSeconds) * time.Second,
			Idle:    idle(cfg.Daemon.ServerIdleMinutes),
			Restart: supervise.Restart{Crashes: cfg.Limits.Crashes, Window: time.Duration(cfg.Limits.CrashSeconds) * time.Second},
		},
	})

	d.engine, err = edit.Open(edit.Options{State: o.Paths.State, Log: o.Log, Umask: o.Umask, Keep: edit.Retention{
		Age:   time.Duration(cfg.Journal.KeepDays) * 24 * time.Hour,
		Count: cfg.Journal.KeepTransactions,
		Bytes: int64(cfg.Journal.KeepMegabytes) * 1_000_000,
	}})
	if err != nil {
		return err
	}
	meaning := &vectors{dir: filepath.Join(o.Paths.Cache, "vectors"), config: o.Config, log: o.Log}
	defer meaning.close()
	d.workspaces = &workspaces{
		vectors: meaning.get, indexing: d.events.index,
		watcher: watcher, supervisor: d.supervisor, engine: d.engine,
		languages: d.languages, log: o.Log, open: map[string]*opening{},
		cache: filepath.Join(o.Paths.Cache, "index"), build: program(o.Build), compile: d.compile,
	}
	// Workspaces end after the servers that follow their text, and changes in
	// hand end before both.
	defer func() { err = errors.Join(err, d.shutdown()) }()

	helper := o.Helper
	if !cfg.Validate.Shadow {
		helper = nil
	}
	d.validator, err = validate.New(validate.Options{Spawner: spawner, Helper: helper, Dir: filepath.Join(o.Paths.State, "validate"), Built: filepath.Join(o.Paths.Cache, "built"), Log: o.Log})
	if err != nil {
		return err
	}
	d.pipeline = transact.New(transact.Options{
		Edit: d.engine, Validate: d.validator, Log: o.Log, Owner: d.owner,
		Timeout: time.Duration(cfg.Validate.EditTimeoutSeconds) * time.Second,
	})
	d.methods = d.bind()

	d.server = serve.New(serve.Options{
		Dispatch: d.dispatch,
		Closed:   d.closed,
		Keep:     kept(d.languages),
		Root:     nearestRoot(markers(d.languages), os.Getenv("HOME")),
		Name:     api.ClientInfo{Name: "aurad", Version: o.Version},
		Build:    o.Build,
		Log:      o.Log,
		CrashDir: filepath.Join(o.Paths.State, "crashes"),
		Limits: serve.Limits{
			Connections: cfg.Limits.Connections, Queued: cfg.Limits.QueuedRequests,
			Frame: cfg.Limits.FrameMegabytes << 20, Outbound: cfg.Limits.OutboundMegabytes << 20,
		},
		IdleStop: time.Duration(cfg.Daemon.IdleStopMinutes) * time.Minute,
	})
	var beside sync.WaitGroup
	beside.Go(func() { d.reloads(ctx) })
	beside.Go(func() { d.tidies(ctx) })
	defer beside.Wait()
	defer stop()
	o.Log.Info("serving", "socket", o.Paths.Socket, "version", o.Version, "pid", os.Getpid())
	err = d.server.Serve(ctx, listener)
	if errors.Is(err, serve.ErrIdle) {
		o.Log.Info("stopping: nobody was connected", "for", time.Duration(cfg.Daemon.IdleStopMinutes)*time.Minute)
		return nil
	}
	o.Log.Info("stopping", "reason", err)
	return err
}

// reloads reads the configuration again whenever it is asked to.
func (d *Daemon) reloads(ctx context.Context) {
	for {
		select {
		case <-d.o.Reload:
			changed, err := d.Reload()
			d.log.Info("configuration read again", "changed", changed, "error", err)
		case <-ctx.Done():
			return
		}
	}
}

// tidies removes what builds have made and nobody needs any more, some time
// after the start, which has more urgent work, and from then on.
func (d *Daemon) tidies(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if left, err := d.validator.Tidy(ctx, d.retention()); err != nil && ctx.Err() == nil {
				d.log.Warn("what builds have made could not be tidied up", "folder", left.Dir, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// retention is how long, and how much, of what builds have made is kept.
func (d *Daemon) retention() validate.Retention {
	cfg, _ := d.o.Config.Get()
	return validate.Retention{
		Age:   time.Duration(cfg.Validate.KeepDays) * 24 * time.Hour,
		Bytes: int64(cfg.Validate.KeepMegabytes) * 1_000_000,
	}
}

// program tells this program from every other one, also from those of the same
// version that were built on the way.
func program(build string) string {
	name, err := os.Executable()
	if err != nil {
		return build
	}
	info, err := os.Stat(name)
	if err != nil {
		return build
	}
	return fmt.Sprintf("%s %d %d", build, info.Size(), info.ModTime().UnixNano())
}

// shutdown ends what requests use: changes in hand, servers, workspaces.
func (d *Daemon) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := d.engine.Close(ctx)
	if serr := d.supervisor.Close(ctx); serr != nil {
		d.log.Warn("servers did not stop in time and were killed", "error", serr)
	}
	return errors.Join(err, d.workspaces.closeAll())
}

// owner names the client that has a document open.
func (d *Daemon) owner(id string) string {
	if c, ok := d.server.Client(id); ok {
		return c.Name
	}
	return id
}

// closed drops what a connection leaves: its buffers and its subscriptions.
func (d *Daemon) closed(c serve.Client) {
	for _, ws := range d.workspaces.list() {
		ws.View().CloseClient(c.ID)
	}
	d.events.unsubscribe(c.ID)
}

// memory is what all language servers may use together, in bytes; 0 leaves it
// to the supervisor.
func (d *Daemon) memory() int64 {
	cfg, _ := d.o.Config.Get()
	return int64(cfg.Limits.MemoryMegabytes) << 20
}

// idle is how long a server may be unused: 0 minutes mean for ever.
func idle(minutes int) time.Duration {
	if minutes == 0 {
		return math.MaxInt64
	}
	return time.Duration(minutes) * time.Minute
}

// command is the user's configuration of an engine's command.
func (d *Daemon) command(engine string) []string {
	cfg, _ := d.o.Config.Get()
	return cfg.Servers[engine].Command
}

// setting is the user's configuration of an engine's settings.
func (d *Daemon) setting(engine, key string) (any, bool) {
	cfg, _ := d.o.Config.Get()
	v, ok := cfg.Servers[engine].Settings[key]
	return v, ok
}
