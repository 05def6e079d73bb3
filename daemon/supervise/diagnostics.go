package supervise

import (
	"context"
	"encoding/json"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient"
)

// Diagnostics returns what the server finds in a file at the current text. It
// is pulled where the server can be asked. Where it pushes, the file is opened
// and the list is taken when it is for the document's version, or when the
// server has fallen silent; of a server that says nothing the list is empty.
func (l *Lease) Diagnostics(ctx context.Context, path string) (d lspclient.Diagnostics, err error) {
	err = l.request(ctx, &request{
		method: "textDocument/diagnostic", params: path, read: true,
		each: func(ctx context.Context, g *generation) error {
			if g.puller() == nil && g.pulls() {
				d, err = g.pull(ctx, path)
				return err
			}
			if err := g.mirror.open(ctx, []string{path}); err != nil {
				return err
			}
			if g.pulls() {
				d, err = g.pull(ctx, path)
			} else {
				d, err = g.pushed(ctx, path, 0)
			}
			return err
		},
	})
	return d, err
}

// pulls reports whether diagnostics can be asked for.
func (g *generation) pulls() bool {
	return g.client.Supports("textDocument/diagnostic") || g.puller() != nil
}

// puller returns the driver's own way to ask for diagnostics, nil when it has
// none or the protocol's can be used.
func (g *generation) puller() adapters.Puller {
	if p, ok := g.driver.(adapters.Puller); ok && !g.client.Supports("textDocument/diagnostic") {
		return p
	}
	return nil
}

// pull asks for what the server finds in a file.
func (g *generation) pull(ctx context.Context, path string) (lspclient.Diagnostics, error) {
	own := g.puller()
	if own == nil {
		return g.client.PullDiagnostics(ctx, path)
	}
	d := lspclient.Diagnostics{Path: path, Time: time.Now(), Items: []protocol.Diagnostic{}}
	if doc, open := g.client.Document(path); open {
		d.Version = doc.Version
	}
	for _, m := range ask(g, func(adapters.Driver) []adapters.Message { return own.Pull(path) }) {
		var raw json.RawMessage
		if err := g.client.Call(ctx, m.Method, m.Params, &raw); err != nil {
			return d, err
		}
		if g.ending() {
			return d, errGone
		}
		items, err := own.Pulled(raw)
		if err != nil {
			return d, &lspclient.DecodeError{Method: m.Method, Err: err}
		}
		d.Items = append(d.Items, items...)
	}
	return d, nil
}

// pushed waits for the diagnostics of a file that belong to its current text:
// published after number since, and for the open version or before a silence.
func (g *generation) pushed(ctx context.Context, path string, since uint64) (lspclient.Diagnostics, error) {
	asked := time.Now()
	settled, stop := context.WithCancel(ctx)
	finished := make(chan struct{})
	g.work.Go(func() {
		defer close(finished)
		if g.quiet(settled, asked) == nil {
			stop()
		}
	})
	defer func() {
		stop()
		<-finished
	}()
	d, err := g.client.AwaitDiagnostics(settled, path, func(d lspclient.Diagnostics) bool {
		doc, open := g.client.Document(path)
		return open && d.Seq > since && d.Version == doc.Version && d.Version != 0
	})
	if err == nil || ctx.Err() != nil || g.client.Err() != nil {
		return d, err
	}
	return g.client.Diagnostics(path), nil
}

// quiet waits until nothing has arrived from the server for the time that
// counts as settled, and no work is in progress.
func (g *generation) quiet(ctx context.Context, since time.Time) error {
	tick := time.NewTicker(max(g.i.limits.Settle/8, time.Millisecond))
	defer tick.Stop()
	read, last := g.stream.read.Load(), since
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-g.dead:
			return errGone
		case now := <-tick.C:
			if n := g.stream.read.Load(); n != read {
				read, last = n, now
			}
			open, _ := g.client.Progress()
			if now.Sub(last) >= g.i.limits.Settle && len(open) == 0 {
				return nil
			}
		}
	}
}
