package syntaxtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Golden reads every file of testdata/syntax, or the one below it, and compares
// what is said of it with the file of the same name and ".golden". With the
// environment's AURA_UPDATE=1 it writes those instead. Each file is read twice
// more: with carriage returns, and behind a byte order mark.
func Golden(t *testing.T, spec *syntax.Spec) {
	t.Helper()
	files, err := filepath.Glob("testdata/syntax/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		n++
		t.Run(filepath.Base(path), func(t *testing.T) { golden(t, spec, path) })
	}
	if n == 0 {
		t.Fatal("testdata/syntax holds no file")
	}
}

func golden(t *testing.T, spec *syntax.Spec, path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree := read(t, spec, path, content)
	got := Dump(tree, content)
	if os.Getenv("AURA_UPDATE") == "1" {
		if err := os.WriteFile(path+".golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path + ".golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("read otherwise (-want +got):\n%s", diff)
	}
	mark := []byte("\uFEFF")
	marked := read(t, spec, path, append(mark, content...))
	if diff := cmp.Diff(moved(tree.Symbols, len(mark)), marked.Symbols); diff != "" {
		t.Errorf("a byte order mark changes more than offsets (-without +with):\n%s", diff)
	}
	returns := bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
	if diff := cmp.Diff(heads(tree.Symbols), heads(read(t, spec, path, returns).Symbols)); diff != "" {
		t.Errorf("carriage returns change what is declared (-without +with):\n%s", diff)
	}
}

func read(t *testing.T, spec *syntax.Spec, path string, content []byte) *syntax.Tree {
	t.Helper()
	tree, err := spec.ParseFile(path, content)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range Check(tree, content) {
		t.Error(w)
	}
	return tree
}

// moved returns the symbols as they are n bytes further on.
func moved(symbols []graph.Symbol, n int) []graph.Symbol {
	out := make([]graph.Symbol, len(symbols))
	for i, s := range symbols {
		for _, span := range []*graph.Span{&s.Whole, &s.Decl, &s.NameSpan, &s.Body} {
			if *span != (graph.Span{}) {
				span.Start, span.End = span.Start+n, span.End+n
			}
		}
		out[i] = s
	}
	return out
}

// heads returns the symbols without their places.
func heads(symbols []graph.Symbol) []graph.Symbol {
	out := make([]graph.Symbol, len(symbols))
	for i, s := range symbols {
		s.Whole, s.Decl, s.NameSpan, s.Body = graph.Span{}, graph.Span{}, graph.Span{}, graph.Span{}
		out[i] = s
	}
	return out
}

// Fuzz reads whatever the fuzzer makes of the files of testdata/syntax. Nothing
// may panic or break a law, and reading twice must say the same.
func Fuzz(f *testing.F, spec *syntax.Spec) {
	files, err := filepath.Glob("testdata/syntax/*")
	if err != nil {
		f.Fatal(err)
	}
	paths := []string{}
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		paths = append(paths, path)
		f.Add(uint8(len(paths)-1), content)
		for i := range 4 {
			f.Add(uint8(len(paths)-1), content[:len(content)*i/4])
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, content []byte) {
		path := paths[int(file)%len(paths)]
		tree, err := spec.Read(path, content, syntax.Place{Language: "x", Root: filepath.Dir(path), Project: "."})
		if err != nil {
			t.Skip(err)
		}
		if wrong := Check(tree, content); wrong != nil {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	})
}

// Bench reads the files of testdata/syntax again and again and reports the
// speed in bytes a second.
func Bench(b *testing.B, spec *syntax.Spec) {
	files, err := filepath.Glob("testdata/syntax/*")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		// A real file is larger than one that holds every construct once.
		content = bytes.Repeat(append(content, '\n'), 1+(64<<10)/len(content))
		b.Run(filepath.Base(path), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				if _, err := spec.ParseFile(path, content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
