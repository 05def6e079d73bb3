package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/lsptest"
)

var rustError = regexp.MustCompile(`(^|: )error(\[E\d+\])?:`)

// soakRust takes a crate (name@version) from its registry, or a folder.
func soakRust(t *testing.T, name string) project {
	lsptest.Tool(t, "rust-analyzer")
	base := t.TempDir()
	source := name
	if crate, version, ok := strings.Cut(name, "@"); ok {
		done(t, base, nil, "cargo", "new", "-q", "--vcs", "none", "--lib", "fetch")
		done(t, filepath.Join(base, "fetch"), nil, "cargo", "add", "-q", crate+"@="+version)
		done(t, filepath.Join(base, "fetch"), nil, "cargo", "fetch", "-q")
		source = manifest(t, done(t, filepath.Join(base, "fetch"), nil, "cargo", "metadata", "-q", "--format-version", "1"), crate)
	}
	dir, judge := filepath.Join(base, "src"), filepath.Join(base, "judge")
	if err := copyTree(source, dir); err != nil {
		t.Fatal(err)
	}
	for _, litter := range []string{"Cargo.toml.orig", ".cargo_vcs_info.json", ".cargo-ok"} {
		removeAll(filepath.Join(dir, litter))
	}
	done(t, dir, nil, "cargo", "generate-lockfile", "-q")
	return project{
		dir:   dir,
		picks: syntaxPicks(t, dir, "rust", func(rel string) bool { return strings.HasPrefix(rel, "src/") || strings.HasPrefix(rel, "tests/") }),
		judge: func() map[string]bool {
			apart(t, dir, judge)
			return matching(output(t, judge, nil, "cargo", "check", "--all-targets", "--message-format=short", "--color=never"), rustError)
		},
	}
}

// manifest returns the folder of a package in the output of cargo metadata.
func manifest(t *testing.T, metadata, crate string) string {
	t.Helper()
	var m struct {
		Packages []struct {
			Name         string
			ManifestPath string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(metadata), &m); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Packages {
		if p.Name == crate {
			return filepath.Dir(p.ManifestPath)
		}
	}
	t.Fatalf("cargo metadata names no %s", crate)
	return ""
}
