package rust

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
)

// TestUnlisted finds the occurrences of a local that stand in arguments of
// macros: brackets in strings, comments and characters close nothing.
func TestUnlisted(t *testing.T) {
	const code = `macro_rules! twice { ($x:expr) => { $x + total }; }
fn other(total: u32) { dbg!(total); }
fn run<'a>(total: u32, s: &'a str) {
    let list = vec![Order { id: 1, «total» }, [0, «total»], s.total()];
    write!(f, ")", ')', '\'', /* ) */ "{}", 'a'.into(), «total» != 1, format!("{}", «total»), // )
        «total»);
    if total != (total) { known!(«total») }
}
`
	var content []byte
	var want []graph.Span
	for _, part := range code {
		switch part {
		case '«':
			want = append(want, graph.Span{Start: len(content)})
		case '»':
			want[len(want)-1].End = len(content)
		default:
			content = append(content, string(part)...)
		}
	}
	tree, err := New().Syntax().ParseFile("/ws/lib.rs", content)
	if err != nil {
		t.Fatal(err)
	}
	var total graph.Symbol
	for _, s := range tree.Symbols {
		if owner, _ := tree.Enclosing(s.NameSpan.Start); s.Name == "total" && owner.Name == "run" {
			total = s
		}
	}
	last := want[len(want)-1]
	got := unlisted(tree, content, total, func(at graph.Span) bool { return at == last })
	if diff := cmp.Diff(want[:len(want)-1], got); diff != "" {
		t.Error(diff)
	}
}
