package view_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
)

// TestIgnoredRoot opens a folder that the repository around it ignores: what
// the user names is served all the same, by the folder's own rules.
func TestIgnoredRoot(t *testing.T) {
	outer := real(t, t.TempDir())
	r := &rig{t: t, dir: filepath.Join(outer, "out", "root")}
	r.write("../../.git/HEAD", "ref: refs/heads/main\n")
	r.write("../../.gitignore", "/out/\n*.x\n")
	r.write(".gitignore", "own.y\n")
	for _, name := range []string{"a.x", "own.y", "sub/b.x"} {
		r.write(name, "word\n")
	}
	r.start(watch.Options{}, view.Options{})
	paths, err := r.v.Snapshot(r.barrier()).Glob(context.Background(), "**/*.[xy]")
	r.must(err)
	if d := cmp.Diff([]string{r.path("a.x"), r.path("sub/b.x")}, paths); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}
