package syntaxtest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/graph/syntax"
)

// Mutate breaks each file of testdata/syntax in n ways that follow from the
// seed: cuts, swaps, repetitions and stray bytes. Whatever comes of it must be
// read in time and keep the laws.
func Mutate(t *testing.T, spec *syntax.Spec, seed uint64, n int) {
	t.Helper()
	files, err := filepath.Glob("testdata/syntax/*")
	if err != nil {
		t.Fatal(err)
	}
	stray := []string{"{", "}", "(", ")", "[", "]", "<", ">", "\"", "'", "`", "\"\"\"", "/*", "*/", "//", "#", "\x00", "\xff", "\r", "\n", "\u2028", "😀", "${", "@", "\\"}
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, uint64(len(content))))
		for i := range n {
			broken := bytes.Clone(content)
			for range 1 + r.IntN(5) {
				a, b := r.IntN(len(broken)+1), r.IntN(len(broken)+1)
				a, b = min(a, b), max(a, b)
				switch r.IntN(4) {
				case 0:
					broken = append(broken[:a:a], broken[b:]...)
				case 1:
					broken = append(broken[:b:b], broken[a:]...)
				case 2:
					broken = append(append(broken[:a:a], stray[r.IntN(len(stray))]...), broken[a:]...)
				case 3:
					broken = append(append(bytes.Clone(broken[b:]), broken[a:b]...), broken[:a]...)
				}
				broken = broken[:min(len(broken), 3*len(content))]
			}
			tree, err := spec.Read(path, broken, syntax.Place{Language: "x", Root: filepath.Dir(path), Project: "."})
			if err != nil {
				t.Errorf("seed %d, %s, change %d: %v", seed, path, i, err)
				continue
			}
			if wrong := Check(tree, broken); wrong != nil {
				t.Fatalf("seed %d, %s, change %d: %s\n%q", seed, path, i, strings.Join(wrong, "\n"), broken)
			}
		}
	}
}

// Deep reads what is nested far deeper than people write: open and shut each
// stand many times around the middle. It must be read in time, without a stack
// that grows with it, and keep the laws; too slow is a fair answer, no answer is not.
func Deep(t *testing.T, spec *syntax.Spec, path, open, middle, shut string) {
	t.Helper()
	const depth = 2000
	content := []byte(strings.Repeat(open, depth) + middle + strings.Repeat(shut, depth))
	start := time.Now()
	tree, err := spec.Read(path, content, syntax.Place{Language: "x", Root: filepath.Dir(path), Project: "."})
	if errors.Is(err, syntax.ErrTooSlow) {
		t.Logf("%q: too slow after %v", open, time.Since(start))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if wrong := Check(tree, content); wrong != nil {
		t.Fatalf("%q: %s", open, strings.Join(wrong[:min(5, len(wrong))], "\n"))
	}
	names := 0
	for _, s := range tree.Symbols {
		names += len(s.Qualified) + len(s.Signature)
	}
	if limit := 4 << 20 * 8; names > limit {
		t.Errorf("%q: the names of %d symbols take %d bytes", open, len(tree.Symbols), names)
	}
}
