package rust

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// The rust-analyzer that this package was measured with, for machines where
// rustup, whose own fits the toolchain, has none.
const analyzerVersion = "0.0.340"

// analyzer is the Rust project's language server.
func analyzer() adapters.Engine {
	return adapters.Engine{
		ID:        "rust-analyzer",
		Overlooks: "it leaves names that do not resolve and most errors of types to the compiler",
		Roles:     adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Actions | adapters.Diagnose | adapters.Format,
		Trust:     false, // of a workspace that is not trusted it runs nothing: see restricted and settings
		InFlight:  8,
		Ask:       func(bin string) []string { return []string{bin, "--version"} },
		Env:       declared,
		Version:   analyzerVersion,
		Install:   "rustup component add rust-analyzer rust-src, or cargo install ra_ap_rust-analyzer@" + analyzerVersion + " --locked",
		Recipe:    adapters.Install{Client: "rustup", Args: []string{"component", "add", "rust-analyzer", "rust-src"}},
		Launch:    launch,
		New:       newDriver,
		Deadline: map[string]time.Duration{
			"":                             20 * time.Second,
			"textDocument/definition":      60 * time.Second, // the first one may infer a whole crate
			"textDocument/typeDefinition":  60 * time.Second,
			"textDocument/references":      60 * time.Second,
			"textDocument/implementation":  60 * time.Second,
			"textDocument/rename":          60 * time.Second,
			"textDocument/prepareRename":   60 * time.Second,
			"textDocument/diagnostic":      60 * time.Second,
			"callHierarchy/incomingCalls":  60 * time.Second,
			"callHierarchy/outgoingCalls":  60 * time.Second,
			"textDocument/semanticTokens/": 60 * time.Second,
		},
	}
}

// launch resolves rust-analyzer, its environment and its settings for one project.
func launch(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := recipe.Command(site, "rust-analyzer")
	if err != nil {
		return adapters.Launch{}, err
	}
	if err := runs(site, argv[0]); err != nil {
		return adapters.Launch{}, err
	}
	if !site.Trusted {
		if err := restrictable(site); err != nil {
			return adapters.Launch{}, err
		}
	}
	env, named, err := environment(site)
	if err != nil {
		return adapters.Launch{}, err
	}
	if why := unseen(site); why != "" {
		named[unseenKey] = why
	}
	return adapters.Launch{Argv: argv, Dir: site.Root, Root: site.Root, Env: env, Named: named, Settings: settings(site)}, nil
}

// proxy is what a program of rustup's says that stands for one it has not got.
var proxy = regexp.MustCompile(`(?i)unknown binary|not installed|is not applicable|no default toolchain|component`)

// runs refuses a program that was found and does not run: rustup puts a
// rust-analyzer into PATH before anybody has installed one.
func runs(site adapters.Site, bin string) error {
	if site.Version == nil {
		return nil
	}
	if _, err := site.Version(bin); err != nil && proxy.MatchString(err.Error()) {
		return fmt.Errorf("%s was found and does not run: %w; install it with: rustup component add rust-analyzer rust-src", bin, err)
	}
	return nil
}

// projectSettings are files by which a workspace configures rust-analyzer
// itself, before what a client says.
var projectSettings = []string{"rust-analyzer.toml", ".rust-analyzer.toml"}

// restrictable refuses a workspace that is not trusted and could take the
// restrictions back, as its own settings name commands to run.
func restrictable(site adapters.Site) error {
	if site.Read == nil {
		return nil
	}
	for _, dir := range append([]string{site.Root}, site.Members...) {
		for _, name := range projectSettings {
			if _, err := site.Read(filepath.Join(dir, name)); err == nil {
				return fmt.Errorf("%s can make rust-analyzer run commands, and this workspace is not trusted; look at it, then: auractl trust %s",
					filepath.Join(dir, name), site.Root)
			}
		}
	}
	return nil
}

// unseenKey holds in Launch.Named why the server cannot know the whole project.
const unseenKey = "unseen"

// unseen says what a server that may not run the workspace's code cannot know.
func unseen(site adapters.Site) string {
	if site.Trusted || site.Read == nil {
		return ""
	}
	for _, dir := range append([]string{site.Root}, site.Members...) {
		if _, err := site.Read(filepath.Join(dir, "build.rs")); err == nil {
			return "build scripts are not run in a workspace that is not trusted, so code that they write is not known (auractl trust " + site.Root + ")"
		}
	}
	lock, err := site.Read(filepath.Join(site.Root, "Cargo.lock"))
	if err == nil && strings.Contains(string(lock), "name = \"proc-macro2\"") {
		return "procedural macros are not run in a workspace that is not trusted, so code that they write is not known (auractl trust " + site.Root + ")"
	}
	return ""
}

// passed are the settings of rust-analyzer that a user may set: they change
// what is analysed and built, not how Aura and rust-analyzer work together.
var passed = []string{
	"cargo.features", "cargo.noDefaultFeatures", "cargo.allTargets", "cargo.target", "cargo.cfgs", "cargo.extraArgs", "cargo.extraEnv",
	"cargo.sysroot", "cargo.sysrootSrc", "cargo.buildScripts.enable", "cfg.setTest", "procMacro.enable", "procMacro.ignored", "rustc.source",
	"numThreads", "lru.capacity", "files.exclude", "cachePriming.enable",
}

// settings are what rust-analyzer is told at the handshake and when it asks: no
// editor features, no checks of its own, and a build folder that neither the
// user's builds nor ours wait for.
func settings(site adapters.Site) map[string]any {
	out := map[string]any{
		"checkOnSave":  false,
		"cachePriming": map[string]any{"enable": true}, // a wait that shows its progress, instead of a first answer that takes as long
		"cargo": map[string]any{
			"targetDir":    targetDir(site),
			"features":     "all",                        // code behind a feature that is off is renamed with the rest
			"cfgs":         []string{"debug_assertions"}, // by default it looks at the code for miri, and not at that for everybody else
			"buildScripts": map[string]any{"enable": site.Trusted},
		},
		"procMacro":     map[string]any{"enable": site.Trusted},
		"files":         map[string]any{"watcher": "client"},
		"workspace":     map[string]any{"symbol": map[string]any{"search": map[string]any{"kind": "all_symbols", "limit": 5000, "scope": "workspace"}}},
		"lens":          map[string]any{"enable": false},
		"notifications": map[string]any{"cargoTomlNotFound": false},
		"completion":    map[string]any{"limit": 1},
	}
	switch filepath.Base(site.Marker) {
	case "Cargo.toml", "rust-project.json":
		out["linkedProjects"] = []string{site.Marker}
	}
	if site.Setting == nil {
		return out
	}
	for _, key := range passed {
		v, ok := site.Setting(key)
		if !ok || !site.Trusted && (key == "cargo.buildScripts.enable" || key == "procMacro.enable" || key == "cargo.extraArgs") {
			continue
		}
		put(out, strings.Split(key, "."), v)
	}
	return out
}

// put sets a value of nested objects.
func put(object map[string]any, path []string, v any) {
	if len(path) == 1 {
		object[path[0]] = v
		return
	}
	inner, ok := object[path[0]].(map[string]any)
	if !ok {
		inner = map[string]any{}
	}
	inner = maps.Clone(inner)
	put(inner, path[1:], v)
	object[path[0]] = inner
}

// targetDir is where the server builds what it needs of macros and scripts.
func targetDir(site adapters.Site) any {
	if site.Scratch == "" {
		return true // a folder of its own below the project's
	}
	return filepath.Join(site.Scratch, "rust-analyzer-"+short(site.Root))
}
