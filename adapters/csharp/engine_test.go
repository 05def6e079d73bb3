package csharp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
)

// site is a Site with programs that nobody runs.
func site(t *testing.T, programs ...string) adapters.Site {
	t.Helper()
	bin := t.TempDir()
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return adapters.Site{
		Root: "/w", Trusted: true, Env: map[string]string{"PATH": bin, "HOME": "/home/u"},
		Look: func(name string) (string, error) {
			path := filepath.Join(bin, name)
			_, err := os.Stat(path)
			return path, err
		},
	}
}

// TestOmnisharp_Launch: what is loaded is said by -s, and a project file or a
// solution in XML there would never be answered.
func TestOmnisharp_Launch(t *testing.T) {
	for marker, source := range map[string]string{
		"/w/All.sln": "/w/All.sln", "/w/All.slnx": "/w", "/w/A/A.csproj": "/w", "": "/w",
	} {
		s := site(t, "OmniSharp", "dotnet")
		s.Marker = marker
		l, err := launchOmnisharp(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.Index(l.Argv, "-s")
		if filepath.Base(l.Argv[0]) != "OmniSharp" || l.Argv[1] != "-lsp" || i < 0 || l.Argv[i+1] != source {
			t.Errorf("%s: %q", marker, l.Argv)
		}
		if strings.Contains(l.Argv[i+2], "=") == false {
			t.Errorf("behind -s comes what is no setting: %q", l.Argv)
		}
		// An argument with "=" right behind -s would be taken for a setting.
		if l.Dir != "/w" || l.Root != "/w" {
			t.Errorf("runs in %s for %s", l.Dir, l.Root)
		}
	}
}

func TestOmnisharp_LaunchWithoutSDK(t *testing.T) {
	_, err := launchOmnisharp(t.Context(), site(t, "OmniSharp"))
	if err == nil || !strings.Contains(err.Error(), "needs the .NET SDK") || !strings.Contains(err.Error(), "dotnet.microsoft.com") {
		t.Error(err)
	}
	s := site(t, "OmniSharp")
	s.Env["PATH"] = "bin:."
	if _, err := launchOmnisharp(t.Context(), s); err == nil {
		t.Error("a folder of the project may decide what runs")
	}
}

func TestLaunchMissing(t *testing.T) {
	for _, e := range New().Engines() {
		if _, err := e.Launch(t.Context(), site(t, "dotnet")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", e.ID, err)
		}
		if !e.Trust || e.Install == "" || e.Version == "" {
			t.Errorf("%s runs code of the workspace, and says how it is installed: %+v", e.ID, e)
		}
	}
}

func TestRoslyn_Launch(t *testing.T) {
	s := site(t, "roslyn-lsp")
	s.Marker = "/w/All.slnx"
	s.Env["LD_PRELOAD"], s.Env["NUGET_PACKAGES"], s.Env["DOTNET_CLI_TELEMETRY_OPTOUT"] = "evil.so", "/packages", "0"
	l, err := launchRoslyn(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.Index(l.Argv, "-s"); i < 0 || l.Argv[i+1] != "/w/All.slnx" {
		t.Errorf("%q", l.Argv)
	}
	env := strings.Join(l.Env, "\n")
	for _, want := range []string{"NUGET_PACKAGES=/packages", "HOME=/home/u", "DOTNET_CLI_TELEMETRY_OPTOUT=1", "MSBUILDDISABLENODEREUSE=1"} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("no %s in\n%s", want, env)
		}
	}
	if strings.Contains(env, "LD_PRELOAD") || l.Named["NUGET_PACKAGES"] != "/packages" || l.Named["PATH"] != "" {
		t.Errorf("named %v, environment\n%s", l.Named, env)
	}
}
