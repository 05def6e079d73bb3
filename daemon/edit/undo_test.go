package edit

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

func TestE23_UndoAfterLaterEdits(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	token := b.mustApply(b.edit("a.txt", "A\n"), b.edit("b.txt", "B\n"), b.edit("c.txt", "C\n"),
		change.File{Kind: change.Create, Path: b.path("new.txt"), After: []byte("n\n")})
	b.write("b.txt", "theirs\n")
	b.write("new.txt", "theirs too\n")
	before := b.tree()
	_, err := b.undo(token)
	b.refused(err, api.UndoConflict, before, "b.txt", "new.txt", "nothing was undone")
	if got := namedFiles(err); !slices.Equal(got, []string{"b.txt", "new.txt"}) {
		t.Errorf("the refusal names %v", got)
	}
	// Once the later edits are gone the token works: nothing was spent.
	b.write("b.txt", "B\n")
	b.write("new.txt", "n\n")
	_, err = b.undo(token)
	must(t, err)
	b.same(map[string]string{".git/": "folder", "a.txt": "0644 a\n", "b.txt": "0644 b\n", "c.txt": "0644 c\n"})
}

func TestE23_UndoUnderALaterTransactionNamesIt(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "1\n"})
	first := b.mustApply(b.edit("a.txt", "2\n"))
	second := b.mustApply(b.edit("a.txt", "3\n"))
	before := b.tree()
	_, err := b.undo(first)
	b.refused(err, api.UndoConflict, before, second)
	_, err = b.undo(second)
	must(t, err)
	_, err = b.undo(first)
	must(t, err)
	if got := b.read("a.txt"); got != "1\n" {
		t.Errorf("after both undos: %q", got)
	}
}

// What was there before the edit and what came after it, in every way that a
// path can be in the way of an undo.
func TestE23_PathsInTheWayOfAnUndo(t *testing.T) {
	for name, spoil := range map[string]func(b *bed){
		"edited file is gone":           func(b *bed) { must(b.t, os.Remove(b.path("a.txt"))) },
		"new file is gone":              func(b *bed) { must(b.t, os.Remove(b.path("n.txt"))) },
		"deleted file is back":          func(b *bed) { b.write("d/del.txt", "theirs\n") },
		"deleted file's folder is gone": func(b *bed) { must(b.t, os.Remove(b.path("d"))) },
		"deleted file's folder is a file": func(b *bed) {
			must(b.t, os.Remove(b.path("d")))
			b.write("d", "a file\n")
		},
		"folder became a link": func(b *bed) {
			must(b.t, os.Rename(b.path("d"), b.path("e")))
			must(b.t, os.Symlink("e", b.path("d")))
		},
		"edited file became a link": func(b *bed) {
			must(b.t, os.Rename(b.path("a.txt"), b.path("moved.txt")))
			must(b.t, os.Symlink("moved.txt", b.path("a.txt")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, map[string]string{"a.txt": "a\n", "d/del.txt": "del\n"})
			old := b.tree()
			token := b.mustApply(b.edit("a.txt", "A\n"),
				change.File{Kind: change.Delete, Path: b.path("d/del.txt"), Before: []byte("del\n")},
				change.File{Kind: change.Create, Path: b.path("n.txt"), After: []byte("n\n")})
			spoil(b)
			before := b.tree()
			_, err := b.undo(token)
			if name == "deleted file's folder is gone" { // it is made again
				must(t, err)
				b.same(old)
				return
			}
			b.refused(err, api.UndoConflict, before)
		})
	}
}

func TestE24_TokensTwiceUnknownExpiredForeign(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	token := b.mustApply(b.edit("a.txt", "A\n"))
	first, err := b.undo(token)
	must(t, err)
	before := b.tree()
	second, err := b.undo(token)
	must(t, err)
	if !second.Replayed || second.RedoToken != first.RedoToken || len(second.Files) != len(first.Files) || second.Files[0].Path != first.Files[0].Path {
		t.Errorf("the same token twice: %+v, then %+v", first, second)
	}
	b.same(before)
	for _, bad := range []string{"", "x", strings.Repeat("0", 32), token[:31], token + "0", strings.Repeat("f", 32), "../../journal"} {
		_, err := b.undo(bad)
		b.refused(err, api.UndoNotFound, before, "history")
	}
	redone, err := b.undo(first.RedoToken)
	must(t, err)
	if got := b.read("a.txt"); got != "A\n" || redone.Replayed {
		t.Errorf("redo: %q, %+v", got, redone)
	}
	// The token of another workspace is not known here.
	other := newBed(t, map[string]string{"a.txt": "x\n"})
	foreign := other.mustApply(other.edit("a.txt", "y\n"))
	_, err = b.undo(foreign)
	b.refused(err, api.UndoNotFound, b.tree())
}

func TestE24_Retention(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "0\n"})
	b.close()
	now := time.Now()
	open := func(keep Retention) {
		t.Helper()
		e, err := Open(Options{State: b.state, Keep: keep, Now: func() time.Time { return now }})
		must(t, err)
		b.e = e
	}
	open(Retention{Count: 3})
	var tokens []string
	for i := range 5 {
		tokens = append(tokens, b.mustApply(b.edit("a.txt", strings.Repeat("x", i+1)+"\n")))
		now = now.Add(time.Hour)
	}
	h, err := b.e.History(context.Background(), b.root, 0)
	must(t, err)
	if len(h) != 3 || h[0].Token != tokens[4] {
		t.Errorf("history of 3 has %d entries, the first %v", len(h), h[0])
	}
	before := b.tree()
	_, err = b.undo(tokens[1])
	b.refused(err, api.UndoNotFound, before, "expired")
	if names, _ := os.ReadDir(b.path(stagingGit)); len(names) != 3 {
		t.Errorf("%d staging folders are left of 3", len(names))
	}
	// Age.
	now = now.Add(14*24*time.Hour - 90*time.Minute)
	_, err = b.undo(tokens[3])
	b.refused(err, api.UndoNotFound, before, "expired")
	_, err = b.undo(tokens[4])
	must(t, err)
	b.close()
	// Size: the newest always stays.
	open(Retention{Bytes: 10})
	big := strings.Repeat("y", 100) + "\n"
	b.mustApply(b.edit("a.txt", big))
	last := b.mustApply(b.edit("a.txt", "z\n"))
	if h, err := b.e.History(context.Background(), b.root, 0); err != nil || len(h) != 1 {
		t.Errorf("history by size: %v, %v", h, err)
	}
	_, err = b.undo(last)
	must(t, err)
	if got := b.read("a.txt"); got != big {
		t.Errorf("undo of the newest: %q", got)
	}
	// All of it expires, and takes its folders with it.
	now = now.Add(15 * 24 * time.Hour)
	if h, err := b.e.History(context.Background(), b.root, 0); err != nil || len(h) != 0 {
		t.Errorf("history after 15 days: %v, %v", h, err)
	}
	if _, err := os.Stat(b.path(stagingGit)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", stagingGit, err)
	}
}

func TestE25_UndoAfterRestartAndAfterGitClean(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	token := b.mustApply(b.edit("a.txt", "A\n"))
	b.close()
	b.open()
	_, err := b.undo(token)
	must(t, err)
	if got := b.read("a.txt"); got != "a\n" {
		t.Errorf("undo after a restart: %q", got)
	}
	// Without .git the slots are in .aura, which git clean -xdf of a repository
	// above would remove.
	must(t, os.RemoveAll(b.path(".git")))
	token = b.mustApply(b.edit("a.txt", "A2\n"), change.File{Kind: change.Create, Path: b.path("n.txt"), After: []byte("n\n")})
	must(t, os.RemoveAll(b.path(stagingFallback)))
	before := b.tree()
	_, err = b.undo(token)
	b.refused(err, api.UndoNotFound, before, "gone", "nothing was undone")
	// What was only new needs no saved content.
	token = b.mustApply(change.File{Kind: change.Create, Path: b.path("m.txt"), After: []byte("m\n")})
	must(t, os.RemoveAll(b.path(stagingFallback)))
	res, err := b.undo(token)
	must(t, err)
	_, err = b.undo(res.RedoToken)
	must(t, err)
	if got := b.read("m.txt"); got != "m\n" {
		t.Errorf("redo: %q", got)
	}
	// One slot of several is gone, or was written into.
	token = b.mustApply(b.edit("a.txt", "A3\n"), b.edit("m.txt", "M\n"))
	slots, err := filepath.Glob(b.path(stagingFallback + "/*/[0-9]"))
	must(t, err)
	before = b.tree()
	for _, slot := range slots {
		if got, _ := os.ReadFile(slot); string(got) == "m\n" {
			must(t, os.WriteFile(slot, []byte("tampered\n"), 0o644))
			_, err = b.undo(token)
			b.refused(err, api.UndoConflict, before, "m.txt")
			must(t, os.Remove(slot))
			_, err = b.undo(token)
			b.refused(err, api.UndoNotFound, before, "m.txt")
			return
		}
	}
	t.Fatal("no slot found")
}

func TestE26_RetryWithTheSameKey(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n"})
	ctx := context.Background()
	plan := Plan{Root: b.root, Operation: "rename", Key: "k1", Files: []change.File{b.edit("a.txt", "A\n")}}
	if _, ok, err := b.e.Lookup(ctx, b.root, "k1"); ok || err != nil {
		t.Fatalf("lookup before: %v, %v", ok, err)
	}
	// Two at once: one of them does it, the other is told of it.
	var wg sync.WaitGroup
	errs := make([]error, 2)
	tokens := make([]string, 2)
	for i := range errs {
		wg.Go(func() {
			tx, err := b.e.Begin(ctx, plan)
			if err == nil {
				if err = tx.Apply(ctx); err == nil {
					tokens[i], err = tx.Commit(ctx, CommitInfo{Answer: []byte("answer " + tx.Token())})
				}
			}
			errs[i] = err
		})
	}
	wg.Wait()
	won := slices.Index(errs, nil)
	if won < 0 || errs[1-won] == nil {
		t.Fatalf("two with one key: %v", errs)
	}
	var again *CommittedError
	if !errors.As(errs[1-won], &again) || again.Record.Token != tokens[won] || string(again.Record.Answer) != "answer "+tokens[won] {
		t.Errorf("the other was told %v", errs[1-won])
	}
	b.close()
	b.open()
	rec, ok, err := b.e.Lookup(ctx, b.root, "k1")
	if err != nil || !ok || string(rec.Answer) != "answer "+tokens[won] {
		t.Errorf("lookup after a restart: %+v, %v, %v", rec, ok, err)
	}
	if h, err := b.e.History(ctx, b.root, 0); err != nil || len(h) != 1 {
		t.Errorf("applied %d times, %v", len(h), err)
	}
}

// What goes by the size and the second of a file must see each state as
// another one, however fast they follow each other.
func TestStatesOfOneSizeHaveTheirOwnSecond(t *testing.T) {
	b := newBed(t, map[string]string{"in.txt": "one\n"})
	var seconds []int64
	note := func() {
		t.Helper()
		info, err := os.Stat(b.path("in.txt"))
		must(t, err)
		seconds = append(seconds, info.ModTime().Unix())
	}
	note()
	token := b.mustApply(b.edit("in.txt", "two\n"))
	note()
	res, err := b.undo(token)
	must(t, err)
	note()
	_, err = b.undo(res.RedoToken)
	must(t, err)
	note()
	tx, err := b.begin(b.edit("in.txt", "six\n"))
	must(t, err)
	must(t, tx.Apply(context.Background()))
	note()
	must(t, tx.Abort(context.Background()))
	note()
	for i := 1; i < len(seconds); i++ {
		if seconds[i] <= seconds[i-1] {
			t.Errorf("state %d has second %d, the one before %d", i, seconds[i], seconds[i-1])
		}
	}
}

// A build after an undo must build the old code again: the undone file is
// newer than whatever was made from the edit.
func TestUndoneFileIsNewerThanWhatWasBuilt(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Log("make is not installed: only the times are compared")
	}
	b := newBed(t, map[string]string{"in.txt": "one\n", "Makefile": "out.txt: in.txt\n\tcp in.txt out.txt\n"})
	build := func() {
		t.Helper()
		if tool == "" {
			must(t, os.WriteFile(b.path("out.txt"), []byte(b.read("in.txt")), 0o644))
			return
		}
		cmd := exec.Command(tool)
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	newer := func(when string) {
		t.Helper()
		in, err := os.Stat(b.path("in.txt"))
		must(t, err)
		out, err := os.Stat(b.path("out.txt"))
		must(t, err)
		if !in.ModTime().After(out.ModTime()) {
			t.Errorf("%s the source is of %v, what was built of %v", when, in.ModTime(), out.ModTime())
		}
		build()
		if b.read("out.txt") != b.read("in.txt") {
			t.Errorf("%s the build did nothing: %q from %q", when, b.read("out.txt"), b.read("in.txt"))
		}
	}
	build()
	ctx := context.Background()
	tx, err := b.begin(b.edit("in.txt", "two\n"))
	must(t, err)
	must(t, os.WriteFile(b.path("out.txt"), []byte("one\n"), 0o644)) // a build between stage and apply
	must(t, tx.Apply(ctx))
	newer("after apply")
	must(t, tx.Abort(ctx))
	newer("after abort")
	token := b.mustApply(b.edit("in.txt", "two\n"))
	newer("after apply")
	res, err := b.undo(token)
	must(t, err)
	newer("after undo")
	_, err = b.undo(res.RedoToken)
	must(t, err)
	newer("after redo")
}

func TestHistoryFieldsAndLimit(t *testing.T) {
	b := newBed(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	ctx := context.Background()
	tx, err := b.e.Begin(ctx, Plan{
		Root: b.root, Operation: "rename_file", Summary: "a.txt → c.txt", Client: "auractl", Session: "s1",
		Files: []change.File{{Kind: change.Rename, Path: b.path("a.txt"), NewPath: b.path("c.txt"), Before: []byte("a\n"), After: []byte("a\n")}},
	})
	must(t, err)
	id := tx.ID()
	must(t, tx.Apply(ctx))
	token, err := tx.Commit(ctx, CommitInfo{})
	must(t, err)
	if token != tx.Token() {
		t.Errorf("Commit returned %s, Token said %s", token, tx.Token())
	}
	b.mustApply(b.edit("b.txt", "B\n"))
	h, err := b.e.History(ctx, b.root, 1)
	if err != nil || len(h) != 1 || h[0].Operation != "rename" {
		t.Errorf("history of 1: %+v, %v", h, err)
	}
	h, err = b.e.History(ctx, b.root, 0)
	must(t, err)
	got := h[1]
	if time.Since(got.Time) > time.Minute {
		t.Errorf("time %v", got.Time)
	}
	got.Time = time.Time{}
	if diff := cmp.Diff(Record{
		ID: id, Token: token, Operation: "rename_file", Summary: "a.txt → c.txt", Client: "auractl", Session: "s1",
		Files: []FileRecord{{Kind: change.Rename, Path: "a.txt", NewPath: "c.txt"}},
	}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	res, err := b.undo(token)
	must(t, err)
	h, err = b.e.History(ctx, b.root, 0)
	must(t, err)
	if !h[2].Undone || h[2].UndoneBy != res.RedoToken || h[0].Undoes != token {
		t.Errorf("history after the undo: %+v", h)
	}
}
