package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// TestCSharp goes through a solution's day on a real server: not trusted,
// trusted, an error that was there before, a program built after an undo,
// files and projects that change outside, packages that cannot be restored.
func TestCSharp(t *testing.T) {
	lsptest.Tool(t, "roslyn-lsp")
	dotnet := lsptest.Tool(t, "dotnet")
	ws := unpack(t, "csharp", "ledger")
	w := newStranger(t, ws)

	// Loading a project runs its code.
	err := refused(t, w.call(t, "rename", rename("Bank", "Vault"), nil), api.WorkspaceUntrusted)
	if !strings.Contains(err.Message, "auractl trust "+ws) {
		t.Errorf("untrusted: %s", err.Message)
	}
	w.ok(t, "trust", ws)

	program := func() string {
		done(t, ws, nil, dotnet, "build", "App/Ledger.App.csproj", "-v:quiet", "-nologo", "-nodeReuse:false", "-p:UseSharedCompilation=false")
		return output(t, ws, nil, dotnet, filepath.Join(ws, "App/bin/Debug/net10.0/Ledger.App.dll"))
	}
	old := program()
	if !strings.Contains(old, "BalanceReport") {
		t.Fatalf("the program prints\n%s", old)
	}

	// An error that was there before does not stand in the way.
	broken := filepath.Join(ws, "Core", "Broken.cs")
	write(t, broken, "namespace Ledger;\n\npublic class Broken { public int Wrong() => \"text\"; }\n")
	var answer api.EditResult
	w.must(t, "rename", rename("Feed.Failures", "Misses"), &answer)
	if v := answer.Validation; v == nil || !v.Success || v.PreExisting == 0 {
		t.Errorf("with an error from before: %+v", v)
	}
	removeAll(broken)

	// The program built after a rename prints the new name, after its undo the old one.
	before := snapshot(t, ws)
	w.must(t, "rename", rename("BalanceReport", "Overview"), &answer)
	if v := answer.Validation; v == nil || !v.Success || v.Where != "shadow" && v.Where != "place" {
		t.Errorf("%+v", v)
	}
	if now := program(); !strings.Contains(now, "Overview") || strings.Contains(now, "BalanceReport") {
		t.Errorf("after the rename the program prints\n%s", now)
	}
	w.must(t, "undo", map[string]any{"undoToken": answer.UndoToken}, nil)
	unchanged(t, ws, before)
	if again := program(); again != old {
		t.Errorf("after the undo the program prints\n%s", again)
	}

	// What is made outside is known to the next question, and so is what a
	// project file leaves out from now on.
	where := func(symbol string) []string {
		t.Helper()
		var places api.Places
		w.must(t, "references", map[string]any{"symbolName": symbol}, &places)
		if !places.Complete {
			t.Errorf("references of %s are not complete: %q", symbol, places.Warnings)
		}
		var files []string
		for _, l := range places.Locations {
			files = append(files, l.File)
		}
		return slices.Compact(files)
	}
	write(t, filepath.Join(ws, "App", "Later.cs"), "namespace Ledger.App;\n\npublic static class Later { public static Feed Of(Bank bank) => new(bank); }\n")
	if files := where("Feed"); !slices.Contains(files, "App/Later.cs") {
		t.Errorf("a file that was made outside is not seen: %q", files)
	}
	project := filepath.Join(ws, "App", "Ledger.App.csproj")
	content := read(t, project)
	write(t, project, strings.Replace(content, "</Project>", "  <ItemGroup><Compile Remove=\"Later.cs\" /></ItemGroup>\n</Project>", 1))
	if files := where("Feed"); slices.Contains(files, "App/Later.cs") {
		t.Errorf("a file that the project leaves out is still seen: %q", files)
	}

	// Packages that nobody has: what can be said is said, with the reason that
	// nothing was built.
	write(t, project, strings.Replace(content, "</Project>", "  <ItemGroup><PackageReference Include=\"Aura.Nowhere\" Version=\"9.9.9\" /></ItemGroup>\n</Project>", 1))
	w.must(t, "rename", rename("Feed.Post", "Enqueue"), &answer)
	if v := answer.Validation; v == nil || v.Success || !strings.Contains(v.Skipped, "Aura.Nowhere") || !strings.Contains(v.Skipped, "dotnet restore") {
		t.Errorf("with a package that nobody has: %+v", v)
	}
	if answer.Complete {
		t.Errorf("what such a package declares is unknown, and the answer is called complete: %q", answer.Warnings)
	}
}
