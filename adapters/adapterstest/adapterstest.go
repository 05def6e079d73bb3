// Package adapterstest holds what the tests of every language assert in the
// same way: the projects that are found, the names that are refused, what is
// said of files.
//
// It owns assertions only, knows no language and starts no goroutines.
package adapterstest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax/syntaxtest"
)

// Projects looks for projects in a folder of the files, relative to their root,
// and compares them with lines of the form "ROOT by MARKER MEMBER…".
func Projects(t *testing.T, a adapters.Adapter, files syntaxtest.Files, dir string, want []string) {
	t.Helper()
	at := syntaxtest.Root
	if dir != "" {
		at += "/" + dir
	}
	found, err := a.Projects(t.Context(), files, at)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range found {
		line := p.Root + " by " + p.Marker
		for _, m := range p.Members {
			line += " " + m
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CheckName asserts that a name is legal for a symbol, or refused as INVALID_NAME.
func CheckName(t *testing.T, n adapters.Namer, sym graph.Symbol, name string, ok bool) {
	t.Helper()
	err := n.CheckName(sym, name)
	var refusal *adapters.Refusal
	switch {
	case ok && err != nil:
		t.Errorf("%q for %s %s: %v", name, sym.Kind, sym.Name, err)
	case !ok && (!errors.As(err, &refusal) || refusal.Reason != adapters.InvalidName):
		t.Errorf("%q for %s %s: %v, want INVALID_NAME", name, sym.Kind, sym.Name, err)
	}
}

// Language asserts which paths are tests, which contents are generated, and
// that each extension has LSP's languageId.
func Language(t *testing.T, l adapters.Language, tests, generated map[string]bool) {
	t.Helper()
	for path, want := range tests {
		if got := l.TestFile(path); got != want {
			t.Errorf("%s is a test: %v", path, got)
		}
	}
	for content, want := range generated {
		if got := l.Generated([]byte(content)); got != want {
			t.Errorf("%q is generated: %v", content, got)
		}
	}
	for _, ext := range l.Extensions {
		if l.LanguageID[ext] == "" {
			t.Errorf("%s has no languageId", ext)
		}
	}
}
