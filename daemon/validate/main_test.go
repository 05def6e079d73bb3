package validate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient/proc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shadow-exec" {
		ShadowMain()
	}
	goleak.VerifyTestMain(m)
}

// helper is the test binary as the shadow's helper. The race detector would
// have it wait for a second before it exits.
func helper(t testing.TB) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program(t, "env"), "GORACE=atexit_sleep_ms=0", exe, "shadow-exec"}
}

// program returns the absolute path of a program that the test needs.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
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

func spawner(t testing.TB) *proc.Spawner {
	t.Helper()
	s, err := proc.NewSpawner(t.Context(), proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// until waits for a condition, 10 seconds at most.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited 10 s for: %s", what)
		}
	}
}

// marked returns the processes whose environment holds the mark.
func marked(mark string) []string {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	var out []string
	for _, path := range found {
		if env, err := os.ReadFile(path); err == nil && strings.Contains(string(env), "MARK="+mark) {
			out = append(out, path)
		}
	}
	return out
}
