package validate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
)

// scripted is a language whose build is a shell script in the project: each
// check runs its argument as a script and reads lines of path:line: message.
type scripted struct {
	checks []string // scripts
	all    string   // of the first check
	env    []string
}

var output1 = regexp.MustCompile(`(?m)^([^:\s]+):(\d+): (.*)$`)

func (s scripted) Checks(_ context.Context, _ adapters.Snapshot, p adapters.Project, _ []string) ([]adapters.Check, error) {
	var out []adapters.Check
	for i, script := range s.checks {
		var all []string
		if i == 0 && s.all != "" {
			all = []string{"sh", "-c", s.all}
		}
		out = append(out, adapters.Check{
			All: all, Name: "check " + strconv.Itoa(i+1), Argv: []string{"sh", "-c", script}, Env: s.env, Dir: p.Root,
			Install: "make a shell",
			Parse: func(output []byte, _ int) ([]adapters.Problem, error) {
				var found []adapters.Problem
				output = output[:min(len(output), 1<<20)]
				for _, m := range output1.FindAllStringSubmatch(string(output), -1) {
					line, err := strconv.Atoi(m[2])
					if err != nil {
						return nil, err
					}
					found = append(found, adapters.Problem{Path: filepath.Join(p.Root, m[1]), Line: line, Message: m[3],
						Warning: strings.HasPrefix(m[3], "warning")})
				}
				return found, nil
			},
		})
	}
	return out, nil
}

// lint is a build: each line that holds BAD is an error that names the word after it.
const lint = `grep -n 'BAD' *.txt /dev/null | sed 's/^\([^:]*:[0-9]*\):.*BAD *\([a-zA-Z]*\).*/\1: bad \2/' > "$TMPDIR/found" 2>/dev/null || found=; cat "$TMPDIR/found"; test ! -s "$TMPDIR/found"`

func newValidator(t testing.TB) *Validator {
	t.Helper()
	v, err := New(Options{Spawner: spawner(t), Helper: helper(t), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func request(t testing.TB, root string, b adapters.Builder, files ...change.File) Request {
	t.Helper()
	u := Unit{Project: adapters.Project{Language: "scripted", Root: root}, Builder: b}
	for _, f := range files {
		u.Changed = append(u.Changed, f.Path, f.Target())
	}
	return Request{Root: root, Units: []Unit{u}, Files: files, Env: append(os.Environ(), "TMPDIR="+t.TempDir())}
}

// apply makes the change on the real tree, as the pipeline does before a build in place.
func apply(t testing.TB, files []change.File) {
	t.Helper()
	for _, f := range files {
		if f.Kind == change.Rename || f.Kind == change.Delete {
			if err := os.Remove(f.Path); err != nil {
				t.Fatal(err)
			}
		}
		if f.Kind != change.Delete {
			write(t, f.Target(), string(f.After))
		}
	}
}

// both runs a request in the shadow, and in place on a tree of its own.
func both(t *testing.T, setup func(t *testing.T, root string) Request, check func(t *testing.T, root string, out Outcome)) {
	t.Run(InShadow, func(t *testing.T) {
		if runtime.GOOS != "linux" {
			return
		}
		root := t.TempDir()
		req := setup(t, root)
		out, err := newValidator(t).Shadow(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		check(t, root, out)
	})
	t.Run(InPlace, func(t *testing.T) {
		root := t.TempDir()
		req := setup(t, root)
		v := newValidator(t)
		base, err := v.Baseline(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, req.Files)
		out, err := v.Place(t.Context(), req, base)
		if err != nil {
			t.Fatal(err)
		}
		check(t, root, out)
	})
}

func messages(found []adapters.Problem) []string {
	out := []string{}
	for _, p := range found {
		out = append(out, fmt.Sprintf("%s:%d: %s", filepath.Base(p.Path), p.Line, p.Message))
	}
	return out
}

func edit(root, name, after string) change.File {
	return change.File{Kind: change.Edit, Path: filepath.Join(root, name), After: []byte(after)}
}

func TestE21_OnlyNewErrorsCount(t *testing.T) {
	tests := []struct {
		name            string
		before, after   string
		renamed         []Renamed
		fresh, existing []string
	}{
		{"none", "fine\n", "finer\n", nil, []string{}, []string{}},
		{"a new one", "fine\n", "BAD new\n", nil, []string{"a.txt:1: bad new"}, []string{}},
		{"an old one", "BAD old\n", "BAD old\nfine\n", nil, []string{}, []string{"a.txt:1: bad old"}},
		{"an old one moved", "BAD old\n", "fine\nfine\n  BAD  old\n", nil, []string{}, []string{"a.txt:3: bad old"}},
		{"one mended, one new", "BAD old\n", "BAD new\n", nil, []string{"a.txt:1: bad new"}, []string{}},
		{"the same error once more", "BAD old\n", "BAD old\nBAD old\n", nil, []string{"a.txt:2: bad old"}, []string{"a.txt:1: bad old"}},
		{"the same message at another line's text", "x BAD old\n", "y BAD old\n", nil, []string{"a.txt:1: bad old"}, []string{}},
		{"an old one that names the renamed symbol", "BAD Old Old Old\n", "BAD New New New\n", []Renamed{{"Old", "New"}}, []string{}, []string{"a.txt:1: bad New"}},
		{"the renamed symbol's name within a longer one", "BAD OldOne\n", "BAD NewOne\n", []Renamed{{"Old", "New"}}, []string{"a.txt:1: bad NewOne"}, []string{}},
		{"an old one that keeps the old name", "BAD Old\n", "BAD Old\nNew\n", []Renamed{{"Old", "New"}}, []string{}, []string{"a.txt:1: bad Old"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			both(t, func(t *testing.T, root string) Request {
				write(t, filepath.Join(root, "a.txt"), test.before)
				req := request(t, root, scripted{checks: []string{lint}}, edit(root, "a.txt", test.after))
				req.Renamed = test.renamed
				return req
			}, func(t *testing.T, root string, out Outcome) {
				if diff := cmp.Diff(test.fresh, messages(out.New)); diff != "" {
					t.Errorf("new errors (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.existing, messages(out.Existing)); diff != "" {
					t.Errorf("existing errors (-want +got):\n%s", diff)
				}
				if want := len(test.fresh) == 0; out.Success != want || out.Skipped != "" || out.TimedOut {
					t.Errorf("got %+v, want success %v", out, want)
				}
			})
		})
	}
}

func TestE21_ErrorsFollowARenamedFile(t *testing.T) {
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "old.txt"), "BAD old\n")
		return request(t, root, scripted{checks: []string{lint}}, change.File{Kind: change.Rename,
			Path: filepath.Join(root, "old.txt"), NewPath: filepath.Join(root, "new.txt"), After: []byte("BAD old\nBAD too\n")})
	}, func(t *testing.T, root string, out Outcome) {
		want := []string{"new.txt:2: bad too"}
		if diff := cmp.Diff(want, messages(out.New)); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
	})
}

// A later check runs although an earlier one has old errors, and reports what
// the earlier one has said already only once.
func TestE21_LaterChecks(t *testing.T) {
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "a.txt"), "BAD old\n")
		write(t, filepath.Join(root, "b.vet"), "")
		vet := lint + `; grep -n . b.vet && { echo "b.vet:1: vetted"; exit 1; }; exit 1`
		return request(t, root, scripted{checks: []string{lint, vet}}, edit(root, "b.vet", "x\n"))
	}, func(t *testing.T, root string, out Outcome) {
		if diff := cmp.Diff([]string{"b.vet:1: vetted"}, messages(out.New)); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a.txt:1: bad old"}, messages(out.Existing)); diff != "" {
			t.Errorf("existing errors (-want +got):\n%s", diff)
		}
		if got := out.Validation(root); got.ErrorCount != 2 || got.PreExisting != 1 || got.NewErrors[0].File != "b.vet" || got.Success {
			t.Errorf("validation %+v", got)
		}
	})
}

// A command that stops at its first error hides those behind it; what was
// hidden before and shows now is not new.
func TestE21_CommandThatStopsEarly(t *testing.T) {
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "a.txt"), "BAD one\nBAD two\n")
		first := strings.Replace(lint, `cat "$TMPDIR/found"`, `head -n 1 "$TMPDIR/found"`, 1)
		return request(t, root, scripted{checks: []string{first}, all: lint}, edit(root, "a.txt", "BAD two\nBAD three\n"))
	}, func(t *testing.T, root string, out Outcome) {
		if diff := cmp.Diff([]string{"a.txt:2: bad three"}, messages(out.New)); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a.txt:1: bad two"}, messages(out.Existing)); diff != "" {
			t.Errorf("existing errors (-want +got):\n%s", diff)
		}
	})
}

// A failure without a place is an error too, and the same one before is not new.
func TestE21_FailureWithoutAPlace(t *testing.T) {
	for _, test := range []struct {
		script string
		fresh  []string
	}{
		{"echo broken; test ! -e a.txt", []string{}},
		{"echo broken; ! grep -q x a.txt", []string{".:0: check 1 failed with exit status 1: broken"}},
		{"grep -q x a.txt && kill -9 $$; exit 0", []string{".:0: check 1 failed with exit status 137:"}},
	} {
		both(t, func(t *testing.T, root string) Request {
			write(t, filepath.Join(root, "a.txt"), "")
			return request(t, root, scripted{checks: []string{test.script}}, edit(root, "a.txt", "x\n"))
		}, func(t *testing.T, root string, out Outcome) {
			if diff := cmp.Diff(test.fresh, messages(out.New)); diff != "" {
				t.Errorf("%s: new errors (-want +got):\n%s", test.script, diff)
			}
		})
	}
}

func TestE22_HangingCheck(t *testing.T) {
	mark := fmt.Sprintf("aura-test-hang-%d", os.Getpid())
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "a.txt"), "")
		hang := `test -s a.txt || exit 0; setsid sh -c "sleep 1000" & sh -c "trap '' TERM; sleep 1000" & sleep 1000`
		req := request(t, root, scripted{checks: []string{hang}, env: []string{"MARK=" + mark}}, edit(root, "a.txt", "x\n"))
		req.Timeout = 2 * time.Second
		return req
	}, func(t *testing.T, root string, out Outcome) {
		if !out.TimedOut || out.Success || out.Took > 9*time.Second {
			t.Errorf("got %+v, want it timed out", out)
		}
		if runtime.GOOS == "linux" {
			until(t, "no process of the check is left", func() bool { return len(marked(mark)) == 0 })
		}
	})
}

func TestE22_FloodingCheck(t *testing.T) {
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "a.txt"), "")
		flood := `test -s a.txt || exit 0; echo "a.txt:1: first"; head -c 40000000 /dev/zero; exit 1`
		return request(t, root, scripted{checks: []string{flood}}, edit(root, "a.txt", "x\n"))
	}, func(t *testing.T, root string, out Outcome) {
		if diff := cmp.Diff([]string{"a.txt:1: first"}, messages(out.New)); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
	})
}

func TestE22_CheckThatWritesFiles(t *testing.T) {
	both(t, func(t *testing.T, root string) Request {
		write(t, filepath.Join(root, "a.txt"), "")
		meddle := `test -s a.txt || exit 0; echo more >> b.txt; echo new > c.txt`
		write(t, filepath.Join(root, "b.txt"), "b\n")
		return request(t, root, scripted{checks: []string{meddle}}, edit(root, "a.txt", "x\n"))
	}, func(t *testing.T, root string, out Outcome) {
		content, err := os.ReadFile(filepath.Join(root, "b.txt"))
		if err != nil {
			t.Fatal(err)
		}
		var want []string // in the shadow they never were in the real tree
		if out.Where == InPlace {
			want = []string{"b.txt was written while the build ran", "c.txt was written while the build ran"}
		} else if string(content) != "b\n" {
			t.Errorf("b.txt holds %q", content)
		}
		if diff := cmp.Diff(want, out.Notes); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
	})
}

func TestE22_DyingCheckAndCancel(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "")
	v := newValidator(t)
	req := request(t, root, scripted{checks: []string{"echo started > started; sleep 1000"}}, edit(root, "a.txt", "x\n"))
	cause := errors.New("the client went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := v.Baseline(ctx, req)
		done <- err
	}()
	until(t, "the check runs", func() bool { _, err := os.Stat(filepath.Join(root, "started")); return err == nil })
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("cancelled: %v, want the cause", err)
	}
	if _, err := v.Shadow(ctx, req); !errors.Is(err, cause) {
		t.Errorf("cancelled before it began: %v, want the cause", err)
	}
}

func TestSkipped(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "")
	v := newValidator(t)
	req := request(t, root, scripted{checks: []string{"true"}, env: []string{"PATH=/nowhere"}}, edit(root, "a.txt", "x\n"))
	out, err := v.Shadow(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if out.Success || out.Where != "" || !strings.Contains(out.Skipped, "sh does not run") || !strings.Contains(out.Skipped, "make a shell") {
		t.Errorf("no tool: %+v", out)
	}
	req.Units = nil
	if out, err = v.Shadow(t.Context(), req); err != nil || out.Success || out.Skipped == "" {
		t.Errorf("no project: %+v, %v", out, err)
	}
	req = request(t, root, scripted{}, edit(root, "a.txt", "x\n"))
	if out, err = v.Shadow(t.Context(), req); err != nil || out.Success || !strings.Contains(out.Skipped, "no check") {
		t.Errorf("no checks: %+v, %v", out, err)
	}
}

// TestFindings checks a tree as it is, and with a text over it that nobody has saved.
func TestFindings(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a.txt")
	write(t, path, "BAD disk\n")
	b := scripted{checks: []string{lint}}
	for _, c := range []struct {
		name  string
		files []change.File
		want  []string
	}{
		{"on disk", nil, []string{"bad disk"}},
		{"not saved", []change.File{{Kind: change.Edit, Path: path, After: []byte("fine\nBAD buffer\n")}}, []string{"bad buffer"}},
		{"mended", []change.File{{Kind: change.Edit, Path: path, After: []byte("fine\n")}}, nil},
		{"a file that is not there yet", []change.File{{Kind: change.Create, Path: filepath.Join(root, "b.txt"), After: []byte("BAD new\n")}}, []string{"bad disk", "bad new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && c.files != nil {
				return
			}
			out, err := newValidator(t).Findings(t.Context(), request(t, root, b, c.files...))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range out.Existing {
				got = append(got, p.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(out.New) > 0 || out.Skipped != "" {
				t.Errorf("%s\n%+v", diff, out)
			}
		})
	}
	// Where there is no shadow, what is on disk can be checked, a buffer cannot.
	v, err := New(Options{Spawner: spawner(t), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := v.Findings(t.Context(), request(t, root, b)); err != nil || len(out.Existing) != 1 {
		t.Errorf("in place: %+v, %v", out, err)
	}
	var refused *NoShadowError
	if _, err := v.Findings(t.Context(), request(t, root, b, change.File{Kind: change.Edit, Path: path})); !errors.As(err, &refused) {
		t.Errorf("a buffer in place: %v", err)
	}
}
