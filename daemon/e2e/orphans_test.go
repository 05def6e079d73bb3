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

// TestP13_RealServersDieWithTheirDaemon kills the daemon of each real server:
// nothing of it, nor of what it had started, is left. Before, all of that is
// counted in what the server uses.
func TestP13_RealServersDieWithTheirDaemon(t *testing.T) {
	for _, lang := range slices.Sorted(maps.Keys(shops())) {
		t.Run(lang, func(t *testing.T) {
			s, w := openShop(t, lang)
			w.must(t, "aura_references", map[string]any{"symbolName": s.order}, nil)
			status := w.status(t)
			used := int64(0)
			for _, server := range status.Servers {
				used += server.MemoryBytes
			}
			household := childrenWith(t, status.PID, "")
			var resident int64
			for _, pid := range household {
				if line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline")); err == nil && !strings.HasPrefix(string(line), "aura-guard") {
					resident += proportional(pid)
				}
			}
			if used < resident*3/4 || status.ServerMemoryBytes != used {
				t.Errorf("the server uses %d bytes by its status, its %d processes %d", used, len(household), resident)
			}
			w.kill(t, status.PID)
			until(t, 5*time.Second, "the end of everything", func() bool { return len(w.processes()) == 0 })
		})
	}
}

// proportional is a process's share of memory, in bytes.
func proportional(pid int) int64 {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
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
