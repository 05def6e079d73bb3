package e2e

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// BenchmarkGraphName asks for a name where no server may be asked: the answer
// is the graph's. Against a line that comes back from a socket, which is less
// than any answer from a database could take; and right after a start.
func BenchmarkGraphName(b *testing.B) {
	for b.Loop() {
		dir := module(b, cobra)
		w := newWorld(b, dir)
		write(b, filepath.Join(w.dir, "config", "aura", "config.toml"), "[servers.gopls]\ndisabled = true\n")
		at := map[string]any{"workspace": dir, "symbolName": "Execute"}
		ask := func(c *conn) {
			var found api.Places
			if e := c.do("aura_definition", at, &found); e != nil {
				b.Fatal(e)
			}
			if found.Source != "graph" || len(found.Locations) == 0 {
				b.Fatalf("source %s, %d places, %q", found.Source, len(found.Locations), found.Warnings)
			}
		}
		var cold samples
		for range 5 {
			w.stop(b)
			w.status(b)
			c := w.dial(b)
			cold = append(cold, timed(func() { ask(c) }))
		}
		c := w.dial(b)
		back, err := net.Dial("unix", echo(b, false))
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewReader(back)
		floor := func() time.Duration {
			return timed(func() {
				if _, err := fmt.Fprintln(back, "{}"); err != nil {
					b.Fatal(err)
				}
				if _, err := lines.ReadString('\n'); err != nil {
					b.Fatal(err)
				}
			})
		}
		warm := func() time.Duration { return timed(func() { ask(c) }) }
		interleave(50, floor, warm)
		as, bs := interleave(500, floor, warm)
		b.Logf("echo          %v\nby name       %v\nafter a start %v", as, bs, cold)
		goal(b, "a name from the graph: over an echo", ratio(bs.at(50), as.at(50)), 3, "x", true)
		goal(b, "a name from the graph: p99", ms(bs.at(99)), 2, "ms", true)
		if err := back.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
