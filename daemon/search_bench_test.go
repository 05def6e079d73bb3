package daemon

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/workbench"
)

// library copies parts of the standard library, and returns the folder.
func library(b *testing.B, parts ...string) string {
	b.Helper()
	root := b.TempDir()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	for _, part := range parts {
		if err := os.CopyFS(filepath.Join(root, part), os.DirFS(filepath.Join(strings.TrimSpace(string(out)), "src", part))); err != nil {
			b.Fatal(err)
		}
	}
	old(b, root)
	return root
}

// BenchmarkWordSearch finds the files that hold a word, against the same search
// without the index, against ripgrep and against grep.
func BenchmarkWordSearch(b *testing.B) {
	root := library(b, "go", "net", "cmd/compile", "crypto")
	w := newBenchWorld(b)
	cache := b.TempDir()
	w.ask(b, root, cache, "ServeMux", nil) // after a restart the contents are not in memory
	w.ask(b, root, cache, "ServeMux", func(s *workbench.Session) {
		tools := map[string][]string{"grep": {"grep", "-rlwF", "HandleFunc", root}, "rg": {"rg", "-lwF", "HandleFunc", root}}
		var fast, slow []time.Duration
		others := map[string][]time.Duration{}
		for b.Loop() {
			fast = append(fast, grepping(b, s.Workspace(), false))
			slow = append(slow, grepping(b, s.Workspace(), true))
			for name, argv := range tools {
				if _, err := exec.LookPath(name); err != nil {
					continue
				}
				began := time.Now()
				if err := exec.Command(argv[0], argv[1:]...).Run(); err != nil {
					b.Fatal(err)
				}
				others[name] = append(others[name], time.Since(began))
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(median(fast).Microseconds()), "µs")
		b.ReportMetric(float64(median(fast))/float64(median(slow)), "index/scan")
		for name := range tools {
			if len(others[name]) == 0 {
				b.Logf("MISSING: %s is not installed, there is no ratio to it", name)
				continue
			}
			b.ReportMetric(float64(median(fast))/float64(median(others[name])), "index/"+name)
		}
	})
}

// grepping looks for a word in a new snapshot; bare does without the index.
func grepping(b *testing.B, ws *workbench.Workspace, bare bool) time.Duration {
	b.Helper()
	ctx := context.Background()
	s, err := ws.Begin(ctx, workbench.Caller{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	snap := s.Snapshot()
	if bare {
		snap = snap.Searching(nil)
	}
	began := time.Now()
	found, err := snap.Grep(ctx, "HandleFunc")
	if err != nil || len(found) == 0 {
		b.Fatalf("%d files, %v", len(found), err)
	}
	return time.Since(began)
}
