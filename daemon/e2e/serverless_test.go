package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// TestNavigationWithoutServers asks where no server is to be found: the symbol
// graph answers, says so, and how much of it rests on names alone.
func TestNavigationWithoutServers(t *testing.T) {
	for lang, shop := range shops() {
		t.Run(lang, func(t *testing.T) {
			w := newWorld(t, unpack(t, lang, "shop"))
			w.stop(t)
			for i, v := range w.env {
				if strings.HasPrefix(v, "PATH=") {
					w.env[i] = "PATH=" + withoutServer(t, w)
				}
			}
			w.must(t, "outline", map[string]any{"filePath": shop.store}, nil) // starts the daemon
			c := w.dial(t)
			var took []time.Duration
			ask := func(operation string, params map[string]any, out any) {
				t.Helper()
				params["workspace"] = w.ws
				began := time.Now()
				r := c.wait(c.post(operation, params))
				took = append(took, time.Since(began))
				if r.Error != nil {
					t.Fatalf("%s %v: %+v", operation, params, r.Error)
				}
				if err := json.Unmarshal(r.Result, out); err != nil {
					t.Fatal(err)
				}
			}
			told := func(operation string, trust api.Trust, complete bool) {
				t.Helper()
				if trust.Source != "graph" || trust.Unserved != api.ServerUnavailable || trust.Complete != complete {
					t.Errorf("%s: %+v, want source graph and complete %v", operation, trust, complete)
				}
				if !strings.Contains(strings.Join(trust.Warnings, "\n"), "install") {
					t.Errorf("%s does not say how to install the server: %q", operation, trust.Warnings)
				}
			}

			var defined api.Places
			ask("definition", map[string]any{"symbolName": shop.order, "symbolKind": "type"}, &defined)
			told("definition", defined.Trust, true)
			if defined.Total != 1 || defined.Locations[0].File != shop.store {
				t.Errorf("definition: %+v", defined.Locations)
			}
			var used api.Places
			ask("references", map[string]any{"symbolName": shop.order, "symbolKind": "type", "limit": all}, &used)
			told("references", used.Trust, false)
			if used.Total != shop.references {
				t.Errorf("%d references, the server knows %d: %+v", used.Total, shop.references, used.Locations)
			}
			var derived api.Symbols
			ask("derived_types", map[string]any{"symbolName": shop.saver}, &derived)
			if derived.Source != "graph" {
				t.Errorf("derived_types: %+v", derived.Trust)
			}
			var names []string
			for _, s := range derived.Symbols {
				names = append(names, s.Name)
			}
			for _, name := range []string{shop.memory, shop.disk} {
				if !slices.Contains(names, name) {
					t.Errorf("derived_types of %s: %q, without %s", shop.saver, names, name)
				}
			}
			var called api.Symbols
			ask("callers", map[string]any{"symbolName": shop.memory + "." + shop.save}, &called)
			told("callers", called.Trust, false)
			if !slices.ContainsFunc(called.Symbols, func(s api.SymbolEntry) bool { return s.Name == shop.checkout }) {
				t.Errorf("callers: %+v", called.Symbols)
			}
			t.Logf("definition %v, references %v, derived types %v, callers %v", took[0], took[1], took[2], took[3])
		})
	}
}
