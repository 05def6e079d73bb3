package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/text"
)

// maxRetries is how often a request is asked again because the server says
// that the text changed under it.
const maxRetries = 8

// Lease is the use of one server. It survives the server's restarts. Its
// methods are safe for concurrent use; Release must be called once.
type Lease struct {
	i    *instance
	want Want
	once sync.Once
	// until is the end of the wait for a ready server; zero waits on.
	until time.Time

	mu         sync.Mutex        // guards the rest
	cursor     uint64            // what the server had been told at the last request
	asked      uint64            // requests so far
	had        map[string][]byte // what Text returned since the last request
	incomplete string            // why an answer may lack places
	leased     string            // the same of the server before it was told what has changed since
	loading    string            // what the server was waiting for when it was asked all the same
	encoding   text.Encoding
}

// Engine returns the id of the engine.
func (l *Lease) Engine() string { return l.i.engine.ID }

// Encoding returns the unit of the server's positions.
func (l *Lease) Encoding() text.Encoding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.encoding
}

// Supports reports whether the running server announces a method.
func (l *Lease) Supports(method string) bool {
	l.i.mu.Lock()
	g := l.i.gen
	l.i.mu.Unlock()
	return g != nil && g.client.Supports(method)
}

// Release gives the lease back.
func (l *Lease) Release() { l.once.Do(l.i.unlease) }

// Seq returns up to where the server had been told of the view at the last request.
func (l *Lease) Seq() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor
}

// Complete reports whether the server was believed to know the whole project
// when it was leased and at every answer since, else why not.
func (l *Lease) Complete() (ok bool, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	why = cmp.Or(l.incomplete, l.leased)
	return why == "", why
}

// Call asks a read-only request. The server is first told all that the view
// knows, at least up to Want.Seq. A server that ends meanwhile is asked once
// more after its restart. Errors: *api.Error for all that concerns the server
// or the caller's time; *lspclient.CallError when the server refuses the
// request, *lspclient.DecodeError when its answer makes no sense.
func (l *Lease) Call(ctx context.Context, method string, params, result any) error {
	return l.CallOn(ctx, nil, method, params, result)
}

// CallOn is Call for params that rest on the text of files, such as a position
// in one. If one is not as given when the request would be sent, it is not
// sent, and the error is ErrMoved.
func (l *Lease) CallOn(ctx context.Context, base map[string]text.Hash, method string, params, result any) error {
	return l.request(ctx, &request{
		method: method, params: params, base: base, read: true,
		send: func(ctx context.Context, c *lspclient.Client) error { return c.Call(ctx, method, params, result) },
	})
}

// Command runs an executeCommand alone and returns the edits that the server
// pushes while it runs. It is never sent twice.
func (l *Lease) Command(ctx context.Context, name string, args []any, result any) (edits []protocol.WorkspaceEdit, err error) {
	err = l.request(ctx, &request{
		method: "workspace/executeCommand", params: append([]any{name}, args...), alone: true,
		send: func(ctx context.Context, c *lspclient.Client) (err error) {
			edits, err = c.Command(ctx, name, args, result)
			return err
		},
	})
	return edits, err
}

// Open opens documents in the server from the view. They stay open, also over
// restarts, until many others have been opened after them. Files that are not
// of the lease's language or project are left closed.
func (l *Lease) Open(ctx context.Context, paths []string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !l.i.ours(path) })
	l.i.mu.Lock()
	g := l.i.gen
	l.i.mu.Unlock()
	if g != nil && !g.doomed() && g.mirror.has(paths) {
		l.i.usedOpen(paths)
		return nil
	}
	return l.request(ctx, &request{
		method: "textDocument/didOpen", read: true,
		each: func(ctx context.Context, g *generation) error { return g.mirror.open(ctx, paths) },
	})
}

// Text returns the bytes that the server had of a file of the workspace at the
// last request; ErrMoved when the file has changed since. A file is looked at
// once after each request: what it held then is what the whole answer rests on.
func (l *Lease) Text(ctx context.Context, path string) ([]byte, error) {
	l.mu.Lock()
	content, known := l.had[path]
	cursor, asked := l.cursor, l.asked
	l.mu.Unlock()
	if known {
		return content, nil
	}
	doc, err := l.i.view.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	if doc.Seq > cursor {
		return nil, fmt.Errorf("%s: %w", path, ErrMoved)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == asked {
		if l.had == nil {
			l.had = make(map[string][]byte)
		}
		l.had[path] = doc.Content
	}
	return doc.Content, nil
}

// request is one use of a server.
type request struct {
	method string
	params any
	base   map[string]text.Hash
	read   bool // may be asked again after a crash
	alone  bool
	send   func(context.Context, *lspclient.Client) error
	each   func(context.Context, *generation) error // instead of send: something that is no request of the server
}

// request runs r on the instance: it waits for a server and for its turn,
// brings the server up to date, sends, and asks again where that is right.
func (l *Lease) request(ctx context.Context, r *request) error {
	i := l.i
	if i.poison.banned(r.method, r.params, time.Now()) {
		return api.Errorf(api.ServerCrashed, "this request has ended %s twice and is not sent again for %s", i.engine.ID, words(sentence))
	}
	died, again := 0, 0
	for {
		g, err := l.ready(ctx)
		if err != nil {
			return err
		}
		// What was in flight when the server died is asked again alone, so that
		// a second death tells which request it was.
		sent, err := l.queued(ctx, r, r.alone || died > 0, func() (bool, error) { return l.try(ctx, g, r, died > 0) })
		if err == nil {
			i.poison.proved()
			if died > 0 {
				i.poison.survived(fingerprint(r.method, r.params))
			}
			return nil
		}
		var ended *lspclient.EndedError
		switch {
		case errors.As(err, &ended) || errors.Is(err, errGone):
			d := g.deathOf(ctx)
			if !sent || d.asked {
				if i.life.Err() != nil {
					return errClosing()
				}
				if ctx.Err() != nil {
					return l.left(context.Cause(ctx), r)
				}
				if !sent || r.read {
					continue // nothing of it reached a server that counts
				}
			}
			died++
			if d.blame {
				i.poison.crashedOn(fingerprint(r.method, r.params), time.Now())
			}
			if !r.read || died > 1 {
				return crashed(i.engine, i.want.Project.Root, r.method, d.how, d.stderr)
			}
		case ctx.Err() == nil && again < maxRetries && overtaken(err):
			again++
			if err := pause(ctx, time.Duration(again*again)*5*time.Millisecond); err != nil {
				return l.left(err, r)
			}
		default:
			return err
		}
	}
}

// queued runs f when it is the request's turn. A panic in f is an error of the
// request and gives the turn back all the same.
func (l *Lease) queued(ctx context.Context, r *request, alone bool, f func() (bool, error)) (sent bool, err error) {
	leave, err := l.i.queue.enter(ctx, l.want.Client, l.want.Class, alone)
	if err != nil {
		return false, l.left(err, r)
	}
	defer leave()
	defer func() {
		if p := recover(); p != nil {
			sent, err = true, l.i.panicked(r.method, p, debug.Stack())
		}
	}()
	return f()
}

// overtaken reports whether the server gave a request up for reasons of its
// own: the text changed, or it cancelled what nobody had cancelled.
func overtaken(err error) bool {
	return lspclient.Retryable(err) || errors.Is(err, lspclient.ErrRequestCancelled)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// left maps the end of a wait in the queue.
func (l *Lease) left(err error, r *request) error {
	if errors.Is(err, errOverloaded) {
		return api.Errorf(api.Overloaded, "%s has more requests waiting than it can take; wait for some to end", l.i.engine.ID)
	}
	return ended(err, "waiting for "+l.i.engine.ID+" to answer "+r.method)
}

// errGone says that a generation ended before anything was sent.
var errGone = errors.New("server has ended")

// try runs r on one process. sent says that the server may have seen it. When
// careful, the server has to answer something else first: if it dies of that,
// it was the documents it was sent and not r.
func (l *Lease) try(ctx context.Context, g *generation, r *request, careful bool) (sent bool, err error) {
	i := l.i
	if g.doomed() {
		return false, errGone
	}
	limit := i.deadline(r.method)
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
	if g.ending() {
		return false, errGone
	}
	if err := l.unmoved(cctx, r.base); err != nil {
		return false, err
	}
	l.note(g, seq)
	if careful {
		if err := g.ping(cctx); err != nil {
			return false, err
		}
		i.poison.proved()
	}
	if r.each != nil {
		return false, r.each(cctx, g)
	}
	err = r.send(cctx, g.client)
	if err == nil && g.ending() {
		return true, errGone // nobody was left to know better than what it answered
	}
	l.note(g, seq)
	return true, err
}

// verdict maps what ended a request.
func (l *Lease) verdict(ctx, cctx context.Context, w *watch, r *request, limit time.Duration, err error) error {
	if err == nil {
		return nil
	}
	var refused *lspclient.CallError
	if errors.As(err, &refused) && cctx.Err() == nil {
		return err
	}
	if errors.Is(context.Cause(cctx), errDeadline) {
		<-w.expired
		note := "; it is still working, ask again or give the request more time"
		switch w.verdict {
		case stuck:
			note = " and did nothing meanwhile, so it was stopped and is started again"
		case idle:
			note = " and does not work on it"
		}
		return timedOut(l.i.engine, l.i.want.Project.Root, r.method, limit, note)
	}
	if ctx.Err() != nil {
		return ended(context.Cause(ctx), "waiting for "+l.i.engine.ID+" to answer "+r.method)
	}
	return err
}

// unmoved checks that files are as a request takes them to be.
func (l *Lease) unmoved(ctx context.Context, base map[string]text.Hash) error {
	for path, h := range base {
		doc, err := l.i.view.Read(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", path, ErrMoved, err)
		}
		if doc.Hash != h {
			return fmt.Errorf("%s: %w", path, ErrMoved)
		}
	}
	return nil
}

// note remembers at which text and with what belief a request runs.
func (l *Lease) note(g *generation, seq uint64) {
	belief, overdue := g.belief()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cursor = seq
	l.asked++
	clear(l.had)
	l.leased = ""
	l.incomplete = l.doubt(l.incomplete, belief, overdue)
}

// doubt returns why a process cannot be believed wholly; what was known before
// stays. The caller holds mu.
func (l *Lease) doubt(known string, belief adapters.Readiness, overdue bool) string {
	if overdue && belief.State == adapters.Loading {
		l.loading = cmp.Or(belief.Waiting, "loading")
	}
	switch {
	case known != "" || belief.State == adapters.Ready:
		return known
	case belief.Waiting != "":
		return l.i.engine.ID + ": " + belief.Waiting
	}
	return l.i.engine.ID + " is still loading"
}

// Settled is an error when the server was asked although it had not loaded the
// project within its time: what it does not know yet, no answer of it can show.
func (l *Lease) Settled() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loading == "" {
		return nil
	}
	return neverReady(l.i.engine, l.i.want.Project.Root, l.loading)
}

// deadline returns how long a request may take.
func (i *instance) deadline(method string) time.Duration {
	if d := i.engine.Deadline[method]; d > 0 {
		return d
	}
	if d := i.engine.Deadline[""]; d > 0 {
		return d
	}
	return i.limits.Request
}

// ready waits until the instance has a process that can be believed, or is
// never going to be, and returns it.
func (l *Lease) ready(ctx context.Context) (*generation, error) {
	i := l.i
	var said string
	var failures uint64
	late, stop := l.expiry()
	defer stop()
	for first := true; ; first = false {
		i.mu.Lock()
		if first {
			failures = i.failures
		}
		if i.closing {
			i.mu.Unlock()
			return nil, errClosing()
		}
		if i.failures > failures {
			err := i.lastErr
			i.mu.Unlock()
			return nil, err
		}
		if err := i.refusedLocked(time.Now()); err != nil {
			i.mu.Unlock()
			return nil, err
		}
		i.fire(wanted)
		if g := i.gen; g != nil && i.state != Draining && !i.again && l.believes(g) {
			i.mu.Unlock()
			belief, overdue := g.belief()
			l.mu.Lock()
			l.encoding = g.client.Encoding()
			l.leased = l.doubt("", belief, overdue)
			l.mu.Unlock()
			return g, nil
		}
		changed, words := i.changed, i.waitingLocked(time.Now())
		i.mu.Unlock()
		if words != said {
			said = words
			l.want.Waiting(words)
		}
		select {
		case <-changed:
		case <-late:
			return nil, notYet(i.engine, l.want.Within, words)
		case <-ctx.Done():
			return nil, ended(context.Cause(ctx), words)
		}
	}
}

// believes reports whether the lease takes the process as it is now.
func (l *Lease) believes(g *generation) bool {
	if l.want.Partial {
		return true
	}
	belief, overdue := g.belief()
	return overdue || belief.State != adapters.Loading
}

// settle waits until a server that was just told of changes can be believed
// again; the wait does not count against the request while it moves.
func (l *Lease) settle(ctx context.Context, g *generation, w *watch) error {
	late, stop := l.expiry()
	defer stop()
	for {
		l.i.mu.Lock()
		changed := l.i.changed
		l.i.mu.Unlock()
		if l.believes(g) {
			return nil
		}
		select {
		case <-changed:
			w.restart()
		case <-late:
			return notYet(l.i.engine, l.want.Within, "loading what changed")
		case <-g.dead:
			return errGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
