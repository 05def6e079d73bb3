package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// Default times of a connection.
const (
	// WriteTimeout is how long a write may make no progress before the peer is
	// held to have stopped reading.
	WriteTimeout = 10 * time.Second
	// AnswerTimeout bounds the context of Answer.Later.
	AnswerTimeout = 10 * time.Second

	closeTimeout  = 5 * time.Second
	readGrace     = time.Second
	maxLater      = 256
	laterWorkers  = 2
	maxCancelled  = 4096
	maxStrayShown = 1024
)

// Answer is the answer to a request of the peer.
type Answer struct {
	Result any // encoded by Marshal; nil is null
	Err    *Error
	// Later computes the answer on a worker when it needs a callback. Its context
	// ends with the connection and after AnswerTimeout.
	Later func(context.Context) (any, *Error)
}

// Handler takes what the peer sends. A panic in it is logged and counted, and
// ends neither the connection nor the process.
type Handler interface {
	// Event is called in wire order, one at a time, on the consumer goroutine or
	// the reader. It must not call Conn.Call, Barrier or Close: their end may wait
	// for it.
	Event(Event)
	// Request is called on the reader, in wire order, and must not block. The
	// params are valid during the call and in Later.
	Request(method string, params []byte) Answer
}

// Options configure a Conn.
type Options struct {
	Handler Handler
	Log     *slog.Logger // nil discards
	Trace   io.Writer    // receives TraceLines; nil for none
	// WriteTimeout replaces the default of that name when it is positive.
	WriteTimeout time.Duration
}

// Stats counts what a connection has seen.
type Stats struct {
	Received, SentMessages uint64 // messages
	StrayLines, StrayBytes uint64 // output between frames
	Dropped                uint64 // messages that are none, and answers to no call
	Late                   uint64 // answers to calls that were given up
	Lost                   uint64 // log output and telemetry dropped in a flood
	Coalesced              uint64 // notifications replaced by newer ones in a flood
	Panics                 uint64 // in the handler
	Abandoned              int    // calls given up that the peer has not answered yet
}

type counter struct{ n atomic.Uint64 }

func (c *counter) add(n int) uint64 { return c.n.Add(uint64(n)) }

// Conn is one connection. Its methods are safe for concurrent use.
type Conn struct {
	rwc     io.ReadWriteCloser
	handler Handler
	log     *slog.Logger
	tap     *tap
	queue   *queue
	out     *outbox
	later   chan laterJob
	ids     atomic.Int64
	dead    chan struct{} // closed once err is set
	over    chan struct{} // closed when no event is handled any more
	stopped chan struct{} // closed when the goroutines have ended
	ctx     context.Context
	cancel  context.CancelFunc

	received, sent, strayLines, strayBytes, dropped, late, lost, coalesced, panics counter

	mu        sync.Mutex         // guards the fields below; nothing is called while it is held
	pending   map[int64]*pending // calls without an answer
	cancelled map[int64]struct{} // calls given up, whose answer may still come
	stray     []byte             // end of the output between frames
	err       *EndedError
}

type pending struct {
	method string
	answer chan answer // holds one
}

type answer struct {
	result []byte
	err    *CallError
}

type laterJob struct {
	id     ID
	method string
	run    func(context.Context) (any, *Error)
}

// Start runs a connection over rwc, whose Close must end its Read and Write.
// Where rwc has a method TryWrite([]byte) int, which writes what fits without
// waiting, frames need not wait for the goroutine that writes.
// The caller must Close the Conn.
func Start(rwc io.ReadWriteCloser, o Options) *Conn {
	c := &Conn{
		rwc: rwc, handler: o.Handler, log: o.Log,
		out: newOutbox(writesNow(rwc)), later: make(chan laterJob, maxLater),
		dead: make(chan struct{}), over: make(chan struct{}), stopped: make(chan struct{}),
		pending: make(map[int64]*pending), cancelled: make(map[int64]struct{}),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if o.Trace != nil {
		c.tap = &tap{w: o.Trace}
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = WriteTimeout
	}
	c.queue = newQueue(&c.coalesced, &c.lost)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(c.read)
	wg.Go(c.consume)
	wg.Go(func() {
		if err := c.out.drain(rwc, o.WriteTimeout, func() { c.fail(ErrWriteTimeout) }); err != nil {
			c.writeFailed(err)
		}
	})
	wg.Go(func() {
		<-c.dead
		if err := rwc.Close(); err != nil {
			c.log.Debug("close connection", "err", err)
		}
	})
	for range laterWorkers {
		wg.Go(c.work)
	}
	go func() {
		wg.Wait()
		close(c.stopped)
	}()
	return c
}

// writesNow returns the TryWrite of a stream that has one: it writes what fits
// without waiting and returns how much that was.
func writesNow(rwc io.ReadWriteCloser) func([]byte) int {
	if w, ok := rwc.(interface{ TryWrite([]byte) int }); ok {
		return w.TryWrite
	}
	return nil
}

// Done is closed when the connection is dead: every call fails from then on.
// Events that arrived before may still be on their way to the Handler.
func (c *Conn) Done() <-chan struct{} { return c.dead }

// Err returns nil while the connection lives, then an *EndedError.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return c.err
}

// Stats returns the counters.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	abandoned := len(c.cancelled)
	c.mu.Unlock()
	return Stats{
		Received: c.received.n.Load(), SentMessages: c.sent.n.Load(),
		StrayLines: c.strayLines.n.Load(), StrayBytes: c.strayBytes.n.Load(),
		Dropped: c.dropped.n.Load(), Late: c.late.n.Load(), Lost: c.lost.n.Load(),
		Coalesced: c.coalesced.n.Load(), Panics: c.panics.n.Load(), Abandoned: abandoned,
	}
}

// Close ends the connection without a word to the peer and waits for its
// goroutines, at most 5 s: a Handler that never returns is reported as an error.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	c.queue.stop()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-c.stopped:
		return nil
	case <-timer.C:
		return errors.New("wire: goroutines of a closed connection do not end")
	}
}

// fail makes the connection dead for the first cause it is given.
func (c *Conn) fail(cause error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &EndedError{Cause: cause, Stray: string(c.stray)}
	close(c.dead)
	c.mu.Unlock()
	c.cancel()
	c.out.close()
	c.queue.end()
}

// writeFailed ends the connection, but lets the reader say why first: what the
// peer wrote before it died, and its end of file, are worth more than our EPIPE.
func (c *Conn) writeFailed(err error) {
	c.out.close()
	timer := time.NewTimer(readGrace)
	defer timer.Stop()
	select {
	case <-c.dead:
	case <-timer.C:
		c.fail(fmt.Errorf("write: %w", err))
	}
}

// Call sends a request and decodes its answer into result, which may be nil.
// When it returns without an error, every notification that arrived before the
// answer has been handled. An error is a *CallError, a *DecodeError, an
// *EndedError, or the context's cause, wrapped with the method; in the last
// case the peer is told by $/cancelRequest.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	raw, err := Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: encode params: %w", method, err)
	}
	id := c.ids.Add(1)
	p := &pending{method: method, answer: make(chan answer, 1)}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.pending[id] = p
	c.mu.Unlock()
	frame := jsonrpc2.AppendCall(frameRoom(method, raw), jsonrpc2.NewNumberID(id), method, raw)
	if err := c.send(ctx, frame); err != nil {
		c.forget(id, false)
		return fmt.Errorf("%s: %w", method, err)
	}
	a, err := c.await(ctx, id, p)
	if err != nil {
		return err
	}
	if a.err != nil {
		return a.err
	}
	if err := Unmarshal(a.result, result); err != nil {
		return &DecodeError{Method: method, Err: err}
	}
	return nil
}

// await returns the answer once the consumer has handled it, and with it
// everything that arrived before.
func (c *Conn) await(ctx context.Context, id int64, p *pending) (answer, error) {
	dead := c.dead
	for {
		select {
		case a := <-p.answer:
			return a, nil
		case <-dead:
			// What the reader took before the end is delivered still.
			if c.forget(id, false) {
				return answer{}, c.Err()
			}
			dead = nil
		case <-c.over:
			select {
			case a := <-p.answer:
				return a, nil
			default:
				return answer{}, c.Err()
			}
		case <-ctx.Done():
			if c.forget(id, true) {
				c.cancelCall(id)
			}
			return answer{}, fmt.Errorf("%s: %w", p.method, context.Cause(ctx))
		}
	}
}

// forget drops a call and reports whether no answer had arrived yet. An answer
// that is to come late is remembered as such.
func (c *Conn) forget(id int64, late bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, waiting := c.pending[id]; !waiting {
		return false
	}
	delete(c.pending, id)
	if late {
		if len(c.cancelled) >= maxCancelled {
			clear(c.cancelled)
		}
		c.cancelled[id] = struct{}{}
	}
	return true
}

// cancelCall tells the peer that nobody waits for an answer any more.
func (c *Conn) cancelCall(id int64) {
	const method = "$/cancelRequest"
	params := []byte(`{"id":` + strconv.FormatInt(id, 10) + `}`)
	frame := jsonrpc2.AppendNotification(frameRoom(method, params), method, params)
	c.tap.record("client", frame[headerRoom:])
	c.out.force(withHeader(frame))
}

// Notify sends a notification. It returns once it is queued behind all earlier ones.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	raw, err := Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: encode params: %w", method, err)
	}
	c.queue.push(&Event{Time: time.Now(), Kind: Sent, Method: method, Params: raw}, false)
	if err := c.send(ctx, jsonrpc2.AppendNotification(frameRoom(method, raw), method, raw)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Post hands the Handler an event of the owner's, in order with those of the wire.
func (c *Conn) Post(method string, params []byte) {
	c.queue.push(&Event{Time: time.Now(), Kind: Posted, Method: method, Params: params}, false)
}

// Barrier returns once every event that has arrived so far has been handled.
func (c *Conn) Barrier(ctx context.Context) error {
	return c.queue.wait(ctx, c.queue.tail())
}

// send queues a frame that was begun by frameRoom.
func (c *Conn) send(ctx context.Context, frame []byte) error {
	body := frame[headerRoom:]
	if len(body) > MaxFrame {
		return fmt.Errorf("message of %d bytes exceeds %d", len(body), MaxFrame)
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	c.tap.record("client", body)
	open, err := c.out.push(ctx, withHeader(frame))
	if !open {
		<-c.dead // the outbox closes at most readGrace before
		return c.Err()
	}
	if err == nil {
		c.sent.add(1)
	}
	return err
}

func (c *Conn) consume() {
	for e := c.queue.pop(); e != nil; e = c.queue.pop() {
		c.handle(e)
	}
	c.queue.stop()
	close(c.over)
}

// handle hands over an event whose turn it is.
func (c *Conn) handle(e *Event) {
	c.guard(e.Method, func() { c.handler.Event(*e) })
	c.queue.done(e)
	if e.call != nil {
		e.call.answer <- e.answer
	}
}

func (c *Conn) work() {
	for {
		select {
		case <-c.dead:
			return
		case job := <-c.later:
			ctx, cancel := context.WithTimeout(c.ctx, AnswerTimeout)
			var result any
			err := NewError(InternalError, "handler failed")
			c.guard(job.method, func() { result, err = job.run(ctx) })
			cancel()
			c.answer(job.id, job.method, result, err)
		}
	}
}

// guard runs f and keeps a panic in it from ending the process.
func (c *Conn) guard(method string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.panics.add(1)
			c.log.Error("panic in handler", "method", method, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	f()
}
