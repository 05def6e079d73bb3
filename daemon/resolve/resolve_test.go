package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
)

// names of a module example.com/shop as syntax gives them.
var shop = []graph.Symbol{
	{Qualified: "shop.Order", Name: "Order"},
	{Qualified: "store.Order", Name: "Order"},
	{Qualified: "internal/store.Order", Name: "Order"},
	{Qualified: "store.Order.Save", Name: "Save"},
	{Qualified: "store.Invoice.Save", Name: "Save"},
	{Qualified: "v2.Order.Save", Alias: "shop.Order.Save", Name: "Save"},
	{Qualified: "store::Order::r#type", Name: "r#type"},
}

func TestBestKeepsWhatTheWholeQueryNames(t *testing.T) {
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"Order", []string{"shop.Order", "store.Order", "internal/store.Order"}},
		{"shop.Order", []string{"shop.Order"}},
		{"store.Order", []string{"store.Order"}},
		{"internal/store.Order", []string{"internal/store.Order"}},
		{"example.com/shop/internal/store.Order", []string{"internal/store.Order"}},
		{"example.com/shop/store.Order", []string{"store.Order"}},
		{"Order.Save", []string{"store.Order.Save", "v2.Order.Save"}},
		{"(*Order).Save", []string{"store.Order.Save", "v2.Order.Save"}},
		{"shop.Order.Save", []string{"v2.Order.Save"}},
		{"store::Invoice::Save", []string{"store.Invoice.Save"}},
		{"Order#Save", []string{"store.Order.Save", "v2.Order.Save"}},
		{"r#type", []string{"store::Order::r#type"}},
		{"Order::r#type", []string{"store::Order::r#type"}},
		{"tore.Order", nil},
		{"Receipt.Save", nil},
	} {
		q := parse(tc.query)
		var named []graph.Symbol
		for _, s := range shop {
			if s.Name == q.last {
				named = append(named, s)
			}
		}
		var got []string
		for _, s := range best(q, named) {
			got = append(got, s.Qualified)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.query, diff)
		}
	}
}

func TestKindTakesTheWordsOfTheAddress(t *testing.T) {
	for _, tc := range []struct {
		kind graph.Kind
		word string
		want bool
	}{
		{graph.KindStruct, "type", true},
		{graph.KindStruct, "Type", true},
		{graph.KindStruct, "struct", true},
		{graph.KindStruct, "interface", false},
		{graph.KindMethod, "method", true},
		{graph.KindMethod, "function", false},
		{graph.KindFunction, "method", false},
		{graph.KindParameter, "variable", false},
		{graph.KindConstant, "constant", true},
		{graph.KindField, "", true},
	} {
		if got := Kind(graph.Symbol{Kind: tc.kind}, tc.word); got != tc.want {
			t.Errorf("Kind(%s, %q) = %v, want %v", tc.kind, tc.word, got, tc.want)
		}
	}
}

func TestLocalsAnswerOnlyWhenNothingElseDoes(t *testing.T) {
	global := graph.Symbol{Name: "name", Qualified: "p.name"}
	local := graph.Symbol{Name: "name", Qualified: "p.f.name", Local: true, Kind: graph.KindParameter}
	if got := preferGlobal([]graph.Symbol{local, global}, "", false); len(got) != 1 || got[0].Local {
		t.Errorf("with a global of that name got %v, want the global alone", got)
	}
	if got := preferGlobal([]graph.Symbol{local}, "", false); len(got) != 1 {
		t.Errorf("without a global got %v, want the local", got)
	}
	if got := preferGlobal([]graph.Symbol{local, global}, "parameter", false); len(got) != 2 {
		t.Errorf("asked for parameters got %v, want both for the kind to choose from", got)
	}
}

func TestCollectGroupsTheDeclarationsOfOneSymbol(t *testing.T) {
	got := collect([]graph.Symbol{
		{ID: "b", Path: "/w/b.go"},
		{ID: "a", Path: "/w/z.go"},
		{ID: "b", Path: "/w/c.go"},
	})
	if len(got) != 2 || got[0][0].ID != "b" || len(got[0]) != 2 || got[1][0].ID != "a" {
		t.Errorf("collect = %v, want b with two places before a", got)
	}
}
