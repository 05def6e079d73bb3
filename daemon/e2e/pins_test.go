package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/auralsp/aura/daemon/api"
)

// TestPinnedVersions holds what `make tools` installs for tests to what
// `auractl install` gives users: a test against another version proves little.
func TestPinnedVersions(t *testing.T) {
	makefile := read(t, filepath.Join("..", "..", "Makefile"))
	found := regexp.MustCompile(`(?m)^export GOPLS_VERSION := (v[0-9.]+)$`).FindStringSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile names no version")
	}
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
		if s.Pinned != found[1] || s.Version != found[1] || s.State != "ok" {
			t.Errorf("doctor says %+v, the Makefile %s", s, found[1])
		}
	}
	if !seen {
		t.Errorf("doctor knows no gopls: %+v", doctor.Servers)
	}
}
