package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// rules of the languages, as their adapters would give them.
var (
	pythonRules     = recipe.Rules{Imports: true, Roots: true}
	typescriptRules = recipe.Rules{Blocks: true, Imports: true}
	rustRules       = recipe.Rules{Blocks: true, Sequential: true, Imports: true}
	csharpRules     = recipe.Rules{Blocks: true, NoShadow: true, Implicit: true, Namespaces: true,
		Together: func(a, b graph.Symbol) bool {
			return a.Params != nil && b.Params != nil && len(a.Params) != len(b.Params)
		},
		Inherited: func(s graph.Symbol) bool { return s.Visibility != "private" }}
)

// clashes runs one rename by the rules of the fake server; where is what the
// refusal must tell, empty when there is none.
func clashes(t *testing.T, b *bench, rules recipe.Rules, sym graph.Symbol, name, where string) {
	t.Helper()
	var set change.Set
	byPath := map[string][]text.Edit{}
	for _, u := range (&server{b}).uses(sym) {
		byPath[u.path] = append(byPath[u.path], text.Edit{Start: u.span.Start, End: u.span.End, New: name})
	}
	for path, edits := range byPath {
		set = set.Append(change.FromEdits(path, edits))
	}
	uses, err := recipe.NewEdits(set, b.read)
	if err != nil {
		t.Fatal(err)
	}
	err = recipe.Clash(t.Context(), b, recipe.Renaming{Symbol: sym, Members: []graph.Symbol{sym}, NewName: name, Uses: uses}, rules)
	var refusal *adapters.Refusal
	switch {
	case where == "" && err != nil:
		t.Errorf("%s → %s is refused: %v", sym.Qualified, name, err)
	case where == "":
	case !errors.As(err, &refusal) || refusal.Reason != adapters.NameConflict:
		t.Errorf("%s → %s is not refused as a clash: %v", sym.Qualified, name, err)
	case !strings.Contains(refusal.Message, where) || len(refusal.Places) != 1:
		t.Errorf("%s → %s is refused for %q, want %q", sym.Qualified, name, refusal.Message, where)
	}
}

func TestClashesInPython(t *testing.T) {
	b := open(t, "python", `
-- shop.py --
from tools import helper, wide as narrow
import tools.parts

class Store:
    size = 1
    def save(self): pass
    def load(self): pass

class Disk(Store):
    def flush(self): pass

def total(price, tax=0):
    result = price + tax
    def inner(amount):
        return amount + result
    return inner(len(price))

def other(rate):
    total(rate, tax=rate)
    narrow(rate)
    count = [x for x in rate]
    return count

def caller():
    local = 1
    return total(local)

def heads(flag):
    if debug:
        return {origin: flag}
    return flag[start:stop], dict(label="x")
-- use.py --
from shop import total
def apply(sums):
    amount = sums
    return total(amount)
`)
	for _, c := range []struct{ sym, name, where string }{
		{"Store.save", "load", "load is declared already as a method beside save (shop.py:7:9)"},
		{"Store.save", "size", "declared already as a field"},
		{"Store.save", "flush", "Disk has a method named flush already"},
		{"Disk.flush", "load", "Store has a method named load already"},
		{"Store.save", "price", ""},
		{"shop.total", "Store", "declared already as a class"},
		{"shop.total", "helper", "declared already where total is seen (shop.py:1:19)"},
		{"shop.total", "wide", ""},
		{"shop.total", "narrow", "declared already where total is seen"},
		{"shop.total", "tools", "declared already where total is seen (shop.py:2:8)"},
		{"shop.total", "parts", ""},
		{"shop.total", "len", "len is used here for something else"},
		{"shop.total", "local", "here local would mean a variable of that name, which is nearer than the renamed total"},
		{"shop.total", "amount", "use.py:4:12"},
		{"shop.total", "tax", ""},
		{"total.price", "tax", "declared already where price is seen"},
		{"total.price", "result", "declared already where price is seen"},
		{"total.price", "rate", ""},
		{"total.price", "amount", ""},
		{"total.result", "amount", "here amount would mean a parameter of that name"},
		{"total.price", "len", "len is used here for something else"},
		{"other.rate", "total", "total is used here for something else"},
		{"other.rate", "tax", ""},
		{"caller.local", "total", "total is used here for something else"},
		{"caller.local", "fresh", ""},
		{"heads.flag", "debug", "debug is used here"},
		{"heads.flag", "origin", "origin is used here"},
		{"heads.flag", "start", "start is used here"},
		{"heads.flag", "label", ""},
	} {
		clashes(t, b, pythonRules, b.find(c.sym), c.name, c.where)
	}
}

func TestClashesInTypeScript(t *testing.T) {
	b := open(t, "typescript", `
-- shop.ts --
import { Item } from "./item";
export class Store { save() {} static of() { return new Store(); } }
interface Shape { side: number; area: number }
namespace Inner { export const deep = 1; export const low = deep; }
export function total(price: number, tax = 0) {
  for (const one of [price]) { console.log(one); }
  for (const two of [price]) { console.log(two, tax); }
  const sum = [price].map(x => x + tax);
  const all = [price].map((y) => { return y + tax; });
  if (tax) { const hidden = 1; return hidden; }
  return { sum, all, rate: 1, now: tax ? Date : console };
}
const outer = 1;
function reads() { return outer; }
function shadows(other: number) { const label = 2; return outer + label; }
`)
	for _, c := range []struct{ sym, name, where string }{
		{"Store.save", "of", "declared already as a method beside save"},
		{"Shape.side", "area", "declared already as a property"},
		{"Shape.side", "price", ""},
		{"shop.Store", "Item", "declared already where Store is seen (shop.ts:1:10)"},
		{"shop.Store", "Shape", "declared already as an interface"},
		{"shop.total", "rate", ""},
		{"shop.total", "console", "console is used here"},
		{"total.one", "two", ""},
		{"total.one", "price", "price is used here"},
		{"total.one", "console", "console is used here"},
		{"x", "y", ""},
		{"x", "tax", "tax is used here"},
		{"y", "x", ""},
		{"y", "tax", "tax is used here"},
		{"total.sum", "all", "declared already where sum is seen"},
		{"total.sum", "tax", "declared already where sum is seen"},
		{"total.sum", "hidden", ""},
		{"total.sum", "one", ""},
		{"total.tax", "x", "here x would mean a parameter of that name"},
		{"total.tax", "hidden", ""},
		{"total.tax", "Date", "Date is used here"},
		{"shop.outer", "label", "here label would mean a constant of that name"},
		{"shop.outer", "other", "here other would mean a parameter of that name"},
		{"shadows.label", "outer", "outer is used here"},
		{"Inner.deep", "low", "declared already as a constant beside deep"},
	} {
		clashes(t, b, typescriptRules, b.find(c.sym), c.name, c.where)
	}
}

func TestClashesInRust(t *testing.T) {
	b := open(t, "rust", `
-- src/lib.rs --
use crate::parts::{Gear, wide as narrow};
pub struct Store { pub size: u32, pub name: u32 }
impl Store {
    pub fn save(&self) -> u32 { self.size }
    pub fn load(&self) -> u32 { self.name }
}
pub fn total(price: u32, tax: u32) -> u32 {
    let first = price;
    let second = first + tax;
    let third = second;
    match price {
        1 => 2,
        found => found + tax,
    }
}
pub fn again(price: u32) -> u32 {
    let one = price;
    let two = one;
    let three = two + one;
    let make = |part: u32| part + price;
    for each in 0..3 { make(each); }
    if let Some(inner) = Some(three) { return inner; }
    three
}
`)
	for _, c := range []struct{ sym, name, where string }{
		{"Store.size", "name", "declared already as a field"},
		{"Store.save", "load", "declared already as a method"},
		{"Store", "Gear", "declared already where Store is seen"},
		{"Store", "wide", ""},
		{"Store", "parts", ""},
		{"total.third", "first", ""},
		{"total.first", "second", ""},
		{"total.first", "price", "price is used here"},
		{"total.found", "tax", "tax is used here"},
		{"total.found", "first", ""},
		{"total.price", "first", "here first would mean a variable of that name"},
		{"again.one", "two", "here two would mean a variable of that name"},
		{"again.part", "price", "price is used here"},
		{"again.each", "make", "make is used here"},
		{"again.each", "price", ""},
		{"again.inner", "three", ""},
		{"again.two", "one", "one is used here"},
	} {
		clashes(t, b, rustRules, b.find(strings.ReplaceAll(c.sym, ".", "::")), c.name, c.where)
	}
}

func TestClashesInCSharp(t *testing.T) {
	b := open(t, "csharp", `
-- a.cs --
using System.Text;
namespace Shop
{
    public class Store
    {
        private int size;
        protected int count;
        public int Save(int amount) { return size + amount; }
        public int Save(int amount, int rate) { return count + rate; }
        public int Load() { int inner = count; { int deep = inner; } return inner; }
        public int Two(int x) { int kept = 1; return kept + Save(x); }
    }
    public class Disk : Store
    {
        public int Flush(int size) { return count + size; }
    }
}
-- b.cs --
namespace Shop
{
    public class Order { Item item; }
}
`)
	for _, c := range []struct{ sym, name, where string }{
		{"Store.Load", "Save", ""}, // another number of parameters
		{"Store.Two", "Save", "declared already as a method"},
		{"Store.size", "count", "declared already as a field"},
		{"Store.size", "amount", "here amount would mean a parameter of that name"},
		{"Store.count", "inner", "here inner would mean a variable of that name"},
		{"Store.count", "Flush", "Disk has a method named Flush already"},
		{"Store.count", "size", "declared already as a field"},
		{"Load.inner", "deep", "declared already where inner is seen"},
		{"Load.deep", "inner", "declared already where deep is seen"},
		{"Load.inner", "count", "count is used here"},
		{"Two.kept", "Save", "Save is used here"},
		{"Two.kept", "Load", ""},
		{"Shop.Store", "Order", "declared already as a class"},
		{"Shop.Store", "Item", "Item is used here for something else and would come to mean the renamed Store (b.cs:3:26)"},
		{"Shop.Store", "Text", ""},
		{"Disk.Flush", "size", ""}, // it is private to its base
	} {
		clashes(t, b, csharpRules, b.find(c.sym), c.name, c.where)
	}
}

func TestClashWithWhatOthersInherit(t *testing.T) {
	b := open(t, "typescript", `
-- a.ts --
export abstract class Base { abstract run(): void }
export class Left extends Base { run() {} }
export class Right extends Base { run() {} private stop() {} }
`)
	clashes(t, b, typescriptRules, b.find("Base.run"), "stop", "Right has a method named stop already, and a.Base.run would override, implement or hide it")
}
