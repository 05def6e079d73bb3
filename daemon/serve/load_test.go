package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// Every client uses the same ids; each answer must be the one to its own question.
func TestL07_ManyClientsSameIDs(t *testing.T) {
	clients, requests := 64, 400
	if os.Getenv("AURA_TEST_LONG") != "" {
		requests = 10_000
	}
	r := start(t, Options{Dispatch: echo})
	var wg sync.WaitGroup
	for c := range clients {
		p := dial(t, r.socket)
		wg.Go(func() {
			const window = 100
			for from := 0; from < requests; from += window {
				var b strings.Builder
				for i := range window {
					b.WriteString(framed(request(fmt.Sprint(i), "definition", fmt.Sprintf(`{"symbolName":"c%d-%d"}`, c, from+i))))
				}
				if _, err := io.WriteString(p.nc, b.String()); err != nil {
					t.Error(err)
					return
				}
				seen := map[string]bool{}
				for range window {
					a := parse(t, p.frame())
					want := fmt.Sprintf(`{"echo":"c%d-%s"}`, c, number(from, a.ID))
					if string(a.Result) != want || seen[string(a.ID)] {
						t.Errorf("client %d: id %s got %s, want %s", c, a.ID, a.Result, want)
						return
					}
					seen[string(a.ID)] = true
				}
			}
		})
	}
	wg.Wait()
	if n := r.Stats().Requests; n != int64(clients*requests) {
		t.Errorf("%d requests counted, want %d", n, clients*requests)
	}
}

func number(from int, id []byte) string {
	var n int
	_, _ = fmt.Sscan(string(id), &n)
	return fmt.Sprint(from + n)
}

// FuzzFrames: no input makes the reader panic, give more than it got, or read
// past its limit.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: 4\r\nX: y\r\n\r\nnull"))
	f.Add([]byte("{}\n[1]\n\n{"))
	f.Add([]byte("content-length:3\n\nabc"))
	f.Add([]byte("Content-Length: 70000\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 16
		in := newFrames(bytes.NewReader(data), limit, func() {}, func() {})
		total := 0
		for {
			m, err := in.next()
			if err != nil {
				var bad *frameError
				if !errors.As(err, &bad) && err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Fatalf("untyped error %v", err)
				}
				return
			}
			if len(m) > limit+1 {
				t.Fatalf("a message of %d bytes", len(m))
			}
			if total += len(m); total > len(data) {
				t.Fatalf("%d bytes out of %d", total, len(data))
			}
			parseMessage(m)
		}
	})
}

// FuzzFrameRoundTrip: what appendFrame writes is read back, in both framings.
func FuzzFrameRoundTrip(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, m := range [][]byte{a, b} {
			if len(m) == 0 || bytes.ContainsAny(m, "\n\r") {
				return
			}
		}
		for _, lines := range []bool{false, true} {
			if lines && (a[0] != '{' && a[0] != '[' || b[0] == ' ' || b[0] == '\t') {
				continue
			}
			wire := appendFrame(appendFrame(nil, a, lines), b, lines)
			in := newFrames(bufio.NewReader(bytes.NewReader(wire)), 1<<20, func() {}, func() {})
			for _, want := range [][]byte{a, b} {
				got, err := in.next()
				if err != nil || !bytes.Equal(bytes.TrimSuffix(got, []byte("\n")), want) {
					t.Fatalf("got %q, %v, want %q", got, err, want)
				}
			}
		}
	})
}

// BenchmarkThroughput measures answers to pipelined requests of 200 bytes
// against a bare echo of frames, in the same run.
func BenchmarkThroughput(b *testing.B) {
	r := start(b, Options{Dispatch: echo})
	p := dial(b, r.socket)
	one := framed(request("1", "aura_definition", `{"symbolName":"`+strings.Repeat("x", 120)+`"}`))
	const window = 64
	many := strings.Repeat(one, window)
	b.ResetTimer()
	for i := 0; i < b.N; i += window {
		p.write(many)
		for range window {
			p.frame()
		}
	}
}
