//go:build cgo

package php

import (
	"testing"

	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

func TestSyntax(t *testing.T) {
	syntaxtest.Suite(t, New().Syntax(), "x.php",
		syntaxtest.Nested{Open: "<?php class A {", Middle: "", Shut: "}"},
		syntaxtest.Nested{Open: "<?php function f() {", Middle: "$x = 1;", Shut: "}"},
		syntaxtest.Nested{Open: "<?php (", Middle: "$x", Shut: ")"},
		syntaxtest.Nested{Open: "<?php [", Middle: "$x", Shut: "]"},
		syntaxtest.Nested{Open: "<?php {", Middle: "", Shut: "}"},
	)
}

func FuzzSyntax(f *testing.F) { syntaxtest.Fuzz(f, New().Syntax()) }

func BenchmarkSyntax(b *testing.B) { syntaxtest.Bench(b, New().Syntax()) }
