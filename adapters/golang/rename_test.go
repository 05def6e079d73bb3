package golang

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
)

// renameCase is one file of testdata/rename: an archive whose comment says
// what to rename and what to expect, whose files are the module, and whose
// files below "want/" are those that change.
//
//	rename pkg.Type.Method NewName [comments] [strings] [file]
//	refuse CODE words of the message
//	warn words of a warning
type renameCase struct {
	symbol, name string
	in           adapters.Rename
	code, says   string
	warns        []string
	vets         bool
	files, want  map[string]string
	archive      string
}

func readCase(t *testing.T, path string) renameCase {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(raw)
	c := renameCase{files: map[string]string{}, want: map[string]string{}, vets: true}
	for line := range strings.Lines(string(a.Comment)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "rename":
			words := strings.Fields(rest)
			c.symbol, c.name = words[0], words[1]
			for _, w := range words[2:] {
				switch w {
				case "comments":
					c.in.Comments = true
				case "strings":
					c.in.Strings = true
				case "file":
					c.in.File = true
				default:
					t.Fatalf("%s: unknown option %s", path, w)
				}
			}
		case "refuse":
			c.code, c.says, _ = strings.Cut(rest, " ")
		case "warn":
			c.warns = append(c.warns, rest)
		case "broken":
			c.vets = false
		case "", "#":
		default:
			t.Fatalf("%s: unknown line %q", path, line)
		}
	}
	var module txtar.Archive
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
			c.want[name] = string(f.Data)
			continue
		}
		c.files[f.Name] = string(f.Data)
		module.Files = append(module.Files, f)
	}
	c.archive = string(txtar.Format(&module))
	return c
}

func TestRename(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/rename/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			c := readCase(t, path)
			root := unpack(t, c.archive)
			b := open(t, root)
			sym := b.find(t, c.symbol)
			decls, err := b.index.ByID(t.Context(), sym.ID)
			if err != nil {
				t.Fatal(err)
			}
			c.in.Symbol, c.in.Declarations, c.in.NewName = sym, decls, c.name
			d, err := b.a.rename(t.Context(), b, c.in)
			if c.code != "" {
				var refusal *adapters.Refusal
				if !errors.As(err, &refusal) || string(refusal.Reason) != c.code || !strings.Contains(refusal.Message, c.says) {
					t.Fatalf("got %v, want %s with %q", err, c.code, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkDraft(t, b, c, d)
		})
	}
}

// checkDraft compares what a draft makes of the files with what is wanted, and
// lets the go command judge the result.
func checkDraft(t *testing.T, b *bench, c renameCase, d adapters.Draft) {
	t.Helper()
	read := func(path string) ([]byte, error) { return os.ReadFile(path) }
	resolved, err := d.Change.Resolve(read)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range resolved {
		rel, err := filepath.Rel(b.Root(), f.Target())
		if err != nil {
			t.Fatal(err)
		}
		got[rel] = string(f.After)
	}
	if diff := cmp.Diff(c.want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	all := strings.Join(append(d.Warnings, b.notes.warnings...), "\n")
	for _, w := range c.warns {
		if !strings.Contains(all, w) {
			t.Errorf("no warning says %q:\n%s", w, all)
		}
	}
	if !strings.Contains(got[relTo(t, b.Root(), d.New.Path)][d.New.Offset:], c.name) {
		t.Errorf("New marks %s at %d, where %s does not stand", d.New.Path, d.New.Offset, c.name)
	}
	write(t, resolved)
	if !c.vets {
		return
	}
	var changed []string
	for _, f := range resolved {
		changed = append(changed, f.Target())
	}
	runChecks(t, b, changed)
	b.refresh(t.Context())
	after, err := b.index.ByID(t.Context(), d.NewID)
	if err != nil || len(after) == 0 || after[0].Name != c.name {
		t.Errorf("NewID %s stands for %v, %v", d.NewID, after, err)
	}
}

// runChecks builds and vets as Aura would, and expects no problem.
func runChecks(t *testing.T, b *bench, changed []string) {
	t.Helper()
	checks, err := b.a.Checks(t.Context(), b.snap, b.project, changed)
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) < 2 {
		t.Fatalf("%d checks of %v", len(checks), changed)
	}
	for _, ck := range checks {
		cmd := exec.Command(ck.Argv[0], ck.Argv[1:]...)
		cmd.Dir, cmd.Env = ck.Dir, append(os.Environ(), ck.Env...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		problems, err := ck.Parse(out, cmd.ProcessState.ExitCode())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %+v", strings.Join(ck.Argv, " "), p)
		}
	}
}

func relTo(t *testing.T, root, path string) string {
	t.Helper()
	rel, err := filepath.Rel(root, path)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// write puts a change on disk.
func write(t *testing.T, files []change.File) {
	t.Helper()
	for _, f := range files {
		if f.Kind == change.Rename {
			if err := os.Remove(f.Path); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(f.Target(), f.After, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
