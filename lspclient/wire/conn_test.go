package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/wire"
)

func TestNotificationsBeforeTheReplyAreHandled(t *testing.T) {
	const n = 500
	var seen []string
	c, p := connect(t, wire.Options{Handler: hooks{event: func(e wire.Event) {
		if e.Kind == wire.Notification && string(e.Params) != "-1" {
			seen = append(seen, string(e.Params))
		}
	}}})
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		var bodies []string
		for i := range n {
			bodies = append(bodies, notification("n", fmt.Sprint(i)))
		}
		p.send(append(bodies, reply(int(id), "1"), notification("n", "-1"))...)
	})
	if err := c.Call(deadline(t), "m", nil, nil); err != nil {
		t.Fatal(err)
	}
	// No lock: what the handler wrote before the reply is ours to read now.
	if len(seen) != n {
		t.Fatalf("%d notifications were handled before the reply, want %d", len(seen), n)
	}
	for i, s := range seen {
		if s != fmt.Sprint(i) {
			t.Fatalf("notification %d is %s", i, s)
		}
	}
	if err := c.Barrier(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

func TestEventsAreInOrder(t *testing.T) {
	var mu sync.Mutex
	var got []string
	c, p := connect(t, wire.Options{Handler: hooks{
		event: func(e wire.Event) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf("%d %s %s", e.Kind, e.Method, e.Params))
		},
		request: func(string, []byte) wire.Answer { return wire.Answer{Result: 1} },
	}})
	ctx := deadline(t)
	p.run(func() {
		p.next() // hello
		m := p.next()
		id, _ := m.ID.Number()
		p.send(notification("begin", "1"), `{"jsonrpc":"2.0","id":"a","method":"ask","params":[]}`, reply(int(id), "2"))
		p.next() // the answer to ask
	})
	if err := c.Notify(ctx, "hello", json.RawMessage("0")); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "m", nil, nil); err != nil {
		t.Fatal(err)
	}
	c.Post("mine", nil)
	if err := c.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{"3 hello 0", "1 begin 1", "2 ask []", "4 m 2", "0 mine "}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestP03_CrashWithRequestsInFlight(t *testing.T) {
	const n, tries = 100, 5
	var took time.Duration
	for range tries { // a busy machine may be late once
		c, p := connect(t, wire.Options{})
		errs := make(chan error, n)
		for range n {
			go func() { errs <- c.Call(deadline(t), "m", nil, nil) }()
		}
		for range n {
			p.next()
		}
		died := time.Now()
		p.Close()
		for range n {
			err := <-errs
			var ended *wire.EndedError
			if !errors.As(err, &ended) || !errors.Is(err, io.EOF) {
				t.Fatalf("error is %v, want an EndedError of io.EOF", err)
			}
		}
		took = time.Since(died)
		if err := c.Call(deadline(t), "m", nil, nil); !errors.Is(err, io.EOF) {
			t.Errorf("a later call returns %v", err)
		}
		if err := c.Notify(deadline(t), "m", nil); !errors.Is(err, io.EOF) {
			t.Errorf("a later notification returns %v", err)
		}
		if took <= 100*time.Millisecond {
			return
		}
	}
	t.Errorf("all calls had failed only %v after the end", took)
}

func TestUndecodableMessagesDoNotEndTheConnection(t *testing.T) {
	var got []string
	c, p := connect(t, wire.Options{Handler: hooks{event: func(e wire.Event) {
		if e.Kind == wire.Notification {
			got = append(got, e.Method)
		}
	}}})
	p.run(func() {
		for range 2 {
			m := p.next()
			id, _ := m.ID.Number()
			p.send(`{"jsonrpc":"2.0","method":5}`, `[1,2]`, notification("odd", `{"a"1}`), notification("fine", "1"), reply(int(id), `{"uri":5}`))
		}
	})
	for range 2 {
		var loc protocol.Location
		err := c.Call(deadline(t), "m", nil, &loc)
		var bad *wire.DecodeError
		if !errors.As(err, &bad) || bad.Method != "m" {
			t.Fatalf("error is %v, want a DecodeError", err)
		}
	}
	if diff := cmp.Diff([]string{"odd", "fine", "odd", "fine"}, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	if s := c.Stats(); s.Dropped != 4 {
		t.Errorf("dropped %d messages, want 4", s.Dropped)
	}
}

func TestL03_DesyncEndsTheConnection(t *testing.T) {
	c, p := connect(t, wire.Options{})
	p.raw("Content-Length: 20\r\n\r\n" + notification("x", "1") + frame(ping))
	<-c.Done()
	var bad *wire.FrameError
	if err := c.Err(); !errors.As(err, &bad) {
		t.Errorf("error is %v, want a FrameError", err)
	}
}

func TestL02_StrayOutputIsCountedAndShown(t *testing.T) {
	c, p := connect(t, wire.Options{})
	p.raw("one\ntwo\n" + frame(ping) + "three\n")
	p.Close()
	<-c.Done()
	if s := c.Stats(); s.StrayLines != 3 || s.StrayBytes != 14 {
		t.Errorf("counted %d lines of %d bytes", s.StrayLines, s.StrayBytes)
	}
	var ended *wire.EndedError
	if !errors.As(c.Err(), &ended) || ended.Stray != "one\ntwo\nthree\n" {
		t.Errorf("error is %v", c.Err())
	}
}

func TestL06_WrongIDs(t *testing.T) {
	c, p := connect(t, wire.Options{})
	ids := []string{`"1"`, `"x"`, `1.5`, `1.0`, `null`, `9007199254740993`, `-1`, `0`, `{}`, `[1]`, `true`, `2`}
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		for _, wrong := range ids {
			p.send(`{"jsonrpc":"2.0","id":` + wrong + `,"result":"stolen"}`)
		}
		p.send(reply(int(id), `"mine"`), reply(int(id), `"again"`), notification("end", "1"))
	})
	var got string
	if err := c.Call(deadline(t), "m", nil, &got); err != nil || got != "mine" {
		t.Fatalf("answer is %q, %v", got, err)
	}
	want := uint64(len(ids) + 1)
	until(t, "all wrong answers are counted", func() bool { return c.Stats().Dropped == want })
}

func TestL08_AsksWhileWeWait(t *testing.T) {
	c, p := connect(t, wire.Options{Handler: hooks{request: func(method string, params []byte) wire.Answer {
		switch method {
		case "now":
			return wire.Answer{Result: json.RawMessage(params)}
		case "later":
			return wire.Answer{Later: func(context.Context) (any, *wire.Error) { return json.RawMessage(params), nil }}
		case "panic":
			panic("handler")
		case "panic later":
			return wire.Answer{Later: func(context.Context) (any, *wire.Error) { panic("later") }}
		}
		return wire.Answer{Err: wire.NewError(wire.MethodNotFound, method)}
	}}})
	got := map[string]string{}
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		for i, method := range []string{"now", "later", "panic", "panic later", "other"} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":[%d]}`, i, method, i))
		}
		for range 5 {
			a := p.next()
			key, _ := a.ID.StringValue()
			got[key] = string(a.Result)
			if a.Error != nil {
				got[key] = fmt.Sprint(a.Error.Code)
			}
		}
		p.send(reply(int(id), "null"))
	})
	if err := c.Call(deadline(t), "m", nil, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"q0": "[0]", "q1": "[1]", "q2": "-32603", "q3": "-32603", "q4": "-32601"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if s := c.Stats(); s.Panics != 2 {
		t.Errorf("counted %d panics, want 2", s.Panics)
	}
}

func TestL11_CancelAndReplyRace(t *testing.T) {
	c, p := connect(t, wire.Options{})
	cancels := map[int64]int{}
	p.run(func() {
		for {
			body, err := p.reader.Next()
			if err != nil {
				return
			}
			m, err := wire.Parse(body)
			if err != nil {
				continue
			}
			if m.Method == "$/cancelRequest" {
				var q struct{ ID int64 }
				if json.Unmarshal(m.Params, &q) == nil {
					cancels[q.ID]++
				}
				continue
			}
			id, _ := m.ID.Number()
			p.send(reply(int(id), fmt.Sprint(id)))
		}
	})
	const n = 400
	cancelled := 0
	var mu sync.Mutex
	var callers sync.WaitGroup
	for i := range n {
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%20)*20*time.Microsecond)
			defer cancel()
			var got int
			err := c.Call(ctx, "m", nil, &got)
			switch {
			case err == nil && got == 0:
				t.Error("a call returned neither a result nor an error")
			case err != nil && !errors.Is(err, context.DeadlineExceeded):
				t.Errorf("error is %v", err)
			case err != nil:
				mu.Lock()
				cancelled++
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	until(t, "every call that was given up is answered", func() bool { return c.Stats().Abandoned == 0 })
	p.Close()
	p.wg.Wait()
	if s := c.Stats(); s.Dropped != 0 || s.Late > uint64(cancelled) {
		t.Errorf("%d cancelled calls, stats %+v", cancelled, s)
	}
	for id, times := range cancels {
		if times != 1 {
			t.Errorf("call %d was cancelled %d times", id, times)
		}
	}
	if len(cancels) > cancelled {
		t.Errorf("the peer saw %d cancels of %d", len(cancels), cancelled)
	}
}

func TestCancelIsSent(t *testing.T) {
	c, p := connect(t, wire.Options{})
	ctx, cancel := context.WithCancelCause(deadline(t))
	why := errors.New("the caller left")
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, "m", nil, nil) }()
	call := p.next()
	cancel(why)
	if err := <-done; !errors.Is(err, why) || !strings.HasPrefix(err.Error(), "m: ") {
		t.Errorf("error is %v", err)
	}
	id, _ := call.ID.Number()
	if m := p.next(); m.Method != "$/cancelRequest" || string(m.Params) != fmt.Sprintf(`{"id":%d}`, id) {
		t.Errorf("after the call the peer reads %s %s", m.Method, m.Params)
	}
	if s := c.Stats(); s.Abandoned != 1 {
		t.Errorf("%d calls are abandoned, want 1", s.Abandoned)
	}
	p.send(reply(int(id), "1"))
	until(t, "the late answer is counted", func() bool { return c.Stats().Late == 1 && c.Stats().Abandoned == 0 })
}

func TestAnswerThatArrivedBeforeTheEndIsDelivered(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	c, p := connect(t, wire.Options{Handler: hooks{event: func(e wire.Event) {
		if e.Kind == wire.Notification {
			close(entered)
			<-release
		}
	}}})
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		p.send(notification("n", "1"), reply(int(id), `"mine"`))
		p.Close()
	})
	done := make(chan error, 1)
	var got string
	go func() { done <- c.Call(deadline(t), "m", nil, &got) }()
	<-entered
	<-c.Done()
	select {
	case err := <-done:
		t.Errorf("the call returned before the notification was handled: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := <-done; err != nil || got != "mine" {
		t.Errorf("answer is %q, %v", got, err)
	}
}

func TestTrace(t *testing.T) {
	var trace buffer
	c, p := connect(t, wire.Options{Trace: &trace})
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		p.send("{\n \"jsonrpc\": \"2.0\",\n \"id\": " + fmt.Sprint(id) + ",\n \"result\": \"\xff\"\n}")
	})
	if err := c.Call(deadline(t), "m", []int{1}, nil); err != nil {
		t.Fatal(err)
	}
	lines := trace.lines(t)
	if len(lines) != 2 || lines[0].From != "client" || lines[1].From != "server" {
		t.Fatalf("trace is %+v", lines)
	}
	if want := `{"jsonrpc":"2.0","method":"m","params":[1],"id":1}`; string(lines[0].Message) != want {
		t.Errorf("traced %s, want %s", lines[0].Message, want)
	}
	if bytes.ContainsAny(lines[1].Message, "\n") {
		t.Errorf("traced %q: not on one line", lines[1].Message)
	}
}

func TestOversizedMessageIsRefused(t *testing.T) {
	c, _ := connect(t, wire.Options{})
	err := c.Notify(deadline(t), "m", json.RawMessage(make([]byte, wire.MaxFrame)))
	if err == nil || !strings.Contains(err.Error(), "exceeds") {
		t.Errorf("error is %v", err)
	}
	if c.Err() != nil {
		t.Errorf("the connection ended: %v", c.Err())
	}
}

func TestCallError(t *testing.T) {
	c, p := connect(t, wire.Options{})
	p.run(func() {
		m := p.next()
		id, _ := m.ID.Number()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32801,"message":"content modified","data":{"a":1}}}`, id))
	})
	err := c.Call(deadline(t), "m", nil, nil)
	var call *wire.CallError
	if !errors.As(err, &call) || call.Method != "m" || string(call.Data) != `{"a":1}` {
		t.Fatalf("error is %#v", err)
	}
	if !errors.Is(err, wire.ErrContentModified) || errors.Is(err, wire.ErrServerCancelled) {
		t.Errorf("error %v has the wrong identity", err)
	}
}
