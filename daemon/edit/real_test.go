package edit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// bed is an engine on the real disk with one workspace.
type bed struct {
	t     testing.TB
	e     *Engine
	root  string
	state string
}

func newBed(t testing.TB, files map[string]string) *bed {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	b := &bed{t: t, root: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state", "aura")}
	must(t, os.MkdirAll(filepath.Join(b.root, ".git"), 0o755))
	for rel, content := range files {
		b.write(rel, content)
	}
	b.open()
	t.Cleanup(func() { b.close() })
	return b
}

func (b *bed) open() {
	b.t.Helper()
	e, err := Open(Options{State: b.state})
	must(b.t, err)
	b.e = e
}

func (b *bed) close() {
	b.t.Helper()
	must(b.t, b.e.Close(context.Background()))
}

func (b *bed) path(rel string) string { return filepath.Join(b.root, rel) }

func (b *bed) write(rel, content string) {
	b.t.Helper()
	must(b.t, os.MkdirAll(filepath.Dir(b.path(rel)), 0o755))
	must(b.t, os.WriteFile(b.path(rel), []byte(content), 0o644))
}

func (b *bed) read(rel string) string {
	b.t.Helper()
	content, err := os.ReadFile(b.path(rel))
	must(b.t, err)
	return string(content)
}

// edit is a change of one file from what it holds.
func (b *bed) edit(rel, after string) change.File {
	b.t.Helper()
	return change.File{Kind: change.Edit, Path: b.path(rel), Before: []byte(b.read(rel)), After: []byte(after)}
}

func (b *bed) begin(files ...change.File) (*Tx, error) {
	return b.e.Begin(context.Background(), Plan{Root: b.root, Operation: "rename", Client: "test", Files: files})
}

func (b *bed) apply(files ...change.File) (string, error) { return transact(b.e, b.root, files) }

func (b *bed) mustApply(files ...change.File) string {
	b.t.Helper()
	token, err := b.apply(files...)
	must(b.t, err)
	return token
}

func (b *bed) undo(token string) (Result, error) {
	return b.e.Undo(context.Background(), b.root, token, UndoOptions{Client: "test"})
}

func (b *bed) tree() map[string]string { return diskTree(b.t, b.root) }

// refused checks a refusal: its code, what it names, and that nothing changed.
func (b *bed) refused(err error, code api.Code, before map[string]string, words ...string) {
	b.t.Helper()
	if api.CodeOf(err) != code {
		b.t.Errorf("got %v, want a refusal with %s", err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			b.t.Errorf("the message %q does not mention %q", err, w)
		}
	}
	b.same(before)
}

func (b *bed) same(want map[string]string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.tree()); diff != "" {
		b.t.Errorf("the tree is not as it was (-want +got):\n%s", diff)
	}
	if bad := realLitter(b.e, b.root); len(bad) > 0 {
		b.t.Error(bad)
	}
}

func namedFiles(err error) []string {
	var e *api.Error
	if !errors.As(err, &e) {
		return nil
	}
	p, _ := e.Details.(Paths)
	return p.Files
}

func TestApplyUndoRedo(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n"})
	old := b.tree()
	token := b.mustApply(
		b.edit("a.txt", "ONE\n"),
		change.File{Kind: change.Rename, Path: b.path("d/b.txt"), NewPath: b.path("e/f/b2.txt"), Before: []byte("two\n"), After: []byte("TWO\n")},
		change.File{Kind: change.Delete, Path: b.path("d/c.txt"), Before: []byte("three\n")},
		change.File{Kind: change.Create, Path: b.path("e/new.txt"), After: []byte("new\n")},
	)
	want := map[string]string{
		".git/": "folder", "d/": "folder", "e/": "folder", "e/f/": "folder",
		"a.txt": "0644 ONE\n", "e/f/b2.txt": "0644 TWO\n", "e/new.txt": "0644 new\n",
	}
	b.same(want)
	res, err := b.undo(token)
	must(t, err)
	b.same(old)
	kinds := map[string]change.Kind{}
	for _, f := range res.Files {
		kinds[strings.TrimPrefix(f.Path+">"+f.NewPath, b.root+"/")] = f.Kind
		if f.Kind == change.Edit && (string(f.Before) != "ONE\n" || string(f.After) != "one\n") {
			t.Errorf("undo reports %q to %q", f.Before, f.After)
		}
	}
	if diff := cmp.Diff(map[string]change.Kind{
		"a.txt>": change.Edit, "e/f/b2.txt>" + b.path("d/b.txt"): change.Rename, "d/c.txt>": change.Create, "e/new.txt>": change.Delete,
	}, kinds); diff != "" {
		t.Errorf("files of the undo (-want +got):\n%s", diff)
	}
	redo, err := b.undo(res.RedoToken)
	must(t, err)
	b.same(want)
	if redo.Operation != "undo rename" {
		t.Errorf("the redo says that it took back %q", redo.Operation)
	}
	h, err := b.e.History(context.Background(), b.root, 0)
	must(t, err)
	var ops []string
	for _, r := range h {
		ops = append(ops, r.Operation)
	}
	if diff := cmp.Diff([]string{"redo rename", "undo rename", "rename"}, ops); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// A file that changed after the plan was made stops the whole plan, and so
// does a file that the plan only read.
func TestE12_ChangedSinceThePlan(t *testing.T) {
	for name, spoil := range map[string]func(b *bed){
		"an edited file changed":     func(b *bed) { b.write("b.txt", "from outside\n") },
		"an edited file is gone":     func(b *bed) { must(b.t, os.Remove(b.path("b.txt"))) },
		"a file that was read":       func(b *bed) { b.write("read.txt", "from outside\n") },
		"a file that was read, gone": func(b *bed) { must(b.t, os.Remove(b.path("read.txt"))) },
		"a file where none was":      func(b *bed) { b.write("absent.txt", "from outside\n") },
		"a file where one is made":   func(b *bed) { b.write("new.txt", "from outside\n") },
		"a folder where one is made": func(b *bed) { must(b.t, os.Mkdir(b.path("new.txt"), 0o755)) },
		"an edited file is a folder": func(b *bed) {
			must(b.t, os.Remove(b.path("b.txt")))
			must(b.t, os.Mkdir(b.path("b.txt"), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "read.txt": "r\n"})
			p := Plan{
				Root: b.root, Operation: "rename",
				Files: []change.File{
					b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"),
					{Kind: change.Create, Path: b.path("new.txt"), After: []byte("n\n")},
				},
				Base: map[string]text.Hash{
					b.path("read.txt"): text.Sum([]byte("r\n")), b.path("absent.txt"): {}, b.path("a.txt"): text.Sum([]byte("a\n")),
				},
			}
			spoil(b)
			before := b.tree()
			_, err := b.e.Begin(context.Background(), p)
			if name == "an edited file is a folder" {
				b.refused(err, api.UnsupportedOperation, before, "b.txt")
				return
			}
			b.refused(err, api.StaleContent, before, "run the operation again")
			if got := namedFiles(err); len(got) != 1 {
				t.Errorf("the refusal names %v, want the one file that changed", got)
			}
		})
	}
}

func TestBinaryAndOtherEncodingsAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"NUL": "a\x00b", "UTF-16 LE": "\xff\xfea\x00", "UTF-16 BE": "\xfe\xff\x00a", "Latin-1": "caf\xe9\n",
		"LFS pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": content})
			before := b.tree()
			_, err := b.begin(b.edit("a.txt", "text\n"))
			b.refused(err, api.BinaryFile, before, "a.txt")
			// It can be moved and deleted all the same.
			token := b.mustApply(change.File{
				Kind: change.Rename, Path: b.path("a.txt"), NewPath: b.path("b.txt"), Before: []byte(content), After: []byte(content),
			})
			if got := b.read("b.txt"); got != content {
				t.Errorf("moved file holds %q", got)
			}
			_, err = b.undo(token)
			must(t, err)
			b.same(before)
		})
	}
	b := newBed(t, map[string]string{"a.txt": "é\n"})
	before := b.tree()
	_, err := b.begin(b.edit("a.txt", "\xc3\n"))
	b.refused(err, api.BinaryFile, before, "after the edit")
}

func TestLimits(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	before := b.tree()
	_, err := b.begin(b.edit("a.txt", strings.Repeat("x", MaxFileSize+1)))
	b.refused(err, api.FileTooLarge, before, "a.txt")
	_, err = b.begin(slices.Repeat([]change.File{b.edit("a.txt", "b\n")}, MaxFiles+1)...)
	b.refused(err, api.FileTooLarge, before, "10001")
}

// A plan that reaches one file by two names, or changes a file in two ways.
func TestOneFileByTwoNames(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	must(t, os.Symlink("a.txt", b.path("link.txt")))
	before := b.tree()
	link := change.File{Kind: change.Edit, Path: b.path("link.txt"), Before: []byte("a\n"), After: []byte("A\n")}
	other := link
	other.After = []byte("other\n")
	_, err := b.begin(b.edit("a.txt", "A\n"), other)
	b.refused(err, api.InvalidArgument, before, "one file")
	b.mustApply(b.edit("a.txt", "A\n"), link)
	if got := b.read("a.txt"); got != "A\n" {
		t.Errorf("a.txt holds %q", got)
	}
}

func TestE17_SwapAndCaseOnlyRename(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "Foo.txt": "foo\n"})
	old := b.tree()
	rename := func(from, to, content string) change.File {
		return change.File{Kind: change.Rename, Path: b.path(from), NewPath: b.path(to), Before: []byte(content), After: []byte(content)}
	}
	token := b.mustApply(rename("a.txt", "b.txt", "a\n"), rename("b.txt", "a.txt", "b\n"), rename("Foo.txt", "foo.txt", "foo\n"))
	want := map[string]string{".git/": "folder", "a.txt": "0644 b\n", "b.txt": "0644 a\n", "foo.txt": "0644 foo\n"}
	b.same(want)
	_, err := b.undo(token)
	must(t, err)
	b.same(old)
	// A file makes room for a folder of its name, and back.
	token = b.mustApply(
		change.File{Kind: change.Delete, Path: b.path("a.txt"), Before: []byte("a\n")},
		change.File{Kind: change.Create, Path: b.path("a.txt/in.txt"), After: []byte("in\n")},
	)
	if got := b.read("a.txt/in.txt"); got != "in\n" {
		t.Errorf("a.txt/in.txt holds %q", got)
	}
	_, err = b.undo(token)
	must(t, err)
	b.same(old)
}

func TestE20_AbortRestoresInodesAndModes(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	must(t, os.Chmod(b.path("a.txt"), 0o750))
	before, inodes := b.tree(), b.inodes()
	tx, err := b.begin(b.edit("a.txt", "A\n"),
		change.File{Kind: change.Rename, Path: b.path("b.txt"), NewPath: b.path("x/y/b.txt"), Before: []byte("b\n"), After: []byte("B\n")},
		change.File{Kind: change.Delete, Path: b.path("c.txt"), Before: []byte("c\n")},
		change.File{Kind: change.Create, Path: b.path("x/z.txt"), After: []byte("z\n")})
	must(t, err)
	must(t, tx.Apply(context.Background()))
	if got := b.read("x/y/b.txt"); got != "B\n" {
		t.Fatalf("applied file holds %q", got)
	}
	must(t, tx.Abort(context.Background()))
	b.same(before)
	if diff := cmp.Diff(inodes, b.inodes()); diff != "" {
		t.Errorf("inodes (-want +got):\n%s", diff)
	}
	if err := tx.Abort(context.Background()); err != nil {
		t.Errorf("a second abort: %v", err)
	}
	if _, err := tx.Commit(context.Background(), CommitInfo{}); err == nil {
		t.Error("an aborted transaction can be committed")
	}
}
