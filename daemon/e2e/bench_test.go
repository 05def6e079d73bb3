package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// The benchmarks run once each (-benchtime=1x) and print ratios against floors
// that they measure in the same run, interleaved. Only ratios can be compared
// between machines.

// ready makes a world on cobra whose server is warm, and a bare server beside
// it that is as warm and has the asked document open.
func ready(b *testing.B) (*world, *conn, *bare, map[string]any) {
	b.Helper()
	dir := module(b, cobra)
	w := newWorld(b, dir)
	line := lineOf(b, dir, "command.go", "type Command struct")
	at := map[string]any{"workspace": dir, "filePath": "command.go", "line": line, "column": 6, "limit": all}
	w.must(b, "aura_references", at, nil)
	truth := startBare(b, w.gopls, dir, w.env)
	truth.open(b, "command.go")
	truth.places(b, "textDocument/references", "command.go", line, 6)
	return w, w.dial(b), truth, at
}

// BenchmarkWarmDefinition asks a warm server through Aura's socket, and a like
// one down a pipe.
func BenchmarkWarmDefinition(b *testing.B) {
	for b.Loop() {
		w, c, truth, _ := ready(b)
		line := lineOf(b, w.ws, "command.go", "func (c *Command) Execute() error")
		at := map[string]any{"workspace": w.ws, "filePath": "command.go", "line": line, "column": 20}
		bare := func() time.Duration {
			return timed(func() { truth.call(b, "textDocument/definition", truth.at("command.go", line, 20), nil) })
		}
		through := func() time.Duration {
			return timed(func() {
				if e := c.do("aura_definition", at, nil); e != nil {
					b.Fatal(e)
				}
			})
		}
		interleave(50, bare, through)
		as, bs := interleave(500, bare, through)
		a1, a2 := interleave(500, bare, bare)
		b.Logf("bare gopls       %v\nthrough Aura     %v\nadded            %v\nbare against itself: %.3f", as, bs, added(as, bs), ratio(a1.at(50), a2.at(50)))
		goal(b, "warm definition: added p50", ms(added(as, bs).at(50)), 0.25, "ms", true)
		goal(b, "warm definition: added p99", ms(added(as, bs).at(99)), 1, "ms", true)
	}
}

// BenchmarkReferences asks for all places of the most used type.
func BenchmarkReferences(b *testing.B) {
	for b.Loop() {
		w, c, truth, at := ready(b)
		line := at["line"].(int)
		params := truth.at("command.go", line, 6)
		params["context"] = map[string]any{"includeDeclaration": true}
		total := 0
		bare := func() time.Duration {
			return timed(func() { truth.call(b, "textDocument/references", params, nil) })
		}
		through := func() time.Duration {
			var r response
			took := timed(func() { r = c.wait(c.post("aura_references", at)) })
			var refs api.Places
			if err := json.Unmarshal(r.Result, &refs); err != nil {
				b.Fatal(err, r.Error)
			}
			total = refs.Total
			return took
		}
		interleave(10, bare, through)
		as, bs := interleave(100, bare, through)
		if want := len(truth.places(b, "textDocument/references", "command.go", line, 6)); total != want {
			b.Fatalf("%d places, the bare server has %d", total, want)
		}
		b.Logf("bare gopls       %v\nthrough Aura     %v\nadded            %v", as, bs, added(as, bs))
		goal(b, fmt.Sprintf("references, all %d places: added p50", total), ms(added(as, bs).at(50)), 5, "ms", true)
		first := w.ok(b, "call", "aura_references", `{"symbolName":"Command","symbolKind":"type"}`)
		goal(b, "references: first page", float64(len(first.stdout))/1000, 5, "kB", true)
	}
}

// BenchmarkCommand runs auractl from start to end.
func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		w, _, truth, _ := ready(b)
		line := lineOf(b, w.ws, "command.go", "func (c *Command) Execute() error")
		floor, socket := buildFloor(b), echo(b, false)
		run := func(name string, args ...string) func() time.Duration {
			return func() time.Duration {
				cmd := exec.Command(name, args...)
				cmd.Dir, cmd.Env = w.ws, w.env
				return timed(func() {
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%s %q: %v\n%s", name, args, err, out)
					}
				})
			}
		}
		place := "command.go:" + strconv.Itoa(line) + ":20"
		aura := run(filepath.Join(w.bin, "auractl"), "definition", place)
		empty := run(floor, socket)
		interleave(10, empty, aura)
		as, bs := interleave(100, empty, aura)
		var raw samples
		for range 100 {
			raw = append(raw, timed(func() { truth.call(b, "textDocument/definition", truth.at("command.go", line, 20), nil) }))
		}
		oneShot := run(w.gopls, "definition", place)
		oneShot() // fills its cache
		var shots samples
		for range 5 {
			shots = append(shots, oneShot())
		}
		b.Logf("empty program and echo  %v\nauractl definition      %v\nserver alone            %v\ngopls definition        %v", as, bs, raw, shots)
		goal(b, "auractl definition: over empty program, echo and server", ratio(bs.at(50), as.at(50)+raw.at(50)), 1.5, "x", true)
		goal(b, "auractl definition: faster than one-shot gopls", ratio(shots.at(50), bs.at(50)), 20, "x", false)
	}
}

// BenchmarkCold starts everything from nothing, up to the first whole answer.
func BenchmarkCold(b *testing.B) {
	for b.Loop() {
		dir := module(b, cobra)
		w := newWorld(b, dir)
		line := lineOf(b, dir, "command.go", "type Command struct")
		cache := func() []string {
			// Both arms begin without anything that a server has kept.
			return append(slices.Clone(w.env), "XDG_CACHE_HOME="+b.TempDir())
		}
		var totals [2]int
		bare := func() time.Duration {
			env := cache()
			start := time.Now()
			s := startBare(b, w.gopls, dir, env)
			totals[0] = len(s.places(b, "textDocument/references", "command.go", line, 6))
			took := time.Since(start)
			s.stop()
			return took
		}
		through := func() time.Duration {
			w.stop(b)
			kept := w.env
			w.env = cache()
			defer func() { w.stop(b); w.env = kept }()
			var refs api.Places
			took := timed(func() {
				w.must(b, "aura_references", map[string]any{"filePath": "command.go", "line": line, "column": 6, "limit": all}, &refs)
			})
			if !refs.Complete {
				b.Fatalf("not complete: %q", refs.Warnings)
			}
			totals[1] = refs.Total
			return took
		}
		as, bs := interleave(5, bare, through)
		if totals[0] != totals[1] {
			b.Fatalf("%d places bare, %d through Aura", totals[0], totals[1])
		}
		b.Logf("bare gopls           %v\nauractl and daemon   %v", as, bs)
		goal(b, "cold to the complete answer: over bare gopls", ratio(bs.at(50), as.at(50)), 1.05, "x", true)
	}
}

// BenchmarkRename takes the rename of the most used type up to where the build
// begins, and then writes it without one.
func BenchmarkRename(b *testing.B) {
	for b.Loop() {
		w, c, truth, at := ready(b)
		line := at["line"].(int)
		params := func(preview, validate bool) map[string]any {
			return map[string]any{"workspace": w.ws, "filePath": "command.go", "line": line, "column": 6,
				"newName": "Instruction", "preview": preview, "validateCompilation": validate}
		}
		rename := func(params map[string]any, out any) time.Duration {
			return timed(func() {
				if e := c.do("aura_rename_symbol", params, out); e != nil {
					b.Fatal(e)
				}
			})
		}
		request := truth.at("command.go", line, 6)
		request["newName"] = "Instruction"
		bare := func() time.Duration {
			return timed(func() { truth.call(b, "textDocument/rename", request, nil) })
		}
		skipped := 0 // by their budget; they are no measure of the check
		checked := func() time.Duration {
			var answer api.EditResult
			took := rename(params(true, true), &answer)
			if answer.Validation == nil || answer.Validation.Quick != "passed" {
				skipped++
			}
			return took
		}
		interleave(3, bare, checked)
		b.Logf("%d of 3 quick checks of the warm-up did not pass within their budget", skipped)
		skipped = 0
		as, bs := interleave(10, bare, checked)
		if skipped > 0 {
			b.Fatalf("%d of 10 quick checks did not pass", skipped)
		}
		b.Logf("bare textDocument/rename   %v\nplan and quick check       %v", as, bs)
		goal(b, "rename up to the build: p50", bs.at(50).Seconds(), 0.5, "s", true)

		var applies, undos samples
		for range 5 {
			var done api.EditResult
			applies = append(applies, rename(params(false, false), &done))
			undos = append(undos, timed(func() {
				if e := c.do("aura_undo", map[string]any{"workspace": w.ws, "undoToken": done.UndoToken}, nil); e != nil {
					b.Fatal(e)
				}
			}))
		}
		b.Logf("planned and written durably  %v\nundo                         %v", applies, undos)
	}
}

// BenchmarkForwarding sends small requests as fast as the daemon takes them, and
// frames of the same size to a bare echo.
func BenchmarkForwarding(b *testing.B) {
	for b.Loop() {
		dir := files(b, shop)
		w := newWorld(b, dir)
		w.status(b)
		socket := echo(b, true)
		// 200 bytes, most of them space.
		body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"workspace.list","params":{%138s}}`, "")
		for _, clients := range []int{1, 8, 64} {
			bare := throughput(b, socket, clients, body)
			aura := throughput(b, w.socket(), clients, body)
			again := throughput(b, socket, clients, body)
			b.Logf("%d clients: echo %.0f and %.0f, Aura %.0f messages a second", clients, bare, again, aura)
			goal(b, fmt.Sprintf("forwarding, %d clients: share of a bare echo", clients), aura/max(bare, again), 0.5, "x", false)
			goal(b, fmt.Sprintf("forwarding, %d clients", clients), aura, 20000, "msg/s", false)
		}
	}
}

// throughput returns messages a second over a socket, each client with eight in flight.
func throughput(b *testing.B, socket string, clients int, body []byte) float64 {
	b.Helper()
	const inFlight = 8
	each := 20000 / clients
	message := frame(body)
	errs := make([]error, clients)
	var all sync.WaitGroup
	start := time.Now()
	for i := range clients {
		all.Go(func() {
			nc, err := net.Dial("unix", socket)
			if err != nil {
				errs[i] = err
				return
			}
			defer nc.Close()
			r := bufio.NewReader(nc)
			for range inFlight {
				if _, errs[i] = nc.Write(message); errs[i] != nil {
					return
				}
			}
			for n := range each {
				if _, errs[i] = readFrame(r); errs[i] != nil {
					return
				}
				if n+inFlight < each {
					if _, errs[i] = nc.Write(message); errs[i] != nil {
						return
					}
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	return float64(clients*each) / time.Since(start).Seconds()
}

// BenchmarkIdleMemory reads what the daemon itself keeps, with a workspace open.
func BenchmarkIdleMemory(b *testing.B) {
	for b.Loop() {
		w, _, _, _ := ready(b)
		pid := w.status(b).PID
		goal(b, "daemon with cobra open: PSS", pss(b, pid), 40, "MB", true)
	}
}

// pss returns the proportional set size of a process in megabytes.
func pss(b *testing.B, pid int) float64 {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Fatal("no Pss line")
	return 0
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
