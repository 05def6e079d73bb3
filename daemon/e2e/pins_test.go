package e2e

import (
	"encoding/json"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// TestPinnedVersions holds the servers that tests use to what `auractl install`
// gives users: a test against another version proves little.
func TestPinnedVersions(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	r := w.aura(t, "doctor", "--json")
	var doctor api.Doctor
	if err := json.Unmarshal([]byte(r.stdout), &doctor); err != nil {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	seen := false
	for _, s := range doctor.Servers {
		if s.Engine != "gopls" {
			continue
		}
		seen = true
		if s.Pinned == "" || s.Version != s.Pinned || s.State != "ok" {
			t.Errorf("doctor says %+v", s)
		}
	}
	if !seen {
		t.Errorf("doctor knows no gopls: %+v", doctor.Servers)
	}
}
