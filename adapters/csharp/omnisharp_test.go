//go:build cgo

package csharp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// use returns a name as it stands at the n-th place in a file, for questions at a use.
func use(t *testing.T, d *desk, file, word string, n int) graph.Symbol {
	t.Helper()
	path := where + "/" + file
	at := text.Words(d.files[path], word)
	if len(at) <= n {
		t.Fatalf("%s stands %d times in %s", word, len(at), file)
	}
	return graph.Symbol{Name: word, Kind: graph.KindClass, Path: path, NameSpan: graph.Span{Start: at[n], End: at[n] + len(word)}}
}

func TestOmnisharp_Definition(t *testing.T) {
	_, d := record(t, "definition")
	for _, c := range []struct {
		name string
		sym  graph.Symbol
		want []string
	}{
		{"one place is no list", use(t, d, "App/Program.cs", "Circle", 0), []string{"Lib/Circle.cs:9 Circle declaration"}},
		{"a partial type has two", use(t, d, "App/Program.cs", "Registry", 0), []string{"Lib/Registry.Query.cs:3 Registry declaration", "Lib/Registry.cs:3 Registry declaration"}},
		{"compiled code has no file", use(t, d, "App/Program.cs", "Console", 0), nil},
		{"an attribute without its suffix", use(t, d, "Lib/Circle.cs", "Tag", 0), []string{"Lib/ShapeInfo.cs:8 TagAttribute declaration"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := d.a.Recipes().Definition.Run(t.Context(), d, adapters.Target{Symbol: c.sym})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(found)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(*d.notes) > 0 {
		t.Errorf("the answers are marked: %q", *d.notes)
	}
}

func TestOmnisharp_References(t *testing.T) {
	_, d := record(t, "references")
	for _, c := range []struct {
		symbol string
		want   []string
	}{
		{"Sample.Lib.IShape.Area", []string{
			"Lib/Circle.cs:14 Area declaration", "Lib/IShape.cs:8 Area declaration", "Lib/Registry.Query.cs:10 Area call", "Lib/Registry.Query.cs:15 Area call",
			"Lib/ShapeBase.cs:19 Area declaration", "Lib/ShapeBase.cs:26 Area call", "Lib/ShapeInfo.cs:14 Area call", "Lib/Square.cs:17 Area declaration",
		}},
		{"Sample.Lib.TagAttribute", []string{"Lib/Circle.cs:4 Tag type", "Lib/ShapeInfo.cs:6 TagAttribute declaration", "Lib/ShapeInfo.cs:8 TagAttribute type"}},
		{"Sample.Lib.ShapeBase.Scaled", []string{"App/Program.cs:12 Scaled write", "Lib/ShapeBase.cs:10 Scaled declaration", "Lib/ShapeBase.cs:23 Scaled call"}},
	} {
		t.Run(c.symbol, func(t *testing.T) {
			found, err := d.a.Recipes().References.Run(t.Context(), d, adapters.Target{Symbol: d.find(c.symbol)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOmnisharp_Implementations(t *testing.T) {
	_, d := record(t, "implementation")
	for symbol, want := range map[string][]string{
		"Sample.Lib.IShape":    {"Lib/Circle.cs:5 Circle", "Lib/ShapeBase.cs:6 ShapeBase", "Lib/Square.cs:3 Square"},
		"Sample.Lib.ShapeBase": {"Lib/Circle.cs:5 Circle"},
		"Sample.Lib.Circle":    {"Lib/Circle.cs:5 Circle"}, // its own, as nothing derives from it
	} {
		found, err := d.a.Recipes().Implementations.Run(t.Context(), d, adapters.Target{Symbol: d.find(symbol)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, said(found)); diff != "" {
			t.Errorf("%s: %s", symbol, diff)
		}
	}
}

// TestOmnisharp_Callers: it knows neither callers nor types above and below,
// which come of its references and definitions.
func TestOmnisharp_Callers(t *testing.T) {
	r, d := record(t, "references")
	found, err := d.a.Recipes().Callers.Run(t.Context(), d, adapters.Target{Symbol: d.find("Sample.Lib.IShape.Area"), Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Lib/Registry.Query.cs:15 Infos", "Lib/Registry.Query.cs:5 TotalArea", "Lib/ShapeBase.cs:26 ToString", "Lib/ShapeInfo.cs:14 Describe"}
	if diff := cmp.Diff(want, said(found)); diff != "" {
		t.Error(diff)
	}
	for _, asked := range r.asked {
		if strings.Contains(asked, "Hierarchy") {
			t.Errorf("it was asked %s, which it does not know", asked)
		}
	}
}

func TestOmnisharp_Refusals(t *testing.T) {
	_, d := record(t, "invalid")
	// An error explains itself by a stack trace, of which a person needs one line.
	srv := plainServer{d.srv}
	params := map[string]any{"textDocument": map[string]string{"uri": "file://" + where + "/Lib/Circle.cs"}, "position": map[string]int{"line": 9999, "character": 0}}
	var raw []byte
	err := srv.Call(t.Context(), "textDocument/definition", params, &raw)
	var declined adapters.ServerRefusal
	if !errors.As(err, &declined) {
		t.Fatalf("%v is no refusal of the server", err)
	}
	if code, message := declined.Refusal(); code != -32603 || strings.Contains(message, "\n") || !strings.Contains(message, "ArgumentOutOfRange") {
		t.Errorf("%d %q", code, message)
	}
	// Of a file that it has not loaded it answers nothing, which is no answer.
	d.files[where+"/Lib/Nope.cs"] = []byte("class Nope {}\n")
	nope := graph.Symbol{Name: "class", Kind: graph.KindClass, Path: where + "/Lib/Nope.cs", NameSpan: graph.Span{Start: 0, End: 5}}
	found, err := d.a.Recipes().References.Run(t.Context(), d, adapters.Target{Symbol: nope})
	if err != nil || len(found.Hits) > 0 {
		t.Fatalf("%v, %v", said(found), err)
	}
	if len(*d.notes) != 1 || !strings.Contains((*d.notes)[0], "incomplete: Lib/Nope.cs belongs to no project") {
		t.Errorf("notes: %q", *d.notes)
	}
}

// TestOmnisharp_Rename plans renames from recorded answers: minimal edits in
// descending order, and no validation at all.
func TestOmnisharp_Rename(t *testing.T) {
	for _, c := range []struct {
		name, symbol, to string
		want             []string // the changed lines, trimmed
		code, says       string
	}{
		{name: "class with its constructor", symbol: "Sample.Lib.Circle", to: "Disc", want: []string{
			"App/Program.cs: var circle = new Disc(2.0);", "Lib/Circle.cs: public Disc(double radius) : base(\"Circle\")", "Lib/Circle.cs: public class Disc : ShapeBase",
		}},
		{name: "override and its family", symbol: "Sample.Lib.Circle.Scale", to: "Resize", want: []string{
			"App/Program.cs: circle.Resize(1.5);", "Lib/Circle.cs: base.Resize(factor);", "Lib/Circle.cs: public override void Resize(double factor)",
			"Lib/IShape.cs: void Resize(double factor);", "Lib/ShapeBase.cs: public virtual void Resize(double factor)", "Lib/Square.cs: public void Resize(double factor)",
		}},
		{name: "attribute with its suffix", symbol: "Sample.Lib.TagAttribute", to: "LabelAttribute", want: []string{
			"Lib/Circle.cs: [Label(\"Circle\")]", "Lib/ShapeInfo.cs: public LabelAttribute(string value) => Value = value;", "Lib/ShapeInfo.cs: public sealed class LabelAttribute : Attribute",
		}},
		{name: "field of a partial type", symbol: "Sample.Lib.Registry._shapes", to: "_items", want: []string{
			"Lib/Registry.Query.cs: foreach (var s in _items)", "Lib/Registry.Query.cs: public IEnumerable<ShapeInfo> Infos() => _items.Select(s => new ShapeInfo(s.Name, s.Area()));",
			"Lib/Registry.cs: private readonly List<IShape> _items = new();", "Lib/Registry.cs: public void Add(IShape shape) => _items.Add(shape);",
		}},
		{name: "local that needs this", symbol: "Sample.Lib.Square.Scale.before", to: "side", want: []string{"Lib/Square.cs: this.side = side * factor;", "Lib/Square.cs: var side = this.side;"}},
		{name: "what it would write anyway", symbol: "Sample.Lib.Circle", to: "1abc", code: "INVALID_NAME", says: "1abc"},
		{name: "a name with a space", symbol: "Sample.Lib.Circle", to: "a b", code: "INVALID_NAME", says: "a b"},
		{name: "a name that is taken", symbol: "Sample.Lib.Circle", to: "Square", code: "NAME_CONFLICT", says: "Square is declared already in Sample.Lib (Lib/Square.cs:3:14)"},
		{name: "a local's name that is taken", symbol: "Sample.App.Program.ComputeTotal.doubled", to: "tripled", code: "NAME_CONFLICT", says: "tripled is declared already in ComputeTotal"},
		{name: "a field's name that is taken", symbol: "Sample.Lib.Square.label", to: "side", code: "NAME_CONFLICT", says: "side is declared already in Sample.Lib.Square"},
		{name: "the same name", symbol: "Sample.Lib.Circle", to: "Circle", code: "INVALID_ARGUMENT", says: "has that name already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, d := record(t, "rename", "references")
			sym := d.find(c.symbol)
			draft, err := d.a.rename(t.Context(), d, adapters.Rename{Symbol: sym, Declarations: []graph.Symbol{sym}, NewName: c.to})
			if c.code != "" {
				var refused *adapters.Refusal
				if !errors.As(err, &refused) || string(refused.Reason) != c.code || !strings.Contains(refused.Message, c.says) {
					t.Fatalf("got %v, want %s with %q", err, c.code, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, changes(t, d, draft.Change)); diff != "" {
				t.Error(diff)
			}
			if draft.NewID == "" || draft.New.Path == "" {
				t.Errorf("the plan does not say what became of the symbol: %+v", draft)
			}
		})
	}
}

// TestOmnisharp_RenameOfNothing: an answer without edits is a refusal.
func TestOmnisharp_RenameOfNothing(t *testing.T) {
	r, d := record(t, "rename", "references")
	sym := d.find("Sample.Lib.Circle")
	for key := range r.answers {
		if strings.HasPrefix(key, "textDocument/rename") {
			r.answers[key] = []byte(`{"changes":{}}`)
		}
	}
	_, err := d.a.rename(t.Context(), d, adapters.Rename{Symbol: sym, NewName: "Disc"})
	var refused *adapters.Refusal
	if !errors.As(err, &refused) || refused.Reason != adapters.Unsupported || !strings.Contains(refused.Message, "renames nothing at the declaration") {
		t.Fatal(err)
	}
}

// changes returns the lines that a change makes, with their files.
func changes(t *testing.T, d *desk, set change.Set) []string {
	t.Helper()
	files, err := set.Resolve(func(path string) ([]byte, error) {
		b, _, err := d.files.Read(context.Background(), path)
		return b, err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		had := strings.Split(string(d.files[f.Path]), "\n")
		for _, line := range strings.Split(string(f.After), "\n") {
			if !slices.Contains(had, line) {
				out = append(out, recipe.Relative(d, f.Target())+": "+strings.TrimSpace(line))
			}
		}
	}
	slices.Sort(out)
	return out
}
