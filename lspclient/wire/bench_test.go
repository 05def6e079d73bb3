package wire_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/auralsp/aura/lspclient/wire"
)

// BenchmarkForward compares calls through a Conn with the floor: the same
// frames to the same echoing peer over the same pipes, without anything that a
// connection is for. One op is one round trip; clients of one connection call
// at the same time.
func BenchmarkForward(b *testing.B) {
	for _, size := range []int{200, 64 << 10} {
		for _, clients := range []int{1, 8, 64} {
			params := json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
			b.Run(fmt.Sprintf("size=%d/clients=%d/arm=floor", size, clients), func(b *testing.B) { floor(b, clients, params) })
			b.Run(fmt.Sprintf("size=%d/clients=%d/arm=wire", size, clients), func(b *testing.B) { forward(b, clients, params) })
		}
	}
}

func forward(b *testing.B, clients int, params json.RawMessage) {
	c, p := connect(b, wire.Options{})
	p.run(p.echo)
	ctx := b.Context()
	b.SetBytes(int64(len(params)))
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for range share(b.N, clients, i) {
				var result json.RawMessage
				if err := c.Call(ctx, "echo", params, &result); err != nil || len(result) != len(params) {
					b.Errorf("%d bytes, %v", len(result), err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// floor keeps as many requests under way as there are clients, from two loops.
func floor(b *testing.B, clients int, params json.RawMessage) {
	ours, theirs := pipePair(b)
	p := &peer{t: b, pipes: theirs, reader: wire.NewReader(theirs, nil)}
	var wg sync.WaitGroup
	wg.Go(p.echo)
	body := []byte(`{"jsonrpc":"2.0","method":"echo","params":` + string(params) + `,"id":1}`)
	request := wire.AppendFrame(nil, body)
	under := make(chan struct{}, clients)
	b.SetBytes(int64(len(params)))
	b.ResetTimer()
	wg.Go(func() {
		for range b.N {
			under <- struct{}{}
			if _, err := ours.Write(request); err != nil {
				b.Error(err)
				return
			}
		}
	})
	in := wire.NewReader(ours, nil)
	for range b.N {
		if _, err := in.Next(); err != nil && err != io.EOF {
			b.Fatal(err)
		}
		<-under
	}
	b.StopTimer()
	if err := ours.Close(); err != nil {
		b.Error(err)
	}
	wg.Wait()
	if err := theirs.Close(); err != nil {
		b.Error(err)
	}
}

func share(n, clients, i int) int {
	s := n / clients
	if i < n%clients {
		s++
	}
	return s
}
