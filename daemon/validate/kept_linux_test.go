package validate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
)

// TestKept_PlannedResultsAreDropped has a build that writes what it read into
// its kept folder, as cargo does: what it built of a plan must never be taken
// for what was built of the real tree.
func TestKept_PlannedResultsAreDropped(t *testing.T) {
	v := newValidator(t)
	if ok, why := v.Possible(t.Context()); !ok {
		t.Fatal(why) // as the other tests of shadow builds fail then
	}
	root := t.TempDir()
	path := filepath.Join(root, "a.txt")
	write(t, path, "real\n")
	script := `cat a.txt >> "$KEPT/log"; test "$KEPT" = "$ALSO" || echo "a.txt:1: two folders"; grep -q BAD a.txt && echo "a.txt:1: bad"; true`
	b := keeping{scripted{checks: []string{script}}}
	log := func() string {
		found, err := filepath.Glob(filepath.Join(v.folders.dir, "*", "*", "log"))
		if err != nil || len(found) > 1 {
			t.Fatal(found, err)
		}
		if len(found) == 0 {
			return ""
		}
		content, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	planned := change.File{Kind: change.Edit, Path: path, Before: []byte("real\n"), After: []byte("planned\n")}
	for i := range 2 * refreshAfter {
		out, err := v.Shadow(t.Context(), request(t, root, b, planned))
		if err != nil || !out.Success {
			t.Fatalf("%+v, %v", out, err)
		}
		// The first check fills the folder from the real tree, and so does one of many.
		if want := strings.Repeat("real\n", 1+i/refreshAfter); log() != want {
			t.Fatalf("after %d checks of planned text the folder holds %q, want %q", i+1, log(), want)
		}
	}
}

// keeping is a build that keeps what it built.
type keeping struct{ scripted }

func (k keeping) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]adapters.Check, error) {
	out, err := k.scripted.Checks(ctx, s, p, changed)
	for i := range out {
		out[i].Kept, out[i].Stale = []string{"KEPT", "ALSO"}, adapters.ByMTime
	}
	return out, err
}
