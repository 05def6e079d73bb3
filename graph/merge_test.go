package graph_test

import (
	"testing"

	"github.com/auralsp/aura/graph"
)

// TestIdentify_Merged: the declarations of one symbol have one id, whatever
// stands between them; what only looks like them has another.
func TestIdentify_Merged(t *testing.T) {
	symbols := []graph.Symbol{
		{Name: "Order", Qualified: "Shop.Order", Merged: true, Decl: span(0, 1)},
		{Name: "Order", Qualified: "Shop.Order", Exact: "Shop.Order<>", Merged: true, Decl: span(2, 1)},
		{Name: "Order", Qualified: "Shop.Order", Merged: true, Decl: span(4, 1)},
		{Name: "Order", Qualified: "Shop.Order", Decl: span(6, 1)},
		{Name: "Order", Qualified: "Shop.Order", Exact: "Shop.Order<>", Merged: true, Decl: span(8, 1)},
		{Name: "fmt", Qualified: "<Pair as Debug>::fmt", Alias: "Pair::fmt", Decl: span(10, 1)},
	}
	graph.Identify(symbols, make([]byte, 20), graph.Home{Language: "x", Project: ".", Namespace: "m", Separator: "."})
	want := []graph.ID{
		"1:x:.:m.Shop.Order", "1:x:.:m.Shop.Order<>", "1:x:.:m.Shop.Order", "1:x:.:m.Shop.Order~2", "1:x:.:m.Shop.Order<>",
		"1:x:.:m.<Pair as Debug>::fmt",
	}
	for i, w := range want {
		if symbols[i].ID != w {
			t.Errorf("symbol %d: %s, want %s", i, symbols[i].ID, w)
		}
	}
	if got := symbols[5].Alias; got != "m.Pair::fmt" {
		t.Errorf("alias %q", got)
	}
	if got := graph.NameOf(symbols[1].ID); got != "Order" {
		t.Errorf("NameOf(%s) = %q", symbols[1].ID, got)
	}
}
