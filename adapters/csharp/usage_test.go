package csharp

import (
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		kind graph.Kind
		code string // the name between « and »
		want string
	}{
		{graph.KindMethod, "a.«Save»(1);", "call"},
		{graph.KindMethod, "a.«Save»<List<int>, T?>(1);", "call"},
		{graph.KindMethod, "if (a.«Save» < 1 || b > (2)) {}", "read"},
		{graph.KindMethod, "Run(a.«Save»);", "read"},
		{graph.KindMethod, "nameof(«Save»)", "read"},
		{graph.KindProperty, "a.«Total» = 1;", "write"},
		{graph.KindProperty, "a.«Total» == 1;", "read"},
		{graph.KindProperty, "a.«Total» += 1;", "write"},
		{graph.KindProperty, "new A { «Total» = 1 }", "write"},
		{graph.KindProperty, "x => a.«Total» => 1", "read"},
		{graph.KindProperty, "a.«Handler»(1)", "call"},
		{graph.KindField, "«count»++;", "write"},
		{graph.KindField, "++this.«count»;", "write"},
		{graph.KindField, "-«count»;", "read"},
		{graph.KindField, "«count» ??= 1;", "write"},
		{graph.KindVariable, "F(out «x»)", "write"},
		{graph.KindVariable, "F(ref a.«x»)", "write"},
		{graph.KindVariable, "F(«x»)", "read"},
		{graph.KindEvent, "a.«Changed» += F;", "write"},
		{graph.KindEvent, "«Changed»?.Invoke(this);", "call"},
		{graph.KindConstant, "«Max» = 1", "read"},
		{graph.KindEnumMem, "E.«One»", "read"},
		{graph.KindClass, "new A.«Order»(1)", "call"},
		{graph.KindClass, "«Order» o = null;", "type"},
		{graph.KindClass, "using static A.«Order»;", "import"},
		{graph.KindClass, "using var x = new «Order»();", "call"},
		{graph.KindInterface, "using I = A.«IOrder»;", "import"},
		{graph.KindInterface, "class A : «IOrder»", "type"},
		{graph.KindNamespace, "global using «Shop»;", "import"},
		{graph.KindNamespace, "«Shop».Order x;", "read"},
		{graph.KindConstruct, "new «Order»()", "call"},
	} {
		content, marks := marked(c.code, []string{""})
		p := adapters.Place{Path: "/a.cs", Span: graph.Span{Start: marks[0].Start, End: marks[0].End}, File: text.NewFile([]byte(content))}
		if got := usage(graph.Symbol{Kind: c.kind}, p); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.code, got, c.want)
		}
	}
}
