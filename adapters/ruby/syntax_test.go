//go:build cgo

package ruby

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

func TestSyntax(t *testing.T) {
	syntaxtest.Suite(t, New().Syntax(), "x.rb",
		syntaxtest.Nested{Open: "class A\n", Middle: "x = 1", Shut: "\nend"},
		syntaxtest.Nested{Open: "def f\n", Middle: "x", Shut: "\nend"},
		syntaxtest.Nested{Open: "(", Middle: "x", Shut: ")"},
		syntaxtest.Nested{Open: "[", Middle: "x", Shut: "]"},
		syntaxtest.Nested{Open: "f { ", Middle: "x", Shut: "}"},
		syntaxtest.Nested{Open: "\"#{", Middle: "x", Shut: "}\""},
	)
}

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }
