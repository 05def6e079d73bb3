//go:build cgo

package c

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

func TestSyntax(t *testing.T) {
	syntaxtest.Suite(t, New().Syntax(), "x.cc",
		syntaxtest.Nested{Open: "namespace a {", Middle: "int x;", Shut: "}"},
		syntaxtest.Nested{Open: "void f() {", Middle: "int x;", Shut: "}"},
		syntaxtest.Nested{Open: "(", Middle: "x", Shut: ")"},
		syntaxtest.Nested{Open: "struct A {", Middle: "int x;", Shut: "};"},
		syntaxtest.Nested{Open: "A<", Middle: "T", Shut: ">"},
		syntaxtest.Nested{Open: "#if X\n", Middle: "int x;", Shut: "\n#endif\n"},
		syntaxtest.Nested{Open: "*", Middle: "x", Shut: ";"},
	)
}

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }
