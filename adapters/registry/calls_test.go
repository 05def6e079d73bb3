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

// TestCallersThroughWhatIsOverridden: a call of the interface's member may end
// in the one that implements it.
func TestCallersThroughWhatIsOverridden(t *testing.T) {
	b := open(t, "typescript", `
-- a.ts --
export interface Store { save(): void }
export class Disk implements Store { save() {} }
export function direct() { disk.save(); }
export function indirect() { store.save(); disk.save(); }
`, "store Store", "disk Disk")
	ask := recipe.CallersByReferences(isCall)
	target := adapters.Target{Symbol: b.find("Disk.save"), Depth: 1}
	found, err := ask(t.Context(), b, target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 direct at 3 from save()", "1 indirect at 4 from save()"}, called(found)); diff != "" {
		t.Error(diff)
	}
	found, err = recipe.CallersThrough(ask, recipe.FamilyOptions{})(t.Context(), b, target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 direct at 3 from save()", "1 indirect at 4 4 from save()"}, called(found)); diff != "" {
		t.Error(diff)
	}
	for _, h := range found.Hits {
		if h.From != target.Symbol.ID {
			t.Errorf("%s is said to call %s", h.Symbol.Name, h.From)
		}
	}
}
