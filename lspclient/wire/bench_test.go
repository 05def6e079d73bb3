package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient/wire"
)

// BenchmarkForward compares calls through a Conn with their floor: the same
// frames to the same echoing peer over the same kind of pipes, without anything
// that a connection is for. One op is one round trip; clients of one connection
// call at the same time. The arms alternate floor, wire, wire, floor, so that
// what else the machine does falls on both.
func BenchmarkForward(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		for _, clients := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("size=%d/clients=%d", size, clients), func(b *testing.B) {
				params := json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
				floor, through := newFloor(b, clients, params), newForward(b, clients, params)
				floor(clients)
				through(clients)
				var spent [2]time.Duration
				done := [2]int{}
				b.SetBytes(int64(size))
				b.ResetTimer()
				for i := range 8 {
					n := share(b.N, 8, i)
					for _, arm := range []int{i % 2, 1 - i%2} {
						began := time.Now()
						[]func(int){floor, through}[arm](n)
						spent[arm] += time.Since(began)
						done[arm] += n
					}
				}
				b.StopTimer()
				b.ReportMetric(0, "ns/op") // of both arms: says nothing
				b.ReportMetric(float64(done[0])/spent[0].Seconds(), "floor-msg/s")
				b.ReportMetric(float64(done[1])/spent[1].Seconds(), "wire-msg/s")
				b.ReportMetric(100*spent[0].Seconds()/spent[1].Seconds(), "%-of-floor")
			})
		}
	}
}

func newForward(b *testing.B, clients int, params json.RawMessage) func(n int) {
	c, p := connect(b, wire.Options{})
	p.run(p.echo)
	return func(n int) {
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				for range share(n, clients, i) {
					var result json.RawMessage
					if err := c.Call(b.Context(), "echo", params, &result); err != nil || len(result) != len(params) {
						b.Errorf("%d bytes, %v", len(result), err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// newFloor keeps as many requests under way as there are clients, from two loops.
func newFloor(b *testing.B, clients int, params json.RawMessage) func(n int) {
	ours, theirs := pipePair(b)
	p := &peer{t: b, pipes: theirs, reader: wire.NewReader(theirs, nil)}
	p.run(p.echo)
	b.Cleanup(func() {
		if err := ours.Close(); err != nil {
			b.Error(err)
		}
		p.wg.Wait()
		if err := theirs.Close(); err != nil {
			b.Error(err)
		}
	})
	body := []byte(`{"jsonrpc":"2.0","method":"echo","params":` + string(params) + `,"id":1}`)
	request := wire.AppendFrame(nil, body)
	in := wire.NewReader(ours, nil)
	under := make(chan struct{}, clients)
	return func(n int) {
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n {
				under <- struct{}{}
				if _, err := ours.Write(request); err != nil {
					b.Error(err)
					return
				}
			}
		})
		for range n {
			if _, err := in.Next(); err != nil {
				b.Fatal(err)
			}
			<-under
		}
		wg.Wait()
	}
}

func share(n, clients, i int) int {
	s := n / clients
	if i < n%clients {
		s++
	}
	return s
}
