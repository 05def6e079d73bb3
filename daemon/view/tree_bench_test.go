package view_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// compared runs floor and work in turns and prints how many times as long work
// takes; the goal is at most that many times.
func compared(b *testing.B, goal float64, floor, work func() time.Duration) {
	b.Helper()
	var floors, works []time.Duration
	for b.Loop() {
		floors = append(floors, floor())
		works = append(works, work())
	}
	slices.Sort(floors)
	slices.Sort(works)
	f, w := floors[len(floors)/2], works[len(works)/2]
	b.ReportMetric(float64(f.Microseconds())/1e3, "floor-ms")
	b.ReportMetric(float64(w.Microseconds())/1e3, "ms")
	b.ReportMetric(float64(w)/float64(f), "times-the-floor")
	b.ReportMetric(goal, "goal")
	b.ReportMetric(0, "ns/op")
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

// tree writes n files into folders of ten, three deep.
func tree(b *testing.B, dir string, n int, content func(i int) string) {
	b.Helper()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("area%02d/pkg%03d/f%05d.x", i/1000, i/10%1000, i))
		if i%10 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(content(i)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenTree opens a workspace of 50,000 files beside a folder of 20,000
// ignored ones; the floor walks the same files and stats each.
func BenchmarkOpenTree(b *testing.B) {
	r := &rig{t: b, dir: filepath.Join(real(b, b.TempDir()), "tree")}
	tree(b, r.dir, 50_000, func(i int) string { return fmt.Sprint("text ", i) })
	tree(b, r.path("node_modules"), 20_000, func(int) string { return "" })
	r.write(".gitignore", "*.log\nbuild/\n/out/**/gen\n!keep.log\n")
	age(b, r.dir)
	for name, poll := range map[string]bool{"notify": false, "poll": true} {
		b.Run(name, func(b *testing.B) {
			w, err := watch.Start(ctx, watch.Options{CookieDir: filepath.Join(b.TempDir(), "run"), Poll: poll})
			r.must(err)
			defer func() { r.must(w.Close()) }()
			compared(b, 1.5, func() time.Duration {
				return timed(func() {
					n := 0
					r.must(filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
						if err == nil && d.IsDir() && d.Name() == "node_modules" {
							return fs.SkipDir
						}
						if err == nil && !d.IsDir() {
							_, err = watch.Lstat(path)
							n++
						}
						return err
					}))
					if n != 50_001 {
						b.Fatalf("%d files", n)
					}
				})
			}, func() time.Duration {
				var v *view.View
				took := timed(func() { v, err = view.Open(ctx, view.Options{Root: r.dir, Watcher: w}) })
				r.must(err)
				if files, err := v.Snapshot(0).Files(ctx); err != nil || len(files) != 50_001 {
					b.Fatalf("%d files, %v", len(files), err)
				}
				r.must(v.Close())
				return took
			})
		})
	}
}

// BenchmarkCheckout has git switch between tags that differ in 20,000 files.
// From the moment git has ended until a barrier says that all of it is known is
// compared with stat, read and hash of the same files by as many workers.
func BenchmarkCheckout(b *testing.B) {
	const n = 20_000
	r := &rig{t: b, dir: filepath.Join(real(b, b.TempDir()), "tree")}
	r.must(os.MkdirAll(r.dir, 0o755))
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "gc.auto=0"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	tags := []string{"old", "new"}
	for _, tag := range tags {
		tree(b, r.dir, n, func(i int) string {
			line := fmt.Sprintf("// line of %s in file %d\n", tag, i)
			return fmt.Sprintf("%*s", 2000, line)
		})
		git("add", "-A")
		git("commit", "-q", "-m", tag)
		git("tag", tag)
	}
	r.start(watch.Options{BusyWait: time.Hour}, view.Options{}) // all of the work is left for the end
	files, err := r.v.Snapshot(r.barrier()).Files(ctx)
	r.must(err)
	if len(files) != n {
		b.Fatalf("%d files", len(files))
	}
	turn := 0
	checkout := func() {
		git("checkout", "-q", tags[turn%2])
		turn++
	}
	compared(b, 1.5, func() time.Duration {
		checkout()
		defer r.barrier()
		return timed(func() { hashAll(b, files) })
	}, func() time.Duration {
		before := r.barrier()
		checkout()
		took := timed(func() { r.barrier() })
		if told := r.v.Seq() - before; told != n {
			b.Fatalf("%d entries for %d files", told, n)
		}
		return took
	})
}

// hashAll is the floor of learning what files hold.
func hashAll(b *testing.B, files []string) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(files); i = next.Add(1) - 1 {
				path := files[i]
				_, err := watch.Lstat(path)
				data, err2 := os.ReadFile(path)
				if err != nil || err2 != nil || text.Sum(data) == (text.Hash{}) {
					b.Errorf("%s: %v, %v", path, err, err2)
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkIdle prints the processor time that a followed tree of 20,000 files
// costs while nothing happens.
func BenchmarkIdle(b *testing.B) {
	for name, poll := range map[string]bool{"notify": false, "poll": true} {
		b.Run(name, func(b *testing.B) {
			r := &rig{t: b, dir: filepath.Join(real(b, b.TempDir()), "tree")}
			tree(b, r.dir, 20_000, func(int) string { return "" })
			r.start(watch.Options{Poll: poll}, view.Options{})
			r.barrier()
			var spent, passed time.Duration
			for b.Loop() {
				before := processor(b)
				passed += timed(func() { <-time.After(5 * time.Second) })
				spent += processor(b) - before
			}
			b.ReportMetric(100*spent.Seconds()/passed.Seconds(), "%-of-a-core")
			b.ReportMetric(map[bool]float64{false: 0.1, true: 5}[poll], "goal")
		})
	}
}

// processor is what the process has used so far.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
