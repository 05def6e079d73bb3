package validate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// age gives a file times at which the cache may rely on them.
func age(t *testing.T, paths ...string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, path := range paths {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// counted is a check that leaves a line in a file outside the tree each time it runs.
func counted(t *testing.T) (s scripted, runs func() int) {
	log := filepath.Join(t.TempDir(), "runs")
	return scripted{checks: []string{"echo run >> " + log + "; " + lint}}, func() int {
		content, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(content), "\n")
	}
}

func TestKnownResultsCostNothing(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt")
	write(t, a, "BAD old\n")
	write(t, b, "fine\n")
	check, runs := counted(t)
	v := newValidator(t)
	req := request(t, root, check, edit(root, "b.txt", "still fine\n"))

	expect := func(what string, want int) {
		t.Helper()
		if got := runs(); got != want {
			t.Errorf("%s: %d runs, want %d", what, got, want)
		}
	}
	baseline := func() {
		t.Helper()
		if _, err := v.Baseline(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	baseline()
	expect("the first baseline", 1)
	baseline()
	expect("nothing changed", 1)
	written := time.Now()
	until(t, "the times of what was written are in the past", func() bool { return time.Since(written) > 2*coarse })
	if out, err := v.Shadow(t.Context(), req); err != nil || !out.Success || len(out.Existing) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	expect("the plan, with the baseline known", 2)
	apply(t, req.Files)
	baseline()
	expect("the tree became what the shadow showed", 2)
	age(t, a, b)
	baseline()
	expect("only times changed", 2)
	write(t, a, "BAD new\n") // the same size
	baseline()
	expect("a file changed", 3)
	write(t, a, "BAD old\n")
	baseline()
	expect("it changed back", 3)
	req.Env = append(req.Env, "FLAGS=other")
	baseline()
	expect("the environment changed", 4)
	write(t, filepath.Join(root, "c.txt"), "")
	baseline()
	expect("a file appeared", 5)
	if err := os.Remove(filepath.Join(root, "c.txt")); err != nil {
		t.Fatal(err)
	}
	baseline()
	expect("and went", 5)
}

// A tree that moves while its check runs proves nothing about either state.
func TestResultsOfAMovingTreeAreNotKept(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "fine\n")
	v := newValidator(t)
	req := request(t, root, scripted{checks: []string{"test -e moved || { echo BAD x >> a.txt; : > moved; exit 0; }; " + lint}})
	if _, err := v.Baseline(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "a.txt"), "fine\n")
	if err := os.Remove(filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Baseline(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "moved")); err != nil {
		t.Error("the check was not run again")
	}
}

func TestInputsReadOnlyWhatMoved(t *testing.T) {
	root := t.TempDir()
	a := filepath.Join(root, "a")
	write(t, a, "one")
	write(t, filepath.Join(root, ".git", "index"), "not an input")
	in := newInputs()
	first, _, err := in.read(t.Context(), []string{root})
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 1 {
		t.Errorf("inputs are %v", first)
	}
	if len(in.seen) != 0 {
		t.Error("a file that was just written is trusted by its times")
	}
	old := stamp{mtime: time.Now().Add(-time.Hour).UnixNano()}
	if !old.settled() || (stamp{ctime: time.Now().UnixNano()}).settled() {
		t.Error("settled does not tell old times from new ones")
	}
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	in.seen[a] = identity{}
	if gone, _, err := in.read(t.Context(), []string{root}); err != nil || len(gone) != 0 || len(in.seen) != 0 {
		t.Errorf("%v, %v, %v", gone, in.seen, err)
	}
}
