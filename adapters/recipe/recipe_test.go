package recipe

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

const sample = "one two one /* one */ \"one\" oneself"

func readSample(path string) ([]byte, error) {
	if path != "/f" {
		return nil, fs.ErrNotExist
	}
	return []byte(sample), nil
}

func at(start, end int) graph.Span { return graph.Span{Start: start, End: end} }

func TestEdits(t *testing.T) {
	e, err := NewEdits(change.FromEdits("/f", []text.Edit{{Start: 8, End: 11, New: "1"}}), readSample)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		span graph.Span
		want bool
	}{
		{at(8, 11), false}, {at(7, 9), false}, {at(10, 12), false}, {at(8, 8), false}, {at(0, 100), false},
		{at(0, 3), true}, {at(0, 3), false}, {at(2, 3), false}, {at(15, 18), true}, {at(11, 12), true}, {at(4, 7), true},
	} {
		if got := e.Add("/f", c.span, "new"); got != c.want {
			t.Errorf("Add(%v) = %v", c.span, got)
		}
	}
	if !e.Covers("/f", at(16, 17)) || e.Covers("/f", at(18, 20)) || e.Covers("/g", at(0, 9)) {
		t.Error("Covers is wrong")
	}
	files, err := e.Set().Resolve(readSample)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if got, want := string(files[0].After), "new new 1new/* new */ \"one\" oneself"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, word := range []string{"two", "oneself"} {
		offset := text.NextWord([]byte(sample), word, 0)
		moved := e.Moved("/f", offset)
		if word == "two" {
			word = "new"
		}
		if got := string(files[0].After[moved : moved+len(word)]); got != word {
			t.Errorf("offset %d moved to %d, where %q stands", offset, moved, got)
		}
	}
	if got := e.Moved("/f", 9); string(files[0].After[got:got+1]) != "1" {
		t.Errorf("an offset within replaced bytes moved to %d", got)
	}
	if diff := cmp.Diff([]string{"/f"}, e.Paths()); diff != "" {
		t.Error(diff)
	}
}

func TestEditsOnlyEdit(t *testing.T) {
	set := change.Set{Ops: []change.Op{{Kind: change.Delete, Path: "/f"}}}
	if _, err := NewEdits(set, readSample); !errors.Is(err, change.ErrConflict) {
		t.Errorf("a set that deletes: %v", err)
	}
	if _, err := NewEdits(change.FromEdits("/gone", []text.Edit{{New: "x"}}), readSample); !errors.Is(err, change.ErrMissing) {
		t.Errorf("a set that edits nothing: %v", err)
	}
}

func TestMentions(t *testing.T) {
	tree := &syntax.Tree{Tokens: []syntax.Token{{Kind: syntax.Comment, Span: at(12, 21)}, {Kind: syntax.String, Span: at(22, 27)}}}
	got := Mentions(tree, []byte(sample), "one")
	want := []Mention{{Span: at(15, 18), Token: tree.Tokens[0]}, {Span: at(23, 26), Token: tree.Tokens[1]}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLocations(t *testing.T) {
	const loc = `{"uri":"file:///a","range":{"start":{"line":1,"character":2},"end":{"line":1,"character":3}}}`
	const link = `{"targetUri":"file:///b","targetRange":{"start":{"line":0,"character":0},"end":{"line":9,"character":0}},` +
		`"targetSelectionRange":{"start":{"line":4,"character":5},"end":{"line":4,"character":6}}}`
	for raw, want := range map[string][]string{
		``: nil, `null`: nil, ` null `: nil, `[]`: nil, loc: {"file:///a 1"}, "[" + loc + "," + loc + "]": {"file:///a 1", "file:///a 1"},
		"[" + link + "]": {"file:///b 4"}, link: {"file:///b 4"},
	} {
		list, err := locations(json.RawMessage(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		var got []string
		for _, l := range list {
			got = append(got, string(l.URI)+" "+string(rune('0'+l.Range.Start.Line)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
	for _, raw := range []string{`[1]`, `"x"`, `[{"uri":1}]`} {
		if _, err := locations(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was taken for places", raw)
		}
	}
}

func TestInside(t *testing.T) {
	for path, want := range map[string]bool{"/w": true, "/w/a": true, "/wide/a": false, "/": false, "/v": false} {
		if got := Inside("/w", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if !Inside("/", "/a") {
		t.Error("nothing is inside the root")
	}
}
