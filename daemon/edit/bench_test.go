package edit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/auralsp/aura/lspclient/change"
)

// The benchmarks compare, in one run and in turns, with what anybody could
// write: ratios are what counts, on any machine. Every round does each arm
// once, and medians are compared.

// arms collects the durations of what is compared.
type arms map[string][]time.Duration

func (a arms) time(name string, fn func()) {
	start := time.Now()
	fn()
	a[name] = append(a[name], time.Since(start))
}

func (a arms) median(name string) float64 {
	sorted := slices.Clone(a[name])
	slices.Sort(sorted)
	return float64(sorted[len(sorted)/2])
}

func (a arms) report(b *testing.B, names ...string) {
	for _, name := range names {
		b.ReportMetric(a.median(name)/1e6, name+"-ms")
	}
}

func (a arms) ratio(b *testing.B, one, two string) {
	b.ReportMetric(a.median(one)/a.median(two), one+"/"+two)
}

// source is the content of a file of some kB.
func source(i, version int) []byte {
	out := fmt.Appendf(nil, "// file %d, version %d\n", i, version)
	for len(out) < 4000+100*(i%40) {
		out = append(out, "func something(ctx context.Context) error { return nil }\n"...)
	}
	return out
}

// benchFiles makes n files below a folder, 20 in each.
func benchFiles(b *testing.B, dir string, n int) []string {
	var paths []string
	for i := range n {
		p := filepath.Join(dir, fmt.Sprint("pkg", i/20), fmt.Sprint("f", i))
		must(b, os.MkdirAll(filepath.Dir(p), 0o755))
		must(b, os.WriteFile(p, source(i, 0), 0o644))
		paths = append(paths, p)
	}
	return paths
}

func benchPlan(paths []string, version int) []change.File {
	var files []change.File
	for i, p := range paths {
		files = append(files, change.File{Kind: change.Edit, Path: p, Before: source(i, version), After: source(i, version+1)})
	}
	return files
}

// loop is the usual careful writer: temporary file, fsync, rename, fsync of
// the folder, for each file.
func loop(b *testing.B, files []change.File) {
	for _, f := range files {
		tmp := f.Path + ".tmp"
		w, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		must(b, err)
		_, err = w.Write(f.After)
		must(b, err)
		must(b, w.Sync())
		must(b, w.Close())
		must(b, os.Rename(tmp, f.Path))
		d, err := os.Open(filepath.Dir(f.Path))
		must(b, err)
		must(b, d.Sync())
		must(b, d.Close())
	}
}

// naive is the usual careless one, which loses data in a power cut.
func naive(b *testing.B, files []change.File) {
	for _, f := range files {
		must(b, os.WriteFile(f.Path, f.After, 0o644))
	}
}

// BenchmarkApply is a durable transaction, from Begin to the end of Commit,
// and its undo.
func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			root := filepath.Join(dir, "ours")
			must(b, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
			e, err := Open(Options{State: filepath.Join(dir, "state")})
			must(b, err)
			defer e.Close(context.Background())
			must(b, e.Recover(context.Background(), root))
			ours, theirs, careless := benchFiles(b, root, n), benchFiles(b, filepath.Join(dir, "loop"), n), benchFiles(b, filepath.Join(dir, "naive"), n)
			a := arms{}
			version := 0
			for b.Loop() {
				plan, loopPlan, naivePlan := benchPlan(ours, version), benchPlan(theirs, version), benchPlan(careless, version)
				var token string
				apply := func() {
					token, err = transact(e, root, plan)
					must(b, err)
				}
				order := []func(){
					func() { a.time("apply", apply) },
					func() { a.time("loop", func() { loop(b, loopPlan) }) },
					func() { a.time("naive", func() { naive(b, naivePlan) }) },
				}
				if version%2 == 1 {
					slices.Reverse(order)
				}
				for _, arm := range order {
					arm()
				}
				var res Result
				a.time("undo", func() {
					res, err = e.Undo(context.Background(), root, token, UndoOptions{})
					must(b, err)
				})
				if !res.Contents || string(res.Files[0].After) != string(plan[0].Before) {
					b.Fatal("the undo did not do its work")
				}
				_, err = e.Undo(context.Background(), root, res.RedoToken, UndoOptions{})
				must(b, err)
				version++
			}
			a.report(b, "apply", "loop", "naive", "undo")
			a.ratio(b, "apply", "loop")
			a.ratio(b, "apply", "naive")
			a.ratio(b, "undo", "apply")
		})
	}
}

// BenchmarkRecovery takes back a transaction that was applied and not
// committed, from opening the journal to the end.
func BenchmarkRecovery(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			root := filepath.Join(dir, "ours")
			must(b, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
			files := benchFiles(b, root, n)
			ctx := context.Background()
			a := arms{}
			for b.Loop() {
				dead, err := Open(Options{State: filepath.Join(dir, "state")})
				must(b, err)
				tx, err := dead.Begin(ctx, Plan{Root: root, Files: benchPlan(files, 0)})
				must(b, err)
				must(b, tx.Apply(ctx))
				dead.spaces[root].w.close() // as if the process had died
				e, err := Open(Options{State: filepath.Join(dir, "state")})
				must(b, err)
				a.time("recovery", func() { must(b, e.Recover(ctx, root)) })
				must(b, e.Close(ctx))
			}
			a.report(b, "recovery")
			b.ReportMetric((a.median("recovery")/1e6-50)/float64(n), "ms-over-50/file")
		})
	}
}
