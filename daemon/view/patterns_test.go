package view_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/watch"
)

// TestIgnoreRulesEqualGit makes random trees with random ignore files and
// compares what is listed with what git would add.
func TestIgnoreRulesEqualGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
			t.Skip("git is missing, which is the oracle")
		}
		t.Fatal("git is missing, which is the oracle; AURA_TEST_ALLOW_MISSING=1 leaves this test out")
	}
	names := []string{"a", "b", "ab", "a.log", "b.txt", "foo", "Foo", "x y", "é", "dir", "[z]", "a#", "{c}"}
	lines := []string{
		"a", "/a", "a/", "*.log", "!a.log", "dir/**", "**/foo", "/dir/a", "b/**/a", "?b", "[ab]", "!ab", "foo/", "!foo/a", "*", "!*/", "#c", `\#x`,
		`x\ y`, "x y", "x y  ", "a*", "**/b/a", "a/b", "!a/b", "é", "[!a]b", `\[z\]`, `a\#`, "  ", "foo/*", "!/dir", "*.t?t", "{c}", "[[:alpha:]]b", "[z", "**", "a**",
		"/*", "!/foo/", "\r", "b\r",
	}
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := &rig{t: t, dir: filepath.Join(real(t, t.TempDir()), "root")}
		r.must(os.MkdirAll(r.dir, 0o755))
		for range 25 {
			parts := []string{r.dir}
			for range 1 + rnd.IntN(3) {
				parts = append(parts, names[rnd.IntN(len(names))])
			}
			path := filepath.Join(parts...)
			// A name may stand for a file and a folder; the first one wins.
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
				_ = os.WriteFile(path, nil, 0o644)
			}
		}
		rules := ""
		for _, dir := range []string{".", "dir", "a"} {
			var content []string
			for range rnd.IntN(5) {
				content = append(content, lines[rnd.IntN(len(lines))])
			}
			name := filepath.Join(dir, ".gitignore")
			if os.WriteFile(r.path(name), []byte(strings.Join(content, "\n")), 0o644) == nil {
				rules += name + ": " + strings.Join(content, " | ") + "\n"
			}
		}
		want := gitFiles(t, r.dir)
		r.startOnce(func(v *view.View) {
			got := r.rels(v.Snapshot(0).Files(ctx))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d (-git +view):\n%s%s", seed, diff, rules)
			}
		})
	}
}

func (r *rig) startOnce(use func(*view.View)) {
	r.t.Helper()
	w, err := watch.Start(ctx, watch.Options{CookieDir: r.t.TempDir()})
	r.must(err)
	v, err := view.Open(ctx, view.Options{Root: r.dir, Watcher: w})
	r.must(err)
	use(v)
	r.must(v.Close())
	r.must(w.Close())
}

func gitFiles(t *testing.T, dir string) []string {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	var files []string
	for name := range strings.SplitSeq(git("ls-files", "-co", "--exclude-standard", "-z"), "\x00") {
		if name != "" {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}
