package supervise

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/proc"
)

// BenchmarkLeaseAndCall compares a request through a lease with the same
// request to the same kind of server over a bare connection, in turn.
func BenchmarkLeaseAndCall(b *testing.B) {
	r := newRig(b, lsptest.Config{}, twoFiles)
	r.lease("keep") // so that the server stays
	argv, env := lsptest.Command(b, lsptest.Config{Extensions: []string{".txt"}})
	p, err := r.spawner.Start(b.Context(), proc.Command{Argv: argv, Env: env, Dir: r.root})
	if err != nil {
		b.Fatal(err)
	}
	bare, err := lspclient.Start(b.Context(), p.Conn(), lspclient.Options{ProcessID: os.Getpid(), Root: r.root})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_, _ = p.Stop(b.Context(), proc.Ladder{Ask: bare.Shutdown})
		_ = bare.Close()
	})
	want := r.want("bench")
	params := referencesAt(r.path("a.txt"))
	direct := func() {
		var raw json.RawMessage
		if err := bare.Call(b.Context(), "textDocument/references", params, &raw); err != nil {
			b.Fatal(err)
		}
	}
	leased := func() {
		l, err := r.sup.Lease(b.Context(), want)
		if err != nil {
			b.Fatal(err)
		}
		defer l.Release()
		var raw json.RawMessage
		if err := l.Call(b.Context(), "textDocument/references", params, &raw); err != nil {
			b.Fatal(err)
		}
	}
	for range 200 {
		direct()
		leased()
	}
	var base, ours []time.Duration
	timed := func(f func(), into *[]time.Duration) {
		began := time.Now()
		f()
		*into = append(*into, time.Since(began))
	}
	for b.Loop() {
		timed(direct, &base)
		timed(leased, &ours)
		timed(leased, &ours)
		timed(direct, &base)
	}
	b.ReportMetric(0, "ns/op")
	at := func(list []time.Duration, q float64) float64 {
		slices.Sort(list)
		return float64(list[int(q*float64(len(list)-1))].Nanoseconds())
	}
	b.ReportMetric(at(base, 0.5)/1e3, "bare-p50-µs")
	b.ReportMetric(at(ours, 0.5)/1e3, "lease-p50-µs")
	b.ReportMetric((at(ours, 0.5)-at(base, 0.5))/1e3, "added-p50-µs")
	b.ReportMetric((at(ours, 0.99)-at(base, 0.99))/1e3, "added-p99-µs")
	b.ReportMetric(at(ours, 0.5)/at(base, 0.5), "ratio-p50")
}
