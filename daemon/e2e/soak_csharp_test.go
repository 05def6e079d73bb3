package e2e

import (
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/lspclient/lsptest"
)

var csharpError = regexp.MustCompile(`: error [A-Z]+\d+:`)

// soakCSharp takes a solution of testdata/workspaces/csharp by its name, or a folder.
func soakCSharp(t *testing.T, name string) project {
	lsptest.Tool(t, "roslyn-lsp")
	dotnet := lsptest.Tool(t, "dotnet")
	base := t.TempDir()
	dir, judge := filepath.Join(base, "src"), filepath.Join(base, "judge")
	if filepath.IsAbs(name) {
		if err := copyTree(name, dir); err != nil {
			t.Fatal(err)
		}
	} else {
		archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "workspaces", "csharp", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			write(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	done(t, dir, nil, dotnet, "restore", "-v", "quiet")
	return project{
		dir:   dir,
		picks: syntaxPicks(t, dir, "csharp", func(string) bool { return true }),
		judge: func() map[string]bool {
			apart(t, dir, judge)
			return matching(output(t, judge, nil, dotnet, "build", "-v", "quiet", "--nologo", "-clp:NoSummary"), csharpError)
		},
	}
}
