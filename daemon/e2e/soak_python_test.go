package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/lsptest"
)

// soakPython takes an sdist (name@version) from its registry, or a folder. The
// judge is the compiler, pyright's own command line, and the import of the package.
func soakPython(t *testing.T, name string) project {
	lsptest.Tool(t, "pyright-langserver")
	checker := lsptest.Tool(t, "pyright")
	base := t.TempDir()
	dir, judge := filepath.Join(base, "src"), filepath.Join(base, "judge")
	source := name
	if pkg, version, ok := strings.Cut(name, "@"); ok {
		done(t, base, nil, "python3", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "-d", "sdist", pkg+"=="+version)
		packed, err := filepath.Glob(filepath.Join(base, "sdist", "*.tar.gz"))
		if err != nil || len(packed) != 1 {
			t.Fatalf("the sdist of %s: %q, %v", name, packed, err)
		}
		source = filepath.Join(base, "unpacked")
		if err := os.MkdirAll(source, 0o755); err != nil {
			t.Fatal(err)
		}
		done(t, source, nil, "tar", "-xzf", packed[0], "--strip-components=1")
	}
	if err := copyTree(source, dir); err != nil {
		t.Fatal(err)
	}
	return project{
		dir:   dir,
		picks: syntaxPicks(t, dir, "python", func(rel string) bool { return strings.HasPrefix(rel, "src/") || strings.HasPrefix(rel, "tests/") }),
		judge: func() map[string]bool {
			apart(t, dir, judge)
			found := map[string]bool{}
			for line := range strings.Lines(output(t, judge, []string{"PYTHONDONTWRITEBYTECODE=1"}, "python3", "-m", "compileall", "-q", "-f", ".")) {
				found[strings.TrimSpace(line)] = true
			}
			var report struct {
				GeneralDiagnostics []struct{ File, Severity, Message, Rule string }
			}
			printed := output(t, judge, nil, checker, "--outputjson")
			if i := strings.Index(printed, "{"); i < 0 || json.Unmarshal([]byte(printed[i:]), &report) != nil {
				t.Fatalf("pyright printed %s", printed)
			}
			for _, d := range report.GeneralDiagnostics {
				if d.Severity == "error" {
					found[fmt.Sprintf("%s: %s %s", d.File, d.Rule, d.Message)] = true
				}
			}
			return found
		},
	}
}
