package workbench

import (
	"testing"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/text"
)

// TestKnownErrorsAreKnownUnderTheNewName takes names of which one is part of
// the other, and messages that name another symbol as the old one was called.
func TestKnownErrorsAreKnownUnderTheNewName(t *testing.T) {
	c := &check{rename: Renaming{OldName: "name", NewName: "new_name"}}
	key := func(msg string) string { return c.key("a", &protocol.Diagnostic{Message: protocol.String(msg)}) }
	for before, after := range map[string]string{
		`"name" overrides a symbol`:      `"new_name" overrides a symbol`,
		`no attribute "name" of "Other"`: `no attribute "name" of "Other"`,
		`"renamed" is not "name".`:       `"renamed" is not "new_name".`,
	} {
		if key(before) != key(after) {
			t.Errorf("%q is taken for another error than %q", after, before)
		}
	}
	if key(`"renamed"`) == key(`"re" "d"`) || key(`"name" of "A"`) == key(`"name" of "B"`) {
		t.Error("errors are taken for the same that are not")
	}
}

// TestMovedFollowsEveryOffset compares moved with the text itself: a mark put
// into the old text must be where moved says after the edits.
func TestMovedFollowsEveryOffset(t *testing.T) {
	old := "func Save(o Order) { Save(o); o.Save() }"
	edits := []text.Edit{{Start: 5, End: 9, New: "Persist"}, {Start: 21, End: 25, New: "Persist"}, {Start: 32, End: 36, New: "P"}}
	for _, tc := range []struct {
		offset int
		want   int
	}{
		{0, 0},   // before all
		{5, 5},   // an edit's own start stays its start
		{9, 12},  // just behind the first
		{21, 24}, // start of the second
		{25, 31},
		{32, 38},
		{36, 39},
		{len(old), len(old) + 3 + 3 - 3},
		{7, 5}, // inside replaced text: where the new text starts
	} {
		if got := moved(edits, tc.offset); got != tc.want {
			t.Errorf("moved(%d) = %d, want %d", tc.offset, got, tc.want)
		}
	}
	insert := []text.Edit{{Start: 5, End: 5, New: "xx"}}
	if got := moved(insert, 5); got != 7 {
		t.Errorf("moved over an insert before the name = %d, want 7: the name is behind it", got)
	}
}
