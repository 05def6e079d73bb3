package lspclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/auralsp/aura/lspclient/text"
	"github.com/auralsp/aura/lspclient/wire"
)

// Event is something that happened to the server, in order; see wire.Event.
type Event = wire.Event

// EventKind says what an Event tells of.
type EventKind = wire.EventKind

// The kinds of an Event.
const (
	Initialized  = wire.Posted // the handshake is done
	Notification = wire.Notification
	Request      = wire.Request
	Sent         = wire.Sent
	Replied      = wire.Replied
)

// Options configure a Client.
type Options struct {
	ProcessID int      // of the process whose end ends the server: ours
	Root      string   // absolute folder
	Folders   []string // absolute workspace folders; nil means Root alone
	Settings  any      // initializationOptions
	Version   string   // of Aura, told to the server
	// Configure answers one item of workspace/configuration; scope is an absolute
	// path, or empty. It runs on a worker and may take a while, but not for ever.
	Configure func(section, scope string) any
	// OnEvent sees everything in order; it must not block nor call the Client's
	// blocking methods. Params are valid during the call only.
	OnEvent func(Event)
	// ResendOpened sends the text of a document that is opened once more as a
	// change, for a server that takes it from the disk.
	ResendOpened bool
	// Capabilities adjusts what the client announces.
	Capabilities func(*protocol.ClientCapabilities)
	Log          *slog.Logger  // nil discards
	Trace        io.Writer     // receives wire.TraceLines; nil for none
	WriteTimeout time.Duration // zero means wire.WriteTimeout
}

// ServerInfo is the name and version that a server gives itself.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Client is a connection to one initialized server. Its methods are safe for
// concurrent use.
type Client struct {
	conn    *wire.Conn
	log     *slog.Logger
	options Options

	docs        documents
	diagnostics diagnosticStore
	progress    progressState
	features    featureSet
	edits       capture

	info     ServerInfo    // set before Start returns
	encoding text.Encoding // set before Start returns
}

// Start runs the handshake over conn, whose Close must end its Read and Write,
// and which is closed if it fails. The context bounds the handshake only.
func Start(ctx context.Context, conn io.ReadWriteCloser, o Options) (*Client, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Folders == nil && o.Root != "" {
		o.Folders = []string{o.Root}
	}
	c := &Client{options: o, log: o.Log}
	c.docs.init()
	c.diagnostics.init()
	c.features.init()
	c.edits.turn = newTurn()
	c.conn = wire.Start(conn, wire.Options{
		Handler: (*handler)(c), Log: o.Log, Trace: o.Trace, WriteTimeout: o.WriteTimeout,
	})
	if err := c.initialize(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("handshake: %w", err), c.conn.Close())
	}
	return c, nil
}

func (c *Client) initialize(ctx context.Context) error {
	params, err := c.initializeParams()
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := c.conn.Call(ctx, "initialize", params, &raw); err != nil {
		return err
	}
	var result struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		ServerInfo   json.RawMessage            `json:"serverInfo"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return &DecodeError{Method: "initialize", Err: err}
	}
	if result.Capabilities == nil {
		return &DecodeError{Method: "initialize", Err: errors.New("no capabilities")}
	}
	if result.ServerInfo != nil {
		if err := json.Unmarshal(result.ServerInfo, &c.info); err != nil {
			c.log.Warn("serverInfo of another type than the protocol's", "err", err)
		}
	}
	var encoding string
	if raw := result.Capabilities["positionEncoding"]; raw != nil {
		if err := json.Unmarshal(raw, &encoding); err != nil {
			return &DecodeError{Method: "initialize", Err: fmt.Errorf("positionEncoding: %w", err)}
		}
	}
	if c.encoding, err = text.ParseEncoding(encoding); err != nil {
		return &DecodeError{Method: "initialize", Err: err}
	}
	c.features.announced(result.Capabilities, c.log)
	c.docs.sync(result.Capabilities["textDocumentSync"])
	if err := c.conn.Notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	c.conn.Post("initialized", nil)
	return nil
}

func (c *Client) initializeParams() (*protocol.InitializeParams, error) {
	capabilities := Capabilities()
	if c.options.Capabilities != nil {
		c.options.Capabilities(&capabilities)
	}
	p := &protocol.InitializeParams{
		ClientInfo:   protocol.ClientInfo{Name: "aura", Version: protocol.NewOptional(c.options.Version)},
		Capabilities: capabilities,
	}
	if c.options.ProcessID != 0 {
		pid := int32(c.options.ProcessID)
		p.ProcessID = &pid
	}
	if c.options.Root != "" {
		root := URI(c.options.Root)
		p.RootURI = &root                                 //lint:ignore SA1019 servers older than workspace folders read it
		p.RootPath = protocol.NewNullable(c.options.Root) //lint:ignore SA1019 and older ones this
	}
	p.WorkspaceFolders = protocol.NewNullable(folders(c.options.Folders))
	if c.options.Settings != nil {
		raw, err := json.Marshal(c.options.Settings)
		if err != nil {
			return nil, fmt.Errorf("encode initializationOptions: %w", err)
		}
		p.InitializationOptions = raw
	}
	return p, nil
}

func folders(paths []string) []protocol.WorkspaceFolder {
	list := make([]protocol.WorkspaceFolder, len(paths))
	for i, p := range paths {
		list[i] = protocol.WorkspaceFolder{URI: uri.URI(URI(p)), Name: filepath.Base(p)}
	}
	return list
}

// ServerInfo returns what the server says of itself; it may be empty.
func (c *Client) ServerInfo() ServerInfo { return c.info }

// Encoding returns the unit of the characters in the server's positions.
func (c *Client) Encoding() text.Encoding { return c.encoding }

// Call sends a request and decodes the answer into result, which may be nil, a
// *json.RawMessage, or what protocol.Unmarshal takes. Everything that the
// server sent before the answer has been handled when Call returns. When ctx
// ends first, the server is told to cancel. An answer with edits whose text is
// not Unicode is a DecodeError with ErrNotUTF8.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if carriesEdits(method) {
		return c.callExact(ctx, method, params, result)
	}
	return c.conn.Call(ctx, method, params, result)
}

// Notify sends a notification. Documents are opened, changed and closed through
// DidOpen, DidChange and DidClose instead.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	return c.conn.Notify(ctx, method, params)
}

// Barrier returns once everything that has arrived so far has been handled.
func (c *Client) Barrier(ctx context.Context) error { return c.conn.Barrier(ctx) }

// Done is closed when the connection is dead.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Err returns nil while the connection lives, then an *EndedError.
func (c *Client) Err() error { return c.conn.Err() }

// Stats returns the counters of the connection.
func (c *Client) Stats() wire.Stats { return c.conn.Stats() }

// Shutdown asks the server to end: the shutdown request, the exit notification,
// then it waits until the server closes its side. Whatever happens it closes
// the connection, at the latest when ctx ends; the error says what went wrong.
func (c *Client) Shutdown(ctx context.Context) error {
	err := c.conn.Call(ctx, "shutdown", nil, nil)
	var refused *CallError
	if err == nil || errors.As(err, &refused) {
		err = errors.Join(err, c.conn.Notify(ctx, "exit", nil))
		select {
		case <-c.conn.Done():
			var ended *EndedError
			if errors.As(c.conn.Err(), &ended) && !errors.Is(ended, io.EOF) {
				err = errors.Join(err, ended)
			}
		case <-ctx.Done():
			err = errors.Join(err, fmt.Errorf("exit: %w", context.Cause(ctx)))
		}
	}
	return errors.Join(err, c.conn.Close())
}

// Close closes the connection at once and waits for its goroutines.
func (c *Client) Close() error { return c.conn.Close() }

// Marshal encodes params as Call and Notify do.
func Marshal(v any) ([]byte, error) { return wire.Marshal(v) }

// Unmarshal decodes an answer, or the params of an Event, as Call does. The
// strings of the decoded value share one copy of data.
func Unmarshal(data []byte, v any) error { return wire.Unmarshal(data, v) }
