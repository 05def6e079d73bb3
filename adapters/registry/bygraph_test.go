package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// lines writes places as "file:line:column use"; a star is the declaration.
func lines(found adapters.Found) []string {
	out := []string{}
	for _, h := range found.Hits {
		p := h.Place.File.PointOf(h.Place.Span.Start)
		use := h.Usage
		if h.IsDeclaration {
			use = "*"
		}
		out = append(out, fmt.Sprintf("%s:%d:%d %s", strings.TrimPrefix(h.Place.Path, root+"/"), p.Line, p.Column, use))
	}
	return out
}

// alike hold the same code in each language: a type of a name that another file
// declares as well, what only its own file can name, a local that shadows.
var alike = map[string]string{
	"go": `
-- go.mod --
module example.com/shop
-- store/store.go --
package store

type Saver interface{ Save(n int) error }

type Order struct{ total int }

func (o *Order) Save(n int) error { o.total = n; return nil }

func limit() int { return 10 }

func Check(o Order) bool { limit := limit(); return o.total < limit }
-- bill/bill.go --
package bill

import "example.com/shop/store"

type Order struct{}

func Run() error { o := &store.Order{}; var own Order; _ = own; return o.Save(1) }
`,
	"python": `
-- pyproject.toml --
-- shop/store.py --
class Saver:
    def save(self, n): ...

class Order(Saver):
    def __init__(self):
        self.total = 0
    def save(self, n):
        self.total = n

def limit():
    return 10
-- shop/bill.py --
from shop.store import Order, limit
import shop.store

class Bill(shop.store.Order):
    def save(self, n):
        Order = n
        return Order

def run(o: Order):
    return limit() + o.total
-- shop/other.py --
class Order:
    pass

def use():
    return Order()
`,
	"typescript": `
-- store.ts --
export interface Saver { save(n: number): void }
export class Order implements Saver {
  private total = 0;
  save(n: number) { this.total = n; }
}
function limit() { return 10; }
export const most = limit();
-- bill.ts --
import { Order } from "./store";
import * as store from "./store";
class Bill extends store.Order { save(n: number) { const Order = n; return Order; } }
export function run(o: Order) { o.save(1); }
-- other.ts --
class Order {}
export const own = new Order();
`,
	"rust": `
-- Cargo.toml --
-- src/lib.rs --
mod store;
mod bill;
-- src/store.rs --
pub trait Saver { fn save(&mut self, n: u32); }
pub struct Order { total: u32 }
impl Saver for Order { fn save(&mut self, n: u32) { self.total = n; } }
fn limit() -> u32 { 10 }
pub fn check(o: &Order) -> bool { let limit = limit(); o.total < limit }
-- src/bill.rs --
use crate::store::{Order, Saver};
pub fn run(o: &mut Order) { o.save(1); }
mod own { pub struct Order; pub fn new() -> Order { Order } }
`,
	"csharp": `
-- Shop.csproj --
-- Store.cs --
namespace Shop.Store;
public interface ISaver { void Save(int n); }
public class Order : ISaver {
    private int total;
    public void Save(int n) { total = n; this.total = Limit(); }
    private static int Limit() { var limit = 10; return limit; }
}
-- Bill.cs --
using Shop.Store;
namespace Shop.Bill;
public class Run { void Go(Order o) { o.Save(1); var total = 1; total++; } }
-- Other.cs --
namespace Shop.Other;
public class Order { }
public class Use { Order Own() => new Order(); }
`,
}

func TestReferencesByGraph(t *testing.T) {
	for _, c := range []struct {
		language, symbol string
		whole            bool
		want             []string
	}{
		{"go", "store.Order", false, []string{"bill/bill.go:7:32 type", "store/store.go:5:6 *", "store/store.go:7:10 type", "store/store.go:11:14 type"}},
		{"go", "store.limit", true, []string{"store/store.go:9:6 *", "store/store.go:11:37 call"}},
		{"go", "store.Order.total", true, []string{"store/store.go:5:20 *", "store/store.go:7:39 write", "store/store.go:11:55 read"}},
		{"python", "shop.store.Order", false, []string{"shop/bill.py:1:24 import", "shop/bill.py:4:23 type", "shop/bill.py:9:12 type", "shop/store.py:4:7 *"}},
		{"python", "shop.store.limit", false, []string{"shop/bill.py:1:31 import", "shop/bill.py:10:12 call", "shop/store.py:10:5 *"}},
		{"typescript", "store.Order", false, []string{"bill.ts:1:10 import", "bill.ts:3:26 type", "bill.ts:4:24 type", "store.ts:2:14 *"}},
		{"typescript", "other.Order", false, []string{"other.ts:1:7 *", "other.ts:2:24 call"}},
		{"typescript", "store.Order.total", true, []string{"store.ts:3:11 *", "store.ts:4:26 write"}},
		{"typescript", "limit", false, []string{"store.ts:6:10 *", "store.ts:7:21 call"}},
		{"rust", "store::Order", false, []string{"src/bill.rs:1:20 import", "src/bill.rs:2:20 type", "src/store.rs:2:12 *", "src/store.rs:3:16 type", "src/store.rs:5:18 type"}},
		{"rust", "store::limit", true, []string{"src/store.rs:4:4 *", "src/store.rs:5:47 call"}},
		{"rust", "store::Order::total", true, []string{"src/store.rs:2:20 *", "src/store.rs:3:58 write", "src/store.rs:5:58 read"}},
		{"csharp", "Shop.Store.Order", false, []string{"Bill.cs:3:28 type", "Store.cs:3:14 *"}},
		{"csharp", "Shop.Other.Order", false, []string{"Other.cs:2:14 *", "Other.cs:3:20 type", "Other.cs:3:39 call"}},
		{"csharp", "Shop.Store.Order.total", true, []string{"Store.cs:4:17 *", "Store.cs:5:31 write", "Store.cs:5:47 write"}},
		{"csharp", "Shop.Store.Order.Limit", true, []string{"Store.cs:5:55 call", "Store.cs:6:24 *"}},
	} {
		b := open(t, c.language, alike[c.language])
		sym := b.find(c.symbol)
		found, err := recipe.ByGraph(recipe.LexiconOf(b.lang)).References.Run(t.Context(), b, adapters.Target{Symbol: sym})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, lines(found)); diff != "" {
			t.Errorf("%s %s:\n%s", c.language, c.symbol, diff)
		}
		if whole := len(b.incomplete) == 0; whole != c.whole {
			t.Errorf("%s %s: whole is %v: %q", c.language, c.symbol, whole, b.incomplete)
		}
	}
}

func TestHierarchyByGraph(t *testing.T) {
	ask := func(language, symbol string, q func(adapters.Recipes) adapters.Find[adapters.Target]) []string {
		t.Helper()
		b := open(t, language, alike[language])
		found, err := q(recipe.ByGraph(recipe.LexiconOf(b.lang))).Run(t.Context(), b, adapters.Target{Symbol: b.find(symbol), Depth: 1, Transitive: true})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, h := range found.Hits {
			out = append(out, strings.TrimPrefix(h.Place.Path, root+"/")+" "+h.Symbol.Name)
		}
		return out
	}
	derived := func(r adapters.Recipes) adapters.Find[adapters.Target] { return r.Derived }
	supertypes := func(r adapters.Recipes) adapters.Find[adapters.Target] { return r.Supertypes }
	implementations := func(r adapters.Recipes) adapters.Find[adapters.Target] { return r.Implementations }
	callers := func(r adapters.Recipes) adapters.Find[adapters.Target] { return r.Callers }
	callees := func(r adapters.Recipes) adapters.Find[adapters.Target] { return r.Callees }
	for _, c := range []struct {
		language, symbol string
		q                func(adapters.Recipes) adapters.Find[adapters.Target]
		want             []string
	}{
		{"go", "store.Saver", derived, []string{"store/store.go Order"}},
		{"go", "store.Order", supertypes, []string{"store/store.go Saver"}},
		{"go", "store.Saver.Save", implementations, []string{"store/store.go Save"}},
		{"go", "store.limit", callers, []string{"store/store.go Check"}},
		{"go", "store.Check", callees, []string{"store/store.go limit"}},
		{"python", "shop.store.Saver", derived, []string{"shop/store.py Order", "shop/bill.py Bill"}},
		{"python", "shop.store.Saver.save", implementations, []string{"shop/store.py save", "shop/bill.py save"}},
		{"python", "shop.bill.Bill", supertypes, []string{"shop/store.py Order", "shop/store.py Saver"}},
		{"python", "shop.store.limit", callers, []string{"shop/bill.py run"}},
		{"python", "shop.bill.run", callees, []string{"shop/store.py limit"}},
		{"typescript", "store.Saver", derived, []string{"store.ts Order", "bill.ts Bill"}},
		{"typescript", "store.Order.save", callers, []string{"bill.ts run"}},
		{"rust", "store::Saver", derived, []string{"src/store.rs Order"}},
		{"rust", "store::limit", callers, []string{"src/store.rs check"}},
		{"csharp", "Shop.Store.ISaver", derived, []string{"Store.cs Order"}},
		{"csharp", "Shop.Store.ISaver.Save", implementations, []string{"Store.cs Save"}},
		{"csharp", "Shop.Store.Order.Limit", callers, []string{"Store.cs Save"}},
	} {
		if diff := cmp.Diff(c.want, ask(c.language, c.symbol, c.q)); diff != "" {
			t.Errorf("%s %s:\n%s", c.language, c.symbol, diff)
		}
	}
}
