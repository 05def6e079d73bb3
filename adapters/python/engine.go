package python

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// The pyright that Aura installs, and the oldest that answers as this package
// expects: those before it load nothing until their configuration changes.
const (
	pyrightVersion = "1.1.414"
	pyrightOldest  = "1.1.410"
	pyrightServer  = "pyright-langserver"
)

// pyright is the type checker whose server tells what Python code means.
func pyright() adapters.Engine {
	return adapters.Engine{
		ID:      "pyright",
		Program: pyrightServer,
		Roles:   adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Diagnose,
		// It runs an interpreter to learn where modules lie, and launch gives it
		// none of the workspace that is not trusted.
		Trust:    false,
		InFlight: 4, // light requests overtake heavy ones
		// The server program asks for its protocol's options and knows no other;
		// the command line tool beside it is the same release.
		Ask: func(bin string) []string {
			return []string{filepath.Join(filepath.Dir(bin), "pyright"), "--version"}
		},
		// It looks through the files that it was told to check and those that are
		// open, and says nothing of what is wrong in others.
		OpenAsked: true,
		Env:       declared,
		Version:   pyrightVersion,
		Install:   "npm install --prefix ~/.local pyright@" + pyrightVersion + " && export PATH=~/.local/node_modules/.bin:$PATH",
		Recipe: adapters.Install{
			Client: "npm",
			Args:   []string{"install", "--no-audit", "--no-fund", "--prefix", "{dir}/pyright", "pyright@" + pyrightVersion},
			Binary: "pyright/node_modules/.bin/" + pyrightServer,
		},
		Launch: launch,
		New:    newDriver,
		Deadline: map[string]time.Duration{
			"":                            20 * time.Second,
			"textDocument/references":     120 * time.Second,
			"textDocument/rename":         120 * time.Second,
			"textDocument/diagnostic":     60 * time.Second,
			"callHierarchy/incomingCalls": 120 * time.Second,
			"callHierarchy/outgoingCalls": 60 * time.Second,
		},
	}
}

// launch resolves pyright, the interpreter and the settings for one project.
func launch(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := recipe.Command(site, pyrightServer, "--stdio")
	if err != nil {
		return adapters.Launch{}, err
	}
	if err := checkNode(site, argv[0]); err != nil {
		return adapters.Launch{}, err
	}
	if err := checkVersion(site, argv[0]); err != nil {
		return adapters.Launch{}, err
	}
	in := findInterpreter(site)
	env, named := environment(site, in)
	return adapters.Launch{
		Argv: argv, Dir: site.Root, Root: site.Root,
		Env: env, Named: named, Settings: settings(site, in), Notes: in.notes(), Beside: beside(site, in),
	}, nil
}

// checkNode tells that Node.js is missing before a script that needs it fails
// without a word.
func checkNode(site adapters.Site, bin string) error {
	f, err := os.Open(bin)
	if err != nil {
		return nil // starting it says why
	}
	head := make([]byte, 64)
	n, rerr := f.Read(head)
	if err := f.Close(); err != nil || rerr != nil {
		return nil
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) || !bytes.HasSuffix(bytes.TrimSpace(line), []byte("env node")) {
		return nil
	}
	if _, err := program(site.Env["PATH"], "", "node"); err != nil {
		return fmt.Errorf("pyright needs Node.js: %w; install it from https://nodejs.org", err)
	}
	return nil
}

// checkVersion refuses a pyright that is too old to be right. One that does not
// say its version is taken as it is.
func checkVersion(site adapters.Site, bin string) error {
	if site.Version == nil {
		return nil
	}
	v, err := site.Version(bin)
	if err != nil || v == "" {
		return nil
	}
	if older(v, pyrightOldest) {
		return fmt.Errorf("%s is pyright %s, and the oldest that can be used is %s", bin, v, pyrightOldest)
	}
	return nil
}

// older reports whether a version of numbers and dots comes before another; one
// of another form does not.
func older(version, than string) bool {
	have, want := strings.Split(version, "."), strings.Split(than, ".")
	for i := range min(len(have), len(want)) {
		a, aerr := strconv.Atoi(have[i])
		b, berr := strconv.Atoi(want[i])
		if aerr != nil || berr != nil || a > b {
			return false
		}
		if a < b {
			return true
		}
	}
	return false
}

// analysis are the settings of python.analysis that a user may set: they change
// what is found and reported, not how Aura and pyright work together.
var analysis = []string{
	"extraPaths", "stubPath", "typeshedPaths", "exclude", "include", "ignore",
	"typeCheckingMode", "diagnosticSeverityOverrides", "useLibraryCodeForTypes",
}

// settings is what pyright gets for the sections that it asks for. Each one
// that is left out here would be off: without autoSearchPaths it does not look
// for packages in src.
func settings(site adapters.Site, in interpreter) map[string]any {
	a := map[string]any{
		"autoSearchPaths":        true,
		"useLibraryCodeForTypes": true,
		"diagnosticMode":         "openFilesOnly",
		"logLevel":               "Information", // the end of loading is said there
	}
	python := map[string]any{"analysis": a}
	if in.path != "" {
		python["pythonPath"] = in.path
	}
	if len(in.packages) > 0 {
		a["extraPaths"] = in.packages
	}
	if site.Setting != nil {
		for _, key := range analysis {
			if v, ok := site.Setting(key); ok {
				a[key] = v
			}
		}
		if v, ok := site.Setting("venvPath"); ok {
			python["venvPath"] = v
		}
	}
	return map[string]any{
		"python":  python,
		"pyright": map[string]any{"disableLanguageServices": false, "disableOrganizeImports": true},
	}
}
