package rust

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// marked takes the place between « and » out of code.
func marked(t *testing.T, code string) (content []byte, at graph.Span) {
	t.Helper()
	before, rest, ok := strings.Cut(code, "«")
	word, after, closed := strings.Cut(rest, "»")
	if !ok || !closed {
		t.Fatalf("%q marks nothing", code)
	}
	return []byte(before + word + after), graph.Span{Start: len(before), End: len(before) + len(word)}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		kind graph.Kind
		code string
		want string
	}{
		{graph.KindFunction, "use a::{b, c::{self, «x»}};", "import"},
		{graph.KindFunction, "fn f() {}\npub use «x»;", "import"},
		{graph.KindFunction, "reuse(a, «x»)", "read"},
		{graph.KindFunction, "a::«x»::<Vec<u8>, fn() -> u8>(1)", "call"},
		{graph.KindFunction, "let f = «x»;", "read"},
		{graph.KindFunction, "«x»!(1)", "call"},
		{graph.KindFunction, "if «x» != y {}", "read"},
		{graph.KindMethod, "s.«x» (1)", "call"},
		{graph.KindStruct, "let s = «x»(1);", "type"},
		{graph.KindTrait, "impl «x» for Y {}", "type"},
		{graph.KindEnumMem, "E::«x» => 1", "read"},
		{graph.KindVariable, "«x» += 1;", "write"},
		{graph.KindVariable, "«x» = 1;", "write"},
		{graph.KindVariable, "«x» == 1", "read"},
		{graph.KindVariable, "match «x» => 1", "read"},
		{graph.KindVariable, "f(&mut «x»)", "write"},
		{graph.KindVariable, "f(&«x»)", "read"},
		{graph.KindField, "S { «x»: 1 }", "write"},
		{graph.KindField, "self.«x» <<= 1", "write"},
		{graph.KindField, "self.«x» << 1", "read"},
		{graph.KindField, "a.«x»::b", "read"},
		{graph.KindModule, "«x»::f()", "read"},
	} {
		content, at := marked(t, c.code)
		got := usage(graph.Symbol{Kind: c.kind, Name: "x"}, adapters.Place{Span: at, File: text.NewFile(content)})
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.code, got, c.want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		sym  graph.Symbol
		code string
		want bool
	}{
		{graph.Symbol{Kind: graph.KindMethod}, "$s.«x»()", true},
		{graph.Symbol{Kind: graph.KindMethod}, "Trait::«x»($s)", true},
		{graph.Symbol{Kind: graph.KindMethod}, "fn «x»(&self) {}", true},
		{graph.Symbol{Kind: graph.KindMethod}, "let «x» = 1;", false},
		{graph.Symbol{Kind: graph.KindMethod}, "0..«x»", false},
		{graph.Symbol{Kind: graph.KindField}, "$s.«x» + 1", true},
		{graph.Symbol{Kind: graph.KindField}, "$s.«x»()", false},
		{graph.Symbol{Kind: graph.KindField}, "S { «x»: 1 }", true},
		{graph.Symbol{Kind: graph.KindFunction}, "«x»()", true},
		{graph.Symbol{Kind: graph.KindFunction}, "$crate::«x»()", true},
		{graph.Symbol{Kind: graph.KindFunction}, "a.«x»()", false},
		{graph.Symbol{Kind: graph.KindFunction}, "$«x»", false},
		{graph.Symbol{Kind: graph.KindFunction}, "«x»!()", false},
		{graph.Symbol{Kind: graph.KindFunction, Signature: "macro_rules! x"}, "«x»!()", true},
		{graph.Symbol{Kind: graph.KindFunction, Container: "T"}, "«x»()", false},
		{graph.Symbol{Kind: graph.KindFunction, Container: "T"}, "T::«x»()", true},
		{graph.Symbol{Kind: graph.KindEnumMem}, "E::«x»", true},
		{graph.Symbol{Kind: graph.KindEnumMem}, "«x»", false},
		{graph.Symbol{Kind: graph.KindStruct}, "Vec<«x»>", true},
		{graph.Symbol{Kind: graph.KindStruct}, "a.«x»", false},
	} {
		content, at := marked(t, c.code)
		if got := fits(c.sym, content, at); got != c.want {
			t.Errorf("%s %s in %s: %v", c.sym.Kind, c.sym.Container, c.code, got)
		}
	}
}

func TestTraitBefore(t *testing.T) {
	for code, want := range map[string]string{
		"impl Shape for «Circle» {}":                        "Shape",
		"impl<T: Into<U>> a::b::Shape<Vec<T>> for «Circle»": "Shape",
		"impl Fn(u8) -> u8 for «X»":                         "u8", // the sugar of Fn: nobody implements it
		"impl «Circle» {}":                                  "",
		"impl Waitfor «X»":                                  "",
		"#[derive(Debug, «Clone»)]":                         "Clone",
		"#[derive(Debug)] struct «X»;":                      "",
	} {
		content, at := marked(t, code)
		p, ok := traitBefore(adapters.Place{Span: at, File: text.NewFile(content)})
		got := ""
		if ok {
			got = string(content[p.Span.Start:p.Span.End])
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

func TestHead(t *testing.T) {
	for code, want := range map[string]string{"«Vec<T>»": "Vec", "«&'static mut a::B»": "", "«&mut a::B<C>»": "B", "«dyn Shape»": "Shape", "«(A, B)»": "", "«[u8]»": ""} {
		content, at := marked(t, code)
		span, ok := head(adapters.Place{Span: at, File: text.NewFile(content)})
		got := ""
		if ok {
			got = string(content[span.Start:span.End])
		}
		if got != want && want != "" {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

func TestInCode(t *testing.T) {
	for code, want := range map[string]bool{
		"/// Calls `«x»` twice.":                             true,
		"/// Calls «x» `twice`.":                             false,
		"/// See [«x»] there.":                               true,
		"/// See [that] «x».":                                false,
		"/// ```\n/// let y = «x»();\n/// ```":               true,
		"/// ```\n/// let y = 1;\n/// ```\n/// and «x»":      false,
		"fn f() {}\n// ```\nfn g() {}\n// «x» is no example": false,
	} {
		content, at := marked(t, code)
		if got := inCode(content, recipe.Mention{Span: at, Token: syntax.Token{Kind: syntax.Comment}}); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

func TestSnake(t *testing.T) {
	got := []string{recipe.Snake("OrderService"), recipe.Snake("HTTPServer"), recipe.Snake("Order"), recipe.Snake("A1B"), recipe.Snake("order")}
	if diff := cmp.Diff([]string{"order_service", "http_server", "order", "a1_b", "order"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAround(t *testing.T) {
	for _, c := range []struct {
		s                   graph.Symbol
		around, trait, kind string
	}{
		{graph.Symbol{Name: "save", Qualified: "m::<Disk as store::Saver>::save", Container: "m::Disk", Kind: graph.KindMethod}, "m::<Disk as store::Saver>", "Saver", "Disk"},
		{graph.Symbol{Name: "save", Qualified: "m::Saver::save", Container: "m::Saver", Kind: graph.KindMethod}, "m::Saver", "Saver", ""},
		{graph.Symbol{Name: "from", Qualified: "<A as From<B>>::from", Container: "A", Kind: graph.KindFunction}, "<A as From<B>>", "From", "A"},
		{graph.Symbol{Name: "f", Qualified: "m::<A as D<'de>>::g::<V<T> as x::Visitor<'de>>::f", Kind: graph.KindMethod, Local: true}, "m::<A as D<'de>>::g::<V<T> as x::Visitor<'de>>", "Visitor", "V<T>"},
		{graph.Symbol{Name: "n", Qualified: "<A as D>::g::n", Kind: graph.KindVariable, Local: true}, "<A as D>::g", "", ""},
		{graph.Symbol{Name: "x", Qualified: "A::x", Container: "A", Kind: graph.KindField}, "A", "", ""},
	} {
		kind, _, _ := implemented(c.s)
		if a, tr := around(c.s), traitOf(c.s); a != c.around || tr != c.trait || kind != c.kind {
			t.Errorf("%s: around %q, trait %q, type %q", c.s.Qualified, a, tr, kind)
		}
	}
}

func TestShorthand(t *testing.T) {
	for code, want := range map[string]bool{
		"Order { id, «x» }":            true,
		"Order { «x», id: f(a, {b}) }": true,
		"let Self { «x», .. } = s;":    true,
		"a::Order::<Vec<u8>> { «x» }":  true,
		"a > b && { «x» }":             false,
		"[id, «x», 2]":                 false,
		"f(id, «x», 2)":                false,
		"if FLAG { «x» }":              false,
		"match x { _ => { «x» } }":     false,
		"Order { x: «x» }":             false,
		"Order { list: [1, «x», 2] }":  false,
	} {
		content, at := marked(t, code)
		if got := shorthand(content, at); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}
