//go:build cgo

package java

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

func TestSyntax(t *testing.T) {
	syntaxtest.Suite(t, New().Syntax(), "x.java",
		syntaxtest.Nested{Open: "class A {", Middle: "int x;", Shut: "}"},
		syntaxtest.Nested{Open: "void f() {", Middle: "int x;", Shut: "}"},
		syntaxtest.Nested{Open: "(", Middle: "x", Shut: ")"},
		syntaxtest.Nested{Open: "/*", Middle: "x", Shut: "*/"},
		syntaxtest.Nested{Open: "A<", Middle: "T", Shut: ">"},
		syntaxtest.Nested{Open: "new A() { void f() {", Middle: "", Shut: "}}"},
	)
}

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }
