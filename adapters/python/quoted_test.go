//go:build cgo

package python

import (
	"testing"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// mention is the marked word in its comment or string.
func mention(t *testing.T, marks string) (*source, recipe.Mention) {
	t.Helper()
	code, span := marked(t, marks)
	tree, err := New().Syntax().Read("/ws/a.py", []byte(code), syntax.Place{Language: "python", Root: "/ws", Project: "."})
	if err != nil {
		t.Fatal(err)
	}
	s := &source{&recipe.Source{Path: "/ws/a.py", Content: []byte(code), Tree: tree}}
	for _, m := range recipe.Mentions(tree, s.Content, code[span.Start:span.End]) {
		if m.Span == span {
			return s, m
		}
	}
	t.Fatalf("%q marks no word in a comment or string", marks)
	return nil, recipe.Mention{}
}

// A type in quotes is one only where a type is expected; any other string is data.
func TestQuotedType(t *testing.T) {
	for code, want := range map[string]bool{
		`x = cast("«X»", y)`:                     true,
		`x = t.cast("list[«X»]", y)`:             true,
		`x = t.cast(t.List["«X»"], y)`:           true,
		`T = TypeVar("T", bound="«X»")`:          true,
		`T = TypeVar("T", "«X»", "Y")`:           true,
		`L = t.Dict[str, "«X»"]`:                 true,
		`L = list["«X»"]`:                        true,
		`D = TypedDict("D", {"a": "«X»"})`:       true,
		`N = NamedTuple("N", [("a", "«X»")])`:    true,
		`N = NewType("N", "«X»")`:                false,
		`D = TypedDict("«X»", {"a": "int"})`:     false,
		`N = NamedTuple("N", [("«X»", "int")])`:  false,
		`x = registry["«X»"]`:                    false,
		`x = names["a"]["«X»"]`:                  false,
		`print("«X»")`:                           false,
		`x = cast("«X» is a type", y)`:           true, // no type, and cast to it all the same
		`x = cast(Y, "«X»")`:                     false,
		`x = cast("other.«X»", y)`:               false,
		`getattr(m, "«X»")`:                      false,
		`x: t.Literal["«X»"] = "X"`:              false,
		`x = list[f("«X»")]`:                     false,
		"x = t.cast(\n    \"«X»\",\n    y,\n)\n": true,
	} {
		s, m := mention(t, code+"\n")
		if got := s.quotedType(m); got != want {
			t.Errorf("%s is a type in quotes: %v", code, got)
		}
	}
}

// A word of prose is renamed when it is marked as code, not when it may be one
// of the language that the comment is written in.
func TestMeans(t *testing.T) {
	class := graph.Symbol{Name: "Order", Kind: graph.KindClass, Qualified: "src.shop.store.Order"}
	method := graph.Symbol{Name: "save", Kind: graph.KindMethod, Container: "src.shop.store.Order", Qualified: "src.shop.store.Order.save"}
	parameter := graph.Symbol{Name: "total", Kind: graph.KindParameter, Container: "src.shop.store.Order.save", Qualified: "src.shop.store.Order.save.total"}
	function := graph.Symbol{Name: "add_up", Kind: graph.KindFunction, Qualified: "src.shop.add_up"}
	for _, c := range []struct {
		sym  graph.Symbol
		code string
		want bool
	}{
		{class, "# see `«Order»`", true},
		{class, "# see :class:`~shop.store.«Order»`", true},
		{class, "# see :class:`shop.«Order»`", true},
		{class, "# see other.«Order»", false},
		{class, "# an «Order» of three", true},
		{class, "# «Order» of magnitude", false},
		{class, "# Sorted. «Order» matters", false},
		{class, "# «Order»(1)", true},
		{class, "# in/«Order»", false},
		{method, "# calls save: «save» it", false},
		{method, "# Order.«save» writes", true},
		{method, "# self.«save» writes", true},
		{method, "# disk.«save» writes", false},
		{method, "# ``«save»`` writes", true},
		{method, "# «save»() writes", true},
		{method, "# --«save»", false},
		{parameter, "def f():\n    \"\"\"Does.\n\n    :param «total»: the sum\n    \"\"\"", true},
		{parameter, "def f():\n    \"\"\"Does.\n\n    :param int «total»: the sum\n    \"\"\"", true},
		{parameter, "def f():\n    \"\"\"Does.\n\n    Args:\n        «total» (int): the sum\n    \"\"\"", true},
		{parameter, "# the «total» is wrong", false},
		{function, "# first «add_up» all", true},
		{function, "# not add-«add_up»", false},
	} {
		s, m := mention(t, c.code+"\n")
		if got := s.means(m, c.sym); got != c.want {
			t.Errorf("%s means %s: %v", c.code, c.sym.Qualified, got)
		}
	}
}

func TestDocstring(t *testing.T) {
	for code, want := range map[string]bool{
		`"""«X»"""`:                            true,
		"def f():\n    \"\"\"«X»\"\"\"":        true,
		"class A:\n    x = 1\n    '''«X»'''":   true,
		"# «X»":                                true,
		`x = "«X»"`:                            false,
		"f(\n    \"«X»\"\n)":                   false,
		"d = {\n    1:\n    \"«X»\",\n}":       false,
		"return \"«X»\"":                       false,
		"x = 1\n# ( not open\n\"\"\"«X»\"\"\"": true,
	} {
		s, m := mention(t, code+"\n")
		if got := s.docstring(m.Token); got != want {
			t.Errorf("%q documents: %v", code, got)
		}
	}
}
