//go:build cgo

package csharp

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/text"
)

// clashing is a program in which many names are taken.
const clashing = `
-- a.cs --
namespace A;

public class Order
{
    public const int Max = 1;
    private int count;

    public int Id { get; set; }

    public void Save(int more) { }

    public void Save(string more) { }

    public int Run(int start)
    {
        int first = start;
        for (int i = 0; i < 1; i++) { int inner = i; count += inner; }
        foreach (var each in new int[0]) { count += each; }
        { int last = first; count += last; }
        System.Func<int, int> f = x => x + first;
        return f(count);
    }

    public void Idle() { }

    public class Line { public void Draw() { } }
}

public class Order<T> { }

public enum Kind { One, Two }

public class Disk : ISaver
{
    void ISaver.Store(int x) { }

    private void Write(int x) { }
}

public interface ISaver { void Store(int x); }

public class Tape : Disk
{
    public int Length { get; }
}
-- b.cs --
using A;
using System.Text;

namespace B;

public static class Uses
{
    public static string Text(Order order) => new StringBuilder().Append(order.Id).ToString();

    public static Kind Of() => Kind.One;
}
-- c.cs --
namespace C;

public class Apart
{
    public static string Text() => new Encoder().ToString();
}

public class Encoder { }
`

// TestClashes: names that are taken are refused before a server is asked, and
// names that only look taken are not.
func TestClashes(t *testing.T) {
	d := &desk{t: t, a: New(), files: tree{}, notes: new([]string)}
	for _, f := range txtar.Parse([]byte(clashing)).Files {
		d.files[filepath.Join(where, f.Name)] = f.Data
	}
	d.read()
	d.srv = declaring{&recorded{t: t, files: d.files}, d}
	for _, c := range []struct{ symbol, name, says string }{
		{"A.Order", "Kind", "Kind is declared already in A (a.cs:31:13)"},
		{"A.Order", "Max", "a member may not have the name of its type"},
		{"A.Order", "StringBuilder", "StringBuilder is used already at b.cs:8:51"},
		{"A.Order", "Encoder", ""}, // of a namespace that does not see it
		{"A.Kind", "Order", "Order is declared already in A"},
		{"A.Order.Id", "count", "count is declared already in A.Order"},
		{"A.Order.Id", "Order", "a member may not have the name of its type Order"},
		{"A.Order.Id", "Line", "Line is declared already in A.Order"},
		{"A.Order.Run", "Save", "Save is declared already in A.Order (a.cs:10:17)"}, // of the same parameters
		{"A.Order.Line.Draw", "Save", ""},
		{"A.Order.Idle", "Save", ""}, // overloads
		{"A.Kind.One", "Two", "Two is declared already in A.Kind"},
		{"A.Kind.One", "Kind", ""},
		{"A.Disk.Write", "Length", "A.Tape has a member named Length, and one would hide the other"},
		{"A.Tape.Length", "Write", "A.Disk has a member named Write"},
		{"A.Disk.Write", "Store", ""}, // beside one that is implemented explicitly
		{"A.Order.Run.start", "first", "first is declared already in Run"},
		{"A.Order.Run.first", "start", "start is declared already in Run"},
		{"A.Order.Run.first", "inner", "inner is declared already in Run"},
		{"A.Order.Run.inner", "last", ""},  // beside each other
		{"A.Order.Run.inner", "count", ""}, // the server writes this. before the field
		{"A.Order.Run.each", "first", "first is declared already in Run"},
	} {
		r := &renamer{Plan: recipe.Plan{Bench: bench{d}, In: adapters.Rename{NewName: c.name}}, a: d.a}
		r.Symbol = d.find(c.symbol)
		r.Members = append(r.Members, r.Symbol)
		err := r.clashes(t.Context())
		var refused *adapters.Refusal
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s to %s: %v", c.symbol, c.name, err)
		case c.says != "" && (!errors.As(err, &refused) || refused.Reason != adapters.NameConflict || !strings.Contains(refused.Message, c.says)):
			t.Errorf("%s to %s: %v, want %q", c.symbol, c.name, err, c.says)
		}
	}
}

// declaring is a server to which a name is the type that is declared with it.
type declaring struct {
	*recorded
	d *desk
}

func (s declaring) Call(ctx context.Context, method string, params, result any) error {
	raw, ok := result.(*json.RawMessage)
	if !ok || method != "textDocument/definition" {
		return errors.New(method + " is not for this test")
	}
	asked, err := json.Marshal(params)
	if err != nil {
		return err
	}
	var q question
	if err := json.Unmarshal(asked, &q); err != nil {
		return err
	}
	path, err := lspclient.Path(q.TextDocument.URI)
	if err != nil {
		return err
	}
	f := text.NewFile(s.files[path])
	at, err := f.Offset(text.Position{Line: q.Position.Line, Character: q.Position.Character}, text.UTF16)
	if err != nil {
		return err
	}
	types, err := s.d.index.ByName(ctx, string(f.Content()[at:wordEnd(f.Content(), at)]))
	if err != nil {
		return err
	}
	list := []protocol.Location{}
	for _, x := range types {
		if !isType(x.Kind) {
			continue
		}
		pos, err := s.Position(ctx, x.Path, x.NameSpan.Start)
		if err != nil {
			return err
		}
		list = append(list, protocol.Location{URI: pos.TextDocument.URI, Range: protocol.Range{Start: pos.Position, End: pos.Position}})
	}
	*raw, err = protocol.Marshal(list)
	return err
}
