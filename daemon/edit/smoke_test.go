package edit

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

func TestSmoke(t *testing.T) {
	root := t.TempDir()
	os.Mkdir(filepath.Join(root, ".git"), 0o755)
	os.WriteFile(filepath.Join(root, "a.go"), []byte("one\n"), 0o640)
	e, err := Open(Options{State: filepath.Join(t.TempDir(), "aura")})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	tx, err := e.Begin(ctx, Plan{Root: root, Operation: "rename", Files: []change.File{
		{Kind: change.Edit, Path: filepath.Join(root, "a.go"), Before: []byte("one\n"), After: []byte("two\n")},
		{Kind: change.Create, Path: filepath.Join(root, "x/y/b.go"), After: []byte("new\n")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Apply(ctx); err != nil {
		t.Fatal(err)
	}
	tok, err := tx.Commit(ctx, CommitInfo{})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(filepath.Join(root, "a.go"))
	t.Logf("%q %s", b, tok)
	res, err := e.Undo(ctx, root, tok, UndoOptions{})
	t.Logf("%+v %v", res, err)
	b, _ = os.ReadFile(filepath.Join(root, "a.go"))
	t.Logf("%q", b)
	res, err = e.Undo(ctx, root, res.RedoToken, UndoOptions{})
	t.Logf("%+v %v", res, err)
	h, err := e.History(ctx, root, 0)
	t.Logf("%+v %v", h, err)
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
