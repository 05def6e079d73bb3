package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// What the benchmarks are measured against, in the same run.

// floorSource is a program that does what any command of a client must do:
// start, ask a socket one thing, print the answer, end.
const floorSource = `package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
)

func main() {
	c, err := net.Dial("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(c, "{}")
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		panic(err)
	}
	fmt.Print(line)
}
`

// buildFloor builds the empty program.
func buildFloor(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	write(b, filepath.Join(dir, "main.go"), floorSource)
	write(b, filepath.Join(dir, "go.mod"), "module floor\n\ngo 1.24\n")
	cmd := exec.Command("go", "build", "-o", "floor", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "floor")
}

// echo serves a socket on which every message comes back: lines, or frames with
// a Content-Length.
func echo(b *testing.B, framed bool) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "echo")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for {
					var message []byte
					var err error
					if framed {
						message, err = readFrame(r)
						message = frame(message)
					} else {
						message, err = r.ReadBytes('\n')
					}
					if err != nil {
						return
					}
					if _, err := c.Write(message); err != nil {
						return
					}
				}
			})
		}
	})
	b.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
		_ = os.RemoveAll(dir)
	})
	return path
}

// frame puts a header before a body.
func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

// readFrame reads one framed body.
func readFrame(r *bufio.Reader) ([]byte, error) {
	n := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line == "\r\n" {
			break
		}
		if len(line) > 16 && line[:16] == "Content-Length: " {
			if n, err = strconv.Atoi(line[16 : len(line)-2]); err != nil {
				return nil, err
			}
		}
	}
	if n < 0 {
		return nil, errors.New("a frame without a length")
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return body, err
}

// samples are the durations of one arm.
type samples []time.Duration

// at returns a percentile.
func (s samples) at(percent int) time.Duration {
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

func (s samples) String() string {
	return fmt.Sprintf("n=%d p50=%v p95=%v p99=%v max=%v", len(s), s.at(50), s.at(95), s.at(99), s.at(100))
}

// timed runs f and returns how long it took.
func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// interleave runs two arms in ABBA order n times, so that whatever else the
// machine does falls on both.
func interleave(n int, a, b func() time.Duration) (as, bs samples) {
	for i := range n {
		if i%2 == 0 {
			as = append(as, a())
			bs = append(bs, b())
		} else {
			bs = append(bs, b())
			as = append(as, a())
		}
	}
	return as, bs
}

// added returns the paired differences b - a.
func added(as, bs samples) samples {
	out := make(samples, len(as))
	for i := range as {
		out[i] = bs[i] - as[i]
	}
	return out
}

// ratio of two durations.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// goal prints a measured number beside what it should be.
func goal(b *testing.B, what string, got, want float64, unit string, atMost bool) {
	b.Helper()
	verdict, sign := "met", "<="
	if !atMost {
		sign = ">="
	}
	if atMost && got > want || !atMost && got < want {
		verdict = "MISSED"
	}
	b.Logf("%-58s %10.3f %-6s goal %s %g: %s", what, got, unit, sign, want, verdict)
}
