package typescript

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// unpack writes an archive into a new folder.
func unpack(t testing.TB, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// names lists the files below a folder.
func names(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// judge runs the checks of a project in which files changed, with the real
// compiler, as Aura does.
func judge(t *testing.T, root string, changed ...string) ([]adapters.Problem, error) {
	t.Helper()
	tsc := lsptest.Tool(t, "tsc")
	for i, c := range changed {
		changed[i] = filepath.Join(root, c)
	}
	checks, err := New().Checks(t.Context(), folderOf(root), adapters.Project{Language: "typescript", Root: root}, changed)
	if err != nil {
		t.Fatal(err)
	}
	var out []adapters.Problem
	for _, c := range checks {
		if i := slices.Index(c.Argv, adapters.KeptFolder); i >= 0 {
			c.Argv[i] = root + "-kept"
		}
		cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
		cmd.Dir = c.Dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(tsc)+string(os.PathListSeparator)+os.Getenv("PATH"))
		printed, err := cmd.CombinedOutput()
		if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		found, err := c.Parse(printed, cmd.ProcessState.ExitCode())
		if err != nil {
			return out, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// said lists problems in short: file:line:column code.
func short(root string, list []adapters.Problem) []string {
	var out []string
	for _, p := range list {
		rel, err := filepath.Rel(root, p.Path)
		if err != nil {
			rel = p.Path
		}
		out = append(out, strings.Join([]string{filepath.ToSlash(rel), itoa(p.Line), itoa(p.Column), p.Code}, ":"))
	}
	slices.Sort(out)
	return out
}

func itoa(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

const strict = `{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", "types": [], "lib": ["es2022"]}, "include": ["src"]}
`

// TestChecks judges by the real compiler.
func TestChecks(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, c := range map[string]struct {
		archive string
		changed []string
		want    []string
		times   int // more than once
	}{
		"sound": {"-- tsconfig.json --\n" + strict + "-- src/a.ts --\nexport const a: number = 1;\n", []string{"src/a.ts"}, nil, 1},
		"columns count bytes": {
			"-- tsconfig.json --\n" + strict + "-- src/a.ts --\nconst s = 'ü👋'; const a: number = s;\n", []string{"src/a.ts"}, []string{"src/a.ts:01:27:TS2322"}, 0,
		},
		"an error of syntax hides no other": {
			"-- tsconfig.json --\n" + strict + "-- src/a.ts --\nexport const a: number = 'x';\n-- src/b.ts --\nlet = ;\n", []string{"src/a.ts"},
			[]string{"src/a.ts:01:14:TS2322", "src/b.ts:01:01:TS2304", "src/b.ts:01:07:TS1109"}, 0,
		},
		"nor does one of the configuration": {
			"-- tsconfig.json --\n{\"compilerOptions\": {\"strict\": true, \"types\": [\"nowhere\"]}, \"include\": [\"src\"]}\n-- src/a.ts --\nexport const a: number = 'x';\n", []string{"src/a.ts"},
			[]string{":00:00:TS2688", "src/a.ts:01:14:TS2322"}, 0,
		},
		"what is deprecated is no error": {
			"-- tsconfig.json --\n{\"compilerOptions\": {\"strict\": true, \"target\": \"es5\", \"moduleResolution\": \"node\", \"baseUrl\": \".\", \"types\": []}, \"include\": [\"src\"]}\n-- src/a.ts --\nexport const a: number = 'x';\n",
			[]string{"src/a.ts"}, []string{"src/a.ts:01:14:TS2322"}, 0,
		},
		"references that nobody built": {referring, []string{"lib/src/index.ts"}, []string{"app/src/main.ts:02:14:TS2322"}, 1},
		"a file of no project": {
			"-- tsconfig.json --\n" + strict + "-- src/a.ts --\nexport {}\n-- scripts/x.js --\nlet x = {;\n-- scripts/y.jsx --\nexport const y = <a b={1}/>;\n", []string{"scripts/x.js", "scripts/y.jsx"},
			[]string{"scripts/x.js:01:10:TS1136"}, 0,
		},
		"no configuration at all": {"-- a.ts --\nconst a: number = 'types are not looked at';\nlet = ;\n", []string{"a.ts"}, []string{"a.ts:02:07:TS1109"}, 0},
		"JavaScript with checkJs": {"-- jsconfig.json --\n{\"compilerOptions\": {\"checkJs\": true, \"types\": []}}\n-- a.js --\n/** @type {number} */\nlet a = 'x';\n", []string{"a.js"}, []string{"a.js:02:05:TS2322"}, 0},
		"JavaScript without":      {"-- jsconfig.json --\n{}\n-- a.js --\n/** @type {number} */\nlet a = 'x';\n", []string{"a.js"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := unpack(t, c.archive)
			before := names(t, root)
			for range c.times + 1 { // the second time, what is known of the first is used
				got, err := judge(t, root, slices.Clone(c.changed)...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, short(root, got)); diff != "" {
					t.Errorf("%s\n%v", diff, got)
				}
			}
			if diff := cmp.Diff(before, names(t, root)); diff != "" {
				t.Errorf("the check wrote into the tree: %s", diff)
			}
		})
	}
}

const referring = `-- tsconfig.json --
{"files": [], "references": [{"path": "./lib"}, {"path": "./app"}]}
-- lib/tsconfig.json --
{"compilerOptions": {"composite": true, "incremental": true, "outDir": "dist", "rootDir": "src", "strict": true, "module": "esnext", "moduleResolution": "bundler", "types": []}, "include": ["src"]}
-- lib/src/index.ts --
export function greet(name: string): string { return "hi " + name; }
-- app/tsconfig.json --
{"compilerOptions": {"composite": true, "outDir": "dist", "rootDir": "src", "strict": true, "module": "esnext", "moduleResolution": "bundler", "types": []}, "include": ["src"], "references": [{"path": "../lib"}]}
-- app/src/main.ts --
import { greet } from "../../lib/src/index";
export const wrong: number = greet("x");
`

// TestChecks_SeesWhatChanged shows that what is kept of an earlier run never
// stands for text that has changed since, in either direction: an undo is the
// old program again.
func TestChecks_SeesWhatChanged(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := unpack(t, "-- tsconfig.json --\n"+strict+"-- src/a.ts --\nexport const a = 1;\n-- src/b.ts --\nimport { a } from './a';\nexport const b: number = a;\n")
	for i, c := range []struct {
		a    string
		want int
	}{{"export const a = 1;\n", 0}, {"export const z = 1;\n", 1}, {"export const a = 1;\n", 0}, {"export const a = 'x';\n", 1}, {"export const a = 1;\n", 0}} {
		if err := os.WriteFile(filepath.Join(root, "src", "a.ts"), []byte(c.a), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := judge(t, root, "src/a.ts"); err != nil || len(got) != c.want {
			t.Errorf("step %d: %v, %v; want %d errors", i, got, err, c.want)
		}
	}
}

func TestChecks_Unable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := unpack(t, "-- tsconfig.json --\n"+strict+"-- src/a.ts --\nexport {}\n")
	checks, err := New().Checks(t.Context(), folderOf(root), adapters.Project{Root: root}, []string{filepath.Join(root, "src/a.ts")})
	if err != nil || len(checks) != 1 {
		t.Fatalf("%v, %v", checks, err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, checks[0].Argv[1:]...)
	cmd.Env = []string{"PATH=" + t.TempDir()}
	printed, _ := cmd.CombinedOutput()
	_, err = checks[0].Parse(printed, cmd.ProcessState.ExitCode())
	var unable *adapters.UnableError
	if !errors.As(err, &unable) || !strings.Contains(unable.Reason, "npm install") {
		t.Errorf("without any TypeScript: %v", err)
	}
	if _, err := checks[0].Parse([]byte(`{"checked":0,"version":"6.0.3"}`), 0); !errors.As(err, &unable) {
		t.Errorf("nothing was checked: %v", err)
	}
	// The same failure before and after would pass for an error of old.
	if _, err := checks[0].Parse([]byte("FATAL ERROR: Reached heap limit\n"), 134); !errors.As(err, &unable) || !strings.Contains(unable.Reason, "heap limit") {
		t.Errorf("a compiler that ran out of memory: %v", err)
	}
}

// TestChecks_Native runs a TypeScript 7 by its command, as it has no API.
func TestChecks_Native(t *testing.T) {
	root := unpack(t, "-- tsconfig.json --\n"+strict+"-- src/a.ts --\nexport {}\n-- node_modules/typescript/package.json --\n{\"version\": \"7.0.2\"}\n")
	checks, err := New().Checks(t.Context(), folderOf(root), adapters.Project{Root: root}, []string{filepath.Join(root, "src/a.ts")})
	if err != nil || len(checks) != 1 {
		t.Fatalf("%v, %v", checks, err)
	}
	want := []string{"node", filepath.Join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "--pretty", "false", "-p", filepath.Join(root, "tsconfig.json")}
	if diff := cmp.Diff(want, checks[0].Argv); diff != "" {
		t.Error(diff)
	}
	var unable *adapters.UnableError
	if _, err := checks[0].Parse([]byte("Error: Cannot find module 'tsc'\n"), 1); !errors.As(err, &unable) {
		t.Errorf("a compiler that does not run: %v", err)
	}
	got, err := checks[0].Parse([]byte("src/a.ts(3,14): error TS2322: Type 'number' is not assignable to type 'string'.\n  More of it.\nerror TS18003: No inputs were found.\n"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]adapters.Problem{
		{Path: filepath.Join(root, "src/a.ts"), Line: 3, Code: "TS2322", Message: "Type 'number' is not assignable to type 'string'.\nMore of it."},
		{Code: "TS18003", Message: "No inputs were found."},
	}, got); diff != "" {
		t.Error(diff)
	}
}
