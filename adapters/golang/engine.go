package golang

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/semver"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// The gopls that Aura installs, and the oldest that answers as this package
// expects: since v0.18 it knows the type hierarchy of Go.
const (
	goplsVersion = "v0.23.0"
	goplsOldest  = "v0.18.0"
	goplsPackage = "golang.org/x/tools/gopls"
)

// gopls is the Go team's language server.
func gopls() adapters.Engine {
	install := goplsPackage + "@" + goplsVersion
	return adapters.Engine{
		ID:       "gopls",
		Roles:    adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Actions | adapters.Diagnose | adapters.Format,
		Trust:    false,
		InFlight: 2, // it answers one after the other; the second waits in its queue instead of ours
		// It keeps the types of packages that have an open file: references to a
		// popular type take 4 ms then, and 80 ms otherwise.
		OpenAsked: true,
		Env:       declared,
		Version:   goplsVersion,
		Install:   "go install " + install,
		Recipe: adapters.Install{
			Client: "go",
			Args:   []string{"install", install},
			Env:    []string{"GOBIN={dir}/bin", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0"},
			Binary: "bin/gopls",
		},
		Launch: launch,
		New:    newDriver,
		Deadline: map[string]time.Duration{
			"":                            20 * time.Second,
			"textDocument/references":     60 * time.Second,
			"textDocument/implementation": 60 * time.Second,
			"textDocument/rename":         60 * time.Second,
			"textDocument/prepareRename":  30 * time.Second,
			"callHierarchy/incomingCalls": 60 * time.Second,
			"typeHierarchy/subtypes":      60 * time.Second,
			"typeHierarchy/supertypes":    60 * time.Second,
		},
	}
}

// launch resolves gopls, its environment and its settings for one project.
func launch(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := recipe.Command(site, "gopls", "serve")
	if err != nil {
		return adapters.Launch{}, err
	}
	if err := checkVersion(site, argv[0]); err != nil {
		return adapters.Launch{}, err
	}
	env, named, err := environment(site)
	if err != nil {
		return adapters.Launch{}, err
	}
	return adapters.Launch{
		Argv: argv, Dir: site.Root, Root: site.Root,
		Env: env, Named: named, Settings: settings(site),
	}, nil
}

// checkVersion refuses a gopls that is too old to be right. One that does not
// say its version is taken as it is: it may be built from source.
func checkVersion(site adapters.Site, bin string) error {
	if site.Version == nil {
		return nil
	}
	v, err := site.Version(bin)
	if err != nil || v == "" {
		return nil
	}
	if v[0] != 'v' {
		v = "v" + v
	}
	if semver.IsValid(v) && semver.Compare(v, goplsOldest) < 0 {
		return fmt.Errorf("%s is gopls %s, and the oldest that can be used is %s", bin, v, goplsOldest)
	}
	return nil
}

// passed are the settings of gopls that a user may set: they change what is
// analysed and built, not how Aura and gopls work together.
var passed = []string{"buildFlags", "env", "directoryFilters", "local", "gofumpt", "analyses", "staticcheck", "standaloneTags", "templateExtensions"}

// settings are what gopls is told at the handshake and when it asks
// (gopls/doc/settings.md): no editor features, nothing that asks a person.
func settings(site adapters.Site) map[string]any {
	out := map[string]any{
		"symbolScope":               "workspace",
		"symbolMatcher":             "CaseSensitive",
		"symbolStyle":               "Full",
		"vulncheck":                 "Off",
		"codelenses":                map[string]any{},
		"semanticTokens":            false,
		"analysisProgressReporting": false,
		// Findings are pulled. Those that gopls would push by itself mean an analysis
		// of the module after each change, while somebody waits for an answer.
		"diagnosticsDelay":       "1h",
		"renameMovesSubpackages": false,
		"pullDiagnostics":        true,
		"directoryFilters":       []string{"-**/node_modules"},
	}
	if site.Setting == nil {
		return out
	}
	for _, key := range passed {
		if v, ok := site.Setting(key); ok {
			out[key] = v
		}
	}
	return out
}

// program returns the absolute path of a program in a PATH.
func program(path, name string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a folder of the project must not decide what runs
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("no program %q in PATH", name)
}
