package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// gate is a Dispatch that holds requests named "hold" until they are released
// or cancelled, and counts them.
type gate struct {
	mu      sync.Mutex // guards what follows
	started int
	ended   int
	release chan struct{}
}

func newGate() *gate { return &gate{release: make(chan struct{})} }

func (g *gate) dispatch(ctx context.Context, c Call) (any, error) {
	in, ok := c.Input.(api.Navigate)
	if !ok || !strings.HasPrefix(in.SymbolName, "hold") {
		return echo(ctx, c)
	}
	g.mu.Lock()
	g.started++
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.ended++
		g.mu.Unlock()
	}()
	select {
	case <-g.release:
		return echo(ctx, c)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (g *gate) counts() (started, ended int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.started, g.ended
}

func TestL11_CancelHasOneOutcome(t *testing.T) {
	g := newGate()
	r := start(t, Options{Dispatch: g.dispatch})
	p := dial(t, r.socket)
	p.write(request("7", "definition", `{"symbolName":"hold"}`) + "\n")
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 1 })
	p.write(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}` + "\n")
	p.write(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}` + "\n")
	a := parse(t, p.line())
	if a.Error == nil || a.Error.Code != cancelled || string(a.ID) != "7" {
		t.Fatalf("got %+v", a)
	}
	// The race of answer and cancel: each id is answered once.
	const n = 500
	go func() {
		for i := range n {
			p.write(request(fmt.Sprint(i), "definition", fmt.Sprintf(`{"symbolName":"x%d"}`, i)) + "\n" +
				fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i) + "\n")
		}
	}()
	seen := map[string]int{}
	for range n {
		a := parse(t, p.line())
		seen[string(a.ID)]++
		if a.Error != nil && a.Error.Code != cancelled && a.Error.Data.Code != api.Overloaded {
			t.Errorf("%+v", a.Error)
		}
	}
	if len(seen) != n {
		t.Errorf("%d ids answered, want %d", len(seen), n)
	}
	p.write(request(`"last"`, "definition", `{"symbolName":"A"}`) + "\n")
	p.wantLine(`{"jsonrpc":"2.0","id":"last","result":{"echo":"A"}}`)
}

// A request that waits in the queue is answered when it is cancelled, not when its turn comes.
func TestL11_CancelOfAWaitingRequest(t *testing.T) {
	g := newGate()
	r := start(t, Options{Dispatch: g.dispatch, Limits: Limits{Running: 1}})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"hold"}`) + "\n" + request("2", "definition", `{"symbolName":"A"}`) + "\n")
	until(t, "both are there", func() bool { return r.Stats().Running == 2 })
	p.write(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}` + "\n")
	if a := parse(t, p.line()); string(a.ID) != "2" || a.Error == nil || a.Error.Code != cancelled {
		t.Fatalf("got %+v", a)
	}
	close(g.release)
	p.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"hold"}}`)
}

func TestL13_FloodIsBoundedAndShared(t *testing.T) {
	g := newGate()
	r := start(t, Options{Dispatch: g.dispatch})
	flood := dial(t, r.socket)
	const n = 20_000
	go func() {
		var b strings.Builder
		for i := range n {
			b.WriteString(request(fmt.Sprint(i), "definition", `{"symbolName":"hold"}`) + "\n")
			if b.Len() > 64<<10 || i == n-1 {
				if _, err := io.WriteString(flood.nc, b.String()); err != nil {
					return
				}
				b.Reset()
			}
		}
	}()
	answers := make(chan answer, n)
	go func() {
		defer close(answers)
		for range n {
			answers <- parse(t, flood.line())
		}
	}()
	until(t, "most were refused", func() bool { return r.Stats().Overloaded > n/2 })
	// Another client is served meanwhile.
	other := dial(t, r.socket)
	for range 100 {
		other.write(request("1", "definition", `{"symbolName":"A"}`) + "\n")
		other.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"A"}}`)
	}
	until(t, "all were read", func() bool { return r.Stats().Requests >= n+100 })
	close(g.release)
	done, busy := 0, 0
	for a := range answers {
		switch {
		case a.Error == nil:
			done++
		case a.Error.Data.Code == api.Overloaded:
			busy++
		default:
			t.Fatalf("%+v", a.Error)
		}
	}
	if done != 512 || busy != n-512 {
		t.Errorf("%d answered and %d refused, want 512 and %d", done, busy, n-512)
	}
	if started, _ := g.counts(); started > 33 {
		t.Errorf("the handler ran %d times for equal requests, want at most 32 and the one they share", started)
	}
}

// Equal requests on both sides of an ordered one do not share an answer: what
// it does must be seen by the later.
func TestSharingStopsAtOrderedRequests(t *testing.T) {
	g := newGate()
	var mu sync.Mutex
	text := "old"
	r := start(t, Options{Limits: Limits{Running: 1}, Dispatch: func(ctx context.Context, c Call) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		switch in := c.Input.(type) {
		case api.DocumentChange:
			text = in.Text
			return api.Done{Success: true}, nil
		case api.Navigate:
			if in.SymbolName == "hold" {
				mu.Unlock()
				defer mu.Lock()
				return g.dispatch(ctx, c)
			}
		}
		return text, nil
	}})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"hold"}`) + "\n")
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 1 })
	p.write(request("2", "definition", `{"symbolName":"A"}`) + "\n" + request("3", "document.change", `{"filePath":"a","text":"new"}`) + "\n" +
		request("4", "definition", `{"symbolName":"A"}`) + "\n" + request("5", "definition", `{"symbolName":"A"}`) + "\n")
	until(t, "all are there", func() bool { return r.Stats().Running == 5 })
	close(g.release)
	got := map[string]string{}
	for range 5 {
		a := parse(t, p.line())
		got[string(a.ID)] = string(a.Result)
	}
	if got["4"] != `"new"` || got["5"] != `"new"` {
		t.Errorf("got %v", got)
	}
}

func TestL14_ClientThatNeverReads(t *testing.T) {
	big := strings.Repeat("x", 256<<10)
	r := start(t, Options{Dispatch: func(ctx context.Context, c Call) (any, error) {
		if in, ok := c.Input.(api.Navigate); ok && in.SymbolName != "small" {
			return big, nil
		}
		return echo(ctx, c)
	}})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	deaf := dial(t, r.socket)
	for i := range 400 { // 100 MB of answers
		deaf.write(request(fmt.Sprint(i), "definition", fmt.Sprintf(`{"symbolName":"x%d"}`, i)) + "\n")
	}
	other := dial(t, r.socket)
	other.write(request("1", "definition", `{"symbolName":"small"}`) + "\n")
	other.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"small"}}`)
	until(t, "its requests stop to start", func() bool { return r.Stats().Running < 400 })
	// What runs may finish; then 100 MB of answers must not be held for it.
	until(t, "the heap stays within 40 MiB", func() bool {
		runtime.GC()
		runtime.ReadMemStats(&after)
		return int64(after.HeapAlloc)-int64(before.HeapAlloc) <= 40<<20
	})
	// It wakes up: everything is there.
	for range 400 {
		if a := parse(t, deaf.line()); a.Error != nil {
			t.Fatalf("%+v", a.Error)
		}
	}
}

func TestL14_EventsOfAClientThatNeverReads(t *testing.T) {
	calls := make(chan Call, 1)
	r := start(t, Options{Dispatch: func(ctx context.Context, c Call) (any, error) {
		if c.Spec.Name == "events.subscribe" {
			calls <- c
		}
		return echo(ctx, c)
	}})
	p := dial(t, r.socket)
	p.write(request("1", "events.subscribe", `{}`) + "\n")
	c := <-calls
	text := strings.Repeat("x", 64<<10)
	for i := range 1_000 { // the last counts
		c.Notify("file", api.EventMethod, map[string]any{"n": i, "text": text})
	}
	select {
	case <-c.Done():
		t.Fatal("disconnected though only the last event has to wait")
	default:
	}
	for i := 0; r.Stats().Disconnected == 0; i++ {
		if i > 10_000 {
			t.Fatal("never disconnected")
		}
		c.Notify("", api.EventMethod, map[string]any{"n": i, "text": text})
	}
	<-c.Done()
	until(t, "it is forgotten", func() bool { return r.Stats().Clients == 0 })
}

func TestL22_ClientDiesInARequest(t *testing.T) {
	g := newGate()
	closed := make(chan Client, 2)
	r := start(t, Options{Dispatch: g.dispatch, Closed: func(c Client) { closed <- c }})
	p := dial(t, r.socket)
	p.write(framed(request("1", "definition", `{"symbolName":"hold"}`)) + "Content-Length: 500\r\n\r\n{")
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 1 })
	_ = p.nc.Close()
	until(t, "it was cancelled", func() bool { _, n := g.counts(); return n == 1 })
	if c := <-closed; c.ID != "c1" {
		t.Errorf("%+v", c)
	}
	// Whole, and between messages.
	p = dial(t, r.socket)
	p.write(framed(request("1", "definition", `{"symbolName":"hold"}`)))
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 2 })
	_ = p.nc.Close()
	until(t, "it was cancelled", func() bool { _, n := g.counts(); return n == 2 })
	<-closed
}

func TestP21_PanicEndsOneRequest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crashes")
	r := start(t, Options{CrashDir: dir, Dispatch: func(ctx context.Context, c Call) (any, error) {
		if in, ok := c.Input.(api.Navigate); ok && in.SymbolName == "boom" {
			panic("secret source text")
		}
		var gone *missing
		if in, ok := c.Input.(api.Navigate); ok && in.SymbolName == "nil" {
			gone.read()
		}
		return echo(ctx, c)
	}})
	p := dial(t, r.socket)
	for _, name := range []string{"boom", "nil"} {
		p.write(request("1", "definition", `{"symbolName":"`+name+`"}`) + "\n")
		a := parse(t, p.line())
		if a.Error == nil || a.Error.Code != internalError || a.Error.Data.Code != api.Internal {
			t.Fatalf("%+v", a)
		}
		var details struct{ Crash, File string }
		raw, _ := json.Marshal(a.Error.Data.Details)
		if err := json.Unmarshal(raw, &details); err != nil || !strings.Contains(a.Error.Message, details.Crash) {
			t.Fatalf("%s: %v", raw, err)
		}
		info, err := os.Stat(details.File)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info, err)
		}
		text, err := os.ReadFile(details.File)
		if err != nil || !strings.Contains(string(text), "fault_test.go") || strings.Contains(string(text), "secret") {
			t.Errorf("%v in %s", err, text)
		}
	}
	p.write(request("2", "definition", `{"symbolName":"A"}`) + "\n")
	p.wantLine(`{"jsonrpc":"2.0","id":2,"result":{"echo":"A"}}`)
	if n := r.Stats().Panics; n != 2 {
		t.Errorf("%d panics counted", n)
	}
}

func TestStopAnswersWhatRuns(t *testing.T) {
	g := newGate()
	r := start(t, Options{Dispatch: g.dispatch, Grace: patience})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"hold"}`) + "\n")
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 1 })
	idle := dial(t, r.socket)
	until(t, "both are connected", func() bool { return r.Stats().Clients == 2 })
	r.stop()
	if got := idle.line(); got != "" {
		t.Errorf("an idle client got %q", got)
	}
	if _, err := os.Lstat(r.socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	close(g.release)
	p.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"hold"}}`)
	if got := p.line(); got != "" {
		t.Errorf("then %q", got)
	}
	err := <-r.done
	r.done <- err
	if err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestStopCancelsAfterTheGrace(t *testing.T) {
	g := newGate()
	r := start(t, Options{Dispatch: g.dispatch, Grace: 20 * time.Millisecond})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"hold"}`) + "\n")
	until(t, "it runs", func() bool { n, _ := g.counts(); return n == 1 })
	r.stop()
	if a := parse(t, p.line()); a.Error == nil || a.Error.Code != cancelled {
		t.Errorf("%+v", a)
	}
}

func TestIdleStop(t *testing.T) {
	var mu sync.Mutex
	busy := true
	r := start(t, Options{Dispatch: echo, IdleStop: 30 * time.Millisecond, Busy: func() bool {
		mu.Lock()
		defer mu.Unlock()
		return busy
	}})
	p := dial(t, r.socket)
	p.write(request("1", "definition", `{"symbolName":"A"}`) + "\n")
	p.wantLine(`{"jsonrpc":"2.0","id":1,"result":{"echo":"A"}}`)
	select {
	case err := <-r.done:
		t.Fatalf("stopped with a client or work left: %v", err)
	case <-time.After(150 * time.Millisecond):
	}
	_ = p.nc.Close()
	select {
	case err := <-r.done:
		t.Fatalf("stopped with work left: %v", err)
	case <-time.After(150 * time.Millisecond):
	}
	mu.Lock()
	busy = false
	mu.Unlock()
	err := <-r.done
	r.done <- err
	if err != ErrIdle {
		t.Errorf("got %v, want ErrIdle", err)
	}
}

// missing is what a careless handler dereferences.
type missing struct{ n int }

func (s *missing) read() { s.n++ }
