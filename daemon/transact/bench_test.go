package transact

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/golang"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/lspclient/change"
)

// cobra returns the files of a real module of the module cache.
func cobra(b *testing.B) map[string]string {
	b.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/spf13/cobra").Output()
	if err != nil {
		b.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	files := make(map[string]string)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		// The generators of documentation need modules that may not be here.
		if err == nil && d.IsDir() && d.Name() == "doc" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files[relative(dir, path)] = string(content)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// BenchmarkRun compares a change of a real module through the pipeline with
// the commands of its checks alone: what is more is planning, staging, the
// shadow, the transaction and the answer.
func BenchmarkRun(b *testing.B) {
	files := cobra(b)
	w := newWorld(b, true, files)
	edit := func(i int) change.Set {
		// A comment that never stood there before, so that nothing is known.
		return w.set(map[string]string{"command.go": files["command.go"] + strings.Repeat("//\n", i)})
	}
	n := 0
	b.Run("pipeline", func(b *testing.B) {
		for b.Loop() {
			n++
			res, err := w.pipe.Run(b.Context(), w.real(edit(n)))
			if err != nil {
				b.Fatal(err)
			}
			if v := res.Validation; !v.Success || v.Where != validate.InShadow {
				b.Fatalf("%+v", v)
			}
		}
	})
	b.Run("commands", func(b *testing.B) {
		seq, err := w.view.Barrier(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		s := w.view.Snapshot(seq)
		file := w.path("command.go")
		units, err := validate.Units(b.Context(), []adapters.Adapter{golang.New()}, s, s, []change.File{{Path: file}})
		if err != nil {
			b.Fatal(err)
		}
		checks, err := golang.New().Checks(b.Context(), s, units[0].Project, []string{file})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			n++
			w.write("command.go", files["command.go"]+strings.Repeat("//\n", n))
			for _, c := range checks {
				cmd := exec.CommandContext(context.Background(), c.Argv[0], c.Argv[1:]...)
				cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		}
	})
}
