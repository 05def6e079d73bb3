package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestDiagnosticsOfTheCompiler asks about errors that rust-analyzer leaves to
// rustc: on disk, in a buffer that nobody saved, and where an error elsewhere
// may have kept the compiler from the file.
func TestDiagnosticsOfTheCompiler(t *testing.T) {
	lsptest.Tool(t, "rust-analyzer")
	base, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	ws, err := os.MkdirTemp(base, "rustc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(ws) })
	const lib, app = "lib/src/lib.rs", "app/src/lib.rs"
	const whole = "use lib::Order;\n\npub fn fee(o: &Order) -> u32 {\n    o.total\n}\n"
	for name, content := range map[string]string{
		"Cargo.toml":     "[workspace]\nmembers = [\"lib\", \"app\"]\nresolver = \"2\"\n",
		"Cargo.lock":     "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"lib\",\n]\n\n[[package]]\nname = \"lib\"\nversion = \"0.1.0\"\n",
		"lib/Cargo.toml": "[package]\nname = \"lib\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"app/Cargo.toml": "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlib = { path = \"../lib\" }\n",
		lib:              "pub struct Order {\n    pub total: u32,\n}\n",
		app:              whole,
	} {
		write(t, filepath.Join(ws, name), content)
	}
	w := newWorld(t, ws)
	ask := func(file string) (out api.Diagnostics, found []string) {
		t.Helper()
		w.must(t, "diagnostics", map[string]any{"filePath": file}, &out)
		for _, d := range out.Diagnostics {
			found = append(found, fmt.Sprintf("%d %s %s", d.Line, d.Severity, d.Code))
		}
		return out, found
	}
	check := func(when, file string, complete bool, want ...string) api.Diagnostics {
		t.Helper()
		out, found := ask(file)
		if diff := cmp.Diff(want, found); diff != "" || out.Complete != complete {
			t.Errorf("%s (-want +got):\n%s%+v", when, diff, out)
		}
		return out
	}
	check("nothing is wrong", app, true)
	// Names that do not resolve and types that do not fit: the one is found by
	// the compiler only, the other by both, in other words.
	bad := strings.Replace(whole, "    o.total\n", "    nowhere(o);\n    let text: String = o.total;\n    o.total\n", 1)
	write(t, filepath.Join(ws, app), bad)
	check("on disk", app, true, "4 error E0425", "5 error E0308")
	if out := check("elsewhere", lib, false); len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], app) {
		t.Errorf("the file that has the errors is not named: %q", out.Warnings)
	}

	write(t, filepath.Join(ws, app), whole)
	editor := w.dial(t)
	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"initialize", map[string]any{"protocolVersion": 1, "workspace": ws, "client": map[string]any{"name": "an editor"}}},
		{"document.open", map[string]any{"filePath": app, "text": strings.Replace(whole, "o.total", "nothing", 1), "version": 1}},
	} {
		if e := editor.do(step.method, step.params, nil); e != nil {
			t.Fatal(e)
		}
	}
	check("not saved", app, true, "4 error E0425")
	if e := editor.do("document.close", map[string]any{"filePath": app}, nil); e != nil {
		t.Fatal(e)
	}
	check("taken back", app, true)
	for _, name := range []string{"target", "lib/target", "app/target"} {
		if _, err := os.Stat(filepath.Join(ws, name)); err == nil {
			t.Errorf("the compiler wrote %s", name)
		}
	}
}
