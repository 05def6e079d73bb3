package e2e

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// provokedIn names, for each code of a refusal, the test that provokes it
// through auractl.
var provokedIn = map[string]string{
	"SymbolNotFound":       "TestErrorsOfInput",
	"AmbiguousSymbol":      "TestErrorsOfInput",
	"InvalidArgument":      "TestErrorsOfInput",
	"InvalidName":          "TestErrorsOfInput",
	"NameConflict":         "TestErrorsOfInput",
	"FileNotFound":         "TestErrorsOfInput",
	"FileTooLarge":         "TestErrorsOfInput",
	"BinaryFile":           "TestErrorsOfInput",
	"OutsideWorkspace":     "TestErrorsOfInput",
	"UnsupportedOperation": "TestErrorsOfInput",
	"PermissionDenied":     "TestE08_OneTargetNotWritable",
	"ServerUnavailable":    "TestP02_ServerMissing",
	"ServerCrashed":        "TestP03_ServerCrashesOnTheQuestion",
	"ServerTimeout":        "TestP06_ServerStopped",
	"StaleContent":         "TestE12_ChangedBetweenPlanAndCommit",
	"ValidationFailed":     "TestErrorsOfBuilds",
	"UndoNotFound":         "TestErrorsOfInput",
	"UndoConflict":         "TestErrorsOfUndo",
	"UnsavedBuffer":        "TestErrorsOfClients",
	"TierDenied":           "TestErrorsOfTiers",
	"WorkspaceUntrusted":   "TestErrorsOfTrust",
	"Cancelled":            "TestInterrupted",
	"Timeout":              "TestTimeoutAndCancel",
	"Overloaded":           "TestErrorsOfTooManyClients",
	"Internal":             "TestErrorsOfADamagedStore",
}

// TestEveryCodeIsProvoked fails when a code is added without a test, or when a
// test of the table no longer holds a refusal that auractl printed to its code.
func TestEveryCodeIsProvoked(t *testing.T) {
	// An answer and not a refusal, of an operation that is not there yet.
	if _, _, there := api.ByMethod("aura_safe_delete"); there {
		t.Error("there is a safe_delete now: provoke BLOCKED_BY_USAGES by it")
	}
	tests := map[string]*ast.FuncDecl{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		for _, d := range parsed(t, name).Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				tests[f.Name.Name] = f
			}
		}
	}
	codes := codeNames(t)
	for _, code := range codes {
		if code == "BlockedByUsages" {
			continue
		}
		name, ok := provokedIn[code]
		f := tests[name]
		switch {
		case !ok:
			t.Errorf("api.%s is provoked by no test", code)
		case f == nil:
			t.Errorf("api.%s: there is no test %s", code, name)
		case !names(f, "api", code):
			t.Errorf("%s says nothing of api.%s", name, code)
		case !names(f, "w", "call") && !names(f, "w", "aura") && !names(f, "r", "answer"):
			t.Errorf("%s does not run auractl", name)
		}
	}
	for code := range provokedIn {
		if !slices.Contains(codes, code) {
			t.Errorf("there is no code %s any more", code)
		}
	}
}

// parsed reads a Go file.
func parsed(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// codeNames returns the constants of type Code that package api declares.
func codeNames(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, d := range parsed(t, filepath.Join("..", "api", "errors.go")).Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Code" {
				list = append(list, v.Names[0].Name)
			}
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d codes found in daemon/api/errors.go", len(list))
	}
	return list
}

// names reports whether a function mentions x.sel.
func names(f *ast.FuncDecl, x, sel string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == sel {
			id, ok := s.X.(*ast.Ident)
			found = found || ok && id.Name == x
		}
		return !found
	})
	return found
}

// TestErrorsOfTiers asks for more than the client's tier allows.
func TestErrorsOfTiers(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	change := encode(t, rename("Order", "Purchase"))
	preview := rename("Order", "Purchase")
	preview["preview"] = true
	for _, c := range []struct {
		tier   string
		method string
		params string
		names  string // what the message names to get it done
	}{
		{"observe", "aura_rename_symbol", change, "tier apply"},
		{"observe", "aura_rename_symbol", encode(t, preview), "tier preview"},
		{"preview", "aura_rename_symbol", change, "tier apply"},
		{"apply", "trust", `{}`, "auractl trust"},
	} {
		r := w.aura(t, "--tier", c.tier, "call", c.method, c.params)
		got, err := r.answer(nil)
		if err != nil {
			t.Fatalf("%s as %s: %v\n%s%s", c.method, c.tier, err, r.stdout, r.stderr)
		}
		if refused(t, got, api.TierDenied); !strings.Contains(got.Message, c.names) {
			t.Errorf("%s as %s: the message does not name %q: %s", c.method, c.tier, c.names, got.Message)
		}
	}
	unchanged(t, dir, before)

	r := w.aura(t, "--tier", "preview", "call", "aura_rename_symbol", encode(t, preview))
	if got, err := r.answer(nil); err != nil || got != nil {
		t.Errorf("a preview needs no more than its tier: %v %v\n%s", got, err, r.stderr)
	}
	// A script sets it for all of its calls.
	env := w.env
	w.env = append(slices.Clone(env), "AURA_TIER=observe")
	refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.TierDenied)
	w.env = env
	unchanged(t, dir, before)
}

// TestErrorsOfTooManyClients runs auractl while others take all connections.
func TestErrorsOfTooManyClients(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	w.env = append(w.env, "AURA_LIMITS_CONNECTIONS=2")
	w.status(t) // starts a daemon with that limit
	first, second := w.occupy(t), w.occupy(t)
	refused(t, w.call(t, "outline", map[string]any{"filePath": "order.go"}, nil), api.Overloaded)
	r := w.aura(t, "outline", "order.go")
	if r.exit == 0 || !strings.Contains(r.stderr, "close some") {
		t.Errorf("exit %d, and not told what to do:\n%s%s", r.exit, r.stdout, r.stderr)
	}
	_, _ = first.Close(), second.Close()
	until(t, patience, "auractl is served again", func() bool {
		return w.aura(t, "call", "outline", `{"filePath":"order.go"}`).exit == 0
	})
}

// occupy takes one of the daemon's connections; that of a command which has just
// ended may still count for a moment.
func (w *world) occupy(t *testing.T) net.Conn {
	t.Helper()
	var c net.Conn
	until(t, patience, "a connection is free", func() bool {
		var err error
		if c, err = net.Dial("unix", w.socket()); err != nil {
			t.Fatal(err)
		}
		if _, err = io.WriteString(c, `{"jsonrpc":"2.0","id":1,"method":"workspace.list"}`+"\n"); err == nil {
			answer, _ := bufio.NewReader(c).ReadString('\n') // nothing when it is refused
			if strings.Contains(answer, `"result"`) {
				return true
			}
		}
		_ = c.Close()
		return false
	})
	return c
}

// TestErrorsOfADamagedStore breaks the file that remembers what is trusted: no
// refusal that a client could act on, and nothing may be taken as trusted.
func TestErrorsOfADamagedStore(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	store := filepath.Join(w.dir, "state", "aura", "trust.json")
	good, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	got := refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.Internal)
	for _, want := range []string{store, "trust again", "auractl logs"} {
		if !strings.Contains(got.Message, want) {
			t.Errorf("the message lacks %q: %s", want, got.Message)
		}
	}
	unchanged(t, dir, before)
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.WorkspaceUntrusted)
	w.ok(t, "trust", dir)
	w.must(t, "aura_rename_symbol", rename("Order", "Purchase"), nil)
	builds(t, dir)
}
