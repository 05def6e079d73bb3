package lsptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/auralsp/aura/lspclient/wire"
)

// Server is one fake server.
type Server struct {
	config  Config
	in      io.ReadCloser
	out     io.WriteCloser
	stderr  io.Writer
	exit    func(code int) // ends the process, or the pipes in process
	process bool           // runs in a process of its own

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	inbox  chan wire.Message
	model  *model
	loaded chan struct{} // closed when loading has ended

	writing sync.Mutex // held for one frame; guards held
	held    [][]byte   // answers that Reorder holds

	mu       sync.Mutex // guards the fields below
	received []Received
	fired    []int // per fault, how many messages it matched
	asked    int64
	waiting  map[int64]chan json.RawMessage
	shutdown bool
}

func newServer(config Config, in io.ReadCloser, out io.WriteCloser, stderr io.Writer) *Server {
	config.defaults()
	s := &Server{
		config: config, in: in, out: out, stderr: stderr,
		inbox: make(chan wire.Message, 1<<16), loaded: make(chan struct{}),
		fired: make([]int, len(config.Faults)), waiting: map[int64]chan json.RawMessage{},
		model: newModel(config),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.exit = func(int) { s.end() }
	return s
}

// run starts the goroutines; wg ends with them.
func (s *Server) run() {
	s.wg.Go(func() {
		defer close(s.inbox)
		s.read()
	})
	s.wg.Go(s.work)
}

// end closes both pipes, as the death of a process does.
func (s *Server) end() {
	s.cancel()
	s.in.Close()
	s.out.Close()
}

// Close ends an in-process server and waits for its goroutines.
func (s *Server) Close() {
	s.end()
	s.wg.Wait()
}

// Received returns the messages that arrived so far, in order.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

func (s *Server) read() {
	r := wire.NewReader(s.in, nil)
	for {
		body, err := r.Next()
		if err != nil {
			if s.process && s.config.IgnoreEOF {
				<-s.ctx.Done()
				return
			}
			s.exit(1)
			return
		}
		m, err := wire.Parse(body)
		if err != nil {
			fmt.Fprintf(s.stderr, "fake: %v\n", err)
			s.exit(1)
			return
		}
		s.record(m)
		if m.Method == "" {
			s.answered(m)
			continue
		}
		if f := s.match(m.Method, m.Params, StopReading); f != nil {
			<-s.ctx.Done()
			return
		}
		select {
		case s.inbox <- m:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Server) record(m wire.Message) {
	entry := Received{PID: os.Getpid(), Method: m.Method, Params: m.Params}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, entry)
	if s.config.Journal == "" {
		return
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return
	}
	f, err := os.OpenFile(s.config.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintf(s.stderr, "fake: %v\n", err)
		return
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		fmt.Fprintf(s.stderr, "fake: %v\n", err)
	}
}

// work handles one message after the other, as serial servers do.
func (s *Server) work() {
	for m := range s.inbox {
		if s.ctx.Err() != nil {
			return
		}
		if s.faulty(m) {
			continue
		}
		s.handle(m)
	}
}

// handle answers honestly.
func (s *Server) handle(m wire.Message) {
	result, failure := s.result(m)
	if m.Kind == wire.CallMessage {
		s.reply(m.ID, result, failure)
	}
}

func (s *Server) reply(id wire.ID, result any, failure *wire.Error) {
	s.writeBody(replyBody(id, result, failure))
}

func replyBody(id wire.ID, result any, failure *wire.Error) []byte {
	key, _ := json.Marshal(idValue(id))
	if failure != nil {
		message, _ := json.Marshal(failure.Message)
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, key, failure.Code, message)
	}
	raw := []byte("null")
	if result != nil {
		var err error
		if raw, err = wire.Marshal(result); err != nil {
			return replyBody(id, nil, wire.NewError(wire.InternalError, err.Error()))
		}
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, key, raw)
}

func idValue(id wire.ID) any {
	if n, ok := id.Number(); ok {
		return n
	}
	if s, ok := id.StringValue(); ok {
		return s
	}
	return nil
}

// Notify sends a notification.
func (s *Server) Notify(method string, params any) {
	raw, err := wire.Marshal(params)
	if err != nil {
		panic(err)
	}
	s.writeBody(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, method, orNull(raw)))
}

// Ask sends a request and waits for its result; nil when it failed or ctx ended.
func (s *Server) Ask(ctx context.Context, method string, params any) json.RawMessage {
	raw, err := wire.Marshal(params)
	if err != nil {
		panic(err)
	}
	answer := make(chan json.RawMessage, 1)
	s.mu.Lock()
	s.asked++
	id := s.asked
	s.waiting[id] = answer
	s.mu.Unlock()
	s.writeBody(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, orNull(raw)))
	select {
	case result := <-answer:
		return result
	case <-s.ctx.Done():
	case <-ctx.Done():
	}
	return nil
}

func (s *Server) answered(m wire.Message) {
	id, ok := m.ID.Number()
	if !ok {
		return
	}
	s.mu.Lock()
	answer := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if answer != nil {
		answer <- m.Result
	}
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// Write writes raw bytes in place of a frame.
func (s *Server) Write(p []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.put(p)
}

func (s *Server) writeBody(body []byte) { s.Write(wire.AppendFrame(nil, body)) }

// put needs the lock. A peer that is gone shows at the reader.
func (s *Server) put(p []byte) {
	if _, err := s.out.Write(p); err != nil && s.ctx.Err() == nil {
		fmt.Fprintf(s.stderr, "fake: write: %v\n", err)
	}
}

// pause waits without holding anything; false means that the server ends.
func (s *Server) pause(millis int) bool {
	timer := time.NewTimer(time.Duration(millis) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}
