package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// planned makes a plan that puts a text in place of each name of a symbol.
func planned(t *testing.T, b *bench, sym graph.Symbol, name, written string) *recipe.Plan {
	t.Helper()
	p := &recipe.Plan{Bench: b, In: adapters.Rename{Symbol: sym, NewName: name}, Symbol: sym}
	byPath := map[string][]text.Edit{}
	for _, u := range (&server{b}).uses(sym) {
		byPath[u.path] = append(byPath[u.path], text.Edit{Start: u.span.Start, End: u.span.End, New: written})
		p.Holders = append(p.Holders, u.path)
	}
	var set change.Set
	for path, edits := range byPath {
		set = set.Append(change.FromEdits(path, edits))
	}
	var err error
	if p.Edits, err = recipe.NewEdits(set, p.Read(t.Context())); err != nil {
		t.Fatal(err)
	}
	return p
}

const ledger = `
-- Order.cs --
class Order { Order next; }
-- Use.cs --
class Use { Order order; }
-- Other.cs --
class Other { }
-- notes.txt --
Order
`

func TestDraftFollowsTheDeclaration(t *testing.T) {
	b := open(t, "csharp", ledger)
	p := planned(t, b, b.find("Order"), "Bill", "Bill")
	p.Holders = append(p.Holders, root+"/Other.cs")
	p.Moves = []change.Op{{Kind: change.Rename, Path: root + "/Order.cs", NewPath: root + "/Bill.cs"}}
	p.Warn("%s once", "told")
	p.Warn("told once")
	d, err := p.Draft(t.Context(), p.Edits.Set(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(adapters.Marks{Path: root + "/Order.cs", Offset: len("class ")}, d.Old); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(adapters.Marks{Path: root + "/Bill.cs", Offset: len("class ")}, d.New); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{root + "/Other.cs"}, d.Reads); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"told once"}, d.Warnings); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(string(d.NewID), ":Bill") {
		t.Errorf("new id %s", d.NewID)
	}
}

func TestDraftOfNamesThatAreMarked(t *testing.T) {
	b := open(t, "csharp", ledger)
	p := planned(t, b, b.find("Order"), "class", "@class")
	if _, err := p.Draft(t.Context(), p.Edits.Set(), nil); err == nil {
		t.Error("another name than the wanted one was taken for it")
	}
	if _, err := p.Draft(t.Context(), p.Edits.Set(), func(name string) string { return strings.TrimPrefix(name, "@") }); err != nil {
		t.Error(err)
	}
}

// TestDraftBehind: an edit may write something before the name.
func TestDraftBehind(t *testing.T) {
	b := open(t, "csharp", ledger)
	p := planned(t, b, b.find("Other"), "Else", "/* new */ Else")
	if _, err := p.Draft(t.Context(), p.Edits.Set(), nil); err == nil {
		t.Error("the place before the name was taken for the name")
	}
	p.Behind = len("/* new */ ")
	d, err := p.Draft(t.Context(), p.Edits.Set(), nil)
	if err != nil || d.New.Offset != len("class /* new */ ") {
		t.Errorf("%v, mark at %d", err, d.New.Offset)
	}
}

func TestSourcesOfAPlan(t *testing.T) {
	b := open(t, "csharp", ledger)
	p := &recipe.Plan{Bench: b, Foreign: func(path string) bool { return strings.HasSuffix(path, ".txt") }}
	code, err := p.Source(t.Context(), root+"/Use.cs")
	if err != nil || code.Tree == nil {
		t.Fatalf("%v, %v", code, err)
	}
	if again, err := p.Source(t.Context(), root+"/Use.cs"); err != nil || again != code {
		t.Errorf("the file was read again: %v", err)
	}
	if got := p.Where(code, strings.Index(string(code.Content), "order")); got != "Use.cs:1:19" {
		t.Error(got)
	}
	foreign, err := p.Source(t.Context(), root+"/notes.txt")
	if err != nil || foreign.Tree != nil || string(foreign.Content) != "Order\n" {
		t.Errorf("%v, %v", foreign, err)
	}
}

func TestEventsOfFiles(t *testing.T) {
	var events []recipe.FileEvent
	for _, c := range []adapters.FileChange{{Path: "/w/a b.py", Created: true}, {Path: "/w/ä.py"}, {Path: "/w/c.py", Deleted: true}} {
		events = append(events, recipe.EventOf(c))
	}
	want := []adapters.Message{{Method: recipe.Watched, Params: recipe.FileEvents{Changes: []recipe.FileEvent{
		{URI: "file:///w/a%20b.py", Type: 1}, {URI: "file:///w/%C3%A4.py", Type: 2}, {URI: "file:///w/c.py", Type: 3},
	}}}}
	if diff := cmp.Diff(want, recipe.Tell(events)); diff != "" {
		t.Error(diff)
	}
	if got := recipe.Tell(nil); got != nil {
		t.Errorf("nothing changed, and the server is told %v", got)
	}
}

func TestHowAServerIsCalled(t *testing.T) {
	look := func(name string) (string, error) {
		if name == "server" {
			return "/bin/server", nil
		}
		return "", errors.New("not found")
	}
	for _, c := range []struct {
		site    adapters.Site
		program string
		want    []string
		err     string
	}{
		{adapters.Site{Look: look}, "server", []string{"/bin/server", "--stdio"}, ""},
		{adapters.Site{Look: look}, "other", nil, "not found"},
		{adapters.Site{}, "server", nil, "server is not configured"},
		{adapters.Site{Look: look, Command: []string{"/mine", "-x"}}, "server", []string{"/mine", "-x"}, ""},
	} {
		got, err := recipe.Command(c.site, c.program, "--stdio")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %q", c.program, err, c.err)
		}
	}
}
