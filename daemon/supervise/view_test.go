package supervise

import (
	"testing"

	"github.com/auralsp/aura/daemon/view"
)

func openView(t testing.TB, root string) *view.View {
	t.Helper()
	v, err := view.Open(t.Context(), view.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (r *rig) closeWatcher() {}
