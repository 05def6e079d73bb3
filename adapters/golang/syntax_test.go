package golang

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

var update = flag.Bool("update", false, "write what the extractor says now as what it should say")

// read parses content as a file of a module at /m.
func read(t testing.TB, name, content string) *syntax.Tree {
	t.Helper()
	tree, err := New().Syntax().Read("/m/"+name, []byte(content), syntax.Place{Language: "go", Root: "/m", Project: "."})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// describe prints what a tree holds, one line each.
func describe(tree *syntax.Tree, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n", tree.Package)
	if tree.Constraint != "" {
		fmt.Fprintf(&b, "constraint %s\n", tree.Constraint)
	}
	for _, im := range tree.Imports {
		fmt.Fprintf(&b, "import %s %s\n", im.Alias, im.Path)
	}
	for _, s := range tree.Symbols {
		fmt.Fprintf(&b, "%s %s | %s", s.Kind, s.ID, s.Signature)
		if s.Container != "" {
			fmt.Fprintf(&b, " | in %s", s.Container)
		}
		for _, part := range []struct {
			name string
			list []string
		}{{"modifiers", s.Modifiers}, {"attributes", s.Attributes}, {"bases", s.Bases}, {"resolved", s.Resolved}, {"results", s.Results}} {
			if len(part.list) > 0 {
				fmt.Fprintf(&b, " | %s %q", part.name, part.list)
			}
		}
		if s.Doc != "" {
			fmt.Fprintf(&b, " | doc %q", s.Doc)
		}
		fmt.Fprintf(&b, " | %s\n", s.Visibility)
	}
	for _, id := range tree.Idents {
		if id.Called {
			fmt.Fprintf(&b, "call %s in %q\n", id.Name, line(content, id.Span.Start))
		}
	}
	for _, tok := range tree.Tokens {
		fmt.Fprintf(&b, "token %q\n", content[tok.Span.Start:tok.Span.End])
	}
	for _, e := range tree.Errors {
		fmt.Fprintf(&b, "error %s\n", e.Message)
	}
	return b.String()
}

// line returns the line that holds an offset.
func line(content string, at int) string {
	start := strings.LastIndexByte(content[:at], '\n') + 1
	rest, _, _ := strings.Cut(content[start:], "\n")
	return strings.TrimSpace(rest)
}

// TestExtract holds testdata/syntax/*.txtar: pairs of a file and what it says.
func TestExtract(t *testing.T) {
	paths, err := filepath.Glob("testdata/syntax/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a := txtar.Parse(raw)
			out := &txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".want") {
					continue
				}
				got := describe(read(t, f.Name, string(f.Data)), string(f.Data))
				out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(raw), string(txtar.Format(out))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func ids(tree *syntax.Tree) map[string]graph.ID {
	out := map[string]graph.ID{}
	for _, s := range tree.Symbols {
		out[fmt.Sprintf("%s %s %d", s.Kind, s.Qualified, s.NameSpan.Start)] = s.ID
	}
	return out
}

const stable = `package m

// T is a type.
type T struct{ A, B int }

func (t *T) Do(n int) error {
	x := n
	return use(x)
}

func use(x int) error { return nil }
`

func TestIDsSurviveEditsElsewhere(t *testing.T) {
	before := read(t, "m.go", stable)
	for name, edit := range map[string][2]string{
		"a comment":         {"// T is a type.", "// T is a longer comment\n// on two lines."},
		"a new declaration": {"package m\n", "package m\n\nvar first, t = 1, 2\n"},
		"another body":      {"return nil", "y := x; _ = y; return nil"},
		"a new field":       {"A, B int", "A, C, B int"},
		"carriage returns":  {"package m\n\n", "package m\r\n\r\n"},
	} {
		after := read(t, "m.go", strings.Replace(stable, edit[0], edit[1], 1))
		for _, s := range before.Symbols {
			if s.Local && strings.HasPrefix(s.Qualified, "m.use.") && name == "another body" {
				continue // its owner changed
			}
			if !slices.ContainsFunc(after.Symbols, func(a graph.Symbol) bool { return a.ID == s.ID && a.Name == s.Name && a.Kind == s.Kind }) {
				t.Errorf("%s: %s %s lost its id %s", name, s.Kind, s.Qualified, s.ID)
			}
		}
	}
	// The same method with other parameters is another symbol.
	after := ids(read(t, "m.go", strings.Replace(stable, "Do(n int)", "Do(n int64)", 1)))
	for key, id := range ids(before) {
		if strings.HasPrefix(key, "method m.T.Do ") && after[key] == id {
			t.Errorf("%s kept its id with other parameters", key)
		}
	}
}

func TestNamespace(t *testing.T) {
	for _, c := range []struct{ file, clause, name, alias string }{
		{"/m/a.go", "package cobra", "cobra.X", ""},
		{"/m/a_test.go", "package cobra_test", "cobra_test.X", ""},
		{"/m/language/a.go", "package language", "language.X", ""},
		{"/m/language/a_test.go", "package language_test", "language_test.X", ""},
		{"/m/x/v2/a.go", "package x", "x/v2.X", "x.X"},
		{"/m/cmd/tool/a.go", "package main", "cmd/tool.X", "main.X"},
		{"/m/a.go", "package main", "main.X", ""},
		{"/m/language/gen.go", "//go:build ignore\n\npackage main", "language/gen.go.X", "main.X"},
		{"/elsewhere/fmt/print.go", "package fmt", "fmt.X", ""},
	} {
		tree, err := New().Syntax().Read(c.file, []byte(c.clause+"\n\nvar X int\n"), syntax.Place{Language: "go", Root: "/m", Project: "."})
		if err != nil {
			t.Fatal(err)
		}
		x := tree.Symbols[len(tree.Symbols)-1]
		if x.Qualified != c.name || x.Alias != c.alias {
			t.Errorf("%s, %s: %q alias %q, want %q alias %q", c.file, c.clause, x.Qualified, x.Alias, c.name, c.alias)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, pattern := range []string{"testdata/syntax/*.txtar", "*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			raw, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	for _, s := range []string{"", "package", "package p; func (", "package p\nfunc f() { if x := 1; x { a := `\r\n", "\xef\xbb\xbfpackage p // \xff",
		"package p; type T[P *C,] struct{ *a.B `t`; _ int }", "package p; import (a \"x\"; . \"y\"); func (r T[A, B]) M() { a, b := 1, 2; a, c := 1, 2 }",
		"package p; var x = func(a int) { switch y := z.(type) { case int: y := 1 } }; const (A = iota; B)", "/*\r*/ package p /* unclosed"} {
		f.Add([]byte(s))
	}
	spec := New().Syntax()
	f.Fuzz(func(t *testing.T, content []byte) {
		tree, err := spec.Read("/m/a/b.go", content, syntax.Place{Language: "go", Root: "/m", Project: "."})
		if err != nil {
			return
		}
		checkTree(t, tree, content)
	})
}

// checkTree checks what holds of every tree.
func checkTree(t *testing.T, tree *syntax.Tree, content []byte) {
	t.Helper()
	inside := func(what string, s graph.Span) {
		if s.Start < 0 || s.End < s.Start || s.End > len(content) {
			t.Fatalf("%s has the span %v of %d bytes", what, s, len(content))
		}
	}
	seen := map[graph.ID]graph.Span{}
	for _, s := range tree.Symbols {
		for _, span := range []graph.Span{s.Whole, s.Decl, s.NameSpan, s.Body} {
			inside(s.Qualified, span)
		}
		if got := string(content[s.NameSpan.Start:s.NameSpan.End]); got != s.Name {
			t.Fatalf("%s is named %q where %q stands", s.Qualified, s.Name, got)
		}
		if s.Whole.Start > s.Decl.Start || s.Whole.End < s.Decl.End {
			t.Fatalf("%s: whole %v does not hold its declaration %v", s.Qualified, s.Whole, s.Decl)
		}
		if other, ok := seen[s.ID]; ok {
			t.Fatalf("%s stands for %v and %v", s.ID, other, s.NameSpan)
		}
		seen[s.ID] = s.NameSpan
	}
	last := 0
	for _, id := range tree.Idents {
		inside("ident "+id.Name, id.Span)
		if id.Span.Start < last || string(content[id.Span.Start:id.Span.End]) != id.Name {
			t.Fatalf("ident %q at %v after %d", id.Name, id.Span, last)
		}
		last = id.Span.End
	}
	last = 0
	for _, tok := range tree.Tokens {
		inside("token", tok.Span)
		if tok.Span.Start < last || tok.Span.Start == tok.Span.End {
			t.Fatalf("token at %v after %d", tok.Span, last)
		}
		last = tok.Span.End
	}
}

// TestM14_HostileNesting reads files whose nesting would cost the square of
// their size, or the stack, if it were followed to the end.
func TestM14_HostileNesting(t *testing.T) {
	const n = 20000
	for name, content := range map[string]string{
		"structs":    "package p\ntype T " + strings.Repeat("struct{ a ", n) + "int" + strings.Repeat("}", n),
		"functions":  "package p\nvar f = " + strings.Repeat("func(a int) { b := ", n) + "1" + strings.Repeat("}", n),
		"types":      "package p\nfunc f(a " + strings.Repeat("func(b ", n) + "int" + strings.Repeat(")", n) + ") {}",
		"parens":     "package p\nvar x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n),
		"locals":     "package p\nfunc f() {\n" + strings.Repeat("\tabc := 1\n", n) + "}",
		"interfaces": "package p\ntype T " + strings.Repeat("interface{ interface{ A(", n/2) + "int" + strings.Repeat(")}}", n/2),
	} {
		start := time.Now()
		tree, err := New().Syntax().Read("/m/a.go", []byte(content), syntax.Place{Language: "go", Root: "/m", Project: "."})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkTree(t, tree, []byte(content))
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(content))
		}
		t.Logf("%s: %d symbols in %v", name, len(tree.Symbols), time.Since(start))
	}
}
