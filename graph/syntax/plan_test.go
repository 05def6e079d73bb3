package syntax

import (
	"errors"
	"strings"
	"testing"
)

func TestNewPlan(t *testing.T) {
	names := []string{"identifier", "definition.class", "name", "_word"}
	p, err := newPlan(names, [][]string{
		nil,
		{"eq?", "@_word", "self", "", "not-any-of?", "@name", "a", "b", ""},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.names[1].role != roleDefinition || p.names[1].kind != "class" || p.names[0].role != roleIdentifier {
		t.Errorf("names read as %+v", p.names)
	}
	src := []byte("self a c")
	word, a, c := capture{start: 0, end: 4, name: 3, pattern: 1}, capture{start: 5, end: 6, name: 2, pattern: 1}, capture{start: 7, end: 8, name: 2, pattern: 1}
	if p.holds([]capture{word, a}, src) {
		t.Error("a name that is excluded was let through")
	}
	if !p.holds([]capture{word, c}, src) {
		t.Error("a match that satisfies both predicates was refused")
	}
	if p.holds([]capture{{start: 5, end: 6, name: 3, pattern: 1}, c}, src) {
		t.Error("another word than the one asked for was let through")
	}
}

func TestNewPlan_Mistakes(t *testing.T) {
	for _, c := range []struct {
		names      []string
		conditions [][]string
		want       string
	}{
		{[]string{"definiton.class"}, nil, "@definiton.class"},
		{[]string{"nonsense"}, nil, "@nonsense"},
		{[]string{"name"}, [][]string{{"match?", "@name", "^a", ""}}, "match?"},
		{[]string{"name"}, [][]string{{"eq?", "@name", ""}}, "eq?"},
		{[]string{"name"}, [][]string{{"eq?", "@other", "x", ""}}, "@other"},
	} {
		_, err := newPlan(c.names, c.conditions)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: error %v, want one that names %s", c.names, c.conditions, err, c.want)
		}
	}
}

// TestSpec_Missing: a build that lacks a grammar says so and answers with an error.
func TestSpec_Missing(t *testing.T) {
	s := TreeSitter{Version: "x1", Grammars: []Grammar{{Query: "(identifier) @identifier"}}}.Spec()
	if s.Missing == "" {
		t.Error("nothing is said to be missing")
	}
	tree, err := s.Read("a.x", []byte("text"), Place{Language: "x", Project: "."})
	if tree != nil || !errors.Is(err, ErrNotBuilt) {
		t.Errorf("got %v, %v; want ErrNotBuilt", tree, err)
	}
}
