package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	opts   Options
	conn   net.Conn
	server api.Initialized
	reader sync.WaitGroup

	writing sync.Mutex // one frame at a time; locked before mu

	mu      sync.Mutex // guards what follows
	next    int64
	pending map[int64]chan<- response
	err     error // why the connection ended
}

type response struct {
	result json.RawMessage
	err    error
}

// Dial connects, starts the daemon if need be, and introduces the client. The
// error is an *Unreachable or an *api.Error.
func Dial(ctx context.Context, opts Options) (*Client, error) {
	if opts.Dial == nil {
		opts.Dial = dialSocket
	}
	d := dialer{opts: opts}
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, conn, opts)
	if err == nil || !opts.Start || !errors.As(err, new(*Unreachable)) || ctx.Err() != nil {
		return c, err
	}
	// The daemon stopped between our connect and its accept, and has done
	// nothing for us: once more, with a new one.
	if conn, err = d.connect(ctx); err != nil {
		return nil, err
	}
	return open(ctx, conn, opts)
}

func open(ctx context.Context, conn net.Conn, opts Options) (*Client, error) {
	c := &Client{opts: opts, conn: conn, pending: map[int64]chan<- response{}}
	c.reader.Go(c.read)
	in := api.Initialize{
		ProtocolVersion: api.ProtocolVersion, Client: api.ClientInfo{Name: opts.Name, Version: opts.Version},
		Workspace: opts.Workspace, Folder: opts.Folder, Session: opts.Session, Tier: opts.Tier.String(), Trust: opts.Trust,
		Progress: opts.Progress != nil, Environment: environment(opts.Environ),
	}
	if err := c.Call(ctx, "initialize", in, &c.server); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Server returns what the daemon said of itself.
func (c *Client) Server() api.Initialized { return c.server }

// Skew is empty when client and daemon are of one build; else it says in words
// how they differ. Contracts only grow, so that both can go on.
func (c *Client) Skew() string {
	switch {
	case c.opts.Build == "" || c.opts.Build == c.server.Build:
		return ""
	case c.server.ProtocolVersion != api.ProtocolVersion:
		return fmt.Sprintf("the daemon speaks protocol %d and this program %d; run auractl stop", c.server.ProtocolVersion, api.ProtocolVersion)
	case c.server.Catalogue != api.CatalogueHash():
		return fmt.Sprintf("the daemon is %s and this program %s, with other operations; auractl stop lets the next call start the other one",
			c.server.Server.Version, c.opts.Version)
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
	answer := make(chan response, 1)
	id, err := c.send(method, params, answer)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		return r.result, r.err
	case <-ctx.Done():
	}
	if _, err := c.send(api.CancelMethod, map[string]int64{"id": id}, nil); err != nil {
		return nil, err
	}
	patience := time.NewTimer(afterCancel)
	defer patience.Stop()
	select {
	case r := <-answer:
		if api.CodeOf(r.err) == api.Cancelled {
			return nil, ended(ctx.Err())
		}
		return r.result, r.err
	case <-patience.C:
		return nil, api.Errorf(api.Timeout, "%s was cancelled but the daemon does not say how it ended; auractl history shows whether it changed anything", method)
	}
}

func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return api.Errorf(api.Timeout, "no answer in time; ask again with a longer --timeout")
	}
	return api.Errorf(api.Cancelled, "cancelled")
}

// send writes one message; answer is nil for a notification.
func (c *Client) send(method string, params any, answer chan<- response) (id int64, err error) {
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
		return 0, c.err
	}
	if answer != nil {
		c.next++
		m.ID = c.next
		c.pending[m.ID] = answer
	}
	c.mu.Unlock()
	body, err := json.Marshal(m)
	if err != nil {
		c.drop(m.ID)
		return 0, api.Errorf(api.InvalidArgument, "parameters of %s: %v", method, err)
	}
	if _, err := c.conn.Write(frame(body)); err != nil && answer == nil {
		return 0, &Unreachable{c.opts.Paths.Socket, err}
	}
	// Of a broken connection the reader tells why: the daemon may have said so before it hung up.
	return m.ID, nil
}

func (c *Client) drop(id int64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// read hands out what the daemon sends until the connection ends.
func (c *Client) read() {
	err := c.receive()
	if errors.Is(err, io.EOF) {
		err = errors.New("it closed the connection")
	}
	if api.CodeOf(err) == api.Internal {
		err = &Unreachable{c.opts.Paths.Socket, err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, answer := range c.pending {
		answer <- response{err: err}
		delete(c.pending, id)
	}
}

// receive returns why the connection ended; an *api.Error when the daemon said so.
func (c *Client) receive() error {
	in := newReader(c.conn)
	for {
		raw, err := in.next()
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
			continue
		}
		r := response{result: m.Result}
		if m.Error != nil {
			if m.Error.Data == nil {
				m.Error.Data = api.Errorf(api.Internal, "%s", m.Error.Message)
			}
			r.err = m.Error.Data
		}
		if m.ID == nil { // about the connection as a whole
			if r.err == nil {
				continue
			}
			return r.err
		}
		c.mu.Lock()
		answer := c.pending[*m.ID]
		delete(c.pending, *m.ID)
		c.mu.Unlock()
		if answer != nil {
			answer <- r
		}
	}
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

// Wait waits until the daemon closes the connection, as it does when it stops.
func (c *Client) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	c.reader.Wait()
	return ctx.Err()
}

// Close ends the connection; calls in flight are cancelled by the daemon.
func (c *Client) Close() error {
	err := c.conn.Close()
	c.reader.Wait()
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
