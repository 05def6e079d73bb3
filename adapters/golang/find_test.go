package golang

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

const shop = `
-- go.mod --
module example.com/shop

go 1.26
-- shop.go --
package shop

import "fmt"

// Saver saves.
type Saver interface {
	Save(n int) error
}

// Closer is a Saver that closes.
type Closer interface {
	Saver
	Close()
}

type Order struct{ Total int }

func (o *Order) Save(n int) error {
	o.Total += n
	return check(o)
}

func (o *Order) String() string { return fmt.Sprint(o.Total) }

type Special struct {
	Order
	Note string
}

func (*Special) Close() {}

func check(s Saver) error {
	return s.Save(1)
}

func All(list []Saver) {
	for _, s := range list {
		func() {
			if err := s.Save(2); err != nil {
				panic(err)
			}
		}()
	}
	save := (&Order{Total: 3}).Save
	_ = save
}

var first = check(&Order{})
-- use/use.go --
package use

import "example.com/shop"

func Run() { 🎉 := "x"; _ = 🎉 }
`

// hits prints places as "file:line:column text", with what else a hit says. Of
// the standard library, which differs between releases, only exported names.
func hits(b *bench, list []adapters.Hit) []string {
	out := []string{}
	for _, h := range list {
		path := h.Place.Path
		if within(b.Root(), path) {
			path = strings.TrimPrefix(path, b.Root()+"/")
		} else {
			path = filepath.Base(path)
		}
		at := h.Place.File.PointOf(h.Place.Span.Start)
		word := string(h.Place.File.Content()[h.Place.Span.Start:h.Place.Span.End])
		s := fmt.Sprintf("%s:%d:%d %s", path, at.Line, at.Column, word)
		if !within(b.Root(), h.Place.Path) {
			if !token.IsExported(word) {
				continue
			}
			s = path + " " + word
		}
		if h.IsDeclaration {
			s += " declaration"
		}
		if h.Usage != "" {
			s += " " + h.Usage
		}
		if h.Symbol != nil {
			s += " = " + h.Symbol.Qualified
		}
		if h.From != "" {
			s += fmt.Sprintf(" from %s at %d", graph.NameOf(h.From), h.Depth)
		}
		for _, r := range h.Ranges {
			p := r.File.PointOf(r.Span.Start)
			s += fmt.Sprintf(" (%d:%d)", p.Line, p.Column)
		}
		out = append(out, s)
	}
	return out
}

func TestFind(t *testing.T) {
	t.Parallel()
	archive := strings.Replace(shop, "func Run() { 🎉 := \"x\"; _ = 🎉 }", "func Run() { s := \"🎉\"; _ = s; _ = (&shop.Order{Total: 1}).Save(2) }", 1)
	b := open(t, unpack(t, archive))
	r := b.a.Recipes()
	for _, c := range []struct {
		name   string
		find   adapters.Find[adapters.Target]
		target adapters.Target
		symbol string
		want   []string
	}{
		{"definition", r.Definition, adapters.Target{}, "shop.Order.Save", []string{
			"shop.go:18:17 Save declaration = shop.Order.Save",
		}},
		{"type definition", r.TypeDefinition, adapters.Target{}, "shop.All.s", []string{"shop.go:6:6 Saver declaration = shop.Saver"}},
		{"references and their kinds", r.References, adapters.Target{}, "shop.Order.Total", []string{
			"shop.go:16:20 Total declaration", "shop.go:19:4 Total write", "shop.go:23:55 Total read", "shop.go:44:18 Total write", "use/use.go:5:51 Total write",
		}},
		{"references of a method are those of its family", r.References, adapters.Target{}, "shop.Order.Save", []string{
			"shop.go:18:17 Save declaration", "shop.go:33:11 Save call", "shop.go:39:16 Save call",
			"shop.go:44:29 Save read", "use/use.go:5:62 Save call",
		}},
		{"references of a type", r.References, adapters.Target{}, "shop.Special", []string{"shop.go:25:6 Special declaration", "shop.go:30:8 Special type"}},
		{"implementations", r.Implementations, adapters.Target{}, "shop.Saver", []string{
			"shop.go:11:6 Closer = shop.Closer", "shop.go:16:6 Order = shop.Order", "shop.go:25:6 Special = shop.Special",
		}},
		{"implementations of a method", r.Implementations, adapters.Target{}, "shop.Saver.Save", []string{"shop.go:18:17 Save = shop.Order.Save"}},
		{"derived types", r.Derived, adapters.Target{}, "shop.Saver", []string{
			"shop.go:11:6 Closer = shop.Closer", "shop.go:16:6 Order = shop.Order", "shop.go:25:6 Special = shop.Special",
		}},
		{"derived by embedding", r.Derived, adapters.Target{}, "shop.Order", []string{"shop.go:25:6 Special = shop.Special"}},
		{"derived of all levels", r.Derived, adapters.Target{Transitive: true}, "shop.Saver", []string{
			"shop.go:11:6 Closer = shop.Closer", "shop.go:16:6 Order = shop.Order", "shop.go:25:6 Special = shop.Special",
		}},
		{"supertypes", r.Supertypes, adapters.Target{}, "shop.Special", []string{
			"shop.go:6:6 Saver = shop.Saver", "shop.go:11:6 Closer = shop.Closer", "print.go Stringer = fmt.Stringer",
			"shop.go:16:6 Order = shop.Order",
		}},
		{"callers", r.Callers, adapters.Target{Depth: 1}, "shop.check", []string{
			"shop.go:18:17 Save = shop.Order.Save from check at 1 (20:9)", "shop.go:48:5 first = shop.first from check at 1 (48:13)",
		}},
		{"callers through an interface, two levels", r.Callers, adapters.Target{Depth: 2}, "shop.Order.Save", []string{
			"shop.go:32:6 check = shop.check from Save at 1 (33:11)",
			"shop.go:36:6 All = shop.All from Save at 1 (39:16) (44:29)",
			"use/use.go:5:6 Run = use.Run from Save at 1 (5:62)",
			"shop.go:18:17 Save = shop.Order.Save from check at 2 (20:9)",
			"shop.go:48:5 first = shop.first from check at 2 (48:13)",
		}},
		{"callees", r.Callees, adapters.Target{Depth: 2}, "use.Run", []string{
			"shop.go:18:17 Save = shop.Order.Save from Run at 1 (5:62)",
			"shop.go:32:6 check = shop.check from Save at 2 (20:9)",
		}},
		{"callees outside are not followed", r.Callees, adapters.Target{Depth: 3}, "shop.Order.String", []string{
			"print.go Sprint = fmt.Sprint from String at 1 (23:46)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.target.Symbol = b.find(t, c.symbol)
			found, err := c.find.Run(t.Context(), b, c.target)
			if err != nil {
				t.Fatal(err)
			}
			got := hits(b, found.Hits)
			if c.find.Note == r.References.Note && strings.HasPrefix(c.name, "references") {
				slices.SortFunc(got, natural)
				slices.SortFunc(c.want, natural)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if len(b.notes.incomplete) > 0 {
		t.Errorf("answers were called incomplete: %q", b.notes.incomplete)
	}
	for name, find := range map[string]adapters.Find[adapters.Target]{"callers": r.Callers, "supertypes": r.Supertypes} {
		symbol := map[string]string{"callers": "shop.Order", "supertypes": "shop.check"}[name]
		_, err := find.Run(t.Context(), b, adapters.Target{Symbol: b.find(t, symbol), Depth: 1})
		var refusal *adapters.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != adapters.InvalidArgument {
			t.Errorf("%s of %s: %v", name, symbol, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.References.Run(ctx, b, adapters.Target{Symbol: b.find(t, "shop.check")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func natural(a, b string) int { return strings.Compare(pad(a), pad(b)) }

func pad(s string) string {
	file, rest, _ := strings.Cut(s, ":")
	var line, column int
	if n, err := fmt.Sscanf(rest, "%d:%d", &line, &column); err != nil || n != 2 {
		return s
	}
	return fmt.Sprintf("%s:%06d:%06d", file, line, column)
}

func TestUsage(t *testing.T) {
	for code, want := range map[string]string{
		"«x»":                       "read",
		"«x» = 1":                   "write",
		"«x» == 1":                  "read",
		"«x» += 1":                  "write",
		"«x»++":                     "write",
		"«x».y = 1":                 "read",
		"«x»[i] = 1":                "read",
		"a, «x» = 1, 2":             "write",
		"«x», a = 1, 2":             "write",
		"«x», a.b, c[1], *p = f()":  "write",
		"a, b = «x», c\nd = 1":      "read",
		"f(«x», a)\nb = 1":          "read",
		"for «x» = range y {}":      "write",
		"return «x», a\n":           "read",
		"if a, «x» = f(); «y» {}":   "write",
		"case «x», a:":              "read",
		"«x»(1)":                    "call",
		"p.«x»(1)":                  "call",
		"«x» /* here */ (1)":        "call",
		"«x», b := <-c, 1":          "write",
		"«x» <<= 1":                 "write",
		"m[«x»] = 1":                "read",
		"*«x» = 1":                  "write",
		"go func() { «x» }() ; y=1": "read",
	} {
		checkUsage(t, graph.KindVariable, code, want)
	}
	for code, want := range map[string]string{
		"T{«x»: 1}": "write", "T{a: 1,\n«x»: f()}": "write", "case t.«x»: y": "read", "t.«x» = 1": "write", "t.«x»(1)": "call", "&t.«x»": "read",
	} {
		checkUsage(t, graph.KindField, code, want)
	}
	for code, want := range map[string]string{
		"«f»(1)": "call", "g := «f»": "read", "«f»[int](1)": "call", "«f»[int]": "read", "h(«f», 1)": "read", "«f»[T[int], []string](x)": "call",
	} {
		checkUsage(t, graph.KindFunction, code, want)
	}
	checkUsage(t, graph.KindConstant, "«x» = 1", "read")
	checkUsage(t, graph.KindStruct, "«T»(x)", "type")
	checkUsage(t, graph.KindPackage, "import «\"a/b\"»", "import")
	checkUsage(t, graph.KindPackage, "«b».X", "read")
}

// checkUsage asks about the first word in guillemets.
func checkUsage(t *testing.T, kind graph.Kind, code, want string) {
	t.Helper()
	before, rest, _ := strings.Cut(code, "«")
	word, after, _ := strings.Cut(rest, "»")
	after = strings.NewReplacer("«", "", "»", "").Replace(after)
	p := adapters.Place{
		File: text.NewFile([]byte(before + word + after)),
		Span: graph.Span{Start: len(before), End: len(before) + len(word)},
	}
	if got := usage(graph.Symbol{Kind: kind}, p); got != want {
		t.Errorf("%s of %q: %s, want %s", kind, code, got, want)
	}
}
