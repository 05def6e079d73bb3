package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
)

const cobra = "github.com/spf13/cobra@v1.10.2"

// all is a limit above every count that the tests meet.
const all = 100000

// sorted orders and joins places; servers and Aura may answer in any order.
func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// address is a symbol of a file for call.
func address(file string, line, column int) map[string]any {
	return map[string]any{"filePath": file, "line": line, "column": column, "limit": all}
}

// places renders an answer's locations.
func places(locations []api.Place) []string {
	var list []string
	for _, p := range locations {
		list = append(list, fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column))
	}
	return sorted(list)
}

// symbolPlaces renders where an answer's symbols are declared.
func symbolPlaces(symbols []api.SymbolEntry) []string {
	var list []string
	for _, s := range symbols {
		list = append(list, fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column))
	}
	return sorted(list)
}

// callPlaces renders the calls of an answer.
func callPlaces(symbols []api.SymbolEntry) []string {
	var list []string
	for _, s := range symbols {
		for _, r := range s.Ranges {
			file := r.File
			if file == "" {
				file = s.File
			}
			list = append(list, fmt.Sprintf("%s:%d:%d", file, r.Line, r.Column))
		}
	}
	return sorted(list)
}

// parityGo takes more than the small fixed set of every run of the tests:
// -parity.go 'path@version path@version' -parity.n 20 -soak.seed 1 compares the
// symbols that a soak with these numbers renames.
var parityGo = flag.String("parity.go", "", "Go modules to compare in, with -parity.n symbols of each by -soak.seed; cobra and a fixed set when empty")

// TestSameAnswersAsABareServer asks Aura and a patient bare gopls about the same
// symbols of a real module.
func TestSameAnswersAsABareServer(t *testing.T) {
	if *parityGo == "" {
		dir := module(t, cobra)
		picks := choose(t, goPicks(t, dir), 18, 7)
		picks = append(picks, pick{kind: "type", name: "Command", file: "command.go", line: lineOf(t, dir, "command.go", "type Command struct"), column: 6})
		sameAnswers(t, dir, picks)
		return
	}
	for _, name := range strings.Fields(*parityGo) {
		t.Run(name, func(t *testing.T) {
			dir := module(t, name)
			sameAnswers(t, dir, choose(t, goPicks(t, dir), *parityN, *soakSeed))
		})
	}
}

// sameAnswers compares the answers about symbols of a Go module.
func sameAnswers(t *testing.T, dir string, picks []pick) {
	t.Helper()
	w := newWorld(t, dir)
	truth := startBare(t, w.gopls, dir, w.env)
	asked, found := 0, map[string]int{} // places by question
	for _, p := range picks {
		t.Run(p.String(), func(t *testing.T) {
			var refs api.Places
			w.must(t, "aura_references", address(p.file, p.line, p.column), &refs)
			if !refs.Complete {
				t.Errorf("references are not complete: %q", refs.Warnings)
			}
			want := truth.places(t, "textDocument/references", p.file, p.line, p.column)
			if d := cmp.Diff(want, places(refs.Locations)); d != "" {
				t.Errorf("references (-bare +aura):\n%s", d)
			}
			found["references"] += len(want)
			var def api.Places
			w.must(t, "aura_definition", address(p.file, p.line, p.column), &def)
			want = truth.places(t, "textDocument/definition", p.file, p.line, p.column)
			if d := cmp.Diff(want, places(def.Locations)); d != "" {
				t.Errorf("definition (-bare +aura):\n%s", d)
			}
			found["definition"] += len(want)
			switch p.kind {
			case "type", "interface method", "method":
				var impl api.Symbols
				w.must(t, "aura_find_implementations", address(p.file, p.line, p.column), &impl)
				want = truth.places(t, "textDocument/implementation", p.file, p.line, p.column)
				if d := cmp.Diff(want, symbolPlaces(impl.Symbols)); d != "" {
					t.Errorf("implementations (-bare +aura):\n%s", d)
				}
				found["implementations"] += len(want)
			}
			switch p.kind {
			case "function", "method":
				var calls api.Symbols
				w.must(t, "aura_find_callers", address(p.file, p.line, p.column), &calls)
				want = truth.callers(t, p.file, p.line, p.column)
				if d := cmp.Diff(want, callPlaces(calls.Symbols)); d != "" {
					t.Errorf("callers (-bare +aura):\n%s", d)
				}
				found["callers"] += len(want)
			}
			asked++
		})
	}
	if asked != len(picks) {
		t.Errorf("only %d of %d symbols were compared", asked, len(picks))
	}
	t.Logf("%d symbols compared; places of the bare server by question: %v", asked, found)
}

// TestFirstPageIsSmall holds the answer about a type with 801 places to a size
// that a reader can take: the first page, with the total.
func TestFirstPageIsSmall(t *testing.T) {
	dir := module(t, cobra)
	w := newWorld(t, dir)
	r := w.ok(t, "call", "aura_references", `{"symbolName":"Command","symbolKind":"type"}`)
	var refs api.Places
	if _, err := r.answer(&refs); err != nil {
		t.Fatal(err)
	}
	truth := startBare(t, w.gopls, dir, w.env)
	want := truth.places(t, "textDocument/references", "command.go", lineOf(t, dir, "command.go", "type Command struct"), 6)
	if refs.Total != len(want) || !refs.Truncated || !refs.Complete {
		t.Errorf("total %d, truncated %v, complete %v; the bare server finds %d", refs.Total, refs.Truncated, refs.Complete, len(want))
	}
	if len(r.stdout) > 5000 {
		t.Errorf("the first page has %d bytes", len(r.stdout))
	}
}
