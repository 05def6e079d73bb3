package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// A crate whose build runs two programs of its own: a build script, and a
// wrapper of the compiler. Each leaves a file behind.
var ledger = map[string]string{
	"Cargo.toml": "[package]\nname = \"ledger\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\naudit = []\n",
	"Cargo.lock": "version = 4\n\n[[package]]\nname = \"ledger\"\nversion = \"0.1.0\"\n",
	"build.rs": `fn main() {
    std::fs::write(std::env::var("CARGO_MANIFEST_DIR").unwrap() + "/../script-ran", "").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
`,
	"wrapper.sh": "#!/bin/sh\n: > \"$(dirname \"$0\")/../wrapper-ran\"\nexec \"$@\"\n",
	"src/main.rs": `mod bank;
#[cfg(feature = "audit")]
mod audit;

fn main() {
    println!("{:?} {}", bank::BalanceReport { total: 2 }, twice!(bank::fee));
}

/// Calls ` + "`fee`" + ` twice.
#[macro_export]
macro_rules! twice {
    ($f:path) => { $f() + bank::fee() };
}
`,
	"src/bank.rs": `#[derive(Debug)]
pub struct BalanceReport {
    pub total: u32,
}

pub fn fee() -> u32 {
    1
}
`,
	"src/audit.rs": "use crate::bank::BalanceReport;\n\npub fn seen(report: &BalanceReport) -> u32 {\n    report.total + crate::bank::fee()\n}\n",
}

// TestRust goes through a crate's day on a real server: not trusted, trusted,
// an error that was there before, a program built after an undo, files that
// change outside, a manifest that breaks.
func TestRust(t *testing.T) {
	lsptest.Tool(t, "rust-analyzer")
	base, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "rust")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(dir) })
	ws := filepath.Join(dir, "ws")
	for name, content := range ledger {
		write(t, filepath.Join(ws, name), content)
	}
	if err := os.Chmod(filepath.Join(ws, "wrapper.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ws, ".cargo", "config.toml"), "[build]\nrustc-wrapper = \""+filepath.Join(ws, "wrapper.sh")+"\"\n")
	ran := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	w := newStranger(t, ws)
	places := func(symbol string) api.Places {
		t.Helper()
		var out api.Places
		w.must(t, "references", map[string]any{"symbolName": symbol}, &out)
		return out
	}

	// Without trust nothing of the workspace runs, and what that hides is said.
	if p := places("fee"); p.Total != 4 || p.Complete || !strings.Contains(strings.Join(p.Warnings, " "), "build scripts are not run") {
		t.Errorf("untrusted: %+v", p)
	}
	if ran("script-ran") || ran("wrapper-ran") {
		t.Error("code of a workspace ran that is not trusted")
	}
	w.ok(t, "trust", ws)
	if p := places("fee"); p.Total != 4 || !p.Complete {
		t.Errorf("trusted: %+v", p)
	}
	if !ran("script-ran") {
		t.Error("the build script of a trusted workspace did not run")
	}

	program := func() string {
		done(t, ws, nil, "cargo", "build", "-q", "--offline")
		return output(t, ws, nil, filepath.Join(ws, "target", "debug", "ledger"))
	}
	old := program()
	if !strings.Contains(old, "BalanceReport { total: 2 } 2") {
		t.Fatalf("the program prints\n%s", old)
	}
	removeAll(filepath.Join(ws, "target"))

	// An error that was there before does not stand in the way, and code behind
	// a feature that is off, or in a macro, follows.
	broken := filepath.Join(ws, "tests", "broken.rs")
	write(t, broken, "#[test]\nfn wrong() {\n    let n: u32 = \"text\";\n}\n")
	var answer api.EditResult
	w.must(t, "rename", rename("fee", "price"), &answer)
	if v := answer.Validation; v == nil || !v.Success || v.PreExisting == 0 || answer.ChangesApplied != 5 {
		t.Errorf("with an error from before: %+v, %+v", answer, v)
	}
	if got := read(t, filepath.Join(ws, "src", "audit.rs")); !strings.Contains(got, "bank::price()") {
		t.Errorf("code behind a feature is\n%s", got)
	}
	removeAll(filepath.Dir(broken))
	if _, err := os.Stat(filepath.Join(ws, "target")); err == nil {
		t.Error("a check wrote into the user's target folder")
	}
	w.must(t, "undo", map[string]any{"undoToken": answer.UndoToken}, nil)

	// The program built after a rename prints the new name, after its undo the old one.
	if again := program(); again != old {
		t.Errorf("after the undo the program prints\n%s", again)
	}
	before := snapshot(t, filepath.Join(ws, "src"))
	w.must(t, "rename", rename("BalanceReport", "Overview"), &answer)
	if now := program(); !strings.Contains(now, "Overview") || strings.Contains(now, "BalanceReport") {
		t.Errorf("after the rename the program prints\n%s", now)
	}
	w.must(t, "undo", map[string]any{"undoToken": answer.UndoToken}, nil)
	unchanged(t, filepath.Join(ws, "src"), before)
	if again := program(); again != old {
		t.Errorf("after the undo the program prints\n%s", again)
	}

	// What changes outside is known to the next question, each time: the server
	// itself reads a file that it is told of only later.
	bank := filepath.Join(ws, "src", "bank.rs")
	content := read(t, bank)
	for n := range 20 {
		write(t, bank, strings.Repeat("\n", n%5)+content)
		var p api.Places
		w.must(t, "definition", map[string]any{"filePath": "src/audit.rs", "line": 4, "column": 34}, &p)
		if len(p.Locations) != 1 || p.Locations[0].File != "src/bank.rs" || p.Locations[0].Line != 6+n%5 {
			t.Fatalf("change %d: %+v", n, p.Locations)
		}
	}
	write(t, bank, content)
	main := filepath.Join(ws, "src", "main.rs")
	program0 := read(t, main)
	write(t, filepath.Join(ws, "src", "later.rs"), "pub fn later() -> u32 {\n    crate::bank::fee()\n}\n")
	write(t, main, "mod later;\n"+program0)
	files := func() []string {
		p := places("fee")
		if !p.Complete {
			t.Errorf("not complete: %q", p.Warnings)
		}
		var out []string
		for _, l := range p.Locations {
			out = append(out, l.File)
		}
		return slices.Compact(out)
	}
	if got := files(); !slices.Contains(got, "src/later.rs") {
		t.Errorf("a file that was made outside is not seen: %q", got)
	}
	removeAll(filepath.Join(ws, "src", "later.rs"))
	write(t, main, program0)
	if got := files(); slices.Contains(got, "src/later.rs") {
		t.Errorf("a file that was deleted outside is still seen: %q", got)
	}

	// A manifest that breaks: what is known is answered, and that it may not be all.
	manifest := filepath.Join(ws, "Cargo.toml")
	toml := read(t, manifest)
	write(t, manifest, toml+"\n[features\n")
	if p := places("fee"); p.Complete || !strings.Contains(strings.Join(p.Warnings, " "), "Failed to load workspaces") {
		t.Errorf("with a broken manifest: %+v", p)
	}
	write(t, manifest, toml)
	if p := places("fee"); p.Total != 4 || !p.Complete {
		t.Errorf("with the manifest mended: %+v", p)
	}
}
