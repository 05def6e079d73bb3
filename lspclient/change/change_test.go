package change_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

func edit(path string, start, end int, now string) change.Op {
	return change.Op{Kind: change.Edit, Path: path, Edits: []text.Edit{{Start: start, End: end, New: now}}}
}

func move(from, to string) change.Op {
	return change.Op{Kind: change.Rename, Path: from, NewPath: to}
}

func TestE17_Resolve(t *testing.T) {
	before := disk{"/r/a": "one\n", "/r/b": "two\n", "/r/c": "one\n"}
	tests := []struct {
		name string
		ops  []change.Op
		want []change.File
		err  error
	}{
		{"swap through a temporary name", []change.Op{move("/r/a", "/r/t"), move("/r/b", "/r/a"), move("/r/t", "/r/b")},
			[]change.File{
				{Kind: change.Edit, Path: "/r/a", Before: []byte("one\n"), After: []byte("two\n"), Edits: []text.Edit{{Start: 0, End: 3, New: "two"}}},
				{Kind: change.Edit, Path: "/r/b", Before: []byte("two\n"), After: []byte("one\n"), Edits: []text.Edit{{Start: 0, End: 3, New: "one"}}},
			}, nil},
		{"swap of equal files changes nothing", []change.Op{move("/r/a", "/r/t"), move("/r/c", "/r/a"), move("/r/t", "/r/c")}, nil, nil},
		{"move and back", []change.Op{move("/r/a", "/r/t"), move("/r/t", "/r/a")}, nil, nil},
		{"rename onto existing", []change.Op{move("/r/a", "/r/b")}, nil, change.ErrExists},
		{"rename over existing", []change.Op{{Kind: change.Rename, Path: "/r/a", NewPath: "/r/b", Overwrite: true}},
			[]change.File{
				{Kind: change.Delete, Path: "/r/a", Before: []byte("one\n")},
				{Kind: change.Edit, Path: "/r/b", Before: []byte("two\n"), After: []byte("one\n"), Edits: []text.Edit{{Start: 0, End: 3, New: "one"}}},
			}, nil},
		{"edit, move, edit", []change.Op{edit("/r/a", 0, 1, "O"), move("/r/a", "/r/n"), edit("/r/n", 3, 3, "!")},
			[]change.File{{Kind: change.Rename, Path: "/r/a", NewPath: "/r/n", Before: []byte("one\n"), After: []byte("One!\n"),
				Edits: []text.Edit{{Start: 0, End: 1, New: "O"}, {Start: 3, End: 3, New: "!"}}}}, nil},
		{"create then edit", []change.Op{{Kind: change.Create, Path: "/r/n", Content: []byte("x")}, edit("/r/n", 1, 1, "y")},
			[]change.File{{Kind: change.Create, Path: "/r/n", After: []byte("xy")}}, nil},
		{"create then delete", []change.Op{{Kind: change.Create, Path: "/r/n"}, {Kind: change.Delete, Path: "/r/n"}}, nil, nil},
		{"delete then create is an edit", []change.Op{{Kind: change.Delete, Path: "/r/a"}, {Kind: change.Create, Path: "/r/a", Content: []byte("one!\n")}},
			[]change.File{{Kind: change.Edit, Path: "/r/a", Before: []byte("one\n"), After: []byte("one!\n"), Edits: []text.Edit{{Start: 3, End: 3, New: "!"}}}}, nil},
		{"create on existing", []change.Op{{Kind: change.Create, Path: "/r/a"}}, nil, change.ErrExists},
		{"edit of nothing", []change.Op{edit("/r/n", 0, 0, "x")}, nil, change.ErrMissing},
		{"delete twice", []change.Op{{Kind: change.Delete, Path: "/r/a"}, {Kind: change.Delete, Path: "/r/a"}}, nil, change.ErrMissing},
		{"file below a file", []change.Op{{Kind: change.Create, Path: "/r/n"}, {Kind: change.Create, Path: "/r/n/m"}}, nil, change.ErrConflict},
		{"relative path", []change.Op{{Kind: change.Create, Path: "r/n"}}, nil, change.ErrPath},
		{"path with dots", []change.Op{move("/r/a", "/r/../etc/x")}, nil, change.ErrPath},
		{"overlap", []change.Op{{Kind: change.Edit, Path: "/r/a", Edits: []text.Edit{{Start: 0, End: 2}, {Start: 1, End: 3}}}}, nil, text.ErrOverlap},
		{"edit that changes nothing", []change.Op{edit("/r/a", 0, 3, "one")}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := change.Set{Ops: tt.ops}
			got, err := set.Resolve(before.read)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error is %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
			if !errors.Is(err, change.ErrConflict) && !errors.Is(err, change.ErrPath) {
				check(t, before, set)
			}
		})
	}
}

func TestE19_EditInsideCharacter(t *testing.T) {
	before := disk{"/r/a": "a\r\n\U0001F600"}
	for _, at := range []int{2, 4, 5, 6} {
		if _, err := change.FromEdits("/r/a", []text.Edit{{Start: at, End: at, New: "x"}}).Resolve(before.read); !errors.Is(err, text.ErrInside) {
			t.Errorf("insert at byte %d: %v, want ErrInside", at, err)
		}
	}
}

func TestL17_Merge(t *testing.T) {
	before := disk{"/r/a": "one two three\n", "/r/b": "b\n"}
	del := change.Op{Kind: change.Delete, Path: "/r/a"}
	create := func(s string) change.Op {
		return change.Op{Kind: change.Create, Path: "/r/n", Content: []byte(s)}
	}
	tests := []struct {
		name string
		a, b []change.Op
		want disk
		err  error
	}{
		{"identical edits join", []change.Op{edit("/r/a", 0, 3, "ONE")}, []change.Op{edit("/r/a", 0, 3, "ONE")}, disk{"/r/a": "ONE two three\n", "/r/b": "b\n"}, nil},
		{"disjoint edits", []change.Op{edit("/r/a", 0, 3, "1")}, []change.Op{edit("/r/a", 4, 7, "2")}, disk{"/r/a": "1 2 three\n", "/r/b": "b\n"}, nil},
		{"overlapping edits", []change.Op{edit("/r/a", 0, 3, "1")}, []change.Op{edit("/r/a", 2, 7, "2")}, nil, change.ErrConflict},
		{"same place, different text", []change.Op{edit("/r/a", 0, 3, "1")}, []change.Op{edit("/r/a", 0, 3, "2")}, nil, change.ErrConflict},
		{"two inserts at one place", []change.Op{edit("/r/a", 3, 3, "1")}, []change.Op{edit("/r/a", 3, 3, "2")}, nil, change.ErrConflict},
		{"edit and move", []change.Op{edit("/r/a", 0, 3, "1")}, []change.Op{move("/r/a", "/r/n"), edit("/r/n", 4, 7, "2")}, disk{"/r/n": "1 2 three\n", "/r/b": "b\n"}, nil},
		{"two moves of one file", []change.Op{move("/r/a", "/r/x")}, []change.Op{move("/r/a", "/r/y")}, nil, change.ErrConflict},
		{"two moves to one place", []change.Op{move("/r/a", "/r/x")}, []change.Op{move("/r/b", "/r/x")}, nil, change.ErrConflict},
		{"move and create in one place", []change.Op{move("/r/a", "/r/n")}, []change.Op{create("x")}, nil, change.ErrConflict},
		{"edit and delete", []change.Op{edit("/r/a", 0, 3, "1")}, []change.Op{del}, nil, change.ErrConflict},
		{"both delete", []change.Op{del}, []change.Op{del}, disk{"/r/b": "b\n"}, nil},
		{"both create alike", []change.Op{create("x")}, []change.Op{create("x")}, disk{"/r/a": "one two three\n", "/r/b": "b\n", "/r/n": "x"}, nil},
		{"both create, different", []change.Op{create("x")}, []change.Op{create("y")}, nil, change.ErrConflict},
		{"file and folder", []change.Op{create("x")}, []change.Op{{Kind: change.Create, Path: "/r/n/m"}}, nil, change.ErrConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, pair := range [][2][]change.Op{{tt.a, tt.b}, {tt.b, tt.a}} {
				got, err := change.Merge(change.Set{Ops: pair[0]}, change.Set{Ops: pair[1]}, before.read)
				if !errors.Is(err, tt.err) {
					t.Fatalf("error is %v, want %v", err, tt.err)
				}
				if tt.err != nil {
					continue
				}
				files, err := got.Resolve(before.read)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, apply(t, before, files)); diff != "" {
					t.Errorf("after the merged set (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestE18_Hunks(t *testing.T) {
	tests := []struct {
		name, before, after string
		want                []change.Hunk
	}{
		{"CRLF stays in its line", "a\r\nb\r\n", "a\r\nB\r\n", []change.Hunk{{StartLine: 2, Old: []string{"b\r"}, New: []string{"B\r"}}}},
		{"insert between lines", "a\nb\n", "a\nx\nb\n", []change.Hunk{{StartLine: 2, Old: []string{}, New: []string{"x"}}}},
		{"append", "a\n", "a\nb\n", []change.Hunk{{StartLine: 2, Old: []string{}, New: []string{"b"}}}},
		{"final newline added", "a", "a\n", []change.Hunk{{StartLine: 2, Old: []string{}, New: []string{""}}}},
		{"created", "", "a\nb\n", []change.Hunk{{StartLine: 1, Old: []string{}, New: []string{"a", "b"}}}},
		{"two places", "a\nb\nc\nd\n", "A\nb\nc\nD\n", []change.Hunk{
			{StartLine: 1, Old: []string{"a"}, New: []string{"A"}}, {StartLine: 4, Old: []string{"d"}, New: []string{"D"}}}},
		{"neighbours are one hunk", "a\nb\nc\n", "A\nB\nc\n", []change.Hunk{{StartLine: 1, Old: []string{"a", "b"}, New: []string{"A", "B"}}}},
		{"nothing", "a\n", "a\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, change.Hunks([]byte(tt.before), []byte(tt.after))); diff != "" {
				t.Errorf("Hunks (-want +got):\n%s", diff)
			}
		})
	}
}
