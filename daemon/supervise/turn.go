package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient"
)

// Defaults of a Budget.
const (
	TurnTime  = 3 * time.Second
	TurnFiles = 64
)

// Budget bounds a turn.
type Budget struct {
	Time  time.Duration // from when the planned text is sent (3 s)
	Files int           // (64)
	// Moves says that files move, too, and are shown where they are now.
	Moves bool
	// Yield ends the turn when another interactive request arrives.
	Yield bool
}

// SkippedError says why planned text was not, or not wholly, looked at by a
// server. The build then decides.
type SkippedError struct{ Reason string }

// Error returns the reason.
func (e *SkippedError) Error() string { return "skipped: " + e.Reason }

func skipped(format string, args ...any) error {
	return &SkippedError{Reason: fmt.Sprintf(format, args...)}
}

var (
	errTurnTime  = errors.New("time of the turn is over")
	errTurnYield = errors.New("another request is waiting")
)

// Turn is a server that has planned text. It is valid during the function
// that Lease.Turn calls.
type Turn struct {
	l       *Lease
	g       *generation
	ctx     context.Context
	planned map[string][]byte
	began   uint64 // number of the last publication of diagnostics before the turn
}

// Turn gives the server planned text, runs fn, and gives it the view's text
// back. Meanwhile nobody else is answered by this server, and what it sends
// belongs to the turn. Files of planned must exist unless the server takes new
// ones; nil content, which would mean a deletion, is not possible.
//
// The error is a *SkippedError when the server cannot take the text, or when
// the budget ran out; that of fn otherwise; *api.Error when the server failed.
func (l *Lease) Turn(ctx context.Context, b Budget, planned map[string][]byte, fn func(*Turn) error) error {
	if b.Time <= 0 {
		b.Time = TurnTime
	}
	if b.Files <= 0 {
		b.Files = TurnFiles
	}
	if len(planned) > b.Files {
		return skipped("%d files are more than the %d that %s is shown at once", len(planned), b.Files, l.i.engine.ID)
	}
	r := &request{method: "a check of planned text", alone: true}
	for {
		g, err := l.ready(ctx)
		if err != nil {
			return err
		}
		sent, err := l.queued(ctx, r, true, func() (bool, error) {
			if b.Moves && ask(g, adapters.Driver.Overlay)&adapters.Moves == 0 {
				return false, skipped("%s cannot be shown that a file moves", l.i.engine.ID)
			}
			if err := l.fits(ctx, g, planned); err != nil {
				return false, err
			}
			return l.turn(ctx, g, r, b, planned, fn)
		})
		var ended *lspclient.EndedError
		if err == nil || !errors.As(err, &ended) && !errors.Is(err, errGone) {
			return err
		}
		d := g.deathOf(ctx)
		if sent {
			return crashed(l.i.engine, l.i.want.Project.Root, "planned text", d.how, d.stderr)
		}
	}
}

// fits says whether the server can be shown the text.
func (l *Lease) fits(ctx context.Context, g *generation, planned map[string][]byte) error {
	can := ask(g, adapters.Driver.Overlay)
	id := l.i.engine.ID
	if can&adapters.Edits == 0 {
		return skipped("%s cannot be shown text that is not on disk", id)
	}
	for path, content := range planned {
		if content == nil {
			return skipped("%s cannot be shown that a file is deleted", id)
		}
		if !l.i.ours(path) {
			return skipped("%s is not a file that %s reads as a document", path, id)
		}
		_, err := l.i.view.Read(ctx, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if can&adapters.Creates == 0 {
				return skipped("%s cannot be shown files that do not exist yet", id)
			}
		case err != nil:
			return err
		}
	}
	return nil
}

func (l *Lease) turn(ctx context.Context, g *generation, r *request, b Budget, planned map[string][]byte, fn func(*Turn) error) (sent bool, err error) {
	if g.doomed() {
		return false, errGone
	}
	limit := l.i.deadline("turn")
	cctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, done, ok := g.watchRequest(limit, cancel)
	if !ok {
		return false, errGone
	}
	defer func() {
		done()
		err = l.verdict(ctx, cctx, w, r, limit, err)
	}()
	seq, err := g.mirror.sync(cctx, l.want.Seq)
	if err != nil {
		return false, err
	}
	if err := l.settle(cctx, g, w); err != nil {
		return false, err
	}
	l.note(g, seq)

	var timeout context.CancelFunc
	tctx, timeout := context.WithTimeoutCause(cctx, b.Time, errTurnTime)
	defer timeout()
	if b.Yield {
		var yield context.CancelCauseFunc
		tctx, yield = context.WithCancelCause(tctx)
		defer yield(nil)
		arrived := l.i.queue.interrupt()
		g.work.Go(func() {
			select {
			case <-arrived:
				yield(errTurnYield)
			case <-tctx.Done():
			}
		})
	}
	g.mirror.mu.Lock() // nothing else is told meanwhile
	defer g.mirror.mu.Unlock()
	g.setTurning(true)
	defer g.setTurning(false)
	t := &Turn{l: l, g: g, ctx: tctx, planned: planned}
	_, t.began = g.client.DiagnosticsSince(^uint64(0))
	paths := slices.Sorted(maps.Keys(planned))
	err = g.show(tctx, paths, planned)
	if err == nil {
		err = l.guarded(func() error { return fn(t) })
	}
	if g.ending() {
		return true, errGone
	}
	rerr := g.restore(context.WithoutCancel(ctx), paths)
	switch cause := context.Cause(tctx); {
	case rerr != nil && g.client.Err() == nil:
		g.kill("the text it has after a check of planned text could not be proven")
	case rerr != nil:
		return true, g.client.Err()
	case err != nil && errors.Is(cause, errTurnTime):
		err = skipped("%s did not check the planned text within %s", l.i.engine.ID, words(b.Time))
	case err != nil && errors.Is(cause, errTurnYield):
		err = skipped("another request for %s came first", l.i.engine.ID)
	}
	return true, err
}

// guarded runs a caller's function in the queue and turns a panic into an error.
func (l *Lease) guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = l.i.panicked("a check of planned text", p, debug.Stack())
		}
	}()
	return fn()
}

func (g *generation) setTurning(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turning = on
}

// show sends the planned text.
func (g *generation) show(ctx context.Context, paths []string, planned map[string][]byte) error {
	for _, path := range paths {
		var err error
		if _, open := g.client.Document(path); open {
			_, err = g.client.DidChange(ctx, path, planned[path])
		} else {
			err = g.client.DidOpen(ctx, path, g.i.languageID(path), planned[path])
		}
		if errors.Is(err, lspclient.ErrNotUTF8) {
			return skipped("%s is not UTF-8", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restore gives the server the view's text back and waits until it has taken
// it. The caller holds the mirror's lock.
func (g *generation) restore(ctx context.Context, paths []string) error {
	// An engine that cannot be interrupted first ends what the turn asked.
	ctx, cancel := context.WithTimeout(ctx, max(g.i.limits.Restore, g.i.engine.Deadline["restore"]))
	defer cancel()
	var changes []adapters.FileChange
	proof := ""
	for _, path := range paths {
		if err := g.mirror.document(ctx, path); err != nil {
			return err
		}
		doc, open := g.client.Document(path)
		now, err := g.i.view.Read(ctx, path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, adapters.FileChange{Path: path, Deleted: true})
		case err != nil:
			return err
		case open && string(doc.Text) != string(now.Content):
			return fmt.Errorf("%s: %w", path, ErrMoved)
		case !open:
			changes = append(changes, adapters.FileChange{Path: path})
			proof = path
		default:
			proof = path
		}
	}
	if err := g.mirror.send(ctx, changes); err != nil {
		return err
	}
	return g.proveRestored(ctx, proof)
}

// proveRestored asks something cheap behind the restored text: servers take
// notifications in order, so that the answer proves that they were taken. What
// a server pushes is waited for until it has fallen silent.
func (g *generation) proveRestored(ctx context.Context, path string) error {
	if g.cheap().Method != "" {
		if err := g.ping(ctx); err != nil {
			return err
		}
	} else if path != "" && g.pulls() {
		_, err := g.pull(ctx, path)
		var refused *lspclient.CallError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	if g.pulls() {
		return nil
	}
	return g.quiet(ctx, time.Now())
}

// Call asks the server about the planned text.
func (t *Turn) Call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := t.within(ctx)
	defer cancel()
	return t.g.client.Call(ctx, method, params, result)
}

// Text returns the bytes that the server has of a file in this turn.
func (t *Turn) Text(ctx context.Context, path string) ([]byte, error) {
	if content, ok := t.planned[path]; ok {
		return content, nil
	}
	return t.l.Text(ctx, path)
}

// Diagnostics returns what the server finds in a file with the planned text.
func (t *Turn) Diagnostics(ctx context.Context, path string) (lspclient.Diagnostics, error) {
	ctx, cancel := t.within(ctx)
	defer cancel()
	if t.g.pulls() {
		return t.g.pull(ctx, path)
	}
	return t.g.pushed(ctx, path, t.began)
}

// within joins the caller's context with the turn's.
func (t *Turn) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}
