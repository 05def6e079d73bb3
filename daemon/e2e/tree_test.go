package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// module copies a Go module (path@version from the proxy, or a folder) into a
// new writable folder.
func module(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	source := name
	if strings.Contains(name, "@") {
		cmd := exec.Command("go", "mod", "download", "-json", name)
		cmd.Dir = dir // outside every module
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go mod download %s: %v\n%s", name, err, out)
		}
		var info struct{ Dir string }
		if err := json.Unmarshal(out, &info); err != nil {
			t.Fatal(err)
		}
		source = info.Dir
	}
	target := filepath.Join(dir, "src")
	if err := copyTree(source, target); err != nil {
		t.Fatal(err)
	}
	return target
}

// copyTree copies files and folders, and makes them writable for the user.
func copyTree(source, target string) error {
	return filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, rel)
		switch {
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(to, content, 0o644)
		}
		return nil
	})
}

// files unpacks a txtar archive into a new folder.
func files(t testing.TB, archive string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "src")
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	return dir
}

// write writes a file and the folders above it.
func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read reads a file.
func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// entry is what must not change of a file: everything but its times.
type entry struct {
	mode fs.FileMode
	link string
	hash [sha256.Size]byte
}

// snapshot describes a tree without the folders of git and Aura, which keep
// what an undo needs and are no part of what the user wrote.
func snapshot(t testing.TB, root string) map[string]entry {
	t.Helper()
	found := map[string]entry{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == ".aura") {
			return filepath.SkipDir
		}
		if d.IsDir() && (d.Name() == "obj" || d.Name() == "bin") {
			// What C#'s servers write as they load, and its builds; no source.
			if projects, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.csproj")); err == nil && len(projects) > 0 {
				return filepath.SkipDir
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.hash = sha256.Sum256(content)
		case info.Mode()&fs.ModeSymlink != 0:
			if e.link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		found[filepath.ToSlash(rel)] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// differences lists the paths in which two snapshots differ.
func differences(before, after map[string]entry) []string {
	var list []string
	for path, e := range before {
		if now, ok := after[path]; !ok {
			list = append(list, path+" is gone")
		} else if now != e {
			list = append(list, path+" differs")
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			list = append(list, path+" is new")
		}
	}
	return list
}

// unchanged fails the test when the tree is not as before.
func unchanged(t testing.TB, root string, before map[string]entry) {
	t.Helper()
	if d := differences(before, snapshot(t, root)); len(d) > 0 {
		t.Errorf("the tree is not as before: %q", d)
	}
}

// gocmd runs the go command in a folder.
func gocmd(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// builds fails the test unless the module builds and vets, test files too.
func builds(t testing.TB, dir string) {
	t.Helper()
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}} {
		if err := gocmd(dir, args...); err != nil {
			t.Error(err)
		}
	}
}

// fileClock returns the time that the file system of dir would give a file now.
func fileClock(t testing.TB, dir string) time.Time {
	t.Helper()
	f, err := os.CreateTemp(filepath.Dir(dir), "clock")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// lineOf returns the 1-based line of a file that starts with text.
func lineOf(t testing.TB, dir, file, text string) int {
	t.Helper()
	for i, line := range strings.Split(read(t, filepath.Join(dir, file)), "\n") {
		if strings.HasPrefix(line, text) {
			return i + 1
		}
	}
	t.Fatalf("%s has no line %q", file, text)
	return 0
}

// goroot returns the folder of the Go distribution.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
