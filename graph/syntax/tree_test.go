package syntax_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// words is a language in which each word declares itself and "#" begins a comment.
func words() *syntax.Spec {
	return &syntax.Spec{
		Version: "1", Separator: "/",
		Parse: func(path string, content []byte) (*syntax.Tree, error) {
			if string(content) == "unreadable" {
				return nil, errors.New("unreadable")
			}
			t := &syntax.Tree{Path: path, Package: "p"}
			at := 0
			for _, w := range strings.Split(string(content), " ") {
				s := graph.Span{Start: at, End: at + len(w)}
				if strings.HasPrefix(w, "#") {
					t.Tokens = append(t.Tokens, syntax.Token{Kind: syntax.Comment, Span: s})
				} else {
					t.Symbols = append(t.Symbols, graph.Symbol{Name: w, Qualified: w, Whole: s, Decl: s, NameSpan: s})
					t.Idents = append(t.Idents, syntax.Ident{Name: w, Span: s})
				}
				at = s.End + 1
			}
			return t, nil
		},
		Namespace: func(root, path string, t *syntax.Tree) (string, string) {
			return strings.TrimPrefix(path, root) + t.Package, ""
		},
	}
}

func TestRead(t *testing.T) {
	tree, err := words().Read("/r/file", []byte("one two #three two"), syntax.Place{Language: "w", Root: "/r/", Project: "."})
	if err != nil {
		t.Fatal(err)
	}
	if id := tree.Symbols[2].ID; id != "1:w:.:filep/two~2" {
		t.Errorf("id %s", id)
	}
	if n := len(tree.Named("two")); n != 2 {
		t.Errorf("%d occurrences of two", n)
	}
	for offset, want := range map[int]string{0: "one", 3: "one", 4: "two", 7: "two", 9: "", 15: "two", 18: "two", 19: "", -1: ""} {
		if id, _ := tree.IdentAt(offset); id.Name != want {
			t.Errorf("IdentAt(%d) = %q, want %q", offset, id.Name, want)
		}
		if sym, _ := tree.Declared(offset); sym.Name != want {
			t.Errorf("Declared(%d) = %q, want %q", offset, sym.Name, want)
		}
	}
	for offset, want := range map[int]bool{7: false, 8: true, 13: true, 14: false} {
		if _, ok := tree.TokenAt(offset); ok != want {
			t.Errorf("TokenAt(%d) = %v", offset, ok)
		}
	}
	if _, err := words().Read("/r/file", []byte("unreadable"), syntax.Place{}); err == nil {
		t.Error("a file that cannot be read was read")
	}
	if _, err := words().Read("/r/file", make([]byte, syntax.MaxFile+1), syntax.Place{}); err == nil {
		t.Error("a file above the limit was parsed")
	}
}

func TestEnclosing(t *testing.T) {
	tree := &syntax.Tree{Symbols: []graph.Symbol{
		{Name: "outer", Whole: graph.Span{Start: 0, End: 100}, NameSpan: graph.Span{Start: 5, End: 10}},
		{Name: "inner", Whole: graph.Span{Start: 20, End: 60}, NameSpan: graph.Span{Start: 25, End: 30}},
		{Name: "local", Local: true, Whole: graph.Span{Start: 40, End: 50}, NameSpan: graph.Span{Start: 41, End: 46}},
	}}
	for offset, want := range map[int]string{12: "outer", 33: "inner", 48: "inner", 99: "outer", 43: "inner"} {
		if s, ok := tree.Enclosing(offset); !ok || s.Name != want {
			t.Errorf("Enclosing(%d) = %q, want %q", offset, s.Name, want)
		}
	}
	if s, ok := tree.At(43); !ok || s.Name != "local" {
		t.Errorf("At on a local's name = %q", s.Name)
	}
	if s, ok := tree.At(200); ok {
		t.Errorf("At outside = %q", s.Name)
	}
}
