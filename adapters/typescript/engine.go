package typescript

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// The programs that Aura installs, and the oldest of each that answers as this
// package expects: typescript-language-server leaves watching files to its
// client since 5.2, and tsserver lets itself be told of them since 5.4.4.
const (
	program        = "typescript-language-server"
	serverVersion  = "5.3.0"
	serverOldest   = "5.2.0"
	compiler       = "6.0.3"
	compilerOldest = "5.4.4"
	compilerNative = "7.0.0" // the first without a tsserver
)

// declared are the variables of the client that node and its child depend on.
// What loads code into node (NODE_OPTIONS, NODE_PATH) is none of them.
var declared = []string{"LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME"}

// Engines implements adapters.Adapter.
func (*Adapter) Engines() []adapters.Engine { return []adapters.Engine{server()} }

// server is typescript-language-server, which turns LSP into the protocol of
// TypeScript's own tsserver, its child.
func server() adapters.Engine {
	packages := []string{program + "@" + serverVersion, "typescript@" + compiler}
	return adapters.Engine{
		ID:    program,
		Roles: adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Actions | adapters.Diagnose | adapters.Format,
		// It runs nothing of the workspace: an untrusted one is read by the tsserver
		// that Aura pins, with plugins and the fetching of types off.
		Trust:    false,
		InFlight: 2, // tsserver answers one after the other; the second waits in its queue instead of ours
		// It answers only about documents that are open, and a project exists only
		// while one of its documents is.
		OpenAsked: true,
		Env:       declared,
		Version:   serverVersion,
		Ask:       func(bin string) []string { return []string{bin, "--version"} },
		Install:   "npm install -g " + packages[0] + " " + packages[1],
		Recipe: adapters.Install{
			Client: "npm",
			Args: append([]string{"install", "--prefix", "{dir}/" + program, "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"},
				packages...),
			Binary: program + "/node_modules/.bin/" + program,
		},
		Launch:   launch,
		New:      newDriver,
		Deadline: deadlines(),
	}
}

// deadlines leave time for the projects that a question makes tsserver load.
func deadlines() map[string]time.Duration {
	// tsserver cannot be interrupted: what a check of planned text began it ends
	// before it takes the old text back, and starting it anew takes longer.
	out := map[string]time.Duration{"": 60 * time.Second, "restore": 60 * time.Second}
	for _, method := range []string{
		"textDocument/references", "textDocument/implementation", "textDocument/rename", "textDocument/prepareRename",
		"callHierarchy/incomingCalls", "workspace/willRenameFiles",
	} {
		out[method] = 120 * time.Second
	}
	return out
}

// launch resolves the server, node and the tsserver that it runs.
func launch(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := recipe.Command(site, program, "--stdio")
	if err != nil {
		return adapters.Launch{}, err
	}
	node, err := find(site.Env["PATH"], "node")
	if err != nil {
		return adapters.Launch{}, fmt.Errorf("%s needs Node.js 20 or later: %w; install it from https://nodejs.org", program, err)
	}
	if site.Version != nil {
		if v, err := site.Version(argv[0]); err == nil && older(v, serverOldest) {
			return adapters.Launch{}, fmt.Errorf("%s is version %s, and the oldest that can be used is %s", argv[0], v, serverOldest)
		}
	}
	chosen, err := chooseCompiler(site, argv[0])
	if err != nil {
		return adapters.Launch{}, err
	}
	named := map[string]string{}
	for _, name := range declared {
		if v, ok := site.Env[name]; ok {
			named[name] = v
		}
	}
	vars := maps.Clone(named)
	named["node"], named["tsserver"] = node, chosen.tsserver
	for _, name := range []string{"HOME", "PATH"} {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	var env []string
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return adapters.Launch{
		Argv: argv, Dir: site.Root, Root: site.Root, Env: env, Named: named,
		Settings: settings(site, chosen.tsserver), Notes: []string{chosen.why},
		Beside: beside(site),
	}, nil
}

// beside are the files in which package managers note what they installed, in
// the folders where packages are looked for: nobody tells of those, and what
// was not found is not looked for again.
func beside(site adapters.Site) []string {
	var out []string
	for dir := site.Root; dir != filepath.Dir(dir) && dir != site.Env["HOME"]; dir = filepath.Dir(dir) {
		for _, name := range []string{".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"} {
			out = append(out, filepath.Join(dir, "node_modules", name))
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			break
		}
	}
	return out
}

// settings are the initializationOptions.
func settings(site adapters.Site, tsserver string) map[string]any {
	memory := any(4096) // MiB of V8's heap
	if site.Setting != nil {
		if v, ok := site.Setting("maxTsServerMemory"); ok {
			memory = v
		}
	}
	tss := map[string]any{
		"path": tsserver,
		// A second tsserver that knows syntax only answers while the first loads:
		// with the references of one file, as if there were no others.
		"useSyntaxServer": "never",
		// Its own watcher sees changes up to seconds later than we can tell it.
		"useClientFileWatcher": true,
		"logVerbosity":         "off",
	}
	if site.Scratch != "" {
		tss["logDirectory"] = filepath.Join(site.Scratch, program) // it would be below the workspace
	}
	return map[string]any{
		"hostInfo":                          "aura",
		"disableAutomaticTypingAcquisition": true,
		"maxTsServerMemory":                 memory,
		"tsserver":                          tss,
		"supportsMoveToFileCodeAction":      true,
		"completionDisableFilterText":       true,
		"supportsHoverVerbosity":            false,
		"preferences": map[string]any{
			// `{ name }` becomes `{ name: renamed }` instead of another property.
			"providePrefixAndSuffixTextForRename":      true,
			"allowRenameOfImportPath":                  false,
			"importModuleSpecifierPreference":          "shortest",
			"provideRefactorNotApplicableReason":       true,
			"excludeLibrarySymbolsInNavTo":             true,
			"includePackageJsonAutoImports":            "off",
			"disableLineTextInReferences":              true,
			"includeCompletionsForModuleExports":       false,
			"includeCompletionsWithInsertText":         false,
			"includeAutomaticOptionalChainCompletions": false,
		},
	}
}

// find returns the absolute path of a program in a PATH.
func find(path, name string) (string, error) {
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
