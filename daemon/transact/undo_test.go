package transact

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

func (w *world) undo(token string) (*api.EditResult, error) {
	return w.pipe.Undo(w.t.Context(), UndoRequest{View: w.view, Token: token, Client: "test", Session: "s"})
}

func TestE24_UndoRedo(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "one\nold\n"})
	done := w.must(w.request(w.set(map[string]string{"a.txt": "one\nnew\n"})))
	_, times := w.tree()
	undone, err := w.undo(done.UndoToken)
	if err != nil {
		t.Fatal(err)
	}
	if w.read("a.txt") != "one\nold\n" {
		t.Errorf("after the undo: %q", w.read("a.txt"))
	}
	if _, now := w.tree(); !now["a.txt"].After(times["a.txt"]) {
		t.Error("a build would take what was built before the undo for fresh")
	}
	want := []api.ChangeDetail{{File: "a.txt", Line: 2, Change: "new → old"}}
	if diff := cmp.Diff(want, undone.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	again, err := w.undo(done.UndoToken)
	if err != nil || again.UndoToken != undone.UndoToken || len(again.Warnings) != 1 {
		t.Errorf("the same token again: %+v, %v", again, err)
	}
	if _, err := w.undo(undone.UndoToken); err != nil || w.read("a.txt") != "one\nnew\n" {
		t.Errorf("redo: %v, %q", err, w.read("a.txt"))
	}
	res, err := w.undo("00")
	asRefusal(t, res, err, api.UndoNotFound)

	list, err := w.pipe.History(t.Context(), w.view, 2)
	if err != nil {
		t.Fatal(err)
	}
	if list.Total != 3 || !list.Truncated || len(list.Transactions) != 2 {
		t.Fatalf("history: %+v", list)
	}
	top := list.Transactions[0]
	if _, err := time.Parse(time.RFC3339, top.Time); err != nil {
		t.Error(err)
	}
	if top.UndoToken == "" || top.State != "committed" || top.Undoes != undone.UndoToken || !cmp.Equal(top.Files, []string{"a.txt"}) || top.Client != "test" {
		t.Errorf("the redo: %+v", top)
	}
	if next := list.Transactions[1]; next.State != "undone" || next.UndoToken != "" {
		t.Errorf("the undo that was undone: %+v", next)
	}
}

func TestE23_UndoAfterLaterEdits(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n", "b.txt": "old\n"})
	done := w.must(w.request(w.set(map[string]string{"a.txt": "new\n", "b.txt": "new\n"})))
	w.write("b.txt", "edited\n")
	res, err := w.undo(done.UndoToken)
	e := asRefusal(t, res, err, api.UndoConflict)
	if !strings.Contains(e.Message, "b.txt") || w.read("a.txt") != "new\n" || w.read("b.txt") != "edited\n" {
		t.Errorf("%v; a is %q, b is %q", e, w.read("a.txt"), w.read("b.txt"))
	}
}

func TestE28_StateOfTheRepository(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup map[string]string
		note  string
		code  api.Code
	}{
		{name: "nothing"},
		{name: "a rebase", setup: map[string]string{".git/rebase-merge/head-name": "x"}, note: "a rebase is in progress"},
		{name: "a merge", setup: map[string]string{".git/MERGE_HEAD": "x"}, note: "a merge is in progress"},
		{name: "a lock that stays", setup: map[string]string{".git/index.lock": ""}, note: "index.lock"},
		{name: "sparse", setup: map[string]string{".git/info/sparse-checkout": "/*", ".git/config": "[core]\n\tsparseCheckout = true\n"}, note: "in part"},
		{name: "not sparse any more", setup: map[string]string{".git/info/sparse-checkout": "/*", ".git/config": "[core]\n\tsparseCheckout = false\n"}},
		{name: "a worktree", setup: map[string]string{".git": "gitdir: elsewhere\n", "elsewhere/CHERRY_PICK_HEAD": "x"}, note: "a cherry-pick is in progress"},
		{name: "a pointer", setup: map[string]string{"a.txt": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"}, code: api.BinaryFile},
		{name: "generated", setup: map[string]string{"a.txt": "generated\n"}, note: "a.txt is generated code"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, true, map[string]string{"a.txt": "old\n"})
			for name, content := range test.setup {
				w.write(name, content)
			}
			s := w.set(map[string]string{"a.txt": "new\n"})
			req := w.request(s)
			req.Plan = func(ctx context.Context) (*Draft, error) {
				d, err := w.draft(ctx, s)
				d.Generated = func(_ string, content []byte) bool { return strings.HasPrefix(string(content), "generated") }
				return d, err
			}
			if test.code != "" {
				w.refused(req, test.code)
				return
			}
			res := w.must(req)
			got := strings.Join(res.Warnings, "\n")
			if test.note == "" && got != "" || !strings.Contains(got, test.note) {
				t.Errorf("warnings %q, want %q", got, test.note)
			}
			if w.read("a.txt") != "new\n" {
				t.Error("nothing was written")
			}
		})
	}
}

// A git command that is at work when the change comes is waited for.
func TestE28_LockThatGoes(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n"})
	w.write(".git/index.lock", "")
	done := make(chan error, 1)
	go func() {
		res, err := w.pipe.Run(t.Context(), w.request(w.set(map[string]string{"a.txt": "new\n"})))
		if err == nil && len(res.Warnings) > 0 {
			err = api.Errorf(api.Internal, "warnings %q", res.Warnings)
		}
		done <- err
	}()
	if err := os.Remove(w.path(".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDetailsAreBounded(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": strings.Repeat("old\n", maxDetails+7), "b.txt": "old\n"})
	long := strings.Repeat("é", maxLine)
	res := w.must(w.request(w.set(map[string]string{"a.txt": strings.Repeat("new\n", maxDetails+7)})))
	if len(res.Details) != maxDetails || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "7 more") {
		t.Errorf("%d details, warnings %q", len(res.Details), res.Warnings)
	}
	res = w.must(w.request(w.set(map[string]string{"b.txt": "new\nand\n" + long + "\nmore\n"})))
	want := []api.ChangeDetail{
		{File: "b.txt", Line: 1, Change: "old → new"},
		{File: "b.txt", Line: 2, Change: " → and"},
		{File: "b.txt", Line: 3, Change: " → " + strings.Repeat("é", maxLine/2) + "…"},
		{File: "b.txt", Line: 4, Change: " → more"},
	}
	if diff := cmp.Diff(want, res.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	var none []change.File
	if out, cut := details(w.root, none); out == nil || cut != 0 {
		t.Error("no details are null")
	}
}
