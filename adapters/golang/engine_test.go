package golang

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// site is a Site with a go command and a gopls that nobody runs.
func site(t *testing.T, root string) adapters.Site {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"go", "gopls"} {
		if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return adapters.Site{
		Root: root, Trusted: true, Scratch: t.TempDir(), Read: os.ReadFile,
		Env:  map[string]string{"PATH": bin, "HOME": "/home/u"},
		Look: func(name string) (string, error) { return filepath.Join(bin, name), nil },
	}
}

func TestLaunch(t *testing.T) {
	s := site(t, "/m")
	s.Env["GOFLAGS"], s.Env["LD_PRELOAD"] = "-tags=x", "evil.so"
	s.Setting = func(key string) (any, bool) {
		return map[string]any{"buildFlags": []string{"-tags=y"}, "codelenses": "hidden", "evil": 1}[key], key == "buildFlags" || key == "evil"
	}
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(l.Argv[0]) != "gopls" || l.Argv[1] != "serve" || l.Dir != "/m" {
		t.Errorf("%q in %s", l.Argv, l.Dir)
	}
	env := strings.Join(l.Env, "\n")
	for _, want := range []string{"GOFLAGS=-tags=x", "HOME=/home/u", "GOENV=/home/u/.config/go/env"} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("no %s in\n%s", want, env)
		}
	}
	if strings.Contains(env, "LD_PRELOAD") {
		t.Errorf("an undeclared variable went through:\n%s", env)
	}
	settings, ok := l.Settings.(map[string]any)
	if !ok || settings["vulncheck"] != "Off" || settings["evil"] != nil || !cmp.Equal(settings["buildFlags"], []string{"-tags=y"}) {
		t.Errorf("settings: %v", l.Settings)
	}
	if l.Named["GOFLAGS"] != "-tags=x" || filepath.Base(l.Named["go"]) != "go" || l.Named["PATH"] != "" {
		t.Errorf("named: %v", l.Named)
	}
	// Telemetry is off in a folder of ours, and the user's is not touched.
	config := l.Env[slices.IndexFunc(l.Env, func(v string) bool { return strings.HasPrefix(v, "XDG_CONFIG_HOME=") })]
	mode, err := os.ReadFile(filepath.Join(strings.TrimPrefix(config, "XDG_CONFIG_HOME="), "go", "telemetry", "mode"))
	if err != nil || !strings.HasPrefix(string(mode), "off") || !strings.HasPrefix(config, "XDG_CONFIG_HOME="+s.Scratch) {
		t.Errorf("%s: %q, %v", config, mode, err)
	}
	// The same again finds everything in place.
	if again, err := launch(t.Context(), s); err != nil || !cmp.Equal(l.Env, again.Env) {
		t.Errorf("a second launch differs: %v, %v", err, cmp.Diff(l.Env, again.Env))
	}
}

func TestM02_LaunchUntrusted(t *testing.T) {
	s := site(t, "/m")
	s.Trusted = false
	s.Env["GOFLAGS"], s.Env["GOTOOLCHAIN"], s.Env["CGO_ENABLED"] = "-toolexec=/tmp/x", "auto", "1"
	l, err := launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOPROXY=off", "GOPACKAGESDRIVER=off"} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("no %s in %q", want, l.Env)
		}
	}
}

// TestM02_UntrustedRunsNothing has a compiler that tells when it runs: loading a
// package that uses cgo runs it, unless the workspace is not trusted.
func TestM02_UntrustedRunsNothing(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		root := unpack(t, "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n-- m.go --\npackage m\n\n// int x;\nimport \"C\"\n\nvar X = C.x\n-- n/n.go --\npackage n\n\nfunc F() {}\n")
		canary := filepath.Join(t.TempDir(), "ran")
		cc := filepath.Join(t.TempDir(), "cc")
		if err := os.WriteFile(cc, []byte("#!/bin/sh\n: > '"+canary+"'\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		b := open(t, root, func(s *adapters.Site) {
			s.Trusted = trusted
			s.Env["CC"], s.Env["CGO_ENABLED"], s.Env["GOFLAGS"] = cc, "1", ""
			s.Env["GOCACHE"] = t.TempDir()
		})
		// The answer shows that the packages were loaded.
		found, err := b.a.Recipes().References.Run(t.Context(), b, adapters.Target{Symbol: b.find(t, "n.F")})
		if err != nil || len(found.Hits) != 1 {
			t.Errorf("trusted %v: %v, %v", trusted, found.Hits, err)
		}
		_, err = os.Stat(canary)
		if ran := err == nil; ran != trusted {
			t.Errorf("trusted %v: the compiler ran: %v (%v)", trusted, ran, err)
		}
	}
}

func TestLaunchRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*adapters.Site)
		says   string
	}{
		"no gopls": {func(s *adapters.Site) {
			s.Look = func(string) (string, error) { return "", errors.New("gopls is nowhere") }
		}, "gopls is nowhere"},
		"no go":           {func(s *adapters.Site) { s.Env["PATH"] = "/nowhere" }, "gopls needs the go command"},
		"go of the tree":  {func(s *adapters.Site) { s.Env["PATH"] = "." }, "gopls needs the go command"},
		"a gopls too old": {func(s *adapters.Site) { s.Version = func(string) (string, error) { return "v0.11.0", nil } }, "the oldest that can be used"},
	} {
		s := site(t, "/m")
		c.change(&s)
		if _, err := launch(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, version := range []string{"v0.23.0", "0.24.1", "(devel)", "", "v1.0.0"} {
		s := site(t, "/m")
		s.Version = func(string) (string, error) { return version, nil }
		if _, err := launch(t.Context(), s); err != nil {
			t.Errorf("version %q: %v", version, err)
		}
	}
	s := site(t, "/m")
	s.Command = []string{"/opt/gopls", "-rpc.trace", "serve"}
	if l, err := launch(t.Context(), s); err != nil || !cmp.Equal(l.Argv, s.Command) {
		t.Errorf("the user's command: %q, %v", l.Argv, err)
	}
}

func TestGoWork(t *testing.T) {
	root := unpack(t, `
-- go.work --
go 1.26

use ./a
-- a/go.mod --
module a
-- c/go.mod --
module c

go 1.25.3
-- d/go.mod --
module d
`)
	value := func(s adapters.Site) string {
		t.Helper()
		l, err := launch(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return l.Named["GOWORK"]
	}
	s := site(t, root)
	s.Marker = filepath.Join(root, "go.work")
	if v := value(s); v != "" {
		t.Errorf("a go.work of the tree: GOWORK=%s", v)
	}
	s = site(t, filepath.Join(root, "a"))
	s.Marker = filepath.Join(root, "a", "go.mod")
	if v := value(s); v != "" {
		t.Errorf("a member alone: GOWORK=%s", v)
	}
	s = site(t, filepath.Join(root, "c"))
	s.Marker = filepath.Join(root, "c", "go.mod")
	if v := value(s); v != "off" {
		t.Errorf("a module that the go.work does not list: GOWORK=%s", v)
	}
	s = site(t, root)
	s.Members = []string{filepath.Join(root, "c"), filepath.Join(root, "d")}
	work := value(s)
	content, err := os.ReadFile(work)
	if err != nil || !strings.HasPrefix(work, s.Scratch) {
		t.Fatalf("GOWORK=%s: %v", work, err)
	}
	for _, want := range []string{"go 1.25.3", filepath.Join(root, "c"), filepath.Join(root, "d")} {
		if !strings.Contains(string(content), want) {
			t.Errorf("no %q in the private go.work:\n%s", want, content)
		}
	}
	s.Env["GOWORK"] = "/the/users/go.work"
	if v := value(s); v != "/the/users/go.work" {
		t.Errorf("the user's GOWORK became %s", v)
	}
}

func TestObserve(t *testing.T) {
	progress := func(token, kind, title, message string) adapters.Event {
		params, err := json.Marshal(map[string]any{"token": token, "value": map[string]string{"kind": kind, "title": title, "message": message}})
		if err != nil {
			t.Fatal(err)
		}
		return adapters.Event{Kind: adapters.Notification, Method: "$/progress", Params: params}
	}
	begin := func(token string) adapters.Event {
		return progress(token, "begin", "Setting up workspace", "Loading packages...")
	}
	end := func(token string) adapters.Event { return progress(token, "end", "", "Finished loading packages.") }
	for name, c := range map[string]struct {
		events []adapters.Event
		want   adapters.State
		says   string
	}{
		"nothing yet":          {nil, adapters.Loading, "starting"},
		"handshake only":       {[]adapters.Event{{Kind: adapters.Initialized}}, adapters.Loading, "starting"},
		"loading":              {[]adapters.Event{begin("1")}, adapters.Loading, "loading packages"},
		"loaded":               {[]adapters.Event{begin("1"), end("1")}, adapters.Ready, ""},
		"one folder of two":    {[]adapters.Event{begin("1"), begin("2"), end("1")}, adapters.Loading, "loading"},
		"both folders":         {[]adapters.Event{begin("1"), begin("2"), end("1"), end("2")}, adapters.Ready, ""},
		"other work goes on":   {[]adapters.Event{begin("1"), end("1"), progress("3", "begin", "Testing", "")}, adapters.Ready, ""},
		"failed":               {[]adapters.Event{begin("1"), progress("1", "end", "", "Error loading packages: no go")}, adapters.Broken, "no go"},
		"failed, then loaded":  {[]adapters.Event{begin("1"), progress("1", "end", "", "Error loading packages"), begin("2"), end("2")}, adapters.Ready, ""},
		"a standing error":     {[]adapters.Event{begin("1"), end("1"), progress("9", "begin", "Error loading workspace", "go.mod is broken")}, adapters.Broken, "go.mod is broken"},
		"an error is repaired": {[]adapters.Event{begin("1"), end("1"), progress("9", "begin", "Error loading workspace", "x"), progress("9", "end", "", "Done.")}, adapters.Ready, ""},
		"junk":                 {[]adapters.Event{begin("1"), end("1"), {Kind: adapters.Notification, Method: "$/progress", Params: []byte("{")}}, adapters.Ready, ""},
	} {
		d := newDriver(adapters.Launch{})
		var got adapters.Readiness
		moves := uint64(0)
		for _, e := range append([]adapters.Event{{Kind: adapters.Tick}}, c.events...) {
			got = d.Observe(e)
			if got.Progress < moves {
				t.Errorf("%s: progress went back from %d to %d", name, moves, got.Progress)
			}
			moves = got.Progress
		}
		if got.State != c.want || !strings.Contains(got.Waiting, c.says) {
			t.Errorf("%s: %+v, want state %d and %q", name, got, c.want, c.says)
		}
	}
}

func TestMirror(t *testing.T) {
	d := newDriver(adapters.Launch{Settings: "s"})
	got, err := json.Marshal(d.Mirror([]adapters.FileChange{
		{Path: "/m/a b+(ü).go"}, {Path: "/m/go.mod", Created: true}, {Path: "/m/go.sum", Deleted: true}, {Path: "/m/README.md"}, {Path: "/m/go.work"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"Method":"workspace/didChangeWatchedFiles","Params":{"changes":[` +
		`{"uri":"file:///m/a%20b+%28%C3%BC%29.go","type":2},{"uri":"file:///m/go.mod","type":1},{"uri":"file:///m/go.sum","type":3},{"uri":"file:///m/go.work","type":2}]}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if m := d.Mirror([]adapters.FileChange{{Path: "/m/README.md"}}); m != nil {
		t.Errorf("told of a file that is not Go: %v", m)
	}
	if d.Configure("gopls", "") != "s" || d.Configure("other", "") != nil {
		t.Error("wrong configuration")
	}
	if d.Overlay() != adapters.Edits|adapters.Creates|adapters.Moves {
		t.Error("wrong overlay")
	}
}
