package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient/lsptest"
)

// TestP13_KilledDaemonLeavesNothing kills a daemon whose server has a child in
// a session of its own. Its guard ends both; where the guard was killed as
// well, the next daemon does before it serves.
func TestP13_KilledDaemonLeavesNothing(t *testing.T) {
	for _, guarded := range []bool{true, false} {
		w := newWorld(t, files(t, shop))
		w.stop(t)
		w.fake(t, lsptest.Config{
			Extensions: []string{".go"}, Grandchild: true, Setsid: true, HoldStdout: true, IgnoreTerm: true, IgnoreEOF: true,
			Loading: lsptest.Loading{Millis: 1, Title: "Setting up workspace", Message: "Finished loading packages."},
		})
		// The fake knows no Go, so what it answers does not matter here.
		_ = w.call(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
		w.serverPID(t)
		daemon := w.status(t).PID
		before := w.processes()
		household := 0
		for _, line := range before {
			if strings.HasSuffix(strings.Fields(line)[0], filepath.Base(os.Args[0])) {
				household++
			}
		}
		if household != 2 {
			t.Fatalf("%d processes of the server, want it and its child: %v", household, before)
		}
		if !guarded {
			if err := syscall.Kill(guardOf(t, daemon), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		w.kill(t, daemon)
		if !guarded {
			w.status(t) // the next daemon
		}
		until(t, 5*time.Second, "the killed daemon's processes to end", func() bool {
			now := w.processes()
			return !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(pid int) bool { return now[pid] != "" })
		})
	}
}

// guardOf finds the guard among the children of a daemon.
func guardOf(t *testing.T, daemon int) int {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		stat, _ := os.ReadFile(f)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if p := strings.Fields(rest); len(p) < 2 || p[1] != strconv.Itoa(daemon) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if strings.HasPrefix(string(line), "aura-guard") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("no guard runs")
	return 0
}
