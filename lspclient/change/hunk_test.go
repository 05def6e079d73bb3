package change

import (
	"fmt"
	"strings"
	"testing"
)

// TestHunksOfManyChangesStaySmall undoes what a rename of a popular name does:
// thousands of lines, every third changed in place. A diff that gives up would
// show the whole file as one change.
func TestHunksOfManyChangesStaySmall(t *testing.T) {
	var before, after strings.Builder
	const lines, changed = 6000, 2000
	for i := range lines {
		name := "Keep"
		if i%(lines/changed) == 0 {
			name = "Command"
		}
		fmt.Fprintf(&before, "line %d uses %s\n", i, name)
		fmt.Fprintf(&after, "line %d uses %s\n", i, strings.ReplaceAll(name, "Command", "Cmd2"))
	}
	hunks := Hunks([]byte(before.String()), []byte(after.String()))
	if got := size(hunks); got != 2*changed {
		t.Errorf("the hunks show %d lines, want %d: each changed line before and after", got, 2*changed)
	}
	for _, h := range hunks {
		if len(h.Old) != 1 || !strings.HasSuffix(h.Old[0], "Command") || !strings.HasSuffix(h.New[0], "Cmd2") {
			t.Fatalf("hunk at line %d is %q to %q", h.StartLine, h.Old, h.New)
		}
	}
}
