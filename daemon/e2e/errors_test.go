package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// shop is a small module with what the refusals need.
const shop = `
-- go.mod --
module example.com/shop

go 1.24
-- order.go --
package shop

// Order is what a customer buys. An Order has lines.
type Order struct {
	Lines []string
	total int
}

// Save stores the Order.
func (o *Order) Save() error { return store(o) }

// Total is what the Order costs.
func (o *Order) Total() int { return o.total }

func store(*Order) error { return nil }
-- draft.go --
package shop

// Draft is an Order that is not yet sent.
type Draft struct{ Order }

// Save keeps the Draft.
func (d *Draft) Save() error { return store(&d.Order) }
-- order_test.go --
package shop

import "testing"

func TestSave(t *testing.T) {
	if err := (&Order{}).Save(); err != nil {
		t.Fatal(err)
	}
}

func ExampleOrder_Total() {
	_ = (&Order{}).Total()
}
-- README.md --
# shop
`

// refused fails the test unless the refusal has the code.
func refused(t testing.TB, got *api.Error, want api.Code) *api.Error {
	t.Helper()
	if got == nil {
		t.Fatalf("not refused, want %s", want)
	}
	if got.Code != want {
		t.Fatalf("refused as %v, want %s", got, want)
	}
	return got
}

// rename is the parameter of a rename by name.
func rename(symbol, newName string) map[string]any {
	return map[string]any{"symbolName": symbol, "newName": newName}
}

// TestErrorsOfInput provokes, through auractl, the codes that need no fault.
// call holds each to its exit code and to a message.
func TestErrorsOfInput(t *testing.T) {
	dir := files(t, shop)
	write(t, filepath.Join(dir, "big.go"), "package shop\n"+strings.Repeat("// a line of a comment\n", 1<<20))
	write(t, filepath.Join(dir, "binary.go"), "package shop\n\x00\x01\x02\n")
	outside := filepath.Join(filepath.Dir(dir), "outside.go")
	write(t, outside, "package outside\n")
	w := newWorld(t, dir)
	before := snapshot(t, dir)

	cases := []struct {
		method string
		params map[string]any
		want   api.Code
	}{
		{"aura_definition", map[string]any{"symbolName": "Ordr"}, api.SymbolNotFound},
		{"aura_definition", map[string]any{"symbolId": "no such id"}, api.SymbolNotFound},
		{"aura_rename_symbol", rename("Save", "Keep"), api.AmbiguousSymbol},
		{"aura_rename_symbol", rename("Order.Save", "1abc"), api.InvalidName},
		{"aura_rename_symbol", rename("Order.Save", "func"), api.InvalidName},
		{"aura_rename_symbol", rename("Order.Save", "two words"), api.InvalidName},
		{"aura_rename_symbol", rename("Order", "Draft"), api.NameConflict},
		{"aura_rename_symbol", rename("Order.Save", "Total"), api.NameConflict},
		{"aura_rename_symbol", map[string]any{"symbolName": "Order.Save", "newName": "Keep", "prevew": true}, api.InvalidArgument},
		{"aura_rename_symbol", map[string]any{"symbolName": "Order.Save"}, api.InvalidArgument},
		{"aura_definition", map[string]any{}, api.InvalidArgument},
		{"aura_definition", map[string]any{"symbolName": "Order", "limit": "many"}, api.InvalidArgument},
		{"outline", map[string]any{"filePath": "missing.go"}, api.FileNotFound},
		{"outline", map[string]any{"filePath": "big.go"}, api.FileTooLarge},
		{"outline", map[string]any{"filePath": "binary.go"}, api.BinaryFile},
		{"outline", map[string]any{"filePath": "."}, api.InvalidArgument},
		{"outline", map[string]any{"filePath": "../outside.go"}, api.OutsideWorkspace},
		{"outline", map[string]any{"filePath": outside}, api.OutsideWorkspace},
		{"outline", map[string]any{"filePath": "README.md"}, api.UnsupportedOperation},
		{"aura_paint_it_black", map[string]any{}, api.UnsupportedOperation},
		{"aura_undo", map[string]any{"undoToken": "0123456789abcdef0123456789abcdef"}, api.UndoNotFound},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s", c.want, encode(t, c.params)), func(t *testing.T) {
			got := refused(t, w.call(t, c.method, c.params, nil), c.want)
			switch {
			case c.want == api.SymbolNotFound && c.params["symbolName"] != nil && len(got.Suggestions) == 0:
				t.Errorf("no suggestions: %v", got)
			case c.want == api.AmbiguousSymbol && len(got.Candidates) != 2:
				t.Errorf("candidates: %+v", got.Candidates)
			}
		})
	}
	unchanged(t, dir, before)

	t.Run("usage", func(t *testing.T) {
		for _, args := range [][]string{{"rename"}, {"rename", "--no-such-flag", "a", "b"}, {"no-such-command"}, {"call", "aura_definition", "{"}} {
			if r := w.aura(t, args...); r.exit != 2 {
				t.Errorf("auractl %q: exit %d, want 2\n%s%s", args, r.exit, r.stdout, r.stderr)
			}
		}
	})
	t.Run("ambiguous names are readable", func(t *testing.T) {
		r := w.aura(t, "rename", "Save", "Keep")
		if r.exit != 1 || !strings.Contains(r.stderr, "order.go:10") || !strings.Contains(r.stderr, "draft.go:7") {
			t.Errorf("exit %d\n%s%s", r.exit, r.stdout, r.stderr)
		}
	})
}

// TestErrorsOfUndo provokes what can go wrong on the way back.
func TestErrorsOfUndo(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	var done api.EditResult
	w.must(t, "aura_rename_symbol", rename("Order.Total", "Sum"), &done)
	renamed := read(t, filepath.Join(dir, "order.go"))

	write(t, filepath.Join(dir, "order.go"), renamed+"\n// an edit since\n")
	after := snapshot(t, dir)
	conflict := refused(t, w.call(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil), api.UndoConflict)
	if text := encode(t, conflict); !strings.Contains(text, "order.go") {
		t.Errorf("the conflict does not name the file: %s", text)
	}
	unchanged(t, dir, after)

	// Taking the edit back makes the token good again, for as long as it is not used.
	write(t, filepath.Join(dir, "order.go"), renamed)
	var undone api.EditResult
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, &undone)
	unchanged(t, dir, before)
	w.must(t, "aura_undo", map[string]any{"undoToken": undone.UndoToken}, nil)
	if now := read(t, filepath.Join(dir, "order.go")); now != renamed {
		t.Errorf("the redo gives\n%s", now)
	}
}

// TestUndoOutlivesTheDaemon undoes with a daemon that has not seen the change.
func TestUndoOutlivesTheDaemon(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	var done api.EditResult
	w.must(t, "aura_rename_symbol", rename("Order", "Purchase"), &done)
	w.kill(t, w.status(t).PID)
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
	unchanged(t, dir, before)
	// Both say in words what they were about.
	r := w.ok(t, "history")
	for _, want := range []string{"rename Order → Purchase", "undo rename Order → Purchase"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the history does not say %q:\n%s", want, r.stdout)
		}
	}
}

// kill ends a process at once and waits until it is gone.
func (w *world) kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, 10*time.Second, "the killed process is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// TestErrorsOfTrust asks for what runs code of a workspace that nobody trusts.
func TestErrorsOfTrust(t *testing.T) {
	dir := files(t, shop)
	before := snapshot(t, dir)
	w := newStranger(t, dir)
	got := refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.WorkspaceUntrusted)
	if !strings.Contains(got.Message, "auractl trust") {
		t.Errorf("the message does not name the command: %s", got.Message)
	}
	unchanged(t, dir, before)
	// The graph and text still answer.
	w.must(t, "outline", map[string]any{"filePath": "order.go"}, nil)
	// For one call.
	r := w.aura(t, "--trust", "rename", "Order", "Purchase", "--json")
	if r.exit != 0 {
		t.Fatalf("with --trust: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	builds(t, dir)
	refused(t, w.call(t, "aura_rename_symbol", rename("Purchase", "Order"), nil), api.WorkspaceUntrusted)
}

// TestErrorsOfClients provokes what depends on who asks.
func TestErrorsOfClients(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	before := snapshot(t, dir)

	t.Run("TIER_DENIED", func(t *testing.T) {
		c := w.dial(t)
		if e := c.do("initialize", map[string]any{"protocolVersion": 1, "workspace": dir, "tier": "preview", "client": map[string]any{"name": "reader"}}, nil); e != nil {
			t.Fatal(e)
		}
		got := refused(t, c.do("aura_rename_symbol", rename("Order", "Purchase"), nil), api.TierDenied)
		if got.Message == "" {
			t.Error("no message")
		}
		preview := rename("Order", "Purchase")
		preview["preview"] = true
		if e := c.do("aura_rename_symbol", preview, nil); e != nil {
			t.Errorf("a preview needs no more than the tier preview: %v", e)
		}
		unchanged(t, dir, before)
	})
	t.Run("UNSAVED_BUFFER", func(t *testing.T) {
		c := w.dial(t)
		for _, step := range []struct {
			method string
			params map[string]any
		}{
			{"initialize", map[string]any{"protocolVersion": 1, "workspace": dir, "client": map[string]any{"name": "an editor"}}},
			{"document.open", map[string]any{"filePath": "draft.go", "text": read(t, filepath.Join(dir, "draft.go")) + "\n// not saved\n", "version": 1}},
		} {
			if e := c.do(step.method, step.params, nil); e != nil {
				t.Fatal(e)
			}
		}
		got := refused(t, w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil), api.UnsavedBuffer)
		if text := encode(t, got); !strings.Contains(text, "draft.go") || !strings.Contains(text, "an editor") {
			t.Errorf("file and editor are not named: %s", text)
		}
		unchanged(t, dir, before)
		if e := c.do("document.close", map[string]any{"filePath": "draft.go"}, nil); e != nil {
			t.Fatal(e)
		}
		var done api.EditResult
		w.must(t, "aura_rename_symbol", rename("Order", "Purchase"), &done)
		w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
		unchanged(t, dir, before)
	})
}

// TestErrorsOfBuilds gives a method a name whose signature vet knows better: the
// compiler and the language have nothing against it.
func TestErrorsOfBuilds(t *testing.T) {
	dir := files(t, shop)
	builds(t, dir)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	got := refused(t, w.call(t, "aura_rename_symbol", rename("Order.Total", "MarshalJSON"), nil), api.ValidationFailed)
	if text := encode(t, got); !strings.Contains(text, "newErrors") || !strings.Contains(text, "rolledBack") || !strings.Contains(text, "order.go") {
		t.Errorf("no details of the validation: %s", text)
	}
	unchanged(t, dir, before)
	builds(t, dir)

	// Who wants it all the same gets it, with the errors.
	params := rename("Order.Total", "MarshalJSON")
	params["rollbackOnError"] = false
	var done api.EditResult
	w.must(t, "aura_rename_symbol", params, &done)
	if done.Validation == nil || done.Validation.Success || len(done.Validation.NewErrors) == 0 {
		t.Errorf("the errors are not told: %+v", done.Validation)
	}
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
	unchanged(t, dir, before)
}
