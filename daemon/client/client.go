package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/config"
)

// Options says who calls and how the daemon is found. The zero value connects to
// the daemon of the environment, and does not start one.
type Options struct {
	Paths   config.Paths // where the socket is
	Start   bool         // start a daemon when none runs
	Program string       // the daemon's program; empty looks beside our own, then in PATH
	Args    []string     // further arguments for it

	Name      string   // of this client
	Version   string   //
	Build     string   // compared with the daemon's
	Workspace string   // absolute; default of requests
	Folder    string   // absolute; without Workspace, the daemon takes the nearest root above it
	Session   string   //
	Tier      api.Tier //
	Trust     bool     // trust the workspace for this connection; needs AdminTier
	Environ   []string // as os.Environ gives it; for the daemon and the servers it starts

	Progress func(api.Progress)                              // of calls in flight; nil asks for none. Called in order; must not block
	Notify   func(method string, params json.RawMessage)     // other notifications; nil drops them
	Starting func()                                          // a daemon is about to be started; may be nil
	Dial     func(context.Context, string) (net.Conn, error) // nil dials the Unix socket
}

// Unreachable says that there is no daemon to talk to, or that it went away.
type Unreachable struct {
	Socket string
	Err    error
}

// Error says why and what to do.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("no answer from the daemon at %s: %v", e.Socket, e.Err)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// afterCancel is how long a cancelled call waits for the daemon to say how it
// ended: a change in its commit is finished or taken back, and the caller must know which.
const afterCancel = 15 * time.Second

// Client is a connection to the daemon. It is safe for concurrent use.
type Client struct {
	opts Options
	conn net.Conn
	in   reader // used by the caller that reads

	greets  sync.Mutex // one waits for the greeting at a time
	writing sync.Mutex // one frame at a time; locked before mu

	mu      sync.Mutex // guards what follows
	next    int64
	pending map[int64]chan response
	reading bool          // a caller reads for all
	baton   chan struct{} // a caller may take over reading
	server  api.Initialized
	greeted bool  // the daemon has answered initialize
	err     error // why the connection ended
}

type response struct {
	result json.RawMessage
	err    error
}

// Dial connects, starts the daemon if need be, and introduces the client; it
// does not wait for the daemon's answer to that, Hello does. The error is an
// *Unreachable or an *api.Error.
func Dial(ctx context.Context, opts Options) (*Client, error) {
	if opts.Dial == nil {
		opts.Dial = dialSocket
	}
	d := dialer{opts: opts}
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &Client{opts: opts, conn: conn, in: newReader(conn), pending: map[int64]chan response{}, baton: make(chan struct{}, 1)}
	_, _, err = c.send("initialize", api.Initialize{
		ProtocolVersion: api.ProtocolVersion, Client: api.ClientInfo{Name: opts.Name, Version: opts.Version},
		Workspace: opts.Workspace, Folder: opts.Folder, Session: opts.Session, Tier: opts.Tier.String(), Trust: opts.Trust,
		Progress: opts.Progress != nil, Environment: environment(opts.Environ),
	}, true)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// Once makes one call on a connection of its own and returns what the daemon
// said of itself, too. A daemon that stops just then is replaced and asked again.
func Once(ctx context.Context, opts Options, method string, params any) (json.RawMessage, api.Initialized, error) {
	for try := 1; ; try++ {
		c, err := Dial(ctx, opts)
		if err != nil {
			return nil, api.Initialized{}, err
		}
		if try == 1 && changes(method) && c.replace(ctx) {
			_ = c.Close()
			continue
		}
		raw, err := c.Raw(ctx, method, params)
		c.mu.Lock()
		server, greeted := c.server, c.greeted
		c.mu.Unlock()
		if try == 1 && greeted && !changes(method) && c.replace(ctx) {
			_ = c.Close()
			continue // a question may be asked twice
		}
		_ = c.Close()
		// Without an answer to initialize it took no request that changes anything.
		if greeted || !opts.Start || try == 3 || ctx.Err() != nil || !errors.As(err, new(*Unreachable)) {
			return raw, server, err
		}
	}
}

// changes reports whether a call may change something.
func changes(method string) bool {
	spec, broad, ok := api.ByMethod(method)
	return !ok || broad || spec.Tier > api.Observe
}

// replace asks an idle daemon of another contract to stop, so that ours is
// started in its place; it reports whether it did. A busy one goes on: others use it.
func (c *Client) replace(ctx context.Context) bool {
	server, err := c.Hello(ctx)
	if err != nil || !c.opts.Start || c.opts.Skew(server) == "" {
		return false
	}
	var answer api.Stopping
	if err := c.Call(ctx, "daemon.shutdown", api.ShutdownQuery{IfIdle: true}, &answer); err != nil || !answer.Stopping {
		return false
	}
	return c.Wait(ctx) == nil
}

// greeting is the id of initialize.
const greeting = 1

// Hello returns what the daemon said of itself, or why it refused us.
func (c *Client) Hello(ctx context.Context) (api.Initialized, error) {
	c.greets.Lock()
	defer c.greets.Unlock()
	c.mu.Lock()
	answer := c.pending[greeting]
	c.mu.Unlock()
	if answer != nil {
		if r := c.await(ctx, greeting, answer); r.err != nil {
			return api.Initialized{}, r.err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.greeted {
		return api.Initialized{}, c.err
	}
	return c.server, nil
}

// Skew is empty when client and daemon, which said server of itself, are of one
// build; else it says in words how they differ. Contracts only grow, so that
// both can go on.
func (o Options) Skew(server api.Initialized) string {
	switch {
	case o.Build == "" || o.Build == server.Build:
		return ""
	case server.ProtocolVersion != api.ProtocolVersion:
		return fmt.Sprintf("the daemon speaks protocol %d and this program %d; run auractl stop", server.ProtocolVersion, api.ProtocolVersion)
	case server.Catalogue != api.CatalogueHash():
		return fmt.Sprintf("the daemon is %s and this program %s, with other operations; auractl stop lets the next call start the other one",
			server.Server.Version, o.Version)
	}
	return ""
}

// Call asks method with params and decodes the answer into result, if it is not
// nil. The error is an *api.Error when the daemon refused and an *Unreachable
// when it went away. When ctx is done the call is cancelled, and Call returns
// what became of it.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	raw, err := c.Raw(ctx, method, params)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return api.Errorf(api.Internal, "the answer to %s cannot be read: %v", method, err)
	}
	return nil
}

// Raw is Call with the answer as it came.
func (c *Client) Raw(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	if changes(method) {
		// What may change something is not sent on the heels of initialize.
		if _, err := c.Hello(ctx); err != nil {
			return nil, err
		}
	}
	id, answer, err := c.send(method, params, true)
	if err != nil {
		return nil, err
	}
	r := c.await(ctx, id, answer)
	if ctx.Err() != nil && api.CodeOf(r.err) == api.Cancelled {
		return nil, ended(ctx.Err())
	}
	return r.result, r.err
}

func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return api.Errorf(api.Timeout, "no answer in time; ask again with a longer --timeout")
	}
	return api.Errorf(api.Cancelled, "cancelled")
}

// await waits for an answer. One of those who wait reads for all.
func (c *Client) await(ctx context.Context, id int64, answer chan response) response {
	asked := make(chan struct{})
	cancelled := context.AfterFunc(ctx, func() {
		defer close(asked)
		if _, _, err := c.send(api.CancelMethod, map[string]int64{"id": id}, false); err == nil {
			_ = c.conn.SetReadDeadline(time.Now().Add(afterCancel))
		}
	})
	defer func() {
		if !cancelled() {
			<-asked
			_ = c.conn.SetReadDeadline(time.Time{})
		}
	}()
	for {
		c.mu.Lock()
		mine := !c.reading
		c.reading = true
		c.mu.Unlock()
		if !mine {
			select {
			case r := <-answer:
				return r
			case <-c.baton:
			}
			continue
		}
		for len(answer) == 0 {
			if err := c.receive(); err != nil {
				c.fail(err)
			}
		}
		c.mu.Lock()
		c.reading = false
		c.mu.Unlock()
		select {
		case c.baton <- struct{}{}:
		default:
		}
		return <-answer
	}
}

// Wait reads until the daemon closes the connection, as it does when it stops,
// and hands out notifications meanwhile. No call may be in flight.
func (c *Client) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		if err := c.receive(); err != nil {
			c.fail(err)
			return ctx.Err()
		}
	}
}

// send writes one message; a call's answer comes over the channel.
func (c *Client) send(method string, params any, call bool) (id int64, answer chan response, err error) {
	m := struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{Version: "2.0", Method: method, Params: params}
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, nil, c.err
	}
	if call {
		c.next++
		m.ID, answer = c.next, make(chan response, 1)
		c.pending[m.ID] = answer
	}
	c.mu.Unlock()
	body, err := json.Marshal(m)
	if err != nil {
		c.mu.Lock()
		delete(c.pending, m.ID)
		c.mu.Unlock()
		return 0, nil, api.Errorf(api.InvalidArgument, "parameters of %s: %v", method, err)
	}
	if _, err := c.conn.Write(frame(body)); err != nil && !call {
		return 0, nil, &Unreachable{c.opts.Paths.Socket, err}
	}
	// Of a broken connection the reader tells why: the daemon may have said so before it hung up.
	return m.ID, answer, nil
}

// fail ends the connection for all who wait.
func (c *Client) fail(err error) {
	var said *api.Error
	switch {
	case errors.As(err, &said):
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = api.Errorf(api.Timeout, "the call was cancelled but the daemon does not say how it ended; auractl history shows whether it changed anything")
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		err = &Unreachable{c.opts.Paths.Socket, errors.New("it closed the connection")}
	default:
		err = &Unreachable{c.opts.Paths.Socket, err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	for id, answer := range c.pending {
		answer <- response{err: c.err}
		delete(c.pending, id)
	}
}

// receive reads one message and hands it out. The error is why the connection
// ended; an *api.Error when the daemon said so.
func (c *Client) receive() error {
	raw, err := c.in.next()
	if err != nil {
		return err
	}
	var m struct {
		ID     *int64          `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string     `json:"message"`
			Data    *api.Error `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("it sent what is not JSON-RPC: %w", err)
	}
	if m.Method != "" {
		c.notified(m.Method, m.Params)
		return nil
	}
	r := response{result: m.Result}
	if m.Error != nil {
		if m.Error.Data == nil {
			m.Error.Data = api.Errorf(api.Internal, "%s", m.Error.Message)
		}
		r.err = m.Error.Data
	}
	if m.ID == nil { // about the connection as a whole
		return r.err
	}
	if *m.ID == greeting && r.err != nil {
		return r.err // it does not take us: no other answer counts
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if *m.ID == greeting {
		if err := json.Unmarshal(m.Result, &c.server); err != nil {
			return fmt.Errorf("it sent a greeting that cannot be read: %w", err)
		}
		c.greeted = true
	}
	if answer := c.pending[*m.ID]; answer != nil {
		answer <- r
		delete(c.pending, *m.ID)
	}
	return nil
}

func (c *Client) notified(method string, params json.RawMessage) {
	if method != api.ProgressMethod {
		if c.opts.Notify != nil {
			c.opts.Notify(method, params)
		}
		return
	}
	var p api.Progress
	if c.opts.Progress != nil && json.Unmarshal(params, &p) == nil {
		c.opts.Progress(p)
	}
}

// Close ends the connection; calls in flight are cancelled by the daemon and
// return an *Unreachable.
func (c *Client) Close() error {
	err := c.conn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// environment is what the daemon may need to run servers as the user's shell
// would; it keeps only what its engines ask for. Variables that make the loader
// take other code are never sent.
func environment(environ []string) map[string]string {
	out, size := map[string]string{}, 0
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") {
			continue
		}
		if size += len(kv); size > maxEnvironment {
			break
		}
		out[name] = value
	}
	return out
}

// maxEnvironment bounds what is sent of the environment in bytes.
const maxEnvironment = 256 << 10
