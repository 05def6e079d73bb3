//go:build cgo

package c

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

// TestSyntax_Golden reads files that hold every construct that declares
// something, and broken ones, and compares all that is said of them.
func TestSyntax_Golden(t *testing.T) { syntaxtest.Golden(t, New().Syntax()) }

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

// TestSyntax_Shared reads in several goroutines and looks at what stays in memory.
func TestSyntax_Shared(t *testing.T) { syntaxtest.Shared(t, New().Syntax(), 20) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }

// TestSyntax_Broken reads broken text, which is what an editor holds most of the time.
func TestSyntax_Broken(t *testing.T) { syntaxtest.Mutate(t, New().Syntax(), 1, 100) }

func TestSyntax_Deep(t *testing.T) {
	for _, c := range [][3]string{
		{"namespace a {", "int x;", "}"}, {"void f() {", "int x;", "}"}, {"(", "x", ")"}, {"struct A {", "int x;", "};"}, {"A<", "T", ">"}, {"#if X\n", "int x;", "\n#endif\n"}, {"*", "x", ";"},
	} {
		syntaxtest.Deep(t, New().Syntax(), "x.cc", c[0], c[1], c[2])
	}
}
