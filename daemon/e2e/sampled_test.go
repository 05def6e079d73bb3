package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
)

// The first answer of a server is compared with what the graph would have said,
// most others are not; status tells how that went.
func TestSampledAnswers(t *testing.T) {
	s, w := openShop(t, "go")
	for range 3 {
		var got api.Places
		w.must(t, "aura_find_usages", map[string]any{"symbolName": s.order, "limit": all}, &got)
		if got.Total != s.references-1 || got.Source != "server" {
			t.Fatalf("%d usages from %s", got.Total, got.Source)
		}
	}
	for _, ws := range w.status(t).Workspaces {
		if ws.Root == w.ws {
			want := map[string]api.Sampled{"usages": {Compared: 1, Agreed: 1}}
			if diff := cmp.Diff(want, ws.Sampled); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Error("status does not list the workspace")
}
