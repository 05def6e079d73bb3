package watch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/auralsp/aura/graph/watch"
)

// repository makes a git repository with the tags "old" and "new", between
// which every file differs, and checks out the old one.
func repository(t testing.TB, files int) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
		t.Skip("git is missing, whose work is to be followed")
	}
	dir = filepath.Join(t.TempDir(), "repo")
	git = func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	must(t, os.Mkdir(dir, 0o755))
	git("init", "-q")
	for _, tag := range []string{"new", "old"} {
		for i := range files {
			write(t, filepath.Join(dir, fmt.Sprintf("d%03d/sub/f%d.go", i/100, i)), fmt.Sprintf("package %s // %d\n", tag, i))
		}
		git("add", "-A")
		git("commit", "-q", "-m", tag)
		git("tag", tag)
	}
	return dir, git
}

// inRepository are the rules of a root that is a git repository.
func inRepository(dir string) watch.Rules {
	return watch.Rules{
		Ignore: func(path string, _ bool) bool { return filepath.Base(path) == ".git" },
		Busy:   func() bool { _, err := os.Lstat(filepath.Join(dir, ".git", "index.lock")); return err == nil },
	}
}

func TestF05_CheckoutIsOneBatch(t *testing.T) {
	const n = 500
	dir, git := repository(t, n)
	forms(t, func(t *testing.T, opts watch.Options) {
		git("checkout", "-q", "old")
		opts.BusyWait, opts.PollInterval, opts.Settle = time.Minute, 5*time.Millisecond, 100*time.Millisecond
		f := follow(t, start(t, opts), dir, inRepository(dir))
		f.agree()
		for _, tag := range []string{"new", "old"} {
			f.mu.Lock()
			f.batches = nil
			f.mu.Unlock()
			git("checkout", "-q", tag)
			f.until("the checkout is told", func() bool { return len(f.batches) > 0 })
			f.agree()
			if len(f.batches) != 1 || len(f.batches[0].Paths) < n || f.batches[0].Full {
				t.Errorf("a checkout of %d files came in %d batches, the first of %d paths", n, len(f.batches), len(f.batches[0].Paths))
			}
		}
	})
}
