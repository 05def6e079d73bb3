package lsptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/auralsp/aura/lspclient/wire"
)

// match returns the first fault for a message that is due, of one deed or, when
// it is empty, of any but those that act elsewhere; and counts it.
func (s *Server) match(method string, params []byte, deed Deed) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.config.Faults {
		f := &s.config.Faults[i]
		if f.On != "" && f.On != method || f.On == "" && method == "start" {
			continue
		}
		if deed == "" && f.Do == StopReading || deed != "" && f.Do != deed {
			continue
		}
		if f.Path != "" && !strings.HasSuffix(documentOf(params), f.Path) {
			continue
		}
		s.fired[i]++
		if s.fired[i] <= f.After || f.Times > 0 && s.fired[i] > f.After+f.Times {
			continue
		}
		if f.Once != "" && !first(f.Once) {
			continue
		}
		return f
	}
	return nil
}

// first makes a file and reports whether it was not there.
func first(path string) bool {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	return f.Close() == nil
}

func documentOf(params []byte) string {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.TextDocument.URI
}

// faulty does what a fault asks and reports whether the message is dealt with.
func (s *Server) faulty(m wire.Message) bool {
	f := s.match(m.Method, m.Params, "")
	if f == nil {
		return false
	}
	switch f.Do {
	case Crash:
		s.exit(f.Code)
		return true
	case Kill:
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		return true
	case Silent:
		return true
	case Sleep:
		return !s.pause(f.Millis)
	case Hang:
		<-s.ctx.Done()
		return true
	case Late:
		s.wg.Go(func() {
			if s.pause(f.Millis) {
				s.handle(m)
			}
		})
		return true
	case Garbage:
		text := f.Text
		for len(text) < f.Bytes {
			text += "2026/01/02 15:04:05 INFO a log line where frames belong\n"
		}
		s.Write([]byte(text))
	case Stderr:
		s.flood(f)
	case Notify:
		for range max(f.Count, 1) {
			s.Notify(f.Text, f.JSON)
		}
	case Ask:
		s.Ask(s.ctx, f.Text, f.JSON)
	case Progress:
		for i := range f.Count {
			s.Notify("$/progress", map[string]any{
				"token": "flood", "value": map[string]any{"kind": "report", "message": fmt.Sprint(i)},
			})
		}
	case Overwhelm:
		for i := range f.Count {
			s.Notify("textDocument/publishDiagnostics", map[string]any{
				"uri": fmt.Sprintf("file:///flood/%d", i), "diagnostics": []any{},
			})
		}
	case CloseStdout:
		s.out.Close()
		return true
	case CloseStderr:
		if c, ok := s.stderr.(io.Closer); ok {
			c.Close()
		}
	default:
		return s.faultyAnswer(f, m)
	}
	return false
}

// faultyAnswer replaces the answer to a call.
func (s *Server) faultyAnswer(f *Fault, m wire.Message) bool {
	if f.Do == Raw {
		s.Write([]byte(f.Text))
		return true
	}
	if m.Kind != wire.CallMessage {
		return false
	}
	switch f.Do {
	case Refuse:
		s.reply(m.ID, nil, wire.NewError(wire.Code(f.Code), f.Text))
		return true
	case AnswerWith:
		s.reply(m.ID, f.JSON, nil)
		return true
	case Huge:
		s.reply(m.ID, strings.Repeat("x", f.Bytes), nil)
		return true
	}
	result, failure := s.result(m)
	body := replyBody(m.ID, result, failure)
	frame := wire.AppendFrame(nil, body)
	switch f.Do {
	case Twice:
		s.Write(frame)
		s.Write(frame)
	case WrongIDs:
		for _, id := range []string{`"text"`, `1.5`, `null`, `9007199254740993`, `-1`, `{}`, `[1]`, `true`, `"1"`} {
			s.writeBody(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":"stolen"}`, id))
		}
		s.Write(frame)
	case Split:
		for len(frame) > 0 {
			n := min(max(f.Bytes, 1), len(frame))
			s.Write(frame[:n])
			frame = frame[n:]
		}
	case Reorder:
		s.writing.Lock()
		defer s.writing.Unlock()
		s.held = append(s.held, frame)
		if len(s.held) < f.Count {
			return true
		}
		for i := len(s.held) - 1; i >= 0; i-- {
			s.put(s.held[i])
		}
		s.held = nil
	default:
		panic(fmt.Sprintf("lsptest: unknown deed %q", f.Do))
	}
	return true
}

func (s *Server) flood(f *Fault) {
	if f.Text != "" {
		fmt.Fprint(s.stderr, f.Text)
	}
	chunk := bytes.Repeat([]byte("e"), 32<<10)
	for left := f.Bytes; left > 0; left -= len(chunk) {
		if _, err := s.stderr.Write(chunk[:min(left, len(chunk))]); err != nil {
			return
		}
	}
}
