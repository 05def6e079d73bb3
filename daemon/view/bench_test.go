package view_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
)

// large makes a workspace of 600 files with 1,000 lines each.
func large(b *testing.B) map[string]string {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	files := map[string]string{}
	for i := range 600 {
		var s strings.Builder
		for line := range 1000 {
			fmt.Fprintf(&s, "\tvalue%d := compute(%d, name%d) // of thing\n", line, r.IntN(1000), r.IntN(50))
		}
		if i%100 == 0 {
			s.WriteString("var target = NeedleInHay\n")
		}
		files[fmt.Sprintf("pkg%02d/file%03d.x", i%20, i)] = s.String()
	}
	return files
}

// age makes every file look as old as files usually are, so that a stat proves them.
func age(b testing.TB, dir string) {
	b.Helper()
	old := time.Now().Add(-time.Hour)
	last := dir
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		last = path
		return os.Chtimes(path, old, old)
	})
	// The change time cannot be set back; it is waited for.
	until(b, "the files are old", func() bool {
		stamp, err := watch.Lstat(last)
		return err == nil && !stamp.Racy(time.Now())
	})
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	if len(took) > 0 {
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
	}
}

func BenchmarkBarrierAndRead(b *testing.B) {
	r := open(b, large(b), view.Options{})
	path := r.path("pkg00/file000.x")
	age(b, r.dir)
	r.read("pkg00/file000.x")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		r.barrier()
		if _, err := r.v.Read(context.Background(), path); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	percentiles(b, took)
}

// BenchmarkBarrierIdle pauses between barriers, as requests of people do, so
// that the cost of waking up is in it.
func BenchmarkBarrierIdle(b *testing.B) {
	r := open(b, map[string]string{"a": "x"}, view.Options{})
	var took []time.Duration
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for b.Loop() {
		<-tick.C
		began := time.Now()
		r.barrier()
		took = append(took, time.Since(began))
	}
	percentiles(b, took)
}

func BenchmarkRead(b *testing.B) {
	r := open(b, large(b), view.Options{})
	path := r.path("pkg00/file000.x")
	age(b, r.dir)
	r.read("pkg00/file000.x")
	for b.Loop() {
		if _, err := r.v.Read(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSaveToRead(b *testing.B) {
	r := open(b, large(b), view.Options{})
	var took []time.Duration
	i := 0
	for b.Loop() {
		i++
		r.write("pkg00/file000.x", fmt.Sprint(i))
		began := time.Now()
		r.barrier()
		if got := r.read("pkg00/file000.x"); got != fmt.Sprint(i) {
			b.Fatalf("read %q after saving %d", got, i)
		}
		took = append(took, time.Since(began))
	}
	percentiles(b, took)
}

func BenchmarkGrep(b *testing.B) {
	for name, cache := range map[string]int64{"disk": 1, "cached": 256 << 20} {
		b.Run(name, func(b *testing.B) {
			r := open(b, large(b), view.Options{CacheBytes: cache})
			age(b, r.dir)
			seq := r.barrier()
			files, err := r.v.Snapshot(seq).Files(context.Background())
			r.must(err)
			for _, f := range files {
				_, err := r.v.Read(context.Background(), f)
				r.must(err)
			}
			for b.Loop() {
				got, err := r.v.Snapshot(seq).Grep(context.Background(), "NeedleInHay")
				if err != nil || len(got) != 6 {
					b.Fatalf("%d files, %v", len(got), err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	r := open(b, large(b), view.Options{})
	age(b, r.dir)
	for b.Loop() {
		v, err := view.Open(context.Background(), view.Options{Root: r.dir, Watcher: r.w})
		r.must(err)
		r.must(v.Close())
	}
}
