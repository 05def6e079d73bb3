package rust

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// site is a Site with programs that nobody runs.
func site(t *testing.T, root string) adapters.Site {
	t.Helper()
	bin, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"cargo", "rustc", "rust-analyzer"} {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return adapters.Site{
		Root: root, Marker: filepath.Join(root, "Cargo.toml"), Members: []string{root}, Trusted: true, Scratch: t.TempDir(), Read: os.ReadFile,
		Env:  map[string]string{"PATH": bin, "HOME": home},
		Look: func(name string) (string, error) { return filepath.Join(bin, name), nil },
	}
}

func TestLaunch(t *testing.T) {
	s := site(t, "/m")
	s.Env["RUSTFLAGS"], s.Env["LD_PRELOAD"] = "--cfg x", "evil.so"
	s.Setting = func(key string) (any, bool) {
		v, ok := map[string]any{"cargo.features": []string{"a"}, "checkOnSave": true, "procMacro.ignored": map[string]any{"x": []string{"y"}}}[key]
		return v, ok
	}
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(l.Argv[0]) != "rust-analyzer" || len(l.Argv) != 1 || l.Dir != "/m" {
		t.Errorf("%q in %s", l.Argv, l.Dir)
	}
	if !slices.Contains(l.Env, "RUSTFLAGS=--cfg x") || !slices.Contains(l.Env, "HOME="+s.Env["HOME"]) || slices.ContainsFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, "LD_") }) {
		t.Errorf("environment: %q", l.Env)
	}
	if l.Named["RUSTFLAGS"] != "--cfg x" || filepath.Base(l.Named["cargo"]) != "cargo" || l.Named["PATH"] != "" {
		t.Errorf("named: %v", l.Named)
	}
	settings, ok := l.Settings.(map[string]any)
	if !ok {
		t.Fatalf("settings: %v", l.Settings)
	}
	cargo, ok := settings["cargo"].(map[string]any)
	if !ok || !cmp.Equal(cargo["features"], []string{"a"}) || !strings.HasPrefix(cargo["targetDir"].(string), s.Scratch) || settings["checkOnSave"] != false {
		t.Errorf("settings: %v", settings)
	}
	if diff := cmp.Diff([]string{"/m/Cargo.toml"}, settings["linkedProjects"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"enable": true, "ignored": map[string]any{"x": []string{"y"}}}, settings["procMacro"]); diff != "" {
		t.Error(diff)
	}
}

func TestM02_LaunchUntrusted(t *testing.T) {
	s := site(t, t.TempDir())
	s.Trusted = false
	s.Env["RUSTC_WRAPPER"] = "/tmp/x"
	s.Setting = func(key string) (any, bool) { return true, strings.Contains(key, "enable") }
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"RUSTC_WRAPPER=", "RUSTC_WORKSPACE_WRAPPER=", "CARGO_NET_OFFLINE=true", "RUSTUP_TOOLCHAIN=stable", "RUSTC=" + filepath.Join(s.Env["PATH"], "rustc")} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("no %s in %q", want, l.Env)
		}
	}
	settings, ok := l.Settings.(map[string]any)
	if !ok || !cmp.Equal(settings["procMacro"], map[string]any{"enable": false}) ||
		!cmp.Equal(settings["cargo"].(map[string]any)["buildScripts"], map[string]any{"enable": false}) {
		t.Errorf("settings: %v", l.Settings)
	}
	if l.Named[unseenKey] != "" {
		t.Errorf("without scripts and macros nothing is left out: %s", l.Named[unseenKey])
	}
	// The user's default toolchain, and not the workspace's.
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "settings.toml"), []byte("default_toolchain = \"nightly-x\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Env["RUSTUP_HOME"] = home
	if l, err = launch(t.Context(), s); err != nil || !slices.Contains(l.Env, "RUSTUP_TOOLCHAIN=nightly-x") {
		t.Errorf("%q, %v", l.Env, err)
	}
	// What would not be seen is said.
	if err := os.WriteFile(filepath.Join(s.Root, "Cargo.lock"), []byte("[[package]]\nname = \"proc-macro2\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if l, err = launch(t.Context(), s); err != nil || !strings.Contains(l.Named[unseenKey], "procedural macros") {
		t.Errorf("%q, %v", l.Named[unseenKey], err)
	}
	// A workspace that configures the server could take all of it back.
	if err := os.WriteFile(filepath.Join(s.Root, "rust-analyzer.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), "auractl trust") {
		t.Errorf("a workspace with settings of its own: %v", err)
	}
}

func TestLaunchRefusals(t *testing.T) {
	const said = "rust-analyzer --version: exit status 1: error: Unknown binary 'rust-analyzer' in official toolchain 'stable-x86_64-unknown-linux-gnu'."
	for name, c := range map[string]struct {
		change func(*adapters.Site)
		says   string
	}{
		"no server": {func(s *adapters.Site) {
			s.Look = func(string) (string, error) { return "", errors.New("rust-analyzer is nowhere") }
		}, "rust-analyzer is nowhere"},
		"a proxy of rustup's without its component": {func(s *adapters.Site) {
			s.Version = func(string) (string, error) { return "", errors.New(said) }
		}, "rustup component add rust-analyzer"},
		"no cargo":          {func(s *adapters.Site) { s.Env["PATH"] = "/nowhere" }, "needs cargo"},
		"cargo of the tree": {func(s *adapters.Site) { s.Env["PATH"] = "." }, "needs cargo"},
	} {
		s := site(t, "/m")
		c.change(&s)
		if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := site(t, "/m")
	s.Command = []string{"/opt/ra", "--log-file", "x"}
	s.Version = func(string) (string, error) { return "", errors.New("version is not known") }
	if l, err := launch(t.Context(), s); err != nil || !cmp.Equal(l.Argv, s.Command) {
		t.Errorf("the user's command: %q, %v", l.Argv, err)
	}
}
