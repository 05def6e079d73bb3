package typescript

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
)

// put makes a file.
func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// putCompiler makes a folder look like an installed TypeScript.
func putCompiler(t *testing.T, folder, version string) string {
	t.Helper()
	put(t, filepath.Join(folder, "package.json"), `{"name": "typescript", "version": "`+version+`"}`)
	if older(version, compilerNative) {
		put(t, filepath.Join(folder, "lib", "tsserver.js"), "")
	}
	return folder
}

// installedServer makes what npm makes: a bin folder of links, the packages
// beside each other.
func installedServer(t *testing.T, compiler string) (bin string) {
	t.Helper()
	modules := filepath.Join(t.TempDir(), "node_modules")
	put(t, filepath.Join(modules, program, "lib", "cli.mjs"), "#!/usr/bin/env node\n")
	if compiler != "" {
		putCompiler(t, filepath.Join(modules, "typescript"), compiler)
	}
	bin = filepath.Join(modules, ".bin", program)
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", program, "lib", "cli.mjs"), bin); err != nil {
		t.Fatal(err)
	}
	return bin
}

// site is a Site with a node that nobody runs.
func site(t *testing.T, root, bin string) adapters.Site {
	t.Helper()
	path := t.TempDir()
	put(t, filepath.Join(path, "node"), "")
	return adapters.Site{
		Root: root, Trusted: true, Scratch: t.TempDir(), Read: os.ReadFile,
		Env:     map[string]string{"PATH": "relative:" + path, "HOME": "/home/u"},
		Look:    func(string) (string, error) { return bin, nil },
		Version: func(string) (string, error) { return serverVersion, nil },
	}
}

func tsserverOf(t *testing.T, l adapters.Launch) string {
	t.Helper()
	settings, _ := l.Settings.(map[string]any)
	tss, _ := settings["tsserver"].(map[string]any)
	path, _ := tss["path"].(string)
	if path == "" {
		t.Errorf("no tsserver in %v", l.Settings)
	}
	return path
}

func TestLaunch(t *testing.T) {
	root, bin := t.TempDir(), installedServer(t, compiler)
	s := site(t, root, bin)
	s.Env["NODE_OPTIONS"], s.Env["LANG"] = "--require /tmp/evil.js", "C.UTF-8"
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if l.Argv[0] != bin || l.Argv[1] != "--stdio" || l.Dir != root || l.Root != root {
		t.Errorf("%q in %s", l.Argv, l.Dir)
	}
	env := strings.Join(l.Env, "\n")
	if !slices.Contains(l.Env, "LANG=C.UTF-8") || !slices.Contains(l.Env, "HOME=/home/u") || strings.Contains(env, "NODE_OPTIONS") {
		t.Errorf("environment:\n%s", env)
	}
	settings := l.Settings.(map[string]any)
	tss := settings["tsserver"].(map[string]any)
	if tss["useSyntaxServer"] != "never" || tss["useClientFileWatcher"] != true || settings["disableAutomaticTypingAcquisition"] != true {
		t.Errorf("settings: %v", settings)
	}
	if dir, _ := tss["logDirectory"].(string); !strings.HasPrefix(dir, s.Scratch) {
		t.Errorf("logs go to %q", dir)
	}
	if l.Named["tsserver"] != tsserverOf(t, l) || !filepath.IsAbs(l.Named["node"]) {
		t.Errorf("named: %v", l.Named)
	}
}

// TestChooseCompiler shows which TypeScript reads a project, and that people are told why.
func TestChooseCompiler(t *testing.T) {
	for name, c := range map[string]struct {
		own     string
		trusted bool
		wantOwn bool
		says    string
	}{
		"none":                {"", true, false, "no TypeScript of its own"},
		"5.9, trusted":        {"5.9.3", true, true, "the project's own 5.9.3"},
		"5.9, not trusted":    {"5.9.3", false, false, "not run in a workspace that is not trusted"},
		"7, which has none":   {"7.0.2", true, false, "7.0.2 has no tsserver"},
		"a preview of 7":      {"7.0.0-dev.20260101.1", true, false, "has no tsserver"},
		"one that is too old": {"4.9.5", true, false, "older than " + compilerOldest},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			root := filepath.Join(top, "packages", "a")
			own := filepath.Join(top, "node_modules", "typescript") // hoisted, as in a monorepo
			if c.own != "" {
				putCompiler(t, own, c.own)
			}
			put(t, filepath.Join(root, "tsconfig.json"), "{}")
			bin := installedServer(t, compiler)
			s := site(t, root, bin)
			s.Trusted = c.trusted
			l, err := launch(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if got := tsserverOf(t, l); (got == tsserverIn(own)) != c.wantOwn || !regular(got) {
				t.Errorf("tsserver %s", got)
			}
			if len(l.Notes) != 1 || !strings.Contains(l.Notes[0], c.says) {
				t.Errorf("notes %q, want %q in them", l.Notes, c.says)
			}
		})
	}
}

// TestChooseCompiler_Scripts follows what package managers and `make tools` put
// into bin folders instead of links.
func TestChooseCompiler_Scripts(t *testing.T) {
	bin := installedServer(t, compiler)
	want := filepath.Join(filepath.Dir(filepath.Dir(bin)), "typescript")
	for name, script := range map[string]string{
		"exec":    "#!/bin/sh\nexec \"" + bin + "\" \"$@\"\n",
		"basedir": "#!/bin/sh\nbasedir=$(dirname \"$0\")\nexec node  \"$basedir/../" + program + "/lib/cli.mjs\" \"$@\"\n",
	} {
		wrapper := filepath.Join(t.TempDir(), program)
		if name == "basedir" {
			wrapper = filepath.Join(filepath.Dir(bin), "shim")
		}
		put(t, wrapper, script)
		if got := besideServer(wrapper); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := besideServer(filepath.Join(t.TempDir(), "gone")); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestLaunch_Refusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*adapters.Site)
		says   string
	}{
		"no server":        {func(s *adapters.Site) { s.Look = func(string) (string, error) { return "", errors.New("not found") } }, "not found"},
		"no node":          {func(s *adapters.Site) { s.Env["PATH"] = "." }, "https://nodejs.org"},
		"a server too old": {func(s *adapters.Site) { s.Version = func(string) (string, error) { return "4.3.3", nil } }, "the oldest that can be used is " + serverOldest},
		"no TypeScript at all": {func(s *adapters.Site) {
			bin := installedServer(t, "")
			s.Look = func(string) (string, error) { return bin, nil }
		}, "auractl install"},
		"only one without a tsserver": {func(s *adapters.Site) {
			bin := installedServer(t, "7.0.2")
			s.Look = func(string) (string, error) { return bin, nil }
		}, "has no tsserver"},
		"a setting that names nothing": {func(s *adapters.Site) {
			s.Setting = func(key string) (any, bool) { return "/nowhere/tsserver.js", key == "tsserver" }
		}, "names no file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := site(t, t.TempDir(), installedServer(t, compiler))
			c.change(&s)
			if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q in it", err, c.says)
			}
		})
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"5.4.3", "5.4.4", true}, {"5.4.4", "5.4.4", false}, {"5.10.0", "5.4.4", false}, {"v4.9.9", "5.0.0", true}, {"6.0.3", "7.0.0", true}, {"7.0.0-dev.1", "7.0.0", false}, {"next", "7.0.0", false},
	} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
