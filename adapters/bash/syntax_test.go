//go:build cgo

package bash

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

func TestSyntax(t *testing.T) {
	syntaxtest.Suite(t, New().Syntax(), "x.sh",
		syntaxtest.Nested{Open: "f() {", Middle: "x=1", Shut: "}"},
		syntaxtest.Nested{Open: "$(", Middle: "x", Shut: ")"},
		syntaxtest.Nested{Open: "if x; then ", Middle: "y", Shut: "; fi"},
		syntaxtest.Nested{Open: "((", Middle: "1", Shut: "))"},
		syntaxtest.Nested{Open: "{ ", Middle: "x", Shut: "; }"},
	)
}

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }
