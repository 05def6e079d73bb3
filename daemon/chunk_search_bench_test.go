package daemon

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/search"
)

// BenchmarkChunkSearch asks questions about the whole standard library: how long
// the first takes, which has every file read, against reading and hashing the
// files; how long the others take, and what the chunks keep in memory.
func BenchmarkChunkSearch(b *testing.B) {
	root := library(b, ".")
	questions := []string{
		"parse http request headers", "retry with exponential backoff", "goroutine scheduler steal work", "garbage collector mark phase", "ServeMux", "tls handshake client hello",
		"decode json into struct fields", "regular expression backtracking", "where is the error of a closed connection returned", "compile switch statement",
	}
	w := newBenchWorld(b)
	for b.Loop() {
		var files, bytes int
		began := time.Now()
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			sha256.Sum256(content)
			files, bytes = files+1, bytes+len(content)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		floor := time.Since(began)
		w.ask(b, root, "", "ServeMux", func(s *workbench.Session) {
			before := heap()
			began := time.Now()
			find(b, s, questions[0])
			first := time.Since(began)
			kept := heap() - before
			var took []time.Duration
			for i := range 300 {
				began := time.Now()
				find(b, s, questions[i%len(questions)])
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(files), "files")
			b.ReportMetric(float64(bytes)/1e6, "text-MB")
			b.ReportMetric(float64(kept)/1e6, "kept-MB")
			b.ReportMetric(float64(first.Milliseconds()), "first-ms")
			b.ReportMetric(float64(first)/float64(floor), "first/read")
			b.ReportMetric(float64(took[150].Microseconds())/1e3, "p50-ms")
			b.ReportMetric(float64(took[297].Microseconds())/1e3, "p99-ms")
		})
	}
	b.ReportMetric(0, "ns/op")
}

func find(b *testing.B, s *workbench.Session, question string) {
	b.Helper()
	found, err := s.Search(b.Context(), search.Query{Text: question, Limit: 10})
	if err != nil || len(found.Hits) == 0 {
		b.Fatalf("%q: %d hits, %v", question, len(found.Hits), err)
	}
}

// heap is what is in use once nothing else is.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
