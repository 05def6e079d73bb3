package transact

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/lspclient/change"
)

// taken checks that the tree is as it was, and that a file which was written
// meanwhile looks newer than anything built from it.
func taken(t *testing.T, w *world, where string, before map[string]file, times map[string]time.Time, built time.Time) {
	t.Helper()
	after, now := w.tree()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the tree is not as it was (-before +after):\n%s", diff)
	}
	for name, at := range now {
		switch {
		case where == validate.InShadow && !at.Equal(times[name]):
			t.Errorf("%s has another time though it was never written", name)
		case where == validate.InPlace && name == "a.txt" && !at.After(built):
			t.Errorf("%s was put back with a time of %v, before the build at %v", name, at, built)
		}
	}
}

func TestE20_BuildBreaks(t *testing.T) {
	files := map[string]string{"a.txt": "one\r\nold\r\n", "gone.txt": "gone\n", "moved.txt": "moved", "b.txt": "b\n"}
	both(t, files, func(t *testing.T, w *world, where string) {
		if err := os.Chmod(w.path("a.txt"), 0o751); err != nil {
			t.Fatal(err)
		}
		w.build = `test ! -e dir/new.txt || : > "$OUT/built"; ` + lint
		plan := change.Set{Ops: []change.Op{
			{Kind: change.Create, Path: w.path("a.txt"), Content: []byte("one\r\nBAD two\r\n"), Overwrite: true},
			{Kind: change.Delete, Path: w.path("gone.txt")},
			{Kind: change.Rename, Path: w.path("moved.txt"), NewPath: w.path("dir/there.txt")},
			{Kind: change.Create, Path: w.path("dir/new.txt"), Content: []byte("BAD three\n")},
		}}
		before, times := w.tree()
		e := w.refused(w.request(plan), api.ValidationFailed)
		info, err := os.Stat(filepath.Join(w.out, "built"))
		if err != nil {
			t.Fatal(err)
		}
		taken(t, w, where, before, times, info.ModTime())
		d := e.Details.(failure)
		want := []api.Problem{
			{File: "a.txt", Line: 2, Message: "bad two"},
			{File: "dir/new.txt", Line: 1, Message: "bad three"},
		}
		if diff := cmp.Diff(want, d.Validation.NewErrors); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
		if d.RolledBack != (where == validate.InPlace) || d.Validation.Where != where || d.Validation.Success {
			t.Errorf("details %+v %+v", d, d.Validation)
		}
		if !strings.Contains(e.Message, "2 new errors") || !strings.Contains(e.Message, "a.txt:2: bad two") {
			t.Errorf("message %q", e.Message)
		}
		if _, err := os.Stat(w.path("dir")); !os.IsNotExist(err) {
			t.Errorf("a folder is left: %v", err)
		}
		// The way is free for the next one.
		if res := w.must(w.request(w.set(map[string]string{"b.txt": "fine\n"}))); !res.Validation.Success {
			t.Errorf("the next change: %+v", res.Validation)
		}
	})
}

func TestE20_KeptWhenAskedTo(t *testing.T) {
	both(t, map[string]string{"a.txt": "old\n"}, func(t *testing.T, w *world, where string) {
		w.build = lint
		req := w.request(w.set(map[string]string{"a.txt": "BAD new\n"}))
		req.Mutation.RollbackOnError = false
		res := w.must(req)
		if w.read("a.txt") != "BAD new\n" || res.UndoToken == "" {
			t.Errorf("the change was not kept: %q, %+v", w.read("a.txt"), res)
		}
		v := res.Validation
		if v.Success || v.Where != where || len(v.NewErrors) != 1 || !res.Success {
			t.Errorf("validation %+v", v)
		}
	})
}

func TestE21_BrokenBefore(t *testing.T) {
	both(t, map[string]string{"a.txt": "old\n", "b.txt": "BAD already\n"}, func(t *testing.T, w *world, where string) {
		w.build = lint
		res := w.must(w.request(w.set(map[string]string{"a.txt": "new\n", "b.txt": "\nBAD already\n"})))
		if v := res.Validation; !v.Success || v.PreExisting != 1 || v.ErrorCount != 1 || len(v.NewErrors) != 0 || v.Where != where {
			t.Errorf("validation %+v", v)
		}
		e := w.refused(w.request(w.set(map[string]string{"a.txt": "BAD new\n"})), api.ValidationFailed)
		if v := e.Details.(failure).Validation; len(v.NewErrors) != 1 || v.PreExisting != 1 {
			t.Errorf("validation %+v", v)
		}
	})
}

func TestE22_BuildHangs(t *testing.T) {
	both(t, map[string]string{"a.txt": "old\n"}, func(t *testing.T, w *world, where string) {
		w.build = `grep -q new a.txt || exit 0; : > "$OUT/built"; (trap '' TERM; sleep 1000) & sleep 1000`
		w.limit = 2 * time.Second
		before, times := w.tree()
		start := time.Now()
		e := w.refused(w.request(w.set(map[string]string{"a.txt": "new\n"})), api.Timeout)
		if took := time.Since(start); took > 12*time.Second {
			t.Errorf("ended after %v", took)
		}
		info, err := os.Stat(filepath.Join(w.out, "built"))
		if err != nil {
			t.Fatal(err)
		}
		taken(t, w, where, before, times, info.ModTime())
		if d := e.Details.(failure); !d.Validation.TimedOut || d.RolledBack != (where == validate.InPlace) {
			t.Errorf("details %+v %+v", d, d.Validation)
		}
		req := w.request(w.set(map[string]string{"a.txt": "new\n"}))
		req.Mutation.RollbackOnError = false
		if res := w.must(req); !res.Validation.TimedOut || res.Validation.Success || w.read("a.txt") != "new\n" {
			t.Errorf("kept: %+v", res.Validation)
		}
	})
}

// What the build itself writes is no part of the change: discarded in a shadow,
// told of in place; a touched file that it overwrites is kept, and named.
func TestE22_BuildWritesFiles(t *testing.T) {
	both(t, map[string]string{"a.txt": "old\n", "b.txt": "b\n"}, func(t *testing.T, w *world, where string) {
		w.build = `grep -q new a.txt || exit 0; echo mine >> b.txt`
		res := w.must(w.request(w.set(map[string]string{"a.txt": "new\n"})))
		want := map[string]string{validate.InShadow: "b\n", validate.InPlace: "b\nmine\n"}[where]
		if got := w.read("b.txt"); got != want {
			t.Errorf("b.txt holds %q", got)
		}
		told := strings.Contains(strings.Join(res.Warnings, "\n"), "b.txt was written while the build ran")
		if told != (where == validate.InPlace) {
			t.Errorf("warnings %q", res.Warnings)
		}
	})
}

// A caller that goes away in the middle leaves the old tree.
func TestE27_CancelledDuringTheBuild(t *testing.T) {
	both(t, map[string]string{"a.txt": "old\n"}, func(t *testing.T, w *world, where string) {
		w.build = `grep -q new a.txt || exit 0; : > "$OUT/built"; sleep 1000`
		before, times := w.tree()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := w.pipe.Run(ctx, w.request(w.set(map[string]string{"a.txt": "new\n"})))
			done <- err
		}()
		built := filepath.Join(w.out, "built")
		until(t, "the build runs", func() bool { _, err := os.Stat(built); return err == nil })
		cancel()
		asRefusal(t, nil, <-done, api.Cancelled)
		info, err := os.Stat(built)
		if err != nil {
			t.Fatal(err)
		}
		taken(t, w, where, before, times, info.ModTime())
	})
}

func TestSkippedBuilds(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n"})
	req := w.request(w.set(map[string]string{"a.txt": "BAD\n"}))
	req.Mutation.ValidateCompilation = false
	w.build = lint
	res := w.must(req)
	if v := res.Validation; v.Success || v.Skipped == "" || v.Where != "" {
		t.Errorf("not wanted: %+v", v)
	}
	plan := func(build func(context.Context, []change.File) (validate.Request, error)) Request {
		s := w.set(map[string]string{"a.txt": w.read("a.txt") + "more\n"})
		req := w.request(s)
		req.Plan = func(ctx context.Context) (*Draft, error) {
			d, err := w.draft(ctx, s)
			d.Build = build
			return d, err
		}
		return req
	}
	if v := w.must(plan(nil)).Validation; v.Success || v.Skipped == "" {
		t.Errorf("no language: %+v", v)
	}
	if v := w.must(plan(func(context.Context, []change.File) (validate.Request, error) { return validate.Request{}, nil })).Validation; v.Success || v.Skipped == "" {
		t.Errorf("no project: %+v", v)
	}
	before := w.read("a.txt")
	w.refused(plan(func(context.Context, []change.File) (validate.Request, error) {
		return validate.Request{}, api.Errorf(api.WorkspaceUntrusted, "trust it first")
	}), api.WorkspaceUntrusted)
	if w.read("a.txt") != before {
		t.Error("an untrusted workspace was written")
	}
}

// A build in place keeps its neighbours out: none is judged against a tree
// that is taken back.
func TestNeighboursOfABuildInPlace(t *testing.T) {
	w := newWorld(t, false, map[string]string{"a.txt": "old\n", "b.txt": "old\n"})
	w.build = `cat a.txt b.txt >> "$OUT/seen"; grep -q BAD a.txt || exit 0; : > "$OUT/built"; while test ! -e "$OUT/go"; do sleep 0.01; done; echo "a.txt:1: bad"; exit 1`
	failing, passing := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := w.pipe.Run(t.Context(), w.request(w.set(map[string]string{"a.txt": "BAD\n"})))
		failing <- err
	}()
	until(t, "the build of the first change runs", func() bool { _, err := os.Stat(filepath.Join(w.out, "built")); return err == nil })
	go func() {
		_, err := w.pipe.Run(t.Context(), w.request(w.set(map[string]string{"b.txt": "new\n"})))
		passing <- err
	}()
	if err := os.Truncate(filepath.Join(w.out, "seen"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.out, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	asRefusal(t, nil, <-failing, api.ValidationFailed)
	if err := <-passing; err != nil {
		t.Errorf("the neighbour: %v", err)
	}
	seen, err := os.ReadFile(filepath.Join(w.out, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(seen), "BAD") || w.read("a.txt") != "old\n" || w.read("b.txt") != "new\n" {
		t.Errorf("the neighbour's build saw %q; a is %q, b is %q", seen, w.read("a.txt"), w.read("b.txt"))
	}
}

// Two changes that compile each by itself and not together: the second one to
// commit is checked with the first.
func TestNeighboursInShadowsAreCheckedTogether(t *testing.T) {
	w := newWorld(t, true, map[string]string{"a.txt": "old\n", "b.txt": "old\n"})
	w.build = `if grep -q new a.txt && grep -q new b.txt; then echo "a.txt:1: clash"; exit 1; fi
grep -q new a.txt || exit 0; : > "$OUT/built"; while test ! -e "$OUT/go"; do sleep 0.01; done`
	first := make(chan error, 1)
	go func() {
		_, err := w.pipe.Run(t.Context(), w.request(w.set(map[string]string{"a.txt": "new\n"})))
		first <- err
	}()
	until(t, "the first build runs", func() bool { _, err := os.Stat(filepath.Join(w.out, "built")); return err == nil })
	w.must(w.request(w.set(map[string]string{"b.txt": "new\n"})))
	if err := os.WriteFile(filepath.Join(w.out, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	e := asRefusal(t, nil, <-first, api.ValidationFailed)
	if d := e.Details.(failure); d.RolledBack || d.Validation.NewErrors[0].Message != "clash" {
		t.Errorf("details %+v %+v", d, d.Validation)
	}
	if w.read("a.txt") != "old\n" || w.read("b.txt") != "new\n" {
		t.Errorf("a is %q, b is %q", w.read("a.txt"), w.read("b.txt"))
	}
}

// A build that writes into a file of the change and then fails: what it wrote
// is nobody's plan, and nobody's to throw away.
func TestE22_FailingBuildOverwritesTheChange(t *testing.T) {
	w := newWorld(t, false, map[string]string{"a.txt": "old\n", "b.txt": "old\n"})
	w.build = `grep -q new a.txt || exit 0; echo mine >> a.txt; echo "a.txt:1: bad"; exit 1`
	e := w.refused(w.request(w.set(map[string]string{"a.txt": "new\n", "b.txt": "new\n"})), api.StaleContent)
	for _, want := range []string{"a.txt", "another program wrote", "a.txt:1: bad"} {
		if !strings.Contains(e.Message, want) {
			t.Errorf("message %q lacks %q", e.Message, want)
		}
	}
	if w.read("a.txt") != "new\nmine\n" || w.read("b.txt") != "old\n" {
		t.Errorf("a.txt is %q, b.txt is %q", w.read("a.txt"), w.read("b.txt"))
	}
	report, err := w.edit.Doctor(t.Context(), w.root)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Conflicts) != 1 || report.Conflicts[0].Path != w.path("a.txt") {
		t.Errorf("conflicts %+v", report.Conflicts)
	}
	if kept, err := os.ReadFile(report.Conflicts[0].Kept); err != nil || string(kept) != "old\n" {
		t.Errorf("the old text is kept as %q, %v", kept, err)
	}
}

func TestE16_ManyAtOnce(t *testing.T) {
	files := map[string]string{"read.txt": "read\n"}
	for i := range 8 {
		files[fmt.Sprintf("f%d.txt", i)] = "old\n"
	}
	both(t, files, func(t *testing.T, w *world, _ string) {
		w.build = lint
		var group errgroup.Group
		for i := range 8 {
			group.Go(func() error {
				name, text := fmt.Sprintf("f%d.txt", i), "new\n"
				if i%4 == 3 {
					text = "BAD new\n"
				}
				_, err := w.pipe.Run(t.Context(), w.request(w.set(map[string]string{name: text})))
				if i%4 == 3 && api.CodeOf(err) == api.ValidationFailed {
					return nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		for i := range 8 {
			want := "new\n"
			if i%4 == 3 {
				want = "old\n"
			}
			if got := w.read(fmt.Sprintf("f%d.txt", i)); got != want {
				t.Errorf("f%d.txt is %q, want %q", i, got, want)
			}
		}
	})
}
