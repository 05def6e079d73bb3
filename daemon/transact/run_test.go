package transact

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

// patch applies a preview's hunks to a content, with nothing of ours.
func patch(t *testing.T, before string, hunks []api.Hunk) string {
	t.Helper()
	lines := strings.Split(before, "\n")
	var out []string
	at := 0
	for _, h := range hunks {
		out = append(out, lines[at:h.StartLine-1]...)
		at = h.StartLine - 1
		if !slices.Equal(lines[at:at+len(h.OldLines)], h.OldLines) {
			t.Fatalf("line %d holds %q, the preview says %q", h.StartLine, lines[at:at+len(h.OldLines)], h.OldLines)
		}
		out = append(out, h.NewLines...)
		at += len(h.OldLines)
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

func TestPreviewIsWhatIsWritten(t *testing.T) {
	files := map[string]string{
		"crlf.txt":     "one\r\nold two\r\nthree\r\nold four",
		"bom.txt":      "\ufeffold\n",
		"emoji.txt":    "😀 é old\n",
		"mixed.txt":    "a\rold\nb\r\nold\n\n",
		"gone.txt":     "gone\n",
		"moved.txt":    "x\nold\n",
		"same.txt":     "as it is\n",
		"swap/a.txt":   "was a\n",
		"swap/b.txt":   "was b\n",
		"noeol.txt":    "old",
		"sub/emp.txt":  "",
		"long/fun.txt": strings.Repeat("line\n", 500) + "old\n" + strings.Repeat("line\n", 500),
	}
	w := newWorld(t, true, files)
	replace := func(name string) change.Op {
		var edits []text.Edit
		content := files[name]
		for at := 0; ; {
			i := strings.Index(content[at:], "old")
			if i < 0 {
				return change.Op{Kind: change.Edit, Path: w.path(name), Edits: edits}
			}
			edits = append(edits, text.Edit{Start: at + i, End: at + i + 3, New: "newer"})
			at += i + 3
		}
	}
	s := change.Set{Ops: []change.Op{
		replace("crlf.txt"), replace("bom.txt"), replace("emoji.txt"), replace("mixed.txt"), replace("noeol.txt"), replace("long/fun.txt"),
		{Kind: change.Delete, Path: w.path("gone.txt")},
		replace("moved.txt"),
		{Kind: change.Rename, Path: w.path("moved.txt"), NewPath: w.path("there/moved.txt")},
		{Kind: change.Create, Path: w.path("created.txt"), Content: []byte("created\nno end")},
		{Kind: change.Rename, Path: w.path("swap/a.txt"), NewPath: w.path("swap/c.txt")},
		{Kind: change.Rename, Path: w.path("swap/b.txt"), NewPath: w.path("swap/a.txt")},
		{Kind: change.Rename, Path: w.path("swap/c.txt"), NewPath: w.path("swap/b.txt")},
	}}
	req := w.request(s)
	req.Mutation.Preview = true
	before, _ := w.tree()
	shown := w.must(req)
	if after, _ := w.tree(); !cmp.Equal(before, after) {
		t.Error("the preview wrote something")
	}
	if !shown.Preview || shown.UndoToken != "" || shown.Validation == nil {
		t.Errorf("preview: %+v", shown)
	}
	want := make(map[string]string)
	for name, content := range files {
		want[name] = content
	}
	for _, c := range shown.Changes {
		switch c.Kind {
		case "modify":
			want[c.File] = patch(t, files[c.File], c.Hunks)
		case "create":
			want[c.File] = patch(t, "", c.Hunks)
		case "delete":
			if got := patch(t, files[c.File], c.Hunks); got != "" {
				t.Errorf("%s is deleted, its hunks leave %q", c.File, got)
			}
			delete(want, c.File)
		case "rename":
			delete(want, c.File)
			want[c.NewFile] = patch(t, files[c.File], c.Hunks)
		default:
			t.Errorf("kind %q", c.Kind)
		}
	}
	if !slices.IsSortedFunc(shown.Changes, func(a, b api.FileChange) int { return strings.Compare(a.File, b.File) }) {
		t.Error("the changes are in no order")
	}

	done := w.must(w.request(s))
	got := make(map[string]string)
	tree, _ := w.tree()
	for name, f := range tree {
		got[name] = f.Content
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was written is not what was shown (-shown +written):\n%s", diff)
	}
	wantDone := &api.EditResult{
		Success: true, Operation: "rename", Complete: true, Source: "server", NewSymbolID: "new", Warnings: []string{},
		FilesModified: []string{"bom.txt", "crlf.txt", "emoji.txt", "long/fun.txt", "mixed.txt", "noeol.txt", "swap/a.txt", "swap/b.txt"},
		FilesCreated:  []string{"created.txt"}, FilesDeleted: []string{"gone.txt"},
		FilesRenamed:   []api.FileMove{{From: "moved.txt", To: "there/moved.txt"}},
		ChangesApplied: 13, UndoToken: done.UndoToken, Validation: done.Validation,
		Details: []api.ChangeDetail{
			{File: "bom.txt", Line: 1, Change: "\ufeffold → \ufeffnewer"},
			{File: "crlf.txt", Line: 2, Change: "old two → newer two"},
			{File: "crlf.txt", Line: 4, Change: "old four → newer four"},
			{File: "emoji.txt", Line: 1, Change: "😀 é old → 😀 é newer"},
			{File: "long/fun.txt", Line: 501, Change: "old → newer"},
			{File: "mixed.txt", Line: 1, Change: "a\rold → a\rnewer"},
			{File: "mixed.txt", Line: 3, Change: "old → newer"},
			{File: "there/moved.txt", Line: 2, Change: "old → newer"},
			{File: "noeol.txt", Line: 1, Change: "old → newer"},
			{File: "swap/a.txt", Line: 1, Change: "was a → was b"},
			{File: "swap/b.txt", Line: 1, Change: "was b → was a"},
		},
	}
	if diff := cmp.Diff(wantDone, done); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if v := done.Validation; !v.Success || v.Where != "shadow" || v.Command == "" {
		t.Errorf("validation %+v", v)
	}

	// The view knows without being told by the watcher.
	for _, name := range []string{"crlf.txt", "there/moved.txt"} {
		if doc, err := w.view.Read(t.Context(), w.path(name)); err != nil || string(doc.Content) != want[name] || doc.Seq == 0 {
			t.Errorf("the view holds %q of %s at %d, %v", doc.Content, name, doc.Seq, err)
		}
	}

	undone, err := w.pipe.Undo(t.Context(), UndoRequest{View: w.view, Token: done.UndoToken, Client: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := w.tree(); !cmp.Equal(before, after) {
		t.Errorf("after the undo (-before +after):\n%s", cmp.Diff(before, after))
	}
	if undone.UndoToken == "" || len(undone.FilesModified) != 8 || len(undone.FilesRenamed) != 1 || len(undone.Details) == 0 {
		t.Errorf("undo: %+v", undone)
	}
}

// planned returns a request whose plan runs a hook first, counting the plans.
func (w *world) planned(s change.Set, plans *int, hook func(n int)) Request {
	req := w.request(s)
	req.Plan = func(ctx context.Context) (*Draft, error) {
		*plans++
		d, err := w.draft(ctx, s)
		if err != nil {
			return nil, err
		}
		// The plan has read its files; what the hook does comes after.
		if _, err := d.Change.Resolve(func(path string) ([]byte, error) {
			content, _, err := d.Snapshot.Read(ctx, path)
			return content, err
		}); err != nil {
			return nil, err
		}
		_, _, err = d.Snapshot.Read(ctx, w.path("read.txt"))
		if err != nil {
			return nil, err
		}
		hook(*plans)
		return d, nil
	}
	return req
}

func TestE12_ChangedBetweenPlanAndCommit(t *testing.T) {
	for _, name := range []string{"a.txt", "read.txt"} { // a file of the change, and one that was only read
		both(t, map[string]string{"a.txt": "old\n", "read.txt": "read\n"}, func(t *testing.T, w *world, _ string) {
			s := w.set(map[string]string{"a.txt": "new\n"})
			plans := 0
			w.must(w.planned(s, &plans, func(n int) {
				if n == 1 {
					w.write(name, "someone else's\n")
				}
			}))
			if plans != 2 || w.read("a.txt") != "new\n" {
				t.Errorf("moved once: %d plans, a.txt is %q", plans, w.read("a.txt"))
			}
			plans = 0
			s = w.set(map[string]string{"a.txt": "newer\n"})
			w.refused(w.planned(s, &plans, func(n int) { w.write(name, strings.Repeat("again", n)) }), api.StaleContent)
			if plans != 2 || w.read(name) != "againagain" {
				t.Errorf("moved twice: %d plans, %s is %q", plans, name, w.read(name))
			}
		})
	}
}

func TestE14_UnsavedBuffer(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n", "b.txt": "b\n", "read.txt": "read\n"})
	s := w.set(map[string]string{"a.txt": "new\n"})
	if err := w.view.OpenBuffer("editor", w.path("a.txt"), 1, []byte("unsaved\n")); err != nil {
		t.Fatal(err)
	}
	e := w.refused(w.request(s), api.UnsavedBuffer)
	if diff := cmp.Diff([]unsaved{{File: "a.txt", Client: "editor"}}, e.Details); diff != "" || !strings.Contains(e.Message, "a.txt") || !strings.Contains(e.Message, "editor") {
		t.Errorf("message %q, details (-want +got):\n%s", e.Message, diff)
	}
	if w.read("a.txt") != "old\n" {
		t.Error("it was written")
	}
	if err := w.view.CloseBuffer("editor", w.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	// A buffer that was only read is compared by its own text, not the disk's.
	if err := w.view.OpenBuffer("editor", w.path("read.txt"), 1, []byte("unsaved\n")); err != nil {
		t.Fatal(err)
	}
	plans := 0
	res := w.must(w.planned(s, &plans, func(int) {}))
	if plans != 1 {
		t.Errorf("%d plans for a buffer that did not move", plans)
	}
	// An undo does not write under an editor either.
	if err := w.view.OpenBuffer("editor", w.path("a.txt"), 1, []byte("unsaved\n")); err != nil {
		t.Fatal(err)
	}
	undone, err := w.pipe.Undo(t.Context(), UndoRequest{View: w.view, Token: res.UndoToken})
	asRefusal(t, undone, err, api.UnsavedBuffer)
}

func TestQuickCheck(t *testing.T) {
	lost := Quick{Lost: []api.Location{{File: "b.txt", Line: 3, Column: 4, Context: "use(old)"}}}
	worse := Quick{Problems: []api.Problem{{File: "a.txt", Line: 1, Column: 1, Code: "X", Message: "undefined: old"}}}
	for _, test := range []struct {
		name    string
		quick   Quick
		err     error
		keep    bool // rollbackOnError: false
		preview bool
		want    string // of the answer; empty for VALIDATION_FAILED
		errors  int
		success bool
	}{
		{name: "passed", want: "passed", success: true},
		{name: "new diagnostics", quick: worse, errors: 1},
		{name: "a lost reference", quick: lost, errors: 1},
		{name: "kept", quick: worse, keep: true, want: "failed", errors: 1},
		{name: "preview", quick: lost, preview: true, want: "failed", errors: 1},
		{name: "preview that passes", preview: true, want: "passed", success: true},
		{name: "skipped", quick: Quick{Skipped: "too many files"}, want: "skipped: too many files", success: true},
		{name: "skipped preview", quick: Quick{Skipped: "too many files"}, preview: true, want: "skipped: too many files"},
		{name: "broken", err: errors.New("the server died"), want: "skipped: the server died", success: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, true, map[string]string{"a.txt": "old\n"})
			s := w.set(map[string]string{"a.txt": "new\n"})
			req := w.request(s)
			req.Mutation.RollbackOnError, req.Mutation.Preview = !test.keep, test.preview
			req.Plan = func(ctx context.Context) (*Draft, error) {
				d, err := w.draft(ctx, s)
				d.Quick = func(_ context.Context, files []change.File) (Quick, error) {
					if len(files) != 1 || string(files[0].After) != "new\n" || w.read("a.txt") != "old\n" {
						t.Errorf("asked for %+v with %q on the disk", files, w.read("a.txt"))
					}
					return test.quick, test.err
				}
				return d, err
			}
			if test.want == "" {
				e := w.refused(req, api.ValidationFailed)
				d := e.Details.(failure)
				if d.RolledBack || d.Validation.Success || len(d.Validation.NewErrors) != test.errors || w.read("a.txt") != "old\n" {
					t.Errorf("details %+v %+v", d, d.Validation)
				}
				return
			}
			v := w.must(req).Validation
			if v.Quick != test.want || v.Success != test.success || len(v.NewErrors) != test.errors || v.ErrorCount != test.errors {
				t.Errorf("validation %+v", v)
			}
			if wrote := w.read("a.txt") == "new\n"; wrote == test.preview {
				t.Errorf("a.txt is %q", w.read("a.txt"))
			}
		})
	}
}

func TestE26_SameKeyTwice(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n"})
	req := w.request(w.set(map[string]string{"a.txt": "new\n"}))
	req.Mutation.IdempotencyKey = "key"
	first := w.must(req)
	w.write("a.txt", "edited since\n")
	req.Plan = func(context.Context) (*Draft, error) { return nil, errors.New("planned again") }
	second := w.must(req)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the retry's answer (-first +second):\n%s", diff)
	}
	if w.read("a.txt") != "edited since\n" {
		t.Error("the retry wrote")
	}
}

func TestRefusedPlans(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n", "b.txt": "b\n"})
	outside := filepath.Join(w.out, "x")
	for _, test := range []struct {
		op   change.Op
		code api.Code
	}{
		{change.Op{Kind: change.Create, Path: outside, Content: []byte("x")}, api.OutsideWorkspace},
		{change.Op{Kind: change.Rename, Path: w.path("a.txt"), NewPath: outside}, api.OutsideWorkspace},
		{change.Op{Kind: change.Create, Path: w.path("b.txt")}, api.NameConflict},
		{change.Op{Kind: change.Delete, Path: w.path("missing.txt")}, api.StaleContent},
		{change.Op{Kind: change.Edit, Path: w.path("a.txt"), Edits: []text.Edit{{Start: 90, End: 91}}}, api.Internal},
	} {
		before, _ := w.tree()
		w.refused(w.request(change.Set{Ops: []change.Op{test.op}}), test.code)
		if after, _ := w.tree(); !cmp.Equal(before, after) {
			t.Errorf("%v: something was written", test.op)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file outside the workspace was written")
	}
	if res := w.must(w.request(change.Set{})); res.UndoToken != "" || !res.Success || res.ChangesApplied != 0 {
		t.Errorf("a plan that changes nothing: %+v", res)
	}
	mine := errors.New("no such symbol")
	req := w.request(change.Set{})
	req.Plan = func(context.Context) (*Draft, error) { return nil, mine }
	if _, err := w.run(req); !errors.Is(err, mine) {
		t.Errorf("the plan's own error became %v", err)
	}
}
