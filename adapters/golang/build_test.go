package golang

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		exit   int
		want   []adapters.Problem
	}{
		"clean": {"", 0, nil},
		"a build": {
			"# example.com/m/a\na/a.go:3:5: undefined: x\n./b.go:7:1: missing return\r\n\thave ()\n\twant (int)\na/a.go:9:2: too many errors\n", 1,
			[]adapters.Problem{
				{Path: "/m/a/a.go", Line: 3, Column: 5, Message: "undefined: x"},
				{Path: "/m/b.go", Line: 7, Column: 1, Message: "missing return\nhave ()\nwant (int)"},
				{Path: "/m/a/a.go", Line: 9, Column: 2, Message: "too many errors"},
			},
		},
		"vet": {
			"# example.com/m\n# [example.com/m]\n./x_test.go:10:1: ExampleTag_Base refers to unknown identifier: Tag\nvet: ./y_test.go:4:6: undefined: T\n", 1,
			[]adapters.Problem{
				{Path: "/m/x_test.go", Line: 10, Column: 1, Message: "ExampleTag_Base refers to unknown identifier: Tag"},
				{Path: "/m/y_test.go", Line: 4, Column: 6, Message: "undefined: T"},
			},
		},
		"without a column": {"a.go:3: bad thing\n", 1, []adapters.Problem{{Path: "/m/a.go", Line: 3, Message: "bad thing"}}},
		"absolute, in a module of the cache": {"/cache/x@v1/x.go:1:2: boom\n", 1,
			[]adapters.Problem{{Path: "/cache/x@v1/x.go", Line: 1, Column: 2, Message: "boom"}}},
		"a go.mod":    {"go: errors parsing go.mod:\ngo.mod:3: unknown directive: foo\n", 1, []adapters.Problem{{Path: "/m/go.mod", Line: 3, Message: "unknown directive: foo"}, {Message: "go: errors parsing go.mod:"}}},
		"no place":    {"go: downloading a v1\ngo: cannot find main module\n", 1, []adapters.Problem{{Message: "go: cannot find main module"}}},
		"no message":  {"", 2, []adapters.Problem{{Message: "the go command failed without a message (exit status 2)"}}},
		"only noise":  {"go: downloading a v1\n", 0, nil},
		"an import":   {"a.go:4:2: no required module provides package x.y/z; to add it:\n\tgo get x.y/z\n", 1, []adapters.Problem{{Path: "/m/a.go", Line: 4, Column: 2, Message: "no required module provides package x.y/z; to add it:\ngo get x.y/z"}}},
		"spaces, non": {"sp ü/a b.go:4:2: no\n", 1, []adapters.Problem{{Path: "/m/sp ü/a b.go", Line: 4, Column: 2, Message: "no"}}},
	} {
		if diff := cmp.Diff(c.want, problems("/m", []byte(c.output), c.exit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// commands lists the checks of the only project at dir for the changed files.
func commands(t *testing.T, root, dir string, changed ...string) []string {
	t.Helper()
	a, s := New(), files{root: root}
	list, err := a.Projects(t.Context(), s, filepath.Join(root, dir))
	if err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, c := range changed {
		changed[i] = filepath.Join(root, c)
	}
	checks, err := a.Checks(t.Context(), s, list[0], changed)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range checks {
		rel, err := filepath.Rel(root, c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(rel+": "+strings.Join(append(slices.Clone(c.Env), c.Argv...), " ")))
	}
	return out
}

func TestChecks(t *testing.T) {
	const module = `
-- go.mod --
module example.com/m
-- a/a.go --
package a
-- b/b.go --
package b

import _ "example.com/m/a"
-- c/c_test.go --
package c

import (
	_ "example.com/m/a" // only the test imports it
)
-- d/d.go --
package d // example.com/m/a is not imported
-- win/x_windows.go --
package win

import _ "example.com/m/a"
-- root.go --
package m
`
	const workspace = `
-- go.work --
go 1.26

use (
	.
	./x
	../outside
)
-- go.mod --
module example.com/m
-- m.go --
package m
-- x/go.mod --
module example.com/x
-- x/x.go --
package x

import _ "example.com/m"
`
	const joined = `
-- api/go.mod --
module example.com/api
-- api/api.go --
package api
-- app/go.mod --
module example.com/app

replace example.com/api => ../api
-- app/app.go --
package app

import _ "example.com/api"
`
	for _, c := range []struct {
		name, archive, dir string
		changed            []string
		want               []string
	}{
		{"importers are vetted as well", module, ".", []string{"a/a.go"}, []string{
			".: go build -o /dev/null ./...", ".: go vet ./a ./b ./c",
		}},
		{"the root package", module, ".", []string{"root.go"}, []string{".: go build -o /dev/null ./...", ".: go vet ."}},
		{"a package of another system alone", module, ".", []string{"win/x_windows.go"}, []string{".: go build -o /dev/null ./..."}},
		{"nothing of Go", module, ".", []string{"README.md"}, []string{".: go build -o /dev/null ./..."}},
		{"a module within the module", module + "-- tools/go.mod --\nmodule example.com/m/tools\n-- tools/t.go --\npackage tools\n\nimport _ \"example.com/m/a\"\n", ".",
			[]string{"a/a.go"}, []string{".: go build -o /dev/null ./...", ".: go vet ./a ./b ./c"}},
		{"a workspace", workspace, ".", []string{"m.go"}, []string{
			".: go build -o /dev/null ./... ./x/... ../outside/...", ".: go vet . ./x",
		}},
		{"joined modules", joined, ".", []string{"api/api.go"}, []string{
			"api: go build -o /dev/null ./...", "app: go build -o /dev/null ./...", "api: go vet .", "app: go vet .",
		}},
		{"a loose folder", "-- a.go --\npackage a\n", ".", []string{"a.go"}, []string{
			".: GO111MODULE=off go build -o /dev/null ./...", ".: GO111MODULE=off go vet .",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := commands(t, unpack(t, c.archive), c.dir, c.changed...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestChecksLeaveNothing runs the checks of a module that is one program:
// "go build ./..." alone would write it into the tree.
func TestChecksLeaveNothing(t *testing.T) {
	for name, archive := range map[string]string{
		"a module": "-- go.mod --\nmodule example.com/tool\n\ngo 1.26\n-- main.go --\npackage main\n\nfunc main() { x() }\n-- x_test.go --\npackage main\n\nvar _ = 1 + \"\"\n",
		"loose":    "-- main.go --\npackage main\n\nfunc main() { x() }\n-- x_test.go --\npackage main\n\nvar _ = 1 + \"\"\n",
	} {
		root := unpack(t, archive)
		a, s := New(), files{root: root}
		list, err := a.Projects(t.Context(), s, root)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		checks, err := a.Checks(t.Context(), s, list[0], []string{filepath.Join(root, "main.go")})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, c := range checks {
			cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
			cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("%s: %s finds nothing", name, c.Name)
			}
			list, err := c.Parse(out, cmd.ProcessState.ExitCode())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				found = append(found, c.Name+" "+filepath.Base(p.Path)+" "+p.Message)
			}
		}
		// Vet stops at the error of the build, which the build has told.
		if len(found) < 2 || found[0] != "go build main.go undefined: x" {
			t.Errorf("%s: %q", name, found)
		}
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") && e.Name() != "go.mod" {
				t.Errorf("%s: %s was left in the tree", name, e.Name())
			}
		}
	}
}
