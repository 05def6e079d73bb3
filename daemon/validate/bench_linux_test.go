package validate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

// cobra copies a real module from the module cache and returns its folder.
func cobra(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/spf13/cobra").Output()
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(b.TempDir(), "cobra")
	if err := os.CopyFS(root, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("chmod", "-R", "u+w", root).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return root
}

// BenchmarkShadow compares a warm `go build` of a real module in a shadow with
// the same command on the real tree: the difference is what a shadow costs.
func BenchmarkShadow(b *testing.B) {
	root := cobra(b)
	path := filepath.Join(root, "command.go")
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	files := mustStage(b, root, []change.File{{Kind: change.Edit, Path: path, After: content}})
	goBin := program(b, "go")
	arms := []struct {
		name string
		argv []string
	}{
		{"true", []string{program(b, "true")}},
		{"build", []string{goBin, "build", "."}},
		{"vet", []string{goBin, "vet", "."}},
	}
	for _, arm := range arms {
		c := command{argv: arm.argv, env: os.Environ(), dir: root}
		b.Run(arm.name+"/place", func(b *testing.B) {
			s := spawner(b)
			for b.Loop() {
				r, err := runPlace(b.Context(), s, c)
				if err != nil || r.exit != 0 {
					b.Fatalf("%v, %d: %s", err, r.exit, r.output)
				}
			}
		})
		b.Run(arm.name+"/shadow", func(b *testing.B) {
			s := newShadow(b)
			for b.Loop() {
				r, err := s.run(b.Context(), root, files, c)
				if err != nil || r.exit != 0 {
					b.Fatalf("%v, %d: %s", err, r.exit, r.output)
				}
			}
		})
	}
}

// BenchmarkInputs reads the content of a large tree for the first time, and
// again when nothing changed.
func BenchmarkInputs(b *testing.B) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	folders := []string{filepath.Join(strings.TrimSpace(string(out)), "src")}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			in := newInputs()
			if _, _, err := in.read(b.Context(), folders); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		in := newInputs()
		for b.Loop() {
			st, _, err := in.read(b.Context(), folders)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(st)), "files")
		}
	})
}
