package registry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// told writes an answer as lines: level, name and file of each hit.
func told(found adapters.Found) []string {
	out := []string{}
	for _, h := range found.Hits {
		name := "?"
		if h.Symbol != nil {
			name = h.Symbol.Name
			if h.Symbol.Container != "" {
				name = h.Symbol.Container[strings.LastIndexAny(h.Symbol.Container, ".:/")+1:] + "." + name
			}
		}
		out = append(out, fmt.Sprintf("%d %s %s", h.Depth, name, strings.TrimPrefix(h.Place.Path, root+"/")))
	}
	return out
}

const pythonShop = `
-- base.py --
from ext import Root

class Store(Root):
    def save(self): pass

class Audited:
    def save(self): pass
    def note(self): pass
-- disk.py --
from base import Store as Keeper
import base

class Disk(Keeper):
    def save(self): pass

class Fast(Disk): pass

class Named(base.Store, metaclass=type): pass

class Lookalike(other.Store): pass
-- both.py --
from base import Audited
from disk import Disk

Base = Disk

class Both(Base, Audited):
    def save(self): pass

def f(Store):
    class Inner(Store): pass
-- /ext/ext.py --
class Origin:
    def open(self): pass

class Root(Origin):
    def close(self): pass
`

func TestDerivedThroughAliases(t *testing.T) {
	b := open(t, "python", pythonShop)
	b.unknown = func(path string, at int, _ string) bool {
		return strings.HasSuffix(string(b.files[path][:at]), "other.") || strings.HasSuffix(string(b.files[path][:at]), "Inner(")
	}
	store := b.find("base.Store")
	for _, c := range []struct {
		deep bool
		want []string
	}{
		{false, []string{"1 Disk disk.py", "1 Named disk.py"}},
		{true, []string{"1 Disk disk.py", "1 Named disk.py", "2 Both both.py", "2 Fast disk.py"}},
	} {
		found, err := recipe.DerivedBySyntax(t.Context(), b, adapters.Target{Symbol: store, Transitive: c.deep})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, told(found)); diff != "" {
			t.Errorf("transitive %v: %s", c.deep, diff)
		}
		for _, h := range found.Hits {
			if h.Place.File == nil || string(h.Place.File.Content()[h.Place.Span.Start:h.Place.Span.End]) != h.Symbol.Name || h.Source != "syntax" {
				t.Errorf("the place of %s is not its name, or says it is from %q", h.Symbol.Name, h.Source)
			}
		}
	}
}

func TestDerivedOfATypeOutsideTheWorkspace(t *testing.T) {
	b := open(t, "python", pythonShop)
	found, err := recipe.DerivedBySyntax(t.Context(), b, adapters.Target{Symbol: b.find("Origin"), Transitive: false})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 Store base.py"}, told(found)); diff != "" {
		t.Error(diff)
	}
}

func TestSupertypesBeyondTheWorkspace(t *testing.T) {
	b := open(t, "python", pythonShop)
	for _, c := range []struct {
		deep bool
		want []string
	}{
		{false, []string{"1 Audited base.py", "1 Disk disk.py"}},
		{true, []string{"1 Audited base.py", "1 Disk disk.py", "2 Store base.py", "3 Root /ext/ext.py", "4 Origin /ext/ext.py"}},
	} {
		found, err := recipe.SupertypesBySyntax(t.Context(), b, adapters.Target{Symbol: b.find("both.Both"), Transitive: c.deep})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, told(found)); diff != "" {
			t.Errorf("transitive %v: %s", c.deep, diff)
		}
	}
}

// TestSupertypesWithoutTheServer: in the sources of a dependency no server may
// have a file open; a base in the same file is found all the same.
func TestSupertypesWithoutTheServer(t *testing.T) {
	b := open(t, "python", pythonShop)
	b.unknown = func(path string, _ int, _ string) bool { return strings.HasPrefix(path, "/ext") }
	found, err := recipe.SupertypesBySyntax(t.Context(), b, adapters.Target{Symbol: b.find("base.Store"), Transitive: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 Root /ext/ext.py", "2 Origin /ext/ext.py"}, told(found)); diff != "" {
		t.Error(diff)
	}
}

const typescriptShop = `
-- store.ts --
export default interface Store<T> { save(x: T): void; readonly size: number }
export abstract class Base<T extends Store<T>> implements Other<T> { save(x: T) {} }
export interface Other<T> { save(x: T): void }
export const Alias = Base;
-- disk.ts --
import Shelf, { Base as B, Alias } from "./store";
export class Disk extends B<Store<string>> implements Shelf<string> { save(x: string) {}  size = 1 }
export class Loose extends Alias<any> { }
export const Anonymous = class extends Disk { save(x: string) {} };
-- mixin.ts --
import { Disk } from "./disk";
export class Mixed extends Serializable(Disk) { }
`

func TestDerivedInTypeScript(t *testing.T) {
	b := open(t, "typescript", typescriptShop)
	for name, want := range map[string][]string{
		"store.Base":  {"1 Disk disk.ts", "1 Loose disk.ts", "2 Anonymous disk.ts", "2 Mixed mixin.ts"},
		"store.Store": {"1 Disk disk.ts", "2 Anonymous disk.ts", "2 Mixed mixin.ts"},
		"store.Other": {"1 Base store.ts", "2 Disk disk.ts", "2 Loose disk.ts", "3 Anonymous disk.ts", "3 Mixed mixin.ts"},
	} {
		found, err := recipe.DerivedBySyntax(t.Context(), b, adapters.Target{Symbol: b.find(name), Transitive: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, told(found)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestImplementationsOfAMember(t *testing.T) {
	b := open(t, "typescript", typescriptShop)
	found, err := recipe.ImplementationsBySyntax(t.Context(), b, adapters.Target{Symbol: b.find("store.Other.save")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 Base.save store.ts", "2 Disk.save disk.ts", "3 Anonymous.save disk.ts"}, told(found)); diff != "" {
		t.Error(diff)
	}
}

// members lists a family by container and file.
func members(f recipe.Family) []string {
	out := []string{}
	for _, m := range f.Members {
		out = append(out, m.Container[strings.LastIndexAny(m.Container, ".:/")+1:]+"."+m.Name)
	}
	slices.Sort(out)
	return out
}

func TestFamilyUpDownAndSideways(t *testing.T) {
	b := open(t, "python", pythonShop)
	want := []string{"Audited.save", "Both.save", "Disk.save", "Store.save"}
	for _, from := range []string{"base.Store.save", "base.Audited.save", "disk.Disk.save", "both.Both.save"} {
		f, err := recipe.MemberFamily(t.Context(), b, b.find(from), recipe.FamilyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, members(f)); diff != "" || len(f.Outside) > 0 {
			t.Errorf("from %s: %s, outside %v", from, diff, f.Outside)
		}
		if got := f.Members[0]; got.Qualified != from {
			t.Errorf("the family of %s begins with %s", from, got.Qualified)
		}
	}
}

// TestFamilyJoinsWhatIsInherited: a class that implements an interface by a
// method that it inherits ties the two together, though neither knows the other.
func TestFamilyJoinsWhatIsInherited(t *testing.T) {
	b := open(t, "csharp", `
-- a.cs --
interface IStore { void Save(); }
class Base { public void Save() {} private void Hidden() {} }
class Disk : Base, IStore { }
class Far : Disk { void Hidden() {} }
class Apart { public void Save() {} }
`)
	for from, want := range map[string][]string{
		"IStore.Save": {"Base.Save", "IStore.Save"}, "Base.Save": {"Base.Save", "IStore.Save"},
		"Apart.Save": {"Apart.Save"}, "Base.Hidden": {"Base.Hidden"},
	} {
		f, err := recipe.MemberFamily(t.Context(), b, b.find(from), recipe.FamilyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, members(f)); diff != "" {
			t.Errorf("from %s: %s", from, diff)
		}
	}
}

func TestFamilyBoundOutside(t *testing.T) {
	b := open(t, "python", `
-- a.py --
from ext import Root
class Middle(Root): pass
class Mine(Middle):
    def open(self): pass
    def mine(self): pass
class Lost(nowhere.View):
    def get(self): pass
-- /ext/ext.py --
class Origin:
    def open(self): pass
class Root(Origin): pass
`)
	f, err := recipe.MemberFamily(t.Context(), b, b.find("Mine.open"), recipe.FamilyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var refusal *adapters.Refusal
	if err := f.Bound(); !errors.As(err, &refusal) || refusal.Reason != adapters.OutsideWorkspace ||
		!strings.Contains(refusal.Message, "Mine.open belongs together with open of ") || !strings.Contains(refusal.Message, "/ext/ext.py") {
		t.Errorf("the family is not bound to what it overrides outside: %v", err)
	}
	if f, err = recipe.MemberFamily(t.Context(), b, b.find("Mine.mine"), recipe.FamilyOptions{}); err != nil || f.Bound() != nil {
		t.Errorf("a member of its own is bound: %v, %v", err, f.Bound())
	}
	f, err = recipe.MemberFamily(t.Context(), b, b.find("Lost.get"), recipe.FamilyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"nowhere.View (a.py)"}, f.Unknown); diff != "" {
		t.Error(diff)
	}
}

func TestCandidatesNearestFirst(t *testing.T) {
	b := open(t, "python", `
-- shop/store.py --
class Store: pass
-- shop/use.py --
Store()
-- shop/deep/a.py --
def f(): Store()
-- z.py --
def g(): Store()
-- notes.md --
Store
-- shop/other.py --
def h(): Storey()
`)
	srv, _ := b.Server(t.Context(), adapters.Navigate)
	got, err := recipe.Candidates(t.Context(), b, srv, b.find("Store"), 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/w/shop/store.py", "/w/shop/use.py", "/w/shop/deep/a.py", "/w/z.py", "/w/notes.md"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, b.opened); diff != "" || len(b.incomplete) > 0 {
		t.Errorf("opened: %s; incomplete: %q", diff, b.incomplete)
	}
	b.opened = nil
	if _, err := recipe.Candidates(t.Context(), b, srv, b.find("Store"), 2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:2], b.opened); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"4 files hold the word Store, and fake was shown the 2 nearest only"}, b.incomplete); diff != "" {
		t.Error(diff)
	}
}
