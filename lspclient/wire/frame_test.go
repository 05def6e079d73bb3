package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/auralsp/aura/lspclient/wire"
)

const ping = `{"jsonrpc":"2.0","method":"x"}`

func frame(body string) string { return string(wire.AppendFrame(nil, []byte(body))) }

func TestL01_ContentLength(t *testing.T) {
	n := len(ping)
	cases := []struct {
		name, input string
		ok          bool
	}{
		{"plain", frame(ping), true},
		{"mixed case", fmt.Sprintf("cONTENT-lENGTH: %d\r\n\r\n%s", n, ping), true},
		{"no space", fmt.Sprintf("Content-Length:%d\r\n\r\n%s", n, ping), true},
		{"tabs and spaces", fmt.Sprintf("Content-Length: \t %d \t\r\n\r\n%s", n, ping), true},
		{"leading zeros", fmt.Sprintf("Content-Length: 000%d\r\n\r\n%s", n, ping), true},
		{"bare newlines", fmt.Sprintf("Content-Length: %d\n\n%s", n, ping), true},
		{"content type first", fmt.Sprintf("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s", n, ping), true},
		{"unknown field", fmt.Sprintf("Content-Length: %d\r\nX-Trace: 1\r\n\r\n%s", n, ping), true},
		{"negative", "Content-Length: -1\r\n\r\n" + ping, false},
		{"plus", fmt.Sprintf("Content-Length: +%d\r\n\r\n%s", n, ping), false},
		{"zero", "Content-Length: 0\r\n\r\n", false},
		{"hex", "Content-Length: 0x1E\r\n\r\n" + ping, false},
		{"float", "Content-Length: 30.0\r\n\r\n" + ping, false},
		{"two numbers", "Content-Length: 30, 30\r\n\r\n" + ping, false},
		{"empty", "Content-Length:\r\n\r\n" + ping, false},
		{"overflow", "Content-Length: 18446744073709551646\r\n\r\n" + ping, false},
		{"above the cap", fmt.Sprintf("Content-Length: %d\r\n\r\n", wire.MaxFrame+1), false},
		{"missing", "Content-Type: text/plain\r\n\r\n" + ping, false},
		{"duplicate", fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s", n, n, ping), false},
		{"folded", fmt.Sprintf("Content-Length: %d\r\n folded\r\n\r\n%s", n, ping), false},
		{"no colon", fmt.Sprintf("Content-Length: %d\r\nnonsense\r\n\r\n%s", n, ping), false},
		{"endless header", "Content-Length: 30\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("p", 500)+"\r\n", 20) + "\r\n" + ping, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.input), iotest.OneByteReader(strings.NewReader(c.input))} {
				body, err := wire.NewReader(r, nil).Next()
				var bad *wire.FrameError
				switch {
				case c.ok && (err != nil || string(body) != ping):
					t.Errorf("read %q, %v", body, err)
				case !c.ok && !errors.As(err, &bad):
					t.Errorf("read %q, error %v; want a FrameError", body, err)
				}
			}
		})
	}
}

func TestL01_NoMemoryBeforeTheBytes(t *testing.T) {
	input := fmt.Sprintf("Content-Length: %d\r\n\r\n{", wire.MaxFrame)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := wire.NewReader(strings.NewReader(input), nil).Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error is %v", err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("%d bytes were allocated for a body that never came", grown)
	}
}

func TestLargeFrame(t *testing.T) {
	body := strings.Repeat("x", 5<<20)
	got, err := wire.NewReader(iotest.HalfReader(strings.NewReader(frame(body)+frame(ping))), nil).Next()
	if err != nil || string(got) != body {
		t.Fatalf("read %d bytes, %v; want %d", len(got), err, len(body))
	}
}

func TestL02_StrayOutput(t *testing.T) {
	line := "2026-01-02 INFO: loading, Content-Length: 12 is a header\n"
	var skipped int
	skip := func(b []byte) { skipped += len(b) }
	enough := strings.Repeat(line, wire.MaxStray/len(line))

	t.Run("skipped between frames", func(t *testing.T) {
		skipped = 0
		r := wire.NewReader(strings.NewReader(enough+frame(ping)+enough+frame(ping)), skip)
		for range 2 {
			if body, err := r.Next(); err != nil || string(body) != ping {
				t.Fatalf("read %q, %v", body, err)
			}
		}
		if want := 2 * len(enough); skipped != want {
			t.Errorf("counted %d stray bytes, want %d", skipped, want)
		}
	})
	t.Run("broken past the limit", func(t *testing.T) {
		_, err := wire.NewReader(strings.NewReader(enough+line+frame(ping)), skip).Next()
		var bad *wire.FrameError
		if !errors.As(err, &bad) {
			t.Errorf("error is %v, want a FrameError", err)
		}
	})
	t.Run("a line without end", func(t *testing.T) {
		_, err := wire.NewReader(io.LimitReader(zeros{}, 1<<30), skip).Next()
		var bad *wire.FrameError
		if !errors.As(err, &bad) {
			t.Errorf("error is %v, want a FrameError", err)
		}
	})
	t.Run("glued to the header", func(t *testing.T) {
		skipped = 0
		r := wire.NewReader(strings.NewReader("done. "+frame(ping)), skip)
		if body, err := r.Next(); err != nil || string(body) != ping || skipped != len("done. ") {
			t.Errorf("read %q, %v, skipped %d", body, err, skipped)
		}
	})
	t.Run("only output", func(t *testing.T) {
		skipped = 0
		_, err := wire.NewReader(strings.NewReader("usage: server [flags]\nno newline"), skip).Next()
		if !errors.Is(err, io.EOF) || skipped != 32 {
			t.Errorf("error is %v, skipped %d", err, skipped)
		}
	})
}

func TestL03_LengthAndBodyDisagree(t *testing.T) {
	cases := map[string]string{
		"body longer":               fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping)-5, ping) + frame(ping),
		"body longer by a message":  frame(ping) + ping + "\n" + frame(ping),
		"body shorter, then more":   fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping)+5, ping) + frame(ping),
		"body shorter, then EOF":    fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping)+5, ping),
		"EOF in the header":         "Content-Length: 3",
		"EOF before the blank line": "Content-Length: 3\r\n",
		"EOF before the body":       "Content-Length: 3\r\n\r\n",
	}
	for name, input := range cases {
		t.Run(name, func(t *testing.T) {
			r := wire.NewReader(strings.NewReader(input), nil)
			messages := 0
			for {
				body, err := r.Next()
				if err == nil {
					_, err = wire.Parse(body)
				}
				if err == nil {
					messages++
					continue
				}
				var bad *wire.FrameError
				if !errors.As(err, &bad) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, wire.ErrNotJSON) {
					t.Errorf("after %d messages the error is %v", messages, err)
				}
				if messages > 1 {
					t.Errorf("read on after the desync: %d messages", messages)
				}
				return
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// FuzzReader looks for panics, for memory that grows with announced lengths,
// and for a body that is not what the stream holds.
func FuzzReader(f *testing.F) {
	f.Add([]byte(frame(ping)))
	f.Add([]byte("log\n" + frame(ping) + "more " + frame("{}")))
	f.Add([]byte("Content-Length: 99999999\r\n\r\n{}"))
	f.Add([]byte("content-type: a\ncontent-length: 2\n\n{}"))
	f.Add([]byte("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		total := 0
		r := wire.NewReader(bytes.NewReader(input), func(b []byte) { total += len(b) })
		for {
			body, err := r.Next()
			if err != nil {
				break
			}
			if len(body) == 0 || !bytes.Contains(input, body) {
				t.Fatalf("body %q is not in the stream", body)
			}
			total += len(body)
		}
		if total > len(input) {
			t.Fatalf("%d bytes of a stream of %d", total, len(input))
		}
	})
}

// FuzzFrames checks that frames among log lines come out as they went in.
func FuzzFrames(f *testing.F) {
	f.Add([]byte(ping), []byte("{}"), "starting\n")
	f.Add([]byte("\r\n\r\n"), []byte("Content-Length: 1\r\n"), "")
	f.Fuzz(func(t *testing.T, a, b []byte, log string) {
		if len(a) == 0 || len(b) == 0 {
			t.Skip("an empty body is no frame")
		}
		lower := strings.ToLower(log)
		if strings.Contains(lower, "content-") || strings.Contains(lower, `"jsonrpc"`) || len(log) > 1000 ||
			log != "" && !strings.HasSuffix(log, "\n") {
			t.Skip("not a log line")
		}
		stream := log + frame(string(a)) + log + frame(string(b))
		r := wire.NewReader(iotest.HalfReader(strings.NewReader(stream)), nil)
		for _, want := range [][]byte{a, b} {
			got, err := r.Next()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("read %q, %v; want %q", got, err, want)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("error at the end is %v", err)
		}
	})
}
