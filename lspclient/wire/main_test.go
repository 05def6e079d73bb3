package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline bounds a test, so that a hang is the failure of one test.
func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// pipes is one end of two kernel pipes.
type pipes struct{ in, out *os.File }

func (p pipes) Read(b []byte) (int, error)  { return p.in.Read(b) }
func (p pipes) Write(b []byte) (int, error) { return p.out.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.out.Close()) }

// peer is the server's end of a connection, driven by the test.
type peer struct {
	t testing.TB
	pipes
	reader *wire.Reader
	mu     sync.Mutex // held for one write
	wg     sync.WaitGroup
}

// run plays the peer's part besides the test, which waits for it at its end.
func (p *peer) run(play func()) { p.wg.Go(play) }

// hooks is a Handler of functions; nil ones do nothing.
type hooks struct {
	event   func(wire.Event)
	request func(method string, params []byte) wire.Answer
}

func (h hooks) Event(e wire.Event) {
	if h.event != nil {
		h.event(e)
	}
}

func (h hooks) Request(method string, params []byte) wire.Answer {
	if h.request != nil {
		return h.request(method, params)
	}
	return wire.Answer{Err: wire.NewError(wire.MethodNotFound, method)}
}

// connect starts a connection whose other end the test holds. Both end with the test.
func connect(t testing.TB, o wire.Options) (*wire.Conn, *peer) {
	t.Helper()
	ours, theirs := pipePair(t)
	if o.Handler == nil {
		o.Handler = hooks{}
	}
	c := wire.Start(ours, o)
	p := &peer{t: t, pipes: theirs, reader: wire.NewReader(theirs, nil)}
	if err := theirs.in.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		theirs.Close()
		p.wg.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, p
}

func pipePair(t testing.TB) (a, b pipes) {
	t.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return pipes{r1, w2}, pipes{r2, w1}
}

// send writes bodies as frames in one write.
func (p *peer) send(bodies ...string) {
	var frames []byte
	for _, b := range bodies {
		frames = wire.AppendFrame(frames, []byte(b))
	}
	p.raw(string(frames))
}

// raw writes bytes; an error shows where the test waits for their effect.
func (p *peer) raw(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.pipes, s)
}

// notification and reply make bodies.
func notification(method string, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func reply(id int, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
}

// next reads one message that the connection wrote; the zero Message at its
// end, for which the test then misses its effect.
func (p *peer) next() wire.Message {
	body, err := p.reader.Next()
	if err != nil {
		return wire.Message{}
	}
	m, err := wire.Parse(body)
	if err != nil {
		p.t.Errorf("the connection wrote %q: %v", body, err)
	}
	return m
}

// echo answers every call with its params until the stream ends.
func (p *peer) echo() {
	for {
		body, err := p.reader.Next()
		if err != nil {
			return
		}
		m, err := wire.Parse(body)
		if err != nil || m.Kind != wire.CallMessage {
			continue
		}
		id, _ := m.ID.Number()
		p.send(reply(int(id), string(m.Params)))
	}
}

// until waits for a condition that another goroutine makes true.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); !cond(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// buffer is a bytes.Buffer for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) lines(t testing.TB) []wire.TraceLine {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []wire.TraceLine
	for _, line := range bytes.Split(bytes.TrimSpace(b.b.Bytes()), []byte("\n")) {
		var l wire.TraceLine
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("trace line %q: %v", line, err)
		}
		list = append(list, l)
	}
	return list
}
