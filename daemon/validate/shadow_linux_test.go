package validate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/auralsp/aura/lspclient/change"
)

func newShadow(t testing.TB) *shadow {
	t.Helper()
	return &shadow{helper: helper(t), mount: t.TempDir(), size: 1 << 30}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestShadow_GoBuildSeesThePlan(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	main := filepath.Join(root, "main.go")
	write(t, main, "package main\n\nfunc main() { println(Old) }\n\nconst Old = 1\n")
	s := newShadow(t)
	c := command{argv: []string{"go", "build", "./..."}, env: os.Environ(), dir: root}
	files, err := stage(root, []change.File{{Kind: change.Edit, Path: main, After: []byte("package main\n\nfunc main() { println(New) }\n\nconst Old = 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.run(t.Context(), root, files, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d %s", r.exit, r.output)
}
