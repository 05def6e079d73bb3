package typescript

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/syntax/syntaxtest"
	"github.com/auralsp/aura/lspclient/text"
)

// folderOf is an adapters.Snapshot of a folder on disk.
type folderOf string

var _ adapters.Snapshot = folderOf("")

func (f folderOf) Root() string { return string(f) }
func (f folderOf) Seq() uint64  { return 1 }

func (f folderOf) Read(_ context.Context, path string) ([]byte, text.Hash, error) {
	b, err := os.ReadFile(path)
	return b, text.Sum(b), err
}

func (f folderOf) Glob(_ context.Context, pattern string) (out []string, err error) {
	err = filepath.WalkDir(string(f), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if ok, _ := doublestar.PathMatch(filepath.Join(string(f), pattern), path); ok {
				out = append(out, path)
			}
		}
		return err
	})
	return out, err
}

func (f folderOf) Grep(ctx context.Context, word string) (out []string, err error) {
	all, err := f.Glob(ctx, "**/*")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && len(text.Words(b, word)) > 0 {
			out = append(out, path)
		}
	}
	return out, err
}

// TestOwner follows tsserver's choice of the configuration that a file is in.
func TestOwner(t *testing.T) {
	for name, c := range map[string]struct {
		files syntaxtest.Files
		want  map[string]string
	}{
		"include": {
			syntaxtest.Files{"tsconfig.json": `{"include": ["src"], "exclude": ["src/gen"]}`},
			map[string]string{"src/a.ts": "tsconfig.json", "src/deep/a.tsx": "tsconfig.json", "src/gen/a.ts": "", "test/a.ts": "", "src/a.js": "", "src/node_modules/x/a.ts": ""},
		},
		"everything": {
			syntaxtest.Files{"tsconfig.json": `{"compilerOptions": {"allowJs": true, "outDir": "./dist"}}`},
			map[string]string{"a.ts": "tsconfig.json", "b/c.js": "tsconfig.json", "dist/a.js": "", "node_modules/x/a.ts": ""},
		},
		"files and a pattern": {
			syntaxtest.Files{"tsconfig.json": `{"files": ["main.ts"], "include": ["lib/**/*.ts"]}`},
			map[string]string{"main.ts": "tsconfig.json", "lib/x/y.ts": "tsconfig.json", "lib/x/y.tsx": "", "other.ts": ""},
		},
		"files alone": {syntaxtest.Files{"tsconfig.json": `{"files": ["main.ts"]}`}, map[string]string{"main.ts": "tsconfig.json", "other.ts": ""}},
		"the nearest, then upwards": {
			syntaxtest.Files{"tsconfig.json": `{}`, "pkg/tsconfig.json": `{"include": ["src"]}`},
			map[string]string{"pkg/src/a.ts": "pkg/tsconfig.json", "pkg/test/a.ts": "tsconfig.json", "a.ts": "tsconfig.json"},
		},
		"extended": {
			syntaxtest.Files{"base.json": `{"include": ["shared"], "compilerOptions": {"allowJs": true}}`, "app/tsconfig.json": `{ // ours
"extends": "../base", }`, "shared/tsconfig.json": `{"extends": ["../base.json"]}`},
			map[string]string{"shared/a.js": "shared/tsconfig.json", "app/a.ts": ""},
		},
		"a solution": {
			syntaxtest.Files{
				"tsconfig.json":      `{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "./tsconfig.spec.json"}]}`,
				"tsconfig.app.json":  `{"include": ["src"], "exclude": ["**/*.spec.ts"]}`,
				"tsconfig.spec.json": `{"include": ["src/**/*.spec.ts"]}`,
			},
			map[string]string{"src/a.ts": "tsconfig.app.json", "src/a.spec.ts": "tsconfig.spec.json", "a.ts": ""},
		},
		"JavaScript": {
			syntaxtest.Files{"jsconfig.json": `{"compilerOptions": {"checkJs": true}}`, "ts/tsconfig.json": `{}`, "ts/jsconfig.json": `{}`},
			map[string]string{"a.js": "jsconfig.json", "b.mjs": "jsconfig.json", "ts/a.js": "jsconfig.json"},
		},
		"a circle":     {syntaxtest.Files{"tsconfig.json": `{"extends": "./tsconfig.json", "files": [], "references": [{"path": "."}]}`}, map[string]string{"a.ts": ""}},
		"a broken one": {syntaxtest.Files{"tsconfig.json": `{"include": [`}, map[string]string{"a.ts": "tsconfig.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for file := range c.want {
				own, err := newConfigs(c.files, syntaxtest.Root).owner(t.Context(), filepath.Join(syntaxtest.Root, file))
				if err != nil {
					t.Fatal(err)
				}
				if got[file] = ""; own != nil {
					if got[file], err = filepath.Rel(syntaxtest.Root, own.path); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
