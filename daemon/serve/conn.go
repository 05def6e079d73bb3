package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// conn is one client.
type conn struct {
	s      *Server
	nc     *net.UnixConn
	ctx    context.Context
	cancel context.CancelFunc
	log    *slog.Logger
	out    *outbox
	lines  atomic.Bool // answers are lines
	drains atomic.Bool // no further requests are read
	wg     sync.WaitGroup
	queue  *queue
	jobs   chan *flight  // to an idle worker
	idle   chan struct{} // a token of each idle worker

	mu            sync.Mutex // guards what follows
	client        Client
	wantsProgress bool
}

func newConn(ctx context.Context, s *Server, nc *net.UnixConn, n int64, pid int) *conn {
	c := &conn{s: s, nc: nc, queue: newQueue(s.opts.Limits), jobs: make(chan *flight), idle: make(chan struct{}, idleWorkers)}
	c.out = newOutbox(s.opts.Limits.Outbound, writesNow(nc))
	c.ctx, c.cancel = context.WithCancel(ctx)
	id := fmt.Sprintf("c%d", n)
	c.client = Client{ID: id, Name: "client", Session: "conn-" + rand.Text()[:8], Tier: api.ApplyTier, PID: pid}
	c.log = s.opts.Log.With("conn", id)
	return c
}

// run serves the connection until it ends and waits for all that belongs to it.
func (c *conn) run() {
	c.log.Debug("connected", "pid", c.client.PID)
	stop := context.AfterFunc(c.ctx, func() { _ = c.nc.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var writer sync.WaitGroup
	writer.Go(c.write)
	c.wg.Go(c.schedule)
	c.read()
	c.finish()
	c.cancel()
	c.wg.Wait()
	if c.s.opts.Closed != nil {
		c.s.opts.Closed(c.identity())
	}
	c.out.close()
	_ = c.nc.SetWriteDeadline(time.Now().Add(time.Second))
	writer.Wait()
	_ = c.nc.Close()
	c.log.Debug("disconnected")
}

// read takes messages until the client ends, breaks the framing, or the server drains.
func (c *conn) read() {
	in := newFrames(c.nc, c.s.opts.Limits.Frame, func() { c.deadline(c.s.opts.Limits.Stalled) }, func() { c.deadline(0) })
	c.deadline(c.s.opts.Limits.Handshake)
	for {
		raw, err := in.next()
		c.lines.Store(in.lines)
		if err == nil {
			c.receive(raw)
			continue
		}
		var bad *frameError
		switch {
		case errors.As(err, &bad):
			c.s.stats.disconnected.Add(1)
			c.log.Warn("bad frame", "error", bad)
			c.send(errorMessage(nil, parseError, api.Errorf(api.InvalidArgument, "%s", bad.message)))
			c.cancel()
		case errors.Is(err, os.ErrDeadlineExceeded) && c.ctx.Err() == nil && !c.drains.Load():
			c.s.stats.disconnected.Add(1)
			c.log.Warn("client sent no whole message in time")
			c.cancel()
		case errors.Is(err, io.EOF):
		default:
			c.log.Debug("connection lost", "error", err)
			if !c.drains.Load() {
				c.cancel()
			}
		}
		return
	}
}

// deadline bounds the wait for the rest of a message; 0 waits for ever.
func (c *conn) deadline(d time.Duration) {
	if c.drains.Load() || c.ctx.Err() != nil {
		return
	}
	t := time.Time{}
	if d > 0 {
		t = time.Now().Add(d)
	}
	_ = c.nc.SetReadDeadline(t)
	if c.drains.Load() || c.ctx.Err() != nil { // it was set meanwhile
		_ = c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// finish waits for the answers of requests that were read: a client may close
// its sending half and go on reading (printf … | nc -U). One that is gone is not waited for.
func (c *conn) finish() {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for c.ctx.Err() == nil && !c.queue.idle() && !hungUp(c.nc) {
		select {
		case <-c.queue.ended:
		case <-c.ctx.Done():
		case <-look.C:
		}
	}
}

// drain stops reading; what was read is answered.
func (c *conn) drain() {
	c.drains.Store(true)
	_ = c.nc.SetReadDeadline(time.Unix(1, 0))
}

// write sends what is in the outbox until it is closed and empty.
func (c *conn) write() {
	for {
		bufs, ok := c.out.take()
		if !ok {
			return
		}
		n := 0
		for _, b := range bufs {
			n += len(b)
		}
		_ = c.nc.SetWriteDeadline(time.Now().Add(readPatience))
		if c.ctx.Err() != nil {
			_ = c.nc.SetWriteDeadline(time.Now().Add(time.Second))
		}
		_, err := bufs.WriteTo(c.nc)
		if c.ctx.Err() == nil {
			_ = c.nc.SetWriteDeadline(time.Time{})
		}
		c.out.written(n)
		if err != nil {
			c.cancel()
			c.out.close()
			return
		}
	}
}

// readPatience is how long a client may take to read what one write holds.
const readPatience = time.Minute

// writesNow returns a function that writes what the client takes at once, and
// returns how much that was.
func writesNow(nc *net.UnixConn) func([]byte) int {
	raw, err := nc.SyscallConn()
	if err != nil {
		return nil
	}
	return func(b []byte) (n int) {
		_ = raw.Write(func(fd uintptr) bool {
			if m, err := syscall.Write(int(fd), b); err == nil {
				n = m
			}
			return true
		})
		return n
	}
}

// send puts one message into the outbox; a client that lets it overflow is cut
// off. A nil message is nothing to say.
func (c *conn) send(message []byte) {
	if message != nil {
		c.post("", message)
	}
}

// answer waits for room before it sends: until the client has read enough, its
// requests keep their places in the queue.
func (c *conn) answer(message []byte) {
	if message != nil {
		c.out.waitRoom(c.ctx)
		c.post("", message)
	}
}

func (c *conn) post(key string, message []byte) {
	if c.out.put(key, appendFrame(nil, message, c.lines.Load())) {
		return
	}
	if c.ctx.Err() == nil {
		c.s.stats.disconnected.Add(1)
		c.log.Warn("client does not read its answers")
	}
	c.cancel()
	_ = c.nc.SetWriteDeadline(time.Unix(1, 0)) // the writer may be stuck
}

func (c *conn) notify(key, method string, params any) {
	m, err := notificationMessage(method, params)
	if err != nil {
		c.log.Error("notification cannot be encoded", "method", method, "error", err)
		return
	}
	c.post(key, m)
}

func (c *conn) identity() Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.client
}

// receive handles one message or a batch of them.
func (c *conn) receive(raw []byte) {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || trimmed[0] != '[' {
		c.receiveOne(trimmed, c.send, c.answer)
		return
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(trimmed, &parts); err != nil {
		c.send(errorMessage(nil, parseError, api.Errorf(api.InvalidArgument, "the message is not valid JSON: %v", err)))
		return
	}
	if len(parts) == 0 {
		c.send(errorMessage(nil, invalidRequest, api.Errorf(api.InvalidArgument, "a batch must hold a request")))
		return
	}
	b := &batch{left: len(parts) + 1, send: c.answer}
	for _, part := range parts {
		c.receiveOne(part, b.add, b.add)
	}
	b.add(nil)
}

// receiveOne takes one message. Of reply, which must not wait, and answer, which
// may, one is called once, with nil when there is nothing to say.
func (c *conn) receiveOne(raw []byte, reply, answer func([]byte)) {
	m, number, problem := parseMessage(raw)
	if problem != "" {
		reply(errorMessage(m.ID, number, api.Errorf(api.InvalidArgument, "%s", problem)))
		return
	}
	if m.Method == nil { // a response: we ask nothing
		reply(nil)
		return
	}
	if *m.Method == api.CancelMethod {
		c.cancelRequest(m.Params)
		c.acknowledge(m, reply)
		return
	}
	if len(m.ID) == 0 && (*m.Method == "initialized" || *m.Method == "exit") { // habits of LSP clients
		reply(nil)
		return
	}
	c.s.stats.requests.Add(1)
	c.submit(m, reply, answer)
}

// acknowledge answers a notification that came with an id.
func (c *conn) acknowledge(m message, reply func([]byte)) {
	if len(m.ID) == 0 {
		reply(nil)
		return
	}
	reply(resultMessage(m.ID, []byte("null")))
}

func (c *conn) cancelRequest(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.ID) == 0 {
		return
	}
	c.queue.cancelID(p.ID)
}

// batch gathers the answers to the requests of one array.
type batch struct {
	send func([]byte)
	mu   sync.Mutex // guards what follows
	left int
	out  []byte
}

func (b *batch) add(answer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answer != nil {
		if b.out == nil {
			b.out = append(b.out, '[')
		} else {
			b.out = append(b.out, ',')
		}
		b.out = append(b.out, answer...)
	}
	if b.left--; b.left == 0 && b.out != nil {
		b.send(append(b.out, ']'))
	}
}
