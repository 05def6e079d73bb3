package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// TestInstalledPackagesAreSeen installs a package where nothing is watched, as
// such folders are ignored, and asks at once for what it declares.
func TestInstalledPackagesAreSeen(t *testing.T) {
	for lang, c := range map[string]struct {
		tool, files string
		at          map[string]any
		install     func(t *testing.T, dir string)
	}{
		"python": {
			tool:  "pyright-langserver",
			files: "-- .gitignore --\n.venv\n-- pyproject.toml --\n[project]\nname = \"app\"\nversion = \"0.1.0\"\n-- main.py --\nfrom known import answer\n\nprint(answer())\n",
			at:    map[string]any{"filePath": "main.py", "line": 3, "column": 8},
			install: func(t *testing.T, dir string) {
				done(t, dir, nil, "python3", "-m", "venv", "--without-pip", ".venv")
				found, err := filepath.Glob(filepath.Join(dir, ".venv", "lib", "python3*", "site-packages"))
				if err != nil || len(found) == 0 {
					t.Fatalf("packages in %v, %v", found, err)
				}
				write(t, filepath.Join(found[0], "known", "__init__.py"), "def answer() -> int:\n    return 42\n")
			},
		},
		"typescript": {
			tool: "typescript-language-server",
			files: "-- .gitignore --\nnode_modules\n-- package.json --\n{\"name\": \"app\", \"dependencies\": {\"known\": \"*\"}}\n" +
				"-- tsconfig.json --\n{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"types\": []}, \"include\": [\"src\"]}\n" +
				"-- src/main.ts --\nimport { answer } from \"known\";\n\nexport const n: number = answer();\n",
			at: map[string]any{"filePath": "src/main.ts", "line": 3, "column": 26},
			install: func(t *testing.T, dir string) {
				write(t, filepath.Join(dir, "node_modules", "known", "package.json"), `{"name": "known", "version": "1.0.0", "types": "index.d.ts"}`)
				write(t, filepath.Join(dir, "node_modules", "known", "index.d.ts"), "export declare function answer(): number;\n")
				write(t, filepath.Join(dir, "node_modules", ".package-lock.json"), "{}")
			},
		},
	} {
		t.Run(lang, func(t *testing.T) {
			lsptest.Tool(t, c.tool)
			dir := files(t, c.files)
			w := newWorld(t, dir)
			defined := func() (file string) {
				t.Helper()
				var got api.Places
				if w.call(t, "aura_definition", c.at, &got) == nil && len(got.Locations) > 0 {
					file = got.Locations[0].File
				}
				return file
			}
			if got := defined(); strings.Contains(got, "known") {
				t.Fatalf("defined in %s, which is not installed", got)
			}
			c.install(t, dir)
			if got := defined(); !strings.Contains(got, filepath.Join("known", "")) || got == "" {
				t.Errorf("once it is installed it is defined in %q", got)
			}
		})
	}
}
