package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/auralsp/aura/lspclient/proc"
)

// A program that does not run is not started for every question that comes
// meanwhile, and is asked anew when it is another file.
func TestBrokenProgramIsNotAskedAgainAtOnce(t *testing.T) {
	dir := t.TempDir()
	spawner, err := proc.NewSpawner(t.Context(), proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := spawner.Close(); err != nil {
			t.Error(err)
		}
	})
	tools := newTools(dir, spawner, nil)
	bin, runs := filepath.Join(dir, "server"), filepath.Join(dir, "runs")
	script := func(end string) {
		t.Helper()
		if err := os.WriteFile(bin, []byte("#!/bin/sh\necho run >>"+runs+"\n"+end+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ran := func() int {
		b, err := os.ReadFile(runs)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "run")
	}
	script("exit 1")
	for range 3 {
		if v, err := tools.Version("none", bin, ""); err == nil {
			t.Fatalf("a program that fails has version %q", v)
		}
	}
	if got := ran(); got != 2 { // "version" and "--version"
		t.Errorf("started %d times", got)
	}
	script("echo server v1.2.3")
	for range 2 {
		if v, err := tools.Version("none", bin, ""); v != "v1.2.3" || err != nil {
			t.Fatalf("version %q, %v", v, err)
		}
	}
	if got := ran(); got != 3 {
		t.Errorf("started %d times", got)
	}
}
