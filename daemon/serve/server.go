package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// ErrIdle is what Serve returns when nobody was connected for Options.IdleStop.
var ErrIdle = errors.New("no client for the idle time")

// Limits bound what clients may cost; zero values mean the default.
type Limits struct {
	Connections int           // clients at once; 256
	Queued      int           // requests of one connection that wait or run; 512
	Running     int           // requests of one connection that run at once; 32
	Frame       int           // largest message from a client, bytes; 64 MiB
	Outbound    int           // answers that wait for a client that does not read, bytes; 16 MiB
	Handshake   time.Duration // until the first byte of a connection; 5 s
	Stalled     time.Duration // from the first byte of a message to its last; 30 s
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&l.Connections, 256)
	set(&l.Queued, 512)
	set(&l.Running, 32)
	set(&l.Frame, 64<<20)
	set(&l.Outbound, 16<<20)
	if l.Handshake <= 0 {
		l.Handshake = 5 * time.Second
	}
	if l.Stalled <= 0 {
		l.Stalled = 30 * time.Second
	}
	return l
}

// Options is what a Server needs.
type Options struct {
	// Dispatch answers one request whose parameters were read and whose tier was
	// checked. It must return soon after ctx is done. Errors that are no
	// *api.Error reach the client as INTERNAL. It never gets initialize.
	Dispatch func(ctx context.Context, c Call) (any, error)
	// Closed is told of a connection that ended, after its last request; may be nil.
	Closed func(Client)
	// Keep says which variables of a client's environment are kept; nil keeps none.
	Keep func(name string) bool
	// Root finds the workspace of a folder, as initialize asks; nil takes the folder.
	Root func(ctx context.Context, folder string) (string, error)
	// Busy says that the daemon has work though no client is connected; may be nil.
	Busy func() bool

	Name     api.ClientInfo // of the daemon
	Build    string         // what tells two builds apart
	Log      *slog.Logger   //
	CrashDir string         // where the stack of a panic goes; empty writes none
	Limits   Limits         //
	IdleStop time.Duration  // without clients; 0 never stops
	Grace    time.Duration  // for requests in flight when the daemon stops; 5 s
}

// Client is who asks, as its connection said in initialize.
type Client struct {
	ID        string            // of the connection, unique within the daemon's life
	Name      string            // "auractl"; "client" when it did not say
	Version   string            //
	Session   string            // name of the session
	Workspace string            // default of its requests; may be empty
	Tier      api.Tier          // what it limits itself to
	Trust     bool              // it trusts its workspace for this connection
	Env       map[string]string // the variables that Keep kept
	PID       int               // for the log only: it may be reused
}

// Call is one request.
type Call struct {
	ID     string // for logs; unique within the daemon's life
	Spec   api.Spec
	Input  any             // what api.Decode returned
	Params json.RawMessage // as they came
	Client Client
	Log    *slog.Logger
	conn   *conn
	flight *flight
}

// Progress tells the client what its request waits for, if it asked to be told.
// percent is 0 when unknown. It never blocks.
func (c Call) Progress(message string, percent float64) {
	if c.conn != nil {
		c.conn.progress(c.flight, message, percent)
	}
}

// Notify sends a notification to the client; it may be called as long as Done
// is open. While an earlier one with the same key (if not empty) still waits
// for the client to read, the new one takes its place. It never blocks.
func (c Call) Notify(key, method string, params any) {
	if c.conn != nil {
		c.conn.notify(key, method, params)
	}
}

// Done is closed when the connection ends.
func (c Call) Done() <-chan struct{} {
	if c.conn == nil {
		return nil
	}
	return c.conn.ctx.Done()
}

// Stats counts since the start, except Clients.
type Stats struct {
	Clients      int   // connected now
	Running      int   // requests that wait or run now
	Connections  int64 // accepted
	Requests     int64
	Panics       int64
	Overloaded   int64 // requests refused for a full queue
	Strangers    int64 // connections of other users
	Disconnected int64 // clients that did not read or sent no message
}

// Server answers the connections of one socket.
type Server struct {
	opts  Options
	stats struct {
		connections, requests, panics, overloaded, strangers, disconnected atomic.Int64
	}
	catalogue func() string // hash of the contract

	mu      sync.Mutex // guards conns; locked before a queue's
	conns   map[*conn]struct{}
	changed chan struct{} // conns changed
}

// New makes a server; Serve starts it.
func New(opts Options) *Server {
	opts.Limits = opts.Limits.withDefaults()
	if opts.Grace <= 0 {
		opts.Grace = 5 * time.Second
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{opts: opts, catalogue: sync.OnceValue(api.CatalogueHash), conns: map[*conn]struct{}{}, changed: make(chan struct{}, 1)}
}

// Stats returns the counts.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	clients, running := len(s.conns), 0
	for c := range s.conns {
		running += c.queue.size()
	}
	s.mu.Unlock()
	return Stats{
		Clients: clients, Running: running, Connections: s.stats.connections.Load(),
		Requests: s.stats.requests.Load(), Panics: s.stats.panics.Load(), Overloaded: s.stats.overloaded.Load(),
		Strangers: s.stats.strangers.Load(), Disconnected: s.stats.disconnected.Load(),
	}
}

// Client returns a connected client by its id.
func (s *Server) Client(id string) (client Client, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.mu.Lock()
		client = c.client
		c.mu.Unlock()
		if client.ID == id {
			return client, true
		}
	}
	return Client{}, false
}

// checkSocket is how often Serve looks whether clients still find the socket.
const checkSocket = 10 * time.Second

// Serve answers until ctx is done (nil), the daemon was idle (ErrIdle) or the
// socket is lost. Then it stops accepting, gives running requests
// Options.Grace, cancels them, waits for all, and removes the socket. The lock
// stays until the owner closes l, so that the next daemon waits for all of this one.
func (s *Server) Serve(ctx context.Context, l *Listener) error {
	connCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.accept(connCtx, l.ln, &wg) })
	reason := s.wait(ctx, connCtx, l, &wg)
	if err := l.remove(); err != nil { // who comes now waits for the next daemon
		s.opts.Log.Warn("remove socket", "error", err)
	}
	s.drain()
	grace := time.AfterFunc(s.opts.Grace, cancel)
	defer grace.Stop()
	wg.Wait()
	return reason
}

// wait returns why the server must stop; nil when ctx is done.
func (s *Server) wait(ctx, connCtx context.Context, l *Listener, wg *sync.WaitGroup) error {
	check := time.NewTicker(checkSocket)
	defer check.Stop()
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	s.armIdle(idle)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			s.armIdle(idle)
		case <-idle.C:
			if s.opts.IdleStop <= 0 || s.Stats().Clients > 0 || s.opts.Busy != nil && s.opts.Busy() {
				s.armIdle(idle)
				continue
			}
			return ErrIdle
		case <-check.C:
			rebind, err := l.reachable()
			if err != nil {
				return fmt.Errorf("socket %s: %w", l.path, err)
			}
			if !rebind {
				continue
			}
			s.opts.Log.Warn("socket file vanished, made again", "socket", l.path)
			old := l.ln
			if err := l.bind(); err != nil {
				return fmt.Errorf("socket vanished: %w", err)
			}
			_ = old.Close()
			ln := l.ln
			wg.Go(func() { s.accept(connCtx, ln, wg) })
		}
	}
}

func (s *Server) armIdle(t *time.Timer) {
	if s.opts.IdleStop > 0 && s.Stats().Clients == 0 {
		t.Reset(s.opts.IdleStop)
		return
	}
	t.Stop()
}

// accept takes connections until the listener is closed.
func (s *Server) accept(ctx context.Context, ln *net.UnixListener, wg *sync.WaitGroup) {
	for {
		nc, err := ln.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, mostly: let some be closed
			s.opts.Log.Error("accept", "error", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		c, err := s.admit(ctx, nc)
		if err != nil {
			s.opts.Log.Warn("connection refused", "reason", err)
			_ = nc.Close()
			continue
		}
		wg.Go(func() {
			c.run()
			s.forget(c)
		})
	}
}

// admit decides about a connection before a byte of it is read.
func (s *Server) admit(ctx context.Context, nc *net.UnixConn) (*conn, error) {
	uid, pid, err := peerOf(nc)
	if err != nil {
		return nil, err
	}
	if uid != os.Geteuid() {
		s.stats.strangers.Add(1)
		return nil, fmt.Errorf("user %d (process %d) is not user %d", uid, pid, os.Geteuid())
	}
	n := s.stats.connections.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) >= s.opts.Limits.Connections {
		e := api.Errorf(api.Overloaded, "the daemon has %d clients already; close some", len(s.conns))
		_ = nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = nc.Write(appendFrame(nil, errorMessage(nil, refused, e), false))
		return nil, e
	}
	c := newConn(ctx, s, nc, n, pid)
	s.conns[c] = struct{}{}
	signal(s.changed)
	return c, nil
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	signal(s.changed)
}

// drain tells every connection to take no further request and to end after the
// answers of those it has.
func (s *Server) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.drain()
	}
}
