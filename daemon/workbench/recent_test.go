package workbench

import (
	"fmt"
	"testing"

	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

func TestTreesAreOfOneContentAndPlace(t *testing.T) {
	var w Workspace
	hash, place, tree := text.Sum([]byte("a")), syntax.Place{Project: "."}, &syntax.Tree{}
	w.trees.put("/a", parsed{hash, place, tree}, 1)
	if w.tree("/a", hash, place) != tree {
		t.Error("the tree of the same content is not found")
	}
	if w.tree("/a", text.Sum([]byte("b")), place) != nil {
		t.Error("a tree is found for other content")
	}
	if w.tree("/a", hash, syntax.Place{Project: "sub"}) != nil {
		t.Error("a tree is found whose symbols would have other ids now")
	}
}

func TestLineIndexIsOfOneContent(t *testing.T) {
	var w Workspace
	first := w.lined("/a", []byte("x\ny"))
	if w.lined("/a", []byte("x\ny")) != first {
		t.Error("the index of the same content was made again")
	}
	if got := w.lined("/a", []byte("x\nz")); got == first || string(got.Line(1)) != "z" {
		t.Errorf("after a change the second line is %q, want z", got.Line(1))
	}
}

func TestRecentStaysWithinItsBound(t *testing.T) {
	var c recent[int]
	const files, size = 100, maxRecent / 10
	for i := range files {
		c.put(fmt.Sprint(i), i, size)
		c.get("0") // always in use
	}
	if c.bytes > maxRecent || len(c.byPath) != c.order.Len() || len(c.byPath) != maxRecent/size {
		t.Errorf("%d bytes in %d entries (%d in order), want at most %d", c.bytes, len(c.byPath), c.order.Len(), maxRecent)
	}
	if _, ok := c.get("0"); !ok {
		t.Error("what is in use was dropped before what is not")
	}
	c.put("huge", 1, maxRecent+1)
	_, huge := c.get("huge")
	if _, ok := c.get("0"); huge || !ok {
		t.Error("an entry larger than the bound pushed the others out")
	}
}
