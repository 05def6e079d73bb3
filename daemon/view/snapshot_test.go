package view_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

func TestSnapshotNeverMixesTexts(t *testing.T) {
	r := open(t, map[string]string{"a": "1", "b": "1", "c": "1"}, view.Options{})
	s := r.v.Snapshot(r.barrier())
	read := func(name string) (string, error) {
		data, _, err := s.Read(ctx, r.path(name))
		return string(data), err
	}
	if got, err := read("a"); got != "1" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	r.write("a", "2")
	r.write("b", "2")
	if got, err := read("a"); got != "1" || err != nil {
		t.Errorf("read again: %q, %v; want what it was", got, err)
	}
	var stale *view.StaleError
	if _, err := read("b"); !errors.As(err, &stale) || stale.Path != r.path("b") || !errors.Is(err, view.ErrStale) {
		t.Errorf("a file that changed since: %v, want ErrStale", err)
	}
	if got, err := read("c"); got != "1" || err != nil {
		t.Errorf("a file that did not change: %q, %v", got, err)
	}
	if _, err := read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	r.want("read set", map[string]text.Hash{r.path("a"): text.Sum([]byte("1")), r.path("c"): text.Sum([]byte("1"))}, s.ReadSet())
	// A buffer with the same text is not another text.
	s = r.v.Snapshot(r.barrier())
	r.must(r.v.OpenBuffer("vim", r.path("c"), 1, []byte("1")))
	if got, err := read("c"); got != "1" || err != nil {
		t.Errorf("a file that was opened: %q, %v", got, err)
	}
}

func TestSnapshotWithPlannedText(t *testing.T) {
	r := open(t, map[string]string{"a": "word one", "b": "word", "c": "none"}, view.Options{})
	s := r.v.Snapshot(r.barrier())
	next, err := s.With(change.Set{Ops: []change.Op{
		{Kind: change.Edit, Path: r.path("a"), Edits: []text.Edit{{Start: 0, End: 4, New: "term"}}},
		{Kind: change.Rename, Path: r.path("b"), NewPath: r.path("sub/b")},
		{Kind: change.Delete, Path: r.path("c")},
		{Kind: change.Create, Path: r.path("new"), Content: []byte("word")},
	}})
	r.must(err)
	r.want("files", []string{"a", "new", "sub/b"}, r.rels(next.Files(ctx)))
	r.want("grep", []string{"new", "sub/b"}, r.rels(next.Grep(ctx, "word")))
	r.want("glob", []string{"sub/b"}, r.rels(next.Glob(ctx, "**/b")))
	if _, _, err := next.Read(ctx, r.path("c")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a planned delete: %v", err)
	}
	again, err := next.With(change.FromEdits(r.path("a"), []text.Edit{{Start: 0, End: 4, New: "name"}}))
	r.must(err)
	data, hash, err := again.Read(ctx, r.path("a"))
	if string(data) != "name one" || hash != text.Sum(data) || err != nil {
		t.Errorf("plan upon plan: %q, %v", data, err)
	}
	want := map[string][]byte{r.path("a"): []byte("name one"), r.path("b"): nil, r.path("c"): nil, r.path("new"): []byte("word"), r.path("sub/b"): []byte("word")}
	r.want("planned", want, again.Planned())
	r.want("below the plans", []string{"a", "b"}, r.rels(s.Grep(ctx, "word")))
	r.want("the view", "word one", r.read("a"))
	if _, err := s.With(change.Set{Ops: []change.Op{{Kind: change.Create, Path: r.path("a")}}}); !errors.Is(err, change.ErrExists) {
		t.Errorf("a change that cannot be: %v", err)
	}
}

func TestSnapshotGlob(t *testing.T) {
	r := open(t, map[string]string{"a.x": "", "sub/b.x": "", "sub/deep/c.y": "", "sub/deep/m.mod": "", "{odd}.x": ""}, view.Options{})
	s := r.v.Snapshot(r.barrier())
	for pattern, want := range map[string][]string{
		"**/*.x": {"a.x", "sub/b.x", "{odd}.x"}, "*.x": {"a.x", "{odd}.x"}, "**/m.mod": {"sub/deep/m.mod"}, "sub/**": {"sub/b.x", "sub/deep/c.y", "sub/deep/m.mod"},
		"{a,sub/b}.x": {"a.x", "sub/b.x"}, "**/[bc].?": {"sub/b.x", "sub/deep/c.y"}, `\{odd\}.x`: {"{odd}.x"}, "none": nil,
	} {
		r.want(pattern, want, r.rels(s.Glob(ctx, pattern)))
	}
	if _, err := s.Glob(ctx, "[a"); err == nil {
		t.Error("a bad pattern gave no error")
	}
}

func TestSnapshotGrep(t *testing.T) {
	r := open(t, map[string]string{
		"whole": "a.Tag{}", "part": "TagSet Tags myTag Tag2 _Tag Tagé", "mark": "Tag\u0301", "emoji": "\U0001F600Tag\U0001F600",
		"binary": "\x00\x01 Tag", "empty": "", "at end": "x Tag", "cjk": "名Tag 名 字", "bad utf8": "\xffTag\xff",
	}, view.Options{})
	s := r.v.Snapshot(r.barrier())
	r.want("Tag", []string{"at end", "bad utf8", "emoji", "whole"}, r.rels(s.Grep(ctx, "Tag")))
	r.want("名", []string{"cjk"}, r.rels(s.Grep(ctx, "名")))
	r.want("nothing", []string(nil), r.rels(s.Grep(ctx, "")))
	r.want("read set", 5, len(s.ReadSet()))
	r.must(os.WriteFile(r.path("part"), []byte("Tag"), 0o644))
	r.want("later", []string{"at end", "bad utf8", "emoji", "part", "whole"}, r.rels(r.v.Snapshot(r.barrier()).Grep(ctx, "Tag")))
}
