package lsptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Gopls returns the path of the real gopls that tests use: the one that
// AURA_TEST_GOPLS names, else that of Tool.
func Gopls(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("AURA_TEST_GOPLS"); bin != "" {
		if !executable(bin) {
			t.Fatalf("AURA_TEST_GOPLS names no program: %s", bin)
		}
		seen(t, "gopls")
		return bin
	}
	return Tool(t, "gopls")
}

// Tool returns the path of a real program that tests use: the one that `make
// tools` puts into the checkout, else the one in PATH. A missing one fails the
// test, unless AURA_TEST_ALLOW_MISSING is 1, which skips it. The name of the
// test is appended to the file that AURA_TEST_REAL_LOG names, so that a run can
// say how many tests saw each real server.
func Tool(t testing.TB, program string) string {
	t.Helper()
	bin := filepath.Join(ToolFolder(t), program)
	if !executable(bin) {
		found, err := exec.LookPath(program)
		if err != nil {
			hint := program + " not found: run `make tools`"
			if os.Getenv("AURA_TEST_ALLOW_MISSING") == "1" {
				t.Skip(hint)
			}
			t.Fatal(hint)
		}
		bin = found
	}
	seen(t, program)
	return bin
}

// ToolFolder returns the folder of the checkout that `make tools` fills.
func ToolFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, ".tools", "bin")
		}
		if at == filepath.Dir(at) {
			t.Fatalf("%s is in no module", dir)
		}
	}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// seen notes that a test runs against a real program.
func seen(t testing.TB, program string) {
	t.Helper()
	log := os.Getenv("AURA_TEST_REAL_LOG")
	if log == "" {
		return
	}
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(f, "%s %s %s\n", program, filepath.Base(dir), t.Name())
	if closed := f.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}
