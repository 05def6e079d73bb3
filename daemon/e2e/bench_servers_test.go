package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// BenchmarkRecovery kills each server and asks at once; the other arm starts
// the daemon and the server from nothing.
func BenchmarkRecovery(b *testing.B) {
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		b.Run(lang, func(b *testing.B) {
			for b.Loop() {
				s, w := openShop(b, lang)
				// The pause after the second of several crashes is no part of this.
				write(b, filepath.Join(w.dir, "config", "aura", "config.toml"), "[limits]\ncrash_seconds = 1\n")
				w.stop(b)
				ask := func() time.Duration {
					var got api.Places
					took := timed(func() { w.must(b, "aura_references", map[string]any{"symbolName": s.order, "limit": all}, &got) })
					if got.Total != s.references || !got.Complete {
						b.Fatalf("%d references (complete: %v), want %d", got.Total, got.Complete, s.references)
					}
					return took
				}
				cold := func() time.Duration {
					w.stop(b)
					return ask()
				}
				crash := func() time.Duration {
					ask()
					w.kill(b, w.serverPID(b))
					return ask()
				}
				as, bs := interleave(5, cold, crash)
				b.Logf("cold         %v\nafter a kill %v", as, bs)
				goal(b, lang+": crash to back in service, over cold", ratio(bs.at(50), as.at(50)), 1.1, "x", true)
			}
		})
	}
}

// BenchmarkClients measures the memory of daemon and server after the questions
// of one client, and after as many of four at once.
func BenchmarkClients(b *testing.B) {
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		b.Run(lang, func(b *testing.B) {
			for b.Loop() {
				s, w := openShop(b, lang)
				const questions = 200
				used := func(clients, rounds int) float64 {
					w.stop(b)
					w.status(b)
					var all sync.WaitGroup
					conns := make([]*conn, clients)
					for n := range conns {
						conns[n] = w.dial(b)
					}
					for _, c := range conns {
						all.Go(func() {
							for range rounds {
								for _, symbol := range []string{s.order, s.saver, s.memory, s.checkout} {
									c.line(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "aura_references", "params": map[string]any{"workspace": w.ws, "symbolName": symbol}})
									c.waitAny()
								}
							}
						})
					}
					all.Wait()
					now := w.status(b)
					return float64(now.MemoryBytes + now.ServerMemoryBytes)
				}
				// As many questions altogether: what a server's collector has not yet
				// freed grows with them, whoever asks.
				var few, ones, fours []float64
				for range 3 {
					few, ones, fours = append(few, used(1, questions/4)), append(ones, used(1, questions)), append(fours, used(4, questions/4))
				}
				slices.Sort(few)
				slices.Sort(ones)
				slices.Sort(fours)
				b.Logf("one client   %.0f MB, after a quarter of the questions %.0f MB\nfour clients %.0f MB", ones[1]/1e6, few[1]/1e6, fours[1]/1e6)
				goal(b, lang+": memory of four clients over one", fours[1]/ones[1], 1.15, "x", true)
			}
		})
	}
}
