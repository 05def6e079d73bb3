package search

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var vocabulary = strings.Fields("order store save load parse flag http request retry error config user session token cache index graph symbol file line")

// scribble makes a text of words.
func scribble(r *rand.Rand) []byte {
	var b strings.Builder
	for range 1 + r.IntN(60) {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteByte(" \n"[r.IntN(2)])
	}
	return []byte(b.String())
}

// TestAnyEditsLeaveWhatACleanBuildHolds changes and drops files at random; then
// every question has the answer that an index has which never saw the changes.
func TestAnyEditsLeaveWhatACleanBuildHolds(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	files := map[string][]byte{}
	x := New()
	// Enough for several segments, merges and rewrites.
	for range 5_500 {
		path := fmt.Sprintf("d%d/f%d.x", r.IntN(9), r.IntN(700))
		if r.IntN(10) == 0 {
			delete(files, path)
			x.Drop(path)
			continue
		}
		files[path] = scribble(r)
		x.Put(File{Path: path, Category: Code, Content: files[path]}, sha256.Sum256(files[path]))
	}
	clean := New()
	for path, content := range files {
		clean.Put(File{Path: path, Category: Code, Content: content}, sha256.Sum256(content))
	}
	for range 60 {
		q := Query{Text: vocabulary[r.IntN(len(vocabulary))] + " " + vocabulary[r.IntN(len(vocabulary))], Limit: 25}
		want, all, err := clean.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, total, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || total != all {
			t.Fatalf("seed %d: %q: %d of %d (-clean +edited):\n%s", seed, q.Text, total, all, diff)
		}
	}
}

func TestADeclarationIsFoundBeforeItsUses(t *testing.T) {
	x := New()
	put := func(path, content string) {
		x.Put(File{Path: path, Category: CategoryOf(path), Content: []byte(content)}, Hash{1})
	}
	put("a.java", "run(order);\nsave(order);\nsave(order);\nreport(save);\n")
	put("store/save.java", "void f() {\n\twrite(x);\n}\n")
	put("docs/save.md", "# Saving\n\nCall it.\n")
	put("tests/save_test.java", "save(x); save(y); save(z);\n")
	hits, total, err := x.Search(t.Context(), Query{Text: "saving", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, h := range hits {
		got = append(got, h.Path)
		if h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("score %v", h.Score)
		}
	}
	if diff := cmp.Diff([]string{"docs/save.md", "store/save.java", "a.java", "tests/save_test.java"}, got); diff != "" || total != 4 {
		t.Errorf("%d in all (-want +got):\n%s", total, diff)
	}
	only, _, err := x.Search(t.Context(), Query{Text: "saving", Limit: 10, Keep: func(_ string, c Category) bool { return c == Docs }})
	if err != nil || len(only) != 1 || only[0].Path != "docs/save.md" {
		t.Errorf("documents only: %v, %v", only, err)
	}
}

// TestWhoWaitsSeesWhatWasAddedBefore changes files while a Feeder reads them.
func TestWhoWaitsSeesWhatWasAddedBefore(t *testing.T) {
	x := New()
	gate := make(chan struct{})
	texts := map[string]string{"slow": "alpha"}
	feeder := NewFeeder(x, 2, func(ctx context.Context, path string, _ Hash) (File, Hash, error) {
		if path == "slow" {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		content, ok := texts[path]
		if !ok {
			return File{}, Hash{}, fs.ErrNotExist
		}
		return File{Content: []byte(content)}, sha256.Sum256([]byte(content)), nil
	})
	defer feeder.Close()
	feeder.Add("slow", "gone")
	feeder.Add("slow") // it changed, perhaps while it was in hand
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if left, err := feeder.Wait(short, nil); err == nil || left == 0 {
		t.Fatalf("%d files are left, %v", left, err)
	}
	close(gate)
	if left, err := feeder.Wait(t.Context(), nil); err != nil || left != 0 {
		t.Fatal(left, err)
	}
	if hits, _, err := x.Search(t.Context(), Query{Text: "alpha", Limit: 1}); err != nil || len(hits) != 1 {
		t.Fatal(hits, err)
	}
	if files, _ := x.Len(); files != 1 {
		t.Errorf("%d files", files)
	}
}
