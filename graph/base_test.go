package graph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBaseNames(t *testing.T) {
	for base, want := range map[string][]string{
		"":                                   nil,
		"Base":                               {"Base"},
		"a.b.Base":                           {"Base"},
		"crate::store::Store":                {"Store"},
		"IComparer<Order, int>":              {"IComparer"},
		"System.Collections.IList<A<B>>":     {"IList"},
		"Generic[T, U]":                      {"Generic"},
		"Protocol[Callable[[A], B]].Inner":   {"Inner"},
		"Outer<T>.Inner<U>":                  {"Inner"},
		"Mixin(Base)":                        {"Mixin", "Base"},
		"six.with_metaclass(Meta, m.Base)":   {"with_metaclass", "Meta", "Base"},
		"make(name=Base, bases=(A, B))":      {"make", "Base", "A", "B"},
		"NamedTuple(\"Point, x\", [(a, b)])": {"NamedTuple"},
		"Fn<() => void>":                     {"Fn"},
		"Größe":                              {"Größe"},
		"React.Component<Props, State>":      {"Component"},
	} {
		if diff := cmp.Diff(want, BaseNames(base)); diff != "" {
			t.Errorf("%s: %s", base, diff)
		}
	}
}
