package supervise

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/proc"
)

// at returns a quantile in nanoseconds.
func at(list []time.Duration, q float64) float64 {
	slices.Sort(list)
	return float64(list[int(q*float64(len(list)-1))].Nanoseconds())
}

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
	b.ReportMetric(at(base, 0.5)/1e3, "bare-p50-µs")
	b.ReportMetric(at(ours, 0.5)/1e3, "lease-p50-µs")
	b.ReportMetric((at(ours, 0.5)-at(base, 0.5))/1e3, "added-p50-µs")
	b.ReportMetric((at(ours, 0.99)-at(base, 0.99))/1e3, "added-p99-µs")
	b.ReportMetric(at(ours, 0.5)/at(base, 0.5), "ratio-p50")
}

// BenchmarkReal_Cold compares the time from nothing to the first whole answer
// of the real server, supervised and bare, in turn.
func BenchmarkReal_Cold(b *testing.B) {
	r := newRealRig(b)
	params := orderParams(r)
	bare := func() time.Duration {
		began := time.Now()
		launch, err := r.engine.Launch(b.Context(), adapters.Site{Root: r.root})
		if err != nil {
			b.Fatal(err)
		}
		p, err := r.spawner.Start(b.Context(), proc.Command{Argv: launch.Argv, Env: launch.Env, Dir: launch.Dir})
		if err != nil {
			b.Fatal(err)
		}
		c, err := lspclient.Start(b.Context(), p.Conn(), lspclient.Options{ProcessID: os.Getpid(), Root: r.root, Settings: launch.Settings})
		if err != nil {
			b.Fatal(err)
		}
		var raw json.RawMessage
		if err := c.Call(b.Context(), "textDocument/references", params, &raw); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		_, _ = p.Stop(b.Context(), proc.Ladder{Ask: c.Shutdown})
		_ = c.Close()
		return took
	}
	supervised := func() time.Duration {
		began := time.Now()
		w := r.want("bench")
		w.Language = goLanguage
		l, err := r.sup.Lease(b.Context(), w)
		if err != nil {
			b.Fatal(err)
		}
		var raw json.RawMessage
		if err := l.Call(b.Context(), "textDocument/references", params, &raw); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		l.Release()
		if err := r.sup.Forget(b.Context(), r.view); err != nil {
			b.Fatal(err)
		}
		return took
	}
	bare()
	supervised()
	var base, ours []time.Duration
	for b.Loop() {
		base = append(base, bare())
		ours = append(ours, supervised(), supervised())
		base = append(base, bare())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(at(base, 0.5)/1e6, "bare-p50-ms")
	b.ReportMetric(at(ours, 0.5)/1e6, "supervised-p50-ms")
	b.ReportMetric(at(ours, 0.5)/at(base, 0.5), "ratio-p50")
}
