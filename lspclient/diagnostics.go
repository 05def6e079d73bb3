package lspclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/wire"
)

// Bounds of what is kept: files, and bytes of one publication, of which
// millions of tiny items would make gigabytes.
const (
	maxDiagnosed   = 1 << 16
	maxPublication = 16 << 20
)

// Diagnostics is what the server last said about one file.
type Diagnostics struct {
	Path    string
	Version int32  // of the document; 0 when the server gives none
	Seq     uint64 // rises with each publication of any file; 0 means never published
	Time    time.Time
	Items   []protocol.Diagnostic
	// Dropped counts items that could not be decoded: the list is not whole.
	Dropped int
}

type diagnosticStore struct {
	mu      sync.Mutex // guards the fields below
	byPath  map[string]Diagnostics
	seq     uint64
	changed chan struct{} // closed and replaced with each publication
}

func (d *diagnosticStore) init() {
	d.byPath = map[string]Diagnostics{}
	d.changed = make(chan struct{})
}

func (d *diagnosticStore) put(item Diagnostics) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.byPath[item.Path]; !known && len(d.byPath) >= maxDiagnosed {
		return
	}
	d.seq++
	item.Seq = d.seq
	d.byPath[item.Path] = item
	close(d.changed)
	d.changed = make(chan struct{})
}

func (c *Client) published(e wire.Event) {
	var p struct {
		URI         string            `json:"uri"`
		Version     *float64          `json:"version"`
		Diagnostics []json.RawMessage `json:"diagnostics"`
	}
	if len(e.Params) > maxPublication {
		c.log.Warn("diagnostics are too large", "bytes", len(e.Params))
		return
	}
	if err := json.Unmarshal(e.Params, &p); err != nil {
		c.log.Warn("diagnostics cannot be decoded", "err", err)
		return
	}
	path, err := Path(p.URI)
	if err != nil {
		c.log.Debug("diagnostics of no file", "err", err)
		return
	}
	d := Diagnostics{Path: path, Time: e.Time}
	if p.Version != nil && *p.Version > 0 && *p.Version <= math.MaxInt32 {
		d.Version = int32(*p.Version)
	}
	d.Items, d.Dropped = decodeDiagnostics(p.Diagnostics)
	if d.Dropped > 0 {
		c.log.Warn("diagnostics of another shape than the protocol's", "path", path, "dropped", d.Dropped)
	}
	c.diagnostics.put(d)
}

func decodeDiagnostics(raw []json.RawMessage) (items []protocol.Diagnostic, dropped int) {
	items = make([]protocol.Diagnostic, 0, len(raw))
	for _, r := range raw {
		var item protocol.Diagnostic
		if protocol.Unmarshal(r, &item) != nil {
			dropped++
			continue
		}
		items = append(items, item)
	}
	return items, dropped
}

// Diagnostics returns what the server last published about a file, whether it
// is open or not. Seq is 0 when it never did.
func (c *Client) Diagnostics(path string) Diagnostics {
	c.diagnostics.mu.Lock()
	defer c.diagnostics.mu.Unlock()
	d, ok := c.diagnostics.byPath[path]
	if !ok {
		d.Path = path
	}
	return d
}

// DiagnosticsSince returns what was published after seq, in order, and the
// number to ask with next. Zero asks for everything.
func (c *Client) DiagnosticsSince(seq uint64) (list []Diagnostics, now uint64) {
	c.diagnostics.mu.Lock()
	defer c.diagnostics.mu.Unlock()
	for _, d := range c.diagnostics.byPath {
		if d.Seq > seq {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Diagnostics) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, c.diagnostics.seq
}

// AwaitDiagnostics waits until accept takes what was published about a file,
// beginning with what is known already.
func (c *Client) AwaitDiagnostics(ctx context.Context, path string, accept func(Diagnostics) bool) (Diagnostics, error) {
	for {
		c.diagnostics.mu.Lock()
		changed := c.diagnostics.changed
		c.diagnostics.mu.Unlock()
		if d := c.Diagnostics(path); accept(d) {
			return d, nil
		}
		select {
		case <-changed:
		case <-c.Done():
			return Diagnostics{Path: path}, c.Err()
		case <-ctx.Done():
			return Diagnostics{Path: path}, fmt.Errorf("diagnostics of %s: %w", path, context.Cause(ctx))
		}
	}
}

// PullDiagnostics asks for the diagnostics of one document. They are returned
// and not stored; Seq stays 0. Version is that of the open document.
func (c *Client) PullDiagnostics(ctx context.Context, path string) (Diagnostics, error) {
	if !c.Supports("textDocument/diagnostic") {
		return Diagnostics{}, fmt.Errorf("textDocument/diagnostic: %w", ErrCapability)
	}
	params := struct {
		TextDocument protocol.TextDocumentIdentifier `json:"textDocument"`
	}{protocol.TextDocumentIdentifier{URI: URI(path)}}
	d := Diagnostics{Path: path, Time: time.Now()}
	if doc, open := c.Document(path); open {
		d.Version = doc.Version
	}
	// The report's kind is not looked at: gopls v0.23.0 sends an empty one. A
	// report without items is no answer, whatever it means.
	var report struct {
		Items []json.RawMessage `json:"items"`
	}
	var raw json.RawMessage
	if err := c.Call(ctx, "textDocument/diagnostic", params, &raw); err != nil {
		return Diagnostics{}, err
	}
	if err := json.Unmarshal(raw, &report); err != nil {
		return Diagnostics{}, &DecodeError{Method: "textDocument/diagnostic", Err: err}
	}
	if report.Items == nil {
		return Diagnostics{}, &DecodeError{Method: "textDocument/diagnostic", Err: errors.New("report without items")}
	}
	d.Items, d.Dropped = decodeDiagnostics(report.Items)
	return d, nil
}
