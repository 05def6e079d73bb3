package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// The ways in which tools of this kind were seen to hurt their users.

// TestE15_ChangedOutsideThenRenamedAtOnce changes files behind the daemon's
// back and renames in the same moment, again and again. A plan on old text
// would land inside other words.
func TestE15_ChangedOutsideThenRenamedAtOnce(t *testing.T) {
	dir := module(t, cobra)
	w := newWorld(t, dir)
	names := []string{"Command", "Instruction"}
	w.must(t, "aura_references", map[string]any{"symbolName": "Command", "symbolKind": "type"}, nil)
	for round := range 8 {
		from, to := names[round%2], names[(round+1)%2]
		for _, name := range []string{"command.go", "args.go", "completions.go"} {
			path := filepath.Join(dir, name)
			text := read(t, path)
			switch round % 4 {
			case 0: // lines move
				text = strings.Replace(text, "\nimport (", fmt.Sprintf("\n// round %d\n//\n// moves every line.\nimport (", round), 1)
			case 1: // columns still fit, but in other places
				text = strings.Replace(text, "\nfunc ", fmt.Sprintf("\nfunc moved%d%s() { _ = 0 }\n\nfunc ", round, strings.TrimSuffix(name, ".go")), 1)
			case 2: // a new use
				text += fmt.Sprintf("\nvar use%d%s *%s\n", round, strings.TrimSuffix(name, ".go"), from)
			case 3: // shorter lines
				text = strings.ReplaceAll(text, fmt.Sprintf("var use%d%s ", round-1, strings.TrimSuffix(name, ".go")), "var _ ")
			}
			write(t, path, text)
		}
		before := snapshot(t, dir)
		var done api.EditResult
		refusal := w.call(t, "aura_rename_symbol", map[string]any{"symbolName": from, "symbolKind": "type", "newName": to}, &done)
		if refusal != nil {
			t.Errorf("round %d: %v", round, refusal)
			unchanged(t, dir, before)
			continue
		}
		if text := read(t, filepath.Join(dir, "command.go")); !strings.Contains(text, "\ntype "+to+" struct {") {
			t.Errorf("round %d: type %s is not declared", round, to)
		}
		builds(t, dir)
		if t.Failed() {
			break
		}
	}
}

// TestE08_OneTargetNotWritable renames as an ordinary user where one of the
// files, or its folder, may not be written. Half of a rename is worse than none.
func TestE08_OneTargetNotWritable(t *testing.T) {
	dir := files(t, shop+`
-- sub/sub.go --
package sub

import "example.com/shop"

var Default shop.Order
`)
	w := newWorld(t, dir)
	w.stop(t)
	w.dropRoot(t)
	w.ok(t, "trust", dir)
	order := rename("Order", "Purchase")
	order["validateCompilation"] = false // a build cache of one's own costs a minute and proves nothing here

	for name, deny := range map[string]struct {
		path string
		mode os.FileMode
	}{
		"file":   {"draft.go", 0o444},
		"folder": {"sub", 0o555},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, deny.path)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, deny.mode); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			got := refused(t, w.call(t, "aura_rename_symbol", order, nil), api.PermissionDenied)
			if !strings.Contains(encode(t, got), deny.path) {
				t.Errorf("the refusal does not name %s: %s", deny.path, encode(t, got))
			}
			unchanged(t, dir, before)
			if err := os.Chmod(path, info.Mode()); err != nil {
				t.Fatal(err)
			}
		})
	}
	// With the right to write it is one rename again.
	before := snapshot(t, dir)
	var done api.EditResult
	w.must(t, "aura_rename_symbol", order, &done)
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
	unchanged(t, dir, before)
}

// nobody is the user to whom root's tests of permissions drop.
const nobody = 65534

// dropRoot makes the commands of the world run as an ordinary user. A test that
// runs as one already needs nothing.
func (w *world) dropRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	// What they need must be reachable for somebody else than root: copies of
	// the programs and of the server, and a build cache of their own.
	own := filepath.Join(w.dir, "own")
	for _, name := range []string{"aurad", "auractl"} {
		copyProgram(t, filepath.Join(w.bin, name), filepath.Join(own, name))
	}
	copyProgram(t, w.gopls, filepath.Join(own, "gopls"))
	w.bin = own
	for i, v := range w.env {
		key, value, _ := strings.Cut(v, "=")
		switch key {
		case "GOCACHE", "XDG_CACHE_HOME", "GOPATH", "GOMODCACHE":
			w.env[i] = key + "=" + filepath.Join(w.dir, "own", strings.ToLower(key))
		case "PATH":
			w.env[i] = "PATH=" + own + string(os.PathListSeparator) + value
		}
	}
	for _, root := range []string{w.dir, w.ws} {
		err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, nobody, nobody)
		})
		if err != nil {
			t.Fatal(err)
		}
		// The folders above belong to root and are closed to others.
		for up := filepath.Dir(root); up != filepath.Dir(os.TempDir()) && up != "/"; up = filepath.Dir(up) {
			info, err := os.Stat(up)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm()&0o011 != 0o011 {
				if err := os.Chmod(up, info.Mode()|0o011); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	w.credential = &syscall.Credential{Uid: nobody, Gid: nobody}
}

func copyProgram(t testing.TB, from, to string) {
	t.Helper()
	write(t, to, read(t, from))
	if err := os.Chmod(to, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestE18_BytesAroundTheName renames in files that are not plain ASCII with LF.
func TestE18_BytesAroundTheName(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	cases := map[string]string{
		"crlf.go":  "package odd\r\n\r\n// A Thing.\r\ntype crlf struct{ t Thing }\r\n",
		"bom.go":   bom + "package odd\n\nvar bom Thing\n",
		"emoji.go": "package odd\n\nvar 漢字, _ = Thing{}, \"🙂🙂 é\"; var after, _ = Thing{}, /* 🙂 */ Thing{}\n",
		"noeol.go": "package odd\n\nvar noeol Thing",
		"mixed.go": "package odd\r\n\nvar mixed Thing\r\n// trailing  \n",
		"both.go":  bom + "package odd\r\n\r\nvar /* 🙂 */ both = []Thing{{}, Thing{}}\r\n",
	}
	dir := files(t, "-- go.mod --\nmodule example.com/odd\n\ngo 1.24\n-- thing.go --\npackage odd\n\ntype Thing struct{}\n")
	for name, text := range cases {
		write(t, filepath.Join(dir, name), text)
	}
	if err := os.Chmod(filepath.Join(dir, "crlf.go"), 0o750); err != nil {
		t.Fatal(err)
	}
	builds(t, dir)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	var done api.EditResult
	w.must(t, "aura_rename_symbol", rename("Thing", "Matter"), &done)
	for name, text := range cases {
		if got, want := read(t, filepath.Join(dir, name)), strings.ReplaceAll(text, "Thing", "Matter"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "crlf.go")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	builds(t, dir)
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
	unchanged(t, dir, before)
}

// TestExamplesFollowTheirSymbol renames what example functions are named after.
// The server leaves them, and then only vet and the tests fail.
func TestExamplesFollowTheirSymbol(t *testing.T) {
	dir := files(t, `
-- go.mod --
module example.com/tags

go 1.24
-- tag.go --
package tags

// Tag is a label.
type Tag struct{ name string }

// Base is its root.
func (t Tag) Base() string { return t.name }

// Make makes a Tag.
func Make(name string) Tag { return Tag{name} }
-- tag_test.go --
package tags_test

import (
	"fmt"

	"example.com/tags"
)

func ExampleTag() { fmt.Println(tags.Make("a").Base()) /* Output: a */ }

func ExampleTag_Base() {
	fmt.Println(tags.Make("b").Base())
	// Output: b
}

func ExampleTag_Base_second() {
	fmt.Println(tags.Make("c").Base())
	// Output: c
}

func ExampleMake() {
	fmt.Println(tags.Make("d").Base())
	// Output: d
}
`)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	var undos []string
	for _, step := range []struct{ symbol, newName, want string }{
		{"Tag", "Label", "func ExampleLabel_Base_second()"},
		{"Label.Base", "Root", "func ExampleLabel_Root_second()"},
		{"Make", "Build", "func ExampleBuild()"},
	} {
		var done api.EditResult
		w.must(t, "aura_rename_symbol", rename(step.symbol, step.newName), &done)
		undos = append(undos, done.UndoToken)
		if text := read(t, filepath.Join(dir, "tag_test.go")); !strings.Contains(text, step.want) {
			t.Errorf("%s to %s: no %q in\n%s", step.symbol, step.newName, step.want, text)
		}
		builds(t, dir)
		if err := gocmd(dir, "test", "./..."); err != nil {
			t.Error(err)
		}
	}
	for i := len(undos) - 1; i >= 0; i-- {
		w.must(t, "aura_undo", map[string]any{"undoToken": undos[i]}, nil)
	}
	unchanged(t, dir, before)
}

// TestUndoneCodeIsBuiltAgain builds with a tool that goes by modification times,
// before and after an undo.
func TestUndoneCodeIsBuiltAgain(t *testing.T) {
	dir := files(t, `
-- go.mod --
module example.com/prog

go 1.24
-- main.go --
package main

import "fmt"

type Alpha struct{}

func main() { fmt.Printf("%T\n", Alpha{}) }
-- Makefile --
prog: main.go
	go build -o prog .
`)
	w := newWorld(t, dir)
	build := func() string {
		t.Helper()
		cmd := exec.Command("make")
		cmd.Dir, cmd.Env = dir, w.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make: %v\n%s", err, out)
		}
		out, err := exec.Command(filepath.Join(dir, "prog")).CombinedOutput()
		if err != nil {
			t.Fatalf("prog: %v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := build(); got != "main.Alpha" {
		t.Fatalf("prog prints %q", got)
	}
	var done, undone api.EditResult
	w.must(t, "aura_rename_symbol", rename("Alpha", "Beta"), &done)
	if got := build(); got != "main.Beta" {
		t.Errorf("after the rename prog prints %q", got)
	}
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, &undone)
	if got := build(); got != "main.Alpha" {
		t.Errorf("after the undo prog prints %q", got)
	}
	w.must(t, "aura_undo", map[string]any{"undoToken": undone.UndoToken}, nil)
	if got := build(); got != "main.Beta" {
		t.Errorf("after the redo prog prints %q", got)
	}
}

// TestE11_LinkOutOfTheWorkspace has a source file that is a link to elsewhere.
func TestE11_LinkOutOfTheWorkspace(t *testing.T) {
	dir := files(t, shop)
	elsewhere := filepath.Join(t.TempDir(), "linked.go")
	write(t, elsewhere, "package shop\n\nvar linked Order\n")
	if err := os.Symlink(elsewhere, filepath.Join(dir, "linked.go")); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	before, outside := snapshot(t, dir), read(t, elsewhere)
	got := w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil)
	refused(t, got, api.OutsideWorkspace)
	unchanged(t, dir, before)
	if read(t, elsewhere) != outside {
		t.Error("the file outside was changed")
	}

	// A link that stays inside is followed, and stays a link.
	if err := os.Remove(filepath.Join(dir, "linked.go")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real", "linked.txt"), "package shop\n\nvar linked Order\n")
	if err := os.Symlink(filepath.Join("real", "linked.txt"), filepath.Join(dir, "linked.go")); err != nil {
		t.Fatal(err)
	}
	before = snapshot(t, dir)
	var done api.EditResult
	w.must(t, "aura_rename_symbol", rename("Order", "Purchase"), &done)
	if info, err := os.Lstat(filepath.Join(dir, "linked.go")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", errors.Join(err))
	}
	builds(t, dir)
	w.must(t, "aura_undo", map[string]any{"undoToken": done.UndoToken}, nil)
	unchanged(t, dir, before)
}
