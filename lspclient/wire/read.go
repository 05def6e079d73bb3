package wire

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// read runs until the stream ends, and then ends the connection.
func (c *Conn) read() {
	r := NewReader(c.rwc, c.skipped)
	for {
		body, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("read: %w", err)
			}
			c.fail(err)
			return
		}
		c.received.add(1)
		c.tap.record("server", body)
		m, err := Parse(body)
		switch {
		case errors.Is(err, ErrNotJSON):
			c.fail(frameError("body is not JSON", body))
			return
		case err != nil:
			c.drop("message", err, body)
			continue
		}
		c.dispatch(m)
	}
}

func (c *Conn) dispatch(m Message) {
	now := time.Now()
	switch m.Kind {
	case NotificationMessage:
		c.queue.push(&Event{Time: now, Kind: Notification, Method: m.Method, Params: m.Params}, true)
	case CallMessage:
		c.queue.push(&Event{Time: now, Kind: Request, Method: m.Method, Params: m.Params}, true)
		c.request(m)
	case ResultMessage, ErrorMessage:
		id, _ := m.ID.Number() // 0, the id of no call, for an id of any other type
		c.mu.Lock()
		p := c.pending[id]
		_, late := c.cancelled[id]
		if p != nil {
			delete(c.pending, id)
		} else if late {
			delete(c.cancelled, id)
		}
		c.mu.Unlock()
		switch {
		case p != nil:
			c.reply(p, m, now)
		case late:
			c.late.add(1)
		case m.Error != nil:
			c.drop("answer", m.Error, nil)
		default:
			c.drop("answer", fmt.Errorf("no call has the id %v", m.ID), nil)
		}
	}
}

func (c *Conn) reply(p *pending, m Message, now time.Time) {
	e := &Event{Time: now, Kind: Replied, Method: p.method, Params: m.Result, call: p, answer: answer{result: m.Result}}
	if m.Error != nil {
		e.answer.err = &CallError{Method: p.method, Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
		e.Err = e.answer.err
	}
	// With nothing ahead of it the reader hands it over by itself, so that who
	// waits for the answer need not wait for another goroutine.
	if c.queue.claim(e) {
		c.handle(e)
		return
	}
	c.queue.push(e, true)
}

// request answers the peer. It runs on the reader and never waits.
func (c *Conn) request(m Message) {
	a := Answer{Err: NewError(InternalError, "handler failed")}
	c.guard(m.Method, func() { a = c.handler.Request(m.Method, m.Params) })
	if a.Later == nil {
		c.answer(m.ID, m.Method, a.Result, a.Err)
		return
	}
	select {
	case c.later <- laterJob{id: m.ID, method: m.Method, run: a.Later}:
	default:
		c.answer(m.ID, m.Method, nil, NewError(RequestFailed, "too many requests at once"))
	}
}

func (c *Conn) answer(id ID, method string, result any, failure *Error) {
	raw, err := Marshal(result)
	if err != nil {
		c.log.Error("encode answer", "method", method, "err", err)
		failure = NewError(InternalError, "answer cannot be encoded")
	}
	frame := frameRoom(method, raw)
	if failure != nil {
		frame = jsonrpc2.AppendResponse(frame, id, nil, failure)
	} else {
		frame = jsonrpc2.AppendResponse(frame, id, raw, nil)
	}
	c.tap.record("client", frame[headerRoom:])
	if !c.out.force(withHeader(frame)) {
		c.fail(ErrFlood)
		return
	}
	c.sent.add(1)
}

func (c *Conn) drop(what string, err error, body []byte) {
	// A server that keeps doing it must not fill the log.
	if n := c.dropped.add(1); n > 20 && n%1000 != 0 {
		return
	}
	c.log.Warn("dropped from server", "what", what, "err", err, "near", string(body[:min(len(body), 200)]))
}

func (c *Conn) skipped(stray []byte) {
	c.strayLines.add(1)
	c.strayBytes.add(len(stray))
	c.log.Debug("stray output of server", "text", string(stray[:min(len(stray), 200)]))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stray = append(c.stray, stray...)
	if extra := len(c.stray) - maxStrayShown; extra > 0 {
		c.stray = append(c.stray[:0], c.stray[extra:]...)
	}
}
