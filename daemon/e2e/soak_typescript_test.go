package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/lsptest"
)

var typescriptError = regexp.MustCompile(`error TS\d+:`)

// soakTypeScript takes an npm package (name@version) that holds its sources in
// src, or a folder.
func soakTypeScript(t *testing.T, name string) project {
	lsptest.Tool(t, "typescript-language-server")
	tsc := lsptest.Tool(t, "tsc")
	base := t.TempDir()
	dir, judge := filepath.Join(base, "src"), filepath.Join(base, "judge")
	source := name
	if strings.Contains(name, "@") {
		packed := strings.TrimSpace(done(t, base, nil, "npm", "pack", "--silent", name))
		lines := strings.Split(packed, "\n")
		done(t, base, nil, "tar", "-xzf", lines[len(lines)-1])
		source = filepath.Join(base, "package", "src")
	}
	if err := copyTree(source, filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tsconfig.json"), `{
  "compilerOptions": {
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "lib": ["es2022", "dom"],
    "strict": true, "noEmit": true, "skipLibCheck": true, "types": []
  },
  "include": ["src"],
  "exclude": ["**/tests/**", "**/*.test.ts", "**/benchmarks/**"]
}
`)
	write(t, filepath.Join(dir, "package.json"), `{"name": "soak", "version": "0.0.0", "type": "module", "private": true}`+"\n")
	return project{
		dir: dir,
		picks: syntaxPicks(t, dir, "typescript", func(rel string) bool {
			return !strings.Contains(rel, "/tests/") && !strings.Contains(rel, ".test.") && !strings.Contains(rel, "/benchmarks/")
		}),
		judge: func() map[string]bool {
			apart(t, dir, judge)
			return matching(output(t, judge, nil, tsc, "--noEmit", "--pretty", "false", "-p", "."), typescriptError)
		},
	}
}
