package supervise

import (
	"context"
	"time"

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
			if g.pulls() {
				d, err = g.client.PullDiagnostics(ctx, path)
				return err
			}
			if err := g.mirror.open(ctx, []string{path}); err != nil {
				return err
			}
			d, err = g.pushed(ctx, path, 0)
			return err
		},
	})
	return d, err
}

// pulls reports whether diagnostics can be asked for.
func (g *generation) pulls() bool { return g.client.Supports("textDocument/diagnostic") }

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
