package op_test

import (
	"path/filepath"
	"testing"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
)

// TestNamesFromOutsideWithServers finds the uses of what is declared outside the
// workspace with servers that, asked at the declaration, know of none.
func TestNamesFromOutsideWithServers(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ marker, text, file, code, name string }{
		{"pyproject.toml", "[project]\nname = \"outside\"\nversion = \"1\"\n", "outside.py", "import json\n\n\ndef dump(x: object) -> str:\n    return json.dumps(x)\n", "json.dumps"},
		{"tsconfig.json", "{}\n", "outside.ts", "export const dump = (x: unknown) => JSON.stringify(x);\n", "JSON.stringify"},
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, c.marker), []byte(c.text))
		write(t, filepath.Join(root, c.file), []byte(c.code))
		ws, err := workbench.Open(t.Context(), workbench.Options{Root: root, Supervisor: w.supervisor, Languages: w.langs})
		if err != nil {
			t.Fatal(err)
		}
		used, err := query[api.Places](t, w, ws, "usages", `{"symbolName":"`+c.name+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if used.Total != 1 || used.Source != "server" || !used.Complete || used.Locations[0].File != c.file || used.Locations[0].UsageKind != "call" {
			t.Errorf("%s: %+v", c.name, used)
		}
		if err := w.supervisor.Forget(t.Context(), ws.View()); err != nil {
			t.Error(err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
}
