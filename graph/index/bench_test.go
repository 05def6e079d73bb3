package index_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/syntax"
)

// million is an index of a million symbols in 20,000 files, as a program has
// them: ten functions with four parameters or variables each to a file.
func million(b *testing.B) (x *index.Index, bytes uint64) {
	b.Helper()
	spec := &syntax.Spec{Separator: ".", Parse: func(path string, _ []byte) (*syntax.Tree, error) {
		t := &syntax.Tree{Path: path}
		var file int
		if _, err := fmt.Sscanf(path, "/w/f%d", &file); err != nil {
			return nil, err
		}
		for f := range 10 {
			start := f * 1000
			name := fmt.Sprintf("Compute%dOf%d", file%5000, f)
			t.Symbols = append(t.Symbols, graph.Symbol{
				Name: name, Qualified: fmt.Sprintf("Type%d.%s", file, name), Container: fmt.Sprintf("Type%d", file),
				Kind: graph.KindMethod, Visibility: "public", Params: []string{"context.Context", "int"}, Results: []string{"error"},
				Signature: fmt.Sprintf("func (t *Type%d) %s(ctx context.Context, n int) error", file, name), Doc: "Computes one thing of many.",
				Path: path, Decl: graph.Span{Start: start, End: start + 990}, Whole: graph.Span{Start: start, End: start + 990},
				NameSpan: graph.Span{Start: start + 10, End: start + 10 + len(name)}, Body: graph.Span{Start: start + 90, End: start + 989},
			})
			for i, local := range []string{"ctx", "n", "err", "out"} {
				at := start + 100 + i*20
				t.Symbols = append(t.Symbols, graph.Symbol{
					Name: local, Qualified: local, Kind: graph.KindVariable, Visibility: "private", Local: true, Signature: "var " + local, Path: path,
					Decl: graph.Span{Start: at, End: at + 10}, Whole: graph.Span{Start: at, End: at + 10}, NameSpan: graph.Span{Start: at, End: at + len(local)},
				})
			}
		}
		return t, nil
	}}
	const files = 20_000
	sources := make([]index.Source, files)
	for i := range sources {
		sources[i] = index.Source{Path: fmt.Sprintf("/w/f%05d", i), Spec: spec, Place: syntax.Place{Language: "l", Project: "."}}
	}
	// Ten kilobytes, with about as many different words as a file of that size has.
	text := func(path string) []byte {
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "word%s%d(%d) + ", path[2:], i%220, i%40)
		}
		return []byte(b.String())
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x = index.New()
	if err := x.Refresh(b.Context(), sources, func(_ context.Context, path string) ([]byte, index.Hash, error) {
		return text(path), sha256.Sum256([]byte(path)), nil
	}); err != nil {
		b.Fatal(err)
	}
	if _, err := x.ByName(b.Context(), "nothing"); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if x.Len() != 1_000_000 {
		b.Fatalf("%d symbols", x.Len())
	}
	return x, after.HeapAlloc - before.HeapAlloc
}

// scanned is the bytes of all names that are listed, each as often as it is
// declared: what a search without an index of names would look through.
func scanned(b *testing.B, x *index.Index) string {
	b.Helper()
	var names []byte
	err := x.Each(b.Context(), graph.Keep{}, func(s graph.Symbol) bool {
		names = append(append(names, s.Name...), '\n')
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	return string(names)
}

// BenchmarkMillionSymbols asks an index of a million symbols.
func BenchmarkMillionSymbols(b *testing.B) {
	x, bytes := million(b)
	ask := func(do func(i int) error) (p50, p99 float64) {
		var took []time.Duration
		for i := range 300 {
			began := time.Now()
			if err := do(i); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		return float64(took[150].Nanoseconds()) / 1e3, float64(took[297].Nanoseconds()) / 1e3
	}
	ctx := b.Context()
	id := graph.MakeID(graph.Identity{Language: "l", Project: ".", Qualified: "Type77.Compute77Of3", Params: []string{"context.Context", "int"}})
	for b.Loop() {
		p50, p99 := ask(func(i int) error {
			found, err := x.ByName(ctx, fmt.Sprintf("Compute%dOf3", i))
			if len(found) != 4 {
				return fmt.Errorf("%d symbols, %w", len(found), err)
			}
			return err
		})
		b.ReportMetric(p50, "name-p50-µs")
		b.ReportMetric(p99, "name-p99-µs")
		p50, p99 = ask(func(int) error {
			found, err := x.ByID(ctx, id)
			if len(found) != 1 {
				return fmt.Errorf("%d symbols, %w", len(found), err)
			}
			return err
		})
		b.ReportMetric(p50, "id-p50-µs")
		b.ReportMetric(p99, "id-p99-µs")
		began := time.Now()
		if near, err := x.Names(ctx, "Compute77Of33", 5); err != nil || len(near) == 0 {
			b.Fatal(near, err)
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/1e3, "near-first-ms")
		p50, p99 = ask(func(i int) error {
			_, err := x.Names(ctx, fmt.Sprintf([...]string{"Compute%dOf33", "compte%dOf3", "CopmuteOf%d", "Something%dElse", "o%d"}[i%5], i), 5)
			return err
		})
		b.ReportMetric(p50/1e3, "near-p50-ms")
		b.ReportMetric(p99/1e3, "near-p99-ms")
		names := scanned(b, x)
		floor, _ := ask(func(int) error {
			if strings.Contains(names, "no such name") {
				return errors.New("it is there")
			}
			return nil
		})
		b.ReportMetric(p50/floor, "near/scan")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(bytes)/1e6, "MB")
}
