package syntaxtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/auralsp/aura/graph/syntax"
)

// maxGrowth is how much the process may grow while it reads the same files
// again and again, in bytes: what allocators keep, not what is lost.
const maxGrowth = 24 << 20

// Shared reads the files of testdata/syntax many times in several goroutines.
// Every reading must say the same, and nothing may stay behind in memory.
func Shared(t *testing.T, spec *syntax.Spec, rounds int) {
	t.Helper()
	files, err := filepath.Glob("testdata/syntax/*")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	content := map[string][]byte{}
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		if content[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		want[path] = Dump(read(t, spec, path, content[path]), content[path])
	}
	round := func() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for path, text := range content {
					tree, err := spec.ParseFile(path, text)
					if err != nil {
						t.Errorf("%s: %v", path, err)
					} else if got := Dump(tree, text); got != want[path] {
						t.Errorf("%s is read otherwise beside others", path)
					}
				}
			})
		}
		wg.Wait()
	}
	for range rounds {
		round() // until the allocators have what they need
	}
	before := resident(t)
	for range 4 * rounds {
		round()
	}
	if grown := resident(t) - before; grown > maxGrowth {
		t.Errorf("reading the same files %d times more took %d bytes that did not come back", 16*rounds, grown)
	}
}

// resident returns how much memory the process has, C's included; 0 where the
// system does not tell as Linux does.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		t.Fatalf("/proc/self/statm: %q", text)
	}
	pages, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
