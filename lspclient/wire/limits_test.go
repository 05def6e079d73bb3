package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/auralsp/aura/lspclient/wire"
)

func TestP07_PeerStopsReading(t *testing.T) {
	c, p := connect(t, wire.Options{WriteTimeout: 50 * time.Millisecond})
	ctx := deadline(t)
	// More than a pipe holds, so that the writer is stuck in the middle.
	if err := c.Notify(ctx, "m", strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	call := make(chan error, 1)
	go func() { call <- c.Call(ctx, "m", nil, nil) }()
	select {
	case <-c.Done():
	case <-ctx.Done():
		t.Fatal("the connection outlives a peer that does not read")
	}
	for name, err := range map[string]error{"waiting call": <-call, "later call": c.Call(ctx, "m", nil, nil), "Err": c.Err()} {
		if !errors.Is(err, wire.ErrWriteTimeout) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	p.Close()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestP07_DefaultDeadlineIsTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := wire.Start(ours, wire.Options{Handler: hooks{}})
		began := time.Now()
		if err := c.Notify(t.Context(), "m", nil); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		if took := time.Since(began); took != wire.WriteTimeout {
			t.Errorf("gave up after %v, want %v", took, wire.WriteTimeout)
		}
		if err := errors.Join(c.Close(), theirs.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestP07_ASlowPeerIsNotAStuckOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := wire.Start(ours, wire.Options{Handler: hooks{}})
		const size = 1 << 20
		if err := c.Notify(t.Context(), "m", strings.Repeat("x", size)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 48<<10)
		for read := 0; read < size; {
			<-time.After(6 * time.Second) // slow, but each 64 KiB take less than the deadline
			n, err := io.ReadFull(theirs, buf)
			read += n
			if err != nil && read < size {
				t.Fatalf("after %d bytes: %v", read, err)
			}
			if read >= size {
				break
			}
			more, err := theirs.Read(buf)
			read += more
			if err != nil {
				t.Fatalf("after %d bytes: %v", read, err)
			}
		}
		if err := errors.Join(c.Err(), theirs.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestP08_BothPipesFull(t *testing.T) {
	const chunk, chunks = 1 << 20, 32
	var received atomic.Int64
	c, p := connect(t, wire.Options{Handler: hooks{event: func(e wire.Event) {
		if e.Kind == wire.Notification {
			received.Add(int64(len(e.Params)))
		}
	}}})
	ctx := deadline(t)
	body := `"` + strings.Repeat("x", chunk-2) + `"`
	for range chunks {
		if err := c.Notify(ctx, "m", json.RawMessage(body)); err != nil {
			t.Fatal(err)
		}
	}
	// Our pipe is full. The peer fills the other before it reads a byte.
	for range chunks {
		p.send(notification("n", body))
	}
	until(t, "all 32 MiB have arrived", func() bool { return received.Load() == chunk*chunks })
	for range chunks {
		if m := p.next(); len(m.Params) != chunk {
			t.Fatalf("the peer read %d bytes of params", len(m.Params))
		}
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestPeerDiesWithALastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := &lastWord{halfClosed: halfClosed{closed: make(chan struct{}), err: errors.New("broken pipe")}, word: frame(ping)}
		c := wire.Start(last, wire.Options{Handler: hooks{}})
		if err := c.Call(t.Context(), "m", nil, nil); !errors.Is(err, io.EOF) {
			t.Errorf("a call returns %v", err)
		}
		if err := c.Err(); !errors.Is(err, io.EOF) {
			t.Errorf("the connection ended by %v, not by the peer's end", err)
		}
		if s := c.Stats(); s.Received != 1 {
			t.Errorf("received %d messages, want the last one", s.Received)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// lastWord takes no writes, and says something a little later before it ends.
type lastWord struct {
	halfClosed
	word string
}

func (l *lastWord) Read(p []byte) (int, error) {
	select {
	case <-l.closed:
		return 0, io.ErrClosedPipe
	case <-time.After(100 * time.Millisecond):
	}
	n := copy(p, l.word)
	l.word = l.word[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestPeerLivesOnWithoutInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		c := wire.Start(&halfClosed{closed: make(chan struct{}), err: gone}, wire.Options{Handler: hooks{}})
		if err := c.Call(t.Context(), "m", nil, nil); !errors.Is(err, gone) {
			t.Errorf("a call returns %v", err)
		}
		if err := c.Notify(t.Context(), "m", nil); !errors.Is(err, gone) {
			t.Errorf("a notification returns %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// halfClosed is silent and takes no writes.
type halfClosed struct {
	once   sync.Once
	closed chan struct{}
	err    error
}

func (h *halfClosed) Read([]byte) (int, error)  { <-h.closed; return 0, io.ErrClosedPipe }
func (h *halfClosed) Write([]byte) (int, error) { return 0, h.err }
func (h *halfClosed) Close() error              { h.once.Do(func() { close(h.closed) }); return nil }

func TestCloseAgainstAHungPeer(t *testing.T) {
	c, p := connect(t, wire.Options{})
	ctx := deadline(t)
	errs := make(chan error, 10)
	for range 10 {
		go func() { errs <- c.Call(ctx, "m", nil, nil) }()
	}
	for range 10 {
		p.next()
	}
	began := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("Close took %v", took)
	}
	for range 10 {
		if err := <-errs; !errors.Is(err, wire.ErrClosed) {
			t.Errorf("a call in flight returns %v", err)
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestCloseReportsAHandlerThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		release := make(chan struct{})
		c := wire.Start(ours, wire.Options{Handler: hooks{event: func(wire.Event) { <-release }}})
		c.Post("m", nil)
		synctest.Wait()
		if err := c.Close(); err == nil {
			t.Error("Close says that all is well")
		}
		close(release)
		if err := errors.Join(theirs.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowPeerAppliesBackPressure(t *testing.T) {
	c, p := connect(t, wire.Options{WriteTimeout: time.Minute})
	big := json.RawMessage(`"` + strings.Repeat("x", 20<<20) + `"`)
	for range 3 {
		if err := c.Notify(deadline(t), "m", big); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(deadline(t), 200*time.Millisecond)
	defer cancel()
	if err := c.Notify(ctx, "m", big); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("80 MiB were taken for a peer that does not read: %v", err)
	}
	for range 3 {
		p.next()
	}
	if err := c.Notify(deadline(t), "m", big); err != nil {
		t.Errorf("after the peer had read: %v", err)
	}
}

func TestFloodOfQuestionsWithoutReading(t *testing.T) {
	answer := json.RawMessage(`"` + strings.Repeat("x", 8<<20) + `"`)
	c, p := connect(t, wire.Options{WriteTimeout: time.Minute, Handler: hooks{request: func(string, []byte) wire.Answer {
		return wire.Answer{Result: answer}
	}}})
	for i := range 20 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
	}
	select {
	case <-c.Done():
	case <-deadline(t).Done():
		t.Fatal("answers pile up without a bound")
	}
	if !errors.Is(c.Err(), wire.ErrFlood) {
		t.Errorf("error is %v", c.Err())
	}
}

func TestL15_FloodIsCoalesced(t *testing.T) {
	const n = 100_000
	entered, release := make(chan struct{}, 1), make(chan struct{})
	var mu sync.Mutex
	last := map[string]string{}
	var begins, ends, handled int
	c, p := connect(t, wire.Options{Handler: hooks{event: func(e wire.Event) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-release
		mu.Lock()
		defer mu.Unlock()
		handled++
		var params struct {
			URI     string
			Version int
			Value   struct{ Kind string }
		}
		if err := json.Unmarshal(e.Params, &params); err != nil {
			t.Errorf("%s: %v", e.Params, err)
		}
		switch {
		case e.Method == "textDocument/publishDiagnostics":
			last[params.URI] = fmt.Sprint(params.Version)
		case params.Value.Kind == "begin":
			begins++
		case params.Value.Kind == "end":
			ends++
		}
	}}})
	p.send(notification("window/logMessage", "{}"))
	<-entered
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p.send(notification("$/progress", `{"token":"a","value":{"kind":"begin"}}`))
	for i := range n {
		p.send(
			notification("$/progress", fmt.Sprintf(`{"token":"a","value":{"kind":"report","message":"%d"}}`, i)),
			notification("textDocument/publishDiagnostics", fmt.Sprintf(`{"uri":"file:///%d","version":%d,"diagnostics":[]}`, i%100, i)),
			notification("window/logMessage", fmt.Sprintf(`{"type":4,"message":"%d"}`, i)),
		)
	}
	p.send(
		notification("$/progress", `{"token":"a","value":{"kind":"end"}}`),
		notification("$/progress", `{"token":"a","value":{"kind":"begin"}}`),
		notification("$/progress", `{"token":"a","value":{"kind":"end"}}`),
	)
	until(t, "everything but the ends was read", func() bool { return c.Stats().Received >= 3*n+2 })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("the queue holds %d MiB", grown>>20)
	}
	close(release)
	until(t, "the ends were handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return ends == 2
	})
	mu.Lock()
	defer mu.Unlock()
	if begins != 2 || len(last) != 100 {
		t.Errorf("%d begins, diagnostics of %d files", begins, len(last))
	}
	for uri, version := range last {
		if want := strings.TrimPrefix(uri, "file:///"); !strings.HasSuffix(version, want) || len(version) != 5 {
			t.Errorf("the last diagnostics of %s are version %s", uri, version)
		}
	}
	s := c.Stats()
	if s.Coalesced == 0 || s.Lost == 0 || uint64(handled)+s.Coalesced+s.Lost != s.Received {
		t.Errorf("handled %d, stats %+v: they do not add up", handled, s)
	}
}

func TestCloseDuringAWriteThatSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := wire.Start(&slowWrite{closed: make(chan struct{})}, wire.Options{Handler: hooks{}})
		if err := c.Notify(t.Context(), "m", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the writer is in Write
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// slowWrite takes a write only when it is closed.
type slowWrite struct{ closed chan struct{} }

func (s *slowWrite) Read([]byte) (int, error)    { <-s.closed; return 0, io.EOF }
func (s *slowWrite) Write(p []byte) (int, error) { <-s.closed; return len(p), nil }
func (s *slowWrite) Close() error                { close(s.closed); return nil }
