package python

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// put writes programs that nobody runs.
func put(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

// site is a Site with a pyright, a Node.js and a python3 that nobody runs, and
// the folder of its PATH.
func site(t *testing.T) (s adapters.Site, bin string) {
	t.Helper()
	bin = t.TempDir()
	put(t, filepath.Join(bin, pyrightServer), filepath.Join(bin, "node"), filepath.Join(bin, "python3"))
	root := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return adapters.Site{
		Root: root, Trusted: true, Scratch: t.TempDir(), Read: os.ReadFile,
		Env:  map[string]string{"PATH": bin, "HOME": filepath.Dir(root)},
		Look: func(name string) (string, error) { return filepath.Join(bin, name), nil },
	}, bin
}

func python(t *testing.T, l adapters.Launch) map[string]any {
	t.Helper()
	s, _ := l.Settings.(map[string]any)
	p, ok := s["python"].(map[string]any)
	if !ok {
		t.Fatalf("settings: %v", l.Settings)
	}
	return p
}

func TestLaunch(t *testing.T) {
	s, bin := site(t)
	s.Env["VIRTUAL_ENV"], s.Env["LD_PRELOAD"], s.Env["PYTHONPATH"] = "relative", "evil.so", "/lib"
	s.Setting = func(key string) (any, bool) {
		v, ok := map[string]any{"typeCheckingMode": "strict", "diagnosticMode": "workspace"}[key]
		return v, ok
	}
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(bin, pyrightServer), "--stdio"}, l.Argv); diff != "" || l.Dir != s.Root || l.Root != s.Root {
		t.Errorf("%s in %s", diff, l.Dir)
	}
	want := []string{"HOME=" + s.Env["HOME"], "PATH=" + bin, "PYTHONPATH=/lib", "VIRTUAL_ENV=relative"}
	if diff := cmp.Diff(want, l.Env); diff != "" {
		t.Error(diff)
	}
	// What is not given is off in pyright: src would not be searched. A user
	// may change what is reported, not how it is asked.
	a := python(t, l)["analysis"].(map[string]any)
	for key, want := range map[string]any{"autoSearchPaths": true, "diagnosticMode": "openFilesOnly", "logLevel": "Information", "typeCheckingMode": "strict"} {
		if a[key] != want {
			t.Errorf("%s is %v", key, a[key])
		}
	}
	if python(t, l)["pythonPath"] != filepath.Join(bin, "python3") || l.Named["PYTHONPATH"] != "/lib" || !strings.Contains(l.Named["python"], "no environment") {
		t.Errorf("%v, %v", python(t, l), l.Named)
	}
	if !slices.ContainsFunc(l.Notes, func(n string) bool { return strings.Contains(n, "python3 -m venv") }) {
		t.Errorf("nobody says that there is no environment: %q", l.Notes)
	}
}

func TestInterpreter(t *testing.T) {
	s, bin := site(t)
	active := filepath.Join(t.TempDir(), "active")
	put(t, filepath.Join(active, "bin", "python"))
	above := filepath.Join(filepath.Dir(s.Root), ".venv")
	own := filepath.Join(s.Root, ".venv")
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"that of PATH when there is no environment", func() {}, filepath.Join(bin, "python3")},
		{"one above the project only within its repository", func() { put(t, filepath.Join(above, "bin", "python")) }, filepath.Join(bin, "python3")},
		{"the project's own", func() { put(t, filepath.Join(own, "bin", "python")) }, filepath.Join(own, "bin", "python")},
		{"the activated one before it", func() { s.Env["VIRTUAL_ENV"] = active }, filepath.Join(active, "bin", "python")},
		{"the configured one before all", func() {
			s.Setting = func(key string) (any, bool) { return "/opt/python", key == "pythonPath" }
		}, "/opt/python"},
	} {
		c.do()
		if got := findInterpreter(s); got.path != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	deep, _ := site(t)
	repository := filepath.Dir(deep.Root)
	deep.Env["HOME"] = "/home/u"
	put(t, filepath.Join(repository, ".venv", "bin", "python"), filepath.Join(repository, ".git", "HEAD"))
	if got := findInterpreter(deep); got.path != filepath.Join(repository, ".venv", "bin", "python") {
		t.Errorf("the environment of the repository was not found: %+v", got)
	}
	if got := findInterpreter(adapters.Site{Root: s.Root}); got.path != "" || !got.missing || len(got.notes()) == 0 {
		t.Errorf("without any Python: %+v", got)
	}
}

// What lies in a workspace that is not trusted is not run: starting an
// interpreter runs what the .pth files of its environment say.
func TestInterpreterOfUntrustedWorkspace(t *testing.T) {
	s, bin := site(t)
	s.Trusted = false
	own := filepath.Join(s.Root, ".venv")
	packages := filepath.Join(own, "lib", "python3.12", "site-packages")
	put(t, filepath.Join(own, "bin", "python"), filepath.Join(packages, "x.py"))
	s.Env["VIRTUAL_ENV"] = own
	s.Env["PATH"] = filepath.Join(own, "bin") + string(filepath.ListSeparator) + bin
	s.Env["PYTHONPATH"] = s.Root
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := python(t, l)["pythonPath"]; got != filepath.Join(bin, "python3") {
		t.Errorf("it would run %v", got)
	}
	if diff := cmp.Diff([]string{packages}, python(t, l)["analysis"].(map[string]any)["extraPaths"]); diff != "" {
		t.Error(diff)
	}
	if slices.ContainsFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, "PYTHONPATH=") }) {
		t.Errorf("modules of the workspace would be run: %q", l.Env)
	}
}

func TestLaunchRefuses(t *testing.T) {
	s, bin := site(t)
	s.Version = func(string) (string, error) { return "1.1.409", nil }
	if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), pyrightOldest) {
		t.Errorf("an old pyright: %v", err)
	}
	for _, v := range []string{"1.1.410", "1.2.0", "2.0", "unknown", ""} {
		s.Version = func(string) (string, error) { return v, nil }
		if _, err := launch(t.Context(), s); err != nil {
			t.Errorf("version %q: %v", v, err)
		}
	}
	s.Look = func(string) (string, error) { return "", fs.ErrNotExist }
	if _, err := launch(t.Context(), s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no pyright: %v", err)
	}
	s.Command = []string{"/opt/pyright", "--stdio", "--verbose"}
	if l, err := launch(t.Context(), s); err != nil || !cmp.Equal(l.Argv, s.Command) {
		t.Errorf("the user's command: %q, %v", l.Argv, err)
	}
	script := filepath.Join(bin, "script")
	if err := errors.Join(os.WriteFile(script, []byte("#!/usr/bin/env node\n"), 0o755), os.Remove(filepath.Join(bin, "node"))); err != nil {
		t.Fatal(err)
	}
	s.Command = []string{script}
	if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), "Node.js") {
		t.Errorf("no Node.js: %v", err)
	}
}

func TestAsk(t *testing.T) {
	if diff := cmp.Diff([]string{"/opt/bin/pyright", "--version"}, pyright().Ask("/opt/bin/pyright-langserver")); diff != "" {
		t.Error(diff)
	}
}
