package typescript

import (
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// TestUsage names what the place of «x» does.
func TestUsage(t *testing.T) {
	class, function, variable := graph.KindClass, graph.KindFunction, graph.KindVariable
	for _, c := range []struct {
		kind graph.Kind
		code string
		want string
	}{
		{class, "new «x»()", "call"}, {class, "new ns.«x»<T>()", "call"}, {class, "@«x» class C {}", "call"}, {class, "@«x»() class C {}", "call"},
		{class, "let a: «x»", "type"}, {class, "let a: Array<«x»>", "type"}, {class, "class C extends «x» {", "type"}, {class, "class C implements I, «x» {", "type"},
		{class, "a as «x»", "type"}, {class, "f<A, «x»>()", "type"}, {class, "type T = «x»", "type"}, {class, "const C = «x»", "read"}, {class, "a instanceof «x»", "read"}, {class, "«x».make()", "read"},
		{class, "import { «x» } from './a'", "import"}, {class, "import type { A, «x» as B } from './a'", "import"}, {class, "import «x» from './a'", "import"}, {class, "import «x», { A } from './a'", "import"},
		{class, "import * as «x» from './a'", "import"}, {class, "export { A, // one\n «x» } from './a'", "import"}, {class, "export type { «x» }", "import"}, {class, "export class A { «x» }", "read"},
		{graph.KindInterface, "let a: «x»", "type"}, {graph.KindInterface, "function f(a: { b: «x» })", "type"},
		{function, "«x»(1)", "call"}, {function, "«x»<A, B>(1)", "call"}, {function, "a.«x»?.(1)", "call"}, {function, "a.«x»!(1)", "call"}, {function, "«x»`text`", "call"}, {function, "f(«x»)", "read"}, {function, "export default «x»", "read"},
		{function, "const o = { «x» }", "read"}, {function, "export const o = { «x» }", "read"}, {function, "«x» < a && (b)", "read"},
		{variable, "«x» = 1", "write"}, {variable, "«x» += 1", "write"}, {variable, "«x»??= 1", "write"}, {variable, "«x»++", "write"}, {variable, "--«x»", "write"}, {variable, "delete a.«x»", "write"},
		{variable, "«x» == 1", "read"}, {variable, "«x» => 1", "read"}, {variable, "a + «x»", "read"}, {variable, "«x» >= 1", "read"},
		{graph.KindProperty, "f({ «x»: 1 })", "write"}, {graph.KindProperty, "a.«x»", "read"}, {graph.KindProperty, "a.«x» = 1", "write"},
	} {
		start := strings.Index(c.code, "«")
		code := strings.NewReplacer("«", "", "»", "").Replace(c.code)
		p := adapters.Place{Span: graph.Span{Start: start, End: start + 1}, File: text.NewFile([]byte(code))}
		if got := usage(graph.Symbol{Name: "x", Kind: c.kind}, p); got != c.want {
			t.Errorf("%s of a %s: %s, want %s", c.code, c.kind, got, c.want)
		}
	}
}

func TestRenamedFile(t *testing.T) {
	for path, want := range map[string]string{
		"/w/OrderItem.ts": "/w/BillLine.ts", "/w/order-item.ts": "/w/bill-line.ts", "/w/order_item.ts": "/w/bill_line.ts", "/w/orderItem.tsx": "/w/billLine.tsx",
		"/w/orderitem.mts": "/w/billline.mts", "/w/order-item.service.ts": "/w/bill-line.service.ts", "/w/index.ts": "",
	} {
		r := &renamer{Plan: recipe.Plan{Symbol: graph.Symbol{Name: "OrderItem", Kind: graph.KindClass, Path: path}, In: adapters.Rename{NewName: "BillLine"}}}
		if got := r.renamedFile(); got != want {
			t.Errorf("%s moves to %q, want %q", path, got, want)
		}
	}
}

func TestRestemmed(t *testing.T) {
	for specifier, want := range map[string]string{
		`./order-item`: `./bill-line`, `../../core/src/order-item`: `../../core/src/bill-line`, `./order-item.js`: `./bill-line.js`, `"./x/order-item.ts"`: `"./x/bill-line.ts"`,
		`@m/core`: "", `order-item`: "", `./order-items`: "", `./order-item.css`: "",
	} {
		got, ok := restemmed(specifier, "/w/order-item.ts", "/w/bill-line.ts")
		if got != want || ok != (want != "") {
			t.Errorf("%s becomes %q, want %q", specifier, got, want)
		}
	}
}
