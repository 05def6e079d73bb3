package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// called writes an answer as lines: level, name, the lines of the calls and
// where the level above is.
func called(found adapters.Found) []string {
	out := []string{}
	for _, h := range found.Hits {
		var lines []string
		for _, r := range h.Ranges {
			lines = append(lines, fmt.Sprint(r.File.PointOf(r.Span.Start).Line))
		}
		from := string(h.From)
		out = append(out, fmt.Sprintf("%d %s at %s from %s", h.Depth, h.Symbol.Name, strings.Join(lines, " "), from[strings.LastIndexAny(from, ".:")+1:]))
	}
	return out
}

// isCall takes what a parenthesis follows at once for a call.
func isCall(_ graph.Symbol, p adapters.Place) string {
	if strings.HasPrefix(string(p.File.Content()[p.Span.End:]), "(") {
		return "call"
	}
	return "read"
}

const calls = `
-- a.ts --
export function leaf<T>(x: number) { return x; }
export function middle() { leaf(1); return leaf<string>(2); }
export function top() { middle(); const named = leaf; again(); }
export function again() { top(); new Shop().open(named); }
export class Shop { open(f: any) { f(); return leaf(3); } }
leaf(4);
-- b.ts --
import { leaf } from "./a";
import { far } from "ext";
export function outside() { far(leaf(5)); }
-- /ext/ext.ts --
export function far(x: number) { return inner(x); }
export function inner(x: number) { return x; }
`

func TestCallersByReferences(t *testing.T) {
	b := open(t, "typescript", calls)
	for depth, want := range map[int][]string{
		1: {"1 a.ts at 6 from leaf(number)", "1 middle at 2 from leaf(number)", "1 open at 5 from leaf(number)", "1 outside at 3 from leaf(number)"},
		3: {"1 a.ts at 6 from leaf(number)", "1 middle at 2 from leaf(number)", "1 open at 5 from leaf(number)", "1 outside at 3 from leaf(number)",
			"2 top at 3 from middle()", "2 again at 4 from open(any)"},
	} {
		found, err := recipe.CallersByReferences(isCall)(t.Context(), b, adapters.Target{Symbol: b.find("a.leaf"), Depth: depth})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, called(found)); diff != "" {
			t.Errorf("depth %d: %s", depth, diff)
		}
	}
}

func TestCalleesBySyntax(t *testing.T) {
	b := open(t, "typescript", calls)
	for name, want := range map[string][]string{
		"a.middle":  {"1 leaf at 2 2 from middle()"},
		"b.outside": {"1 leaf at 3 from outside()", "1 far at 3 from outside()"}, // what far calls is not asked for
		"Shop.open": {"1 leaf at 5 from open(any)"},                              // a parameter is called by nobody's name
		"a.top":     {"1 middle at 3 from top()", "1 again at 3 from top()", "2 leaf at 2 2 from middle()", "2 top at 4 from again()", "2 Shop at 4 from again()", "2 open at 4 from again()"},
	} {
		found, err := recipe.CalleesBySyntax(nil)(t.Context(), b, adapters.Target{Symbol: b.find(name), Depth: 2})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, called(found)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestOverridden: a call of the interface's member may end in the one that
// implements it, here by way of a class between them.
func TestOverridden(t *testing.T) {
	b := open(t, "typescript", `
-- a.ts --
export interface Store { save(): void; other(): void }
export abstract class Base implements Store { abstract save(): void; other() {} }
export class Disk extends Base { save() {} }
`)
	above, err := recipe.Overridden(t.Context(), b, b.find("Disk.save"), recipe.FamilyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range above {
		got = append(got, s.Qualified)
	}
	if diff := cmp.Diff([]string{"a.Base.save", "a.Store.save"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestJoinHits: a call that may go to several members is one call.
func TestJoinHits(t *testing.T) {
	at := func(path string, start int) adapters.Place {
		return adapters.Place{Path: path, Span: graph.Span{Start: start, End: start + 1}}
	}
	hits := recipe.JoinHits(nil, adapters.Hit{Place: at("/a", 1), Ranges: []adapters.Place{at("/a", 5)}})
	hits = recipe.JoinHits(hits, adapters.Hit{Place: at("/a", 1), Ranges: []adapters.Place{at("/a", 5), at("/a", 7)}}, adapters.Hit{Place: at("/b", 1)})
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprint(h.Place.Path, len(h.Ranges)))
	}
	if diff := cmp.Diff([]string{"/a2", "/b0"}, got); diff != "" {
		t.Error(diff)
	}
}
