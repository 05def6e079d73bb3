package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// conn is a client of the socket that speaks one JSON value a line, as a script
// with nc would.
type conn struct {
	t    testing.TB
	net  net.Conn
	read *bufio.Scanner
	next int
}

// response is one line of the daemon.
type response struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    *api.Error
	}
}

// dial connects to the daemon of a world, which must run.
func (w *world) dial(t testing.TB) *conn {
	t.Helper()
	nc, err := net.Dial("unix", w.socket())
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{t: t, net: nc, read: bufio.NewScanner(nc)}
	c.read.Buffer(nil, 64<<20)
	var once sync.Once
	t.Cleanup(func() { once.Do(func() { _ = nc.Close() }) })
	return c
}

// post sends a request and returns its id.
func (c *conn) post(method string, params any) int {
	c.t.Helper()
	c.next++
	c.line(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	return c.next
}

func (c *conn) line(v any) {
	c.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.net.Write(append(body, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// wait returns the response to a request; notifications are passed over.
func (c *conn) wait(id int) response {
	c.t.Helper()
	if err := c.net.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	for c.read.Scan() {
		var r response
		if err := json.Unmarshal(c.read.Bytes(), &r); err != nil {
			c.t.Fatalf("%v in %s", err, c.read.Bytes())
		}
		if r.Method == "" && r.ID == id {
			return r
		}
	}
	c.t.Fatalf("the connection ended before the answer: %v", c.read.Err())
	return response{}
}

// do sends a request and decodes its answer; a refusal is returned.
func (c *conn) do(method string, params, out any) *api.Error {
	c.t.Helper()
	r := c.wait(c.post(method, params))
	if r.Error != nil {
		if r.Error.Data == nil {
			c.t.Fatalf("%s: an error without data: %+v", method, r.Error)
		}
		return r.Error.Data
	}
	if out != nil {
		if err := json.Unmarshal(r.Result, out); err != nil {
			c.t.Fatalf("%s: %v in %s", method, err, r.Result)
		}
	}
	return nil
}

// waitAny returns the next response, whatever it answers.
func (c *conn) waitAny() response {
	c.t.Helper()
	if err := c.net.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	for c.read.Scan() {
		var r response
		if err := json.Unmarshal(c.read.Bytes(), &r); err != nil {
			c.t.Fatalf("%v in %s", err, c.read.Bytes())
		}
		if r.Method == "" {
			return r
		}
	}
	c.t.Fatalf("the connection ended: %v", c.read.Err())
	return response{}
}
