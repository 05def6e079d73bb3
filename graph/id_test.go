package graph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
)

func TestMakeID(t *testing.T) {
	for _, c := range []struct {
		identity graph.Identity
		want     graph.ID
		name     string
	}{
		{graph.Identity{Language: "go", Project: ".", Qualified: "store.Order"}, "1:go:.:store.Order", "Order"},
		{graph.Identity{Language: "go", Project: "a/b", Qualified: "pkg/store.Order.Save", Params: []string{"context.Context", "...string"}},
			"1:go:a/b:pkg/store.Order.Save(context.Context,...string)", "Save"},
		{graph.Identity{Language: "go", Project: ".", Qualified: "m.init", Params: []string{}, Nth: 1}, "1:go:.:m.init()~2", "init"},
		{graph.Identity{Language: "rust", Project: "we%ird:folder", Qualified: "a::b::C"}, "1:rust:we%25ird%3Afolder:a::b::C", "C"},
		{graph.Identity{Language: "go", Project: ".", Qualified: "pkg"}, "1:go:.:pkg", "pkg"},
	} {
		got := graph.MakeID(c.identity)
		if got != c.want {
			t.Errorf("MakeID(%+v) = %s, want %s", c.identity, got, c.want)
		}
		if name := graph.NameOf(got); name != c.name {
			t.Errorf("NameOf(%s) = %q, want %q", got, name, c.name)
		}
		local := graph.MakeLocalID(got, "err", 2, graph.OwnerHash([]byte("func")))
		if name := graph.NameOf(local); name != "err" {
			t.Errorf("NameOf(%s) = %q", local, name)
		}
	}
	for _, junk := range []graph.ID{"", "x", "1:go", "1:go:."} {
		if name := graph.NameOf(junk); name != "" {
			t.Errorf("NameOf(%q) = %q", junk, name)
		}
	}
}

// span returns a Span of n bytes.
func span(start, n int) graph.Span { return graph.Span{Start: start, End: start + n} }

func TestIdentify(t *testing.T) {
	content := []byte("f(a,b) { a } ; f(c) { a } import x")
	symbols := func() []graph.Symbol {
		return []graph.Symbol{
			{Name: "f", Qualified: "f", Params: []string{"int"}, Decl: span(0, 12), NameSpan: span(0, 1)},
			{Name: "a", Qualified: "a", Local: true, Decl: span(2, 1), NameSpan: span(2, 1)},
			{Name: "a", Qualified: "a", Local: true, Decl: span(9, 1), NameSpan: span(9, 1)},
			{Name: "f", Qualified: "f", Params: []string{"int"}, Decl: span(15, 10), NameSpan: span(15, 1)},
			{Name: "a", Qualified: "a", Local: true, Decl: span(22, 1), NameSpan: span(22, 1)},
			{Name: "x", Qualified: "x", Local: true, Decl: span(26, 8), NameSpan: span(33, 1), Path: "/d/one.go"},
		}
	}
	home := graph.Home{Language: "go", Project: ".", Namespace: "dir/pkg", Alias: "other", Separator: "."}
	got := symbols()
	graph.Identify(got, content, home)
	var ids []graph.ID
	for _, s := range got {
		ids = append(ids, s.ID)
		if s.Language != "go" || s.Project != "." {
			t.Errorf("%s: language %q, project %q", s.Name, s.Language, s.Project)
		}
	}
	want := []graph.ID{
		"1:go:.:dir/pkg.f(int)", ids[1], ids[2], "1:go:.:dir/pkg.f(int)~2", ids[4], ids[5],
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error(diff)
	}
	if got[0].Qualified != "dir/pkg.f" || got[0].Alias != "other.f" || got[1].Qualified != "dir/pkg.f.a" || got[1].Container != "dir/pkg.f" {
		t.Errorf("names: %q, %q, %q in %q", got[0].Qualified, got[0].Alias, got[1].Qualified, got[1].Container)
	}
	seen := map[graph.ID]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("two symbols have the id %s", id)
		}
		seen[id] = true
	}
	// The text of the second owner changes: the first owner's locals keep their ids.
	again := symbols()
	graph.Identify(again, []byte("f(a,b) { a } ; f(c) { aX} import x"), home)
	for _, i := range []int{0, 1, 2, 3, 5} {
		if again[i].ID != got[i].ID {
			t.Errorf("%s: the id changed from %s to %s", got[i].Name, got[i].ID, again[i].ID)
		}
	}
	if again[4].ID == got[4].ID {
		t.Errorf("the local of a changed owner kept its id %s", got[4].ID)
	}
	// A name that belongs to a file alone differs from that of another file.
	other := symbols()
	other[5].Path = "/d/two.go"
	graph.Identify(other, content, home)
	if other[5].ID == got[5].ID {
		t.Errorf("two files share the id %s", got[5].ID)
	}
}
