package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/auralsp/aura/lspclient/lsptest"
)

// scratch is the folder of this test run; see TestMain.
var scratch = sync.OnceValues(func() (string, error) {
	// Not t.TempDir: socket paths have 107 bytes, and worlds outlive no test anyway.
	return os.MkdirTemp("", "aura-e2e")
})

// programs builds the shipped programs once and returns their folder. Those of
// another folder are taken instead when AURA_TEST_BIN names one.
var programs = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("AURA_TEST_BIN"); bin != "" {
		return bin, nil
	}
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", bin+string(os.PathSeparator), "github.com/auralsp/aura/cmd/aurad", "github.com/auralsp/aura/cmd/auractl")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return bin, nil
})

func TestMain(m *testing.M) {
	lsptest.Main()
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if dir, err := scratch(); err == nil {
		removeAll(dir)
	}
	os.Exit(code)
}

// removeAll removes a folder that may hold the read-only files of a module.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o755)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
