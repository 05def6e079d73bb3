package workbench

import (
	"fmt"
	"testing"

	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

func TestTreesAreOfOneContentAndPlace(t *testing.T) {
	var c trees
	hash, place, tree := text.Sum([]byte("a")), syntax.Place{Project: "."}, &syntax.Tree{}
	c.put(&parsed{path: "/a", hash: hash, place: place, tree: tree, bytes: 1})
	if c.get("/a", hash, place) != tree {
		t.Error("the tree of the same content is not found")
	}
	if c.get("/a", text.Sum([]byte("b")), place) != nil {
		t.Error("a tree is found for other content")
	}
	if c.get("/a", hash, syntax.Place{Project: "sub"}) != nil {
		t.Error("a tree is found whose symbols would have other ids now")
	}
}

func TestTreesStayWithinTheirBound(t *testing.T) {
	var c trees
	const files, size = 100, maxTrees / 10
	hash := text.Sum(nil)
	for i := range files {
		c.put(&parsed{path: fmt.Sprint(i), hash: hash, tree: &syntax.Tree{}, bytes: size})
		c.get("0", hash, syntax.Place{}) // always in use
	}
	if c.bytes > maxTrees || len(c.byKey) != c.order.Len() || len(c.byKey) != maxTrees/size {
		t.Errorf("%d bytes in %d trees (%d in order), want at most %d", c.bytes, len(c.byKey), c.order.Len(), maxTrees)
	}
	if c.get("0", hash, syntax.Place{}) == nil {
		t.Error("the tree in use was dropped before those that are not")
	}
	c.put(&parsed{path: "huge", hash: hash, tree: &syntax.Tree{}, bytes: maxTrees + 1})
	if c.get("huge", hash, syntax.Place{}) != nil || c.get("0", hash, syntax.Place{}) == nil {
		t.Error("a tree larger than the bound pushed the others out")
	}
}
