package csharp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
)

// The engines' ids, as recipes ask for them.
const (
	omnisharpID = "omnisharp"
	roslynID    = "roslyn-lsp"
)

// The releases that the recordings and tests of this package are about.
const (
	omnisharpVersion = "v1.39.15"
	roslynVersion    = "1.0.0"
)

// Engines implements adapters.Adapter: OmniSharp where it is installed, else
// the stand-in.
func (*Adapter) Engines() []adapters.Engine {
	return []adapters.Engine{omnisharp(), roslyn()}
}

// omnisharp is OmniSharp in its LSP mode. It knows neither call hierarchy nor
// type hierarchy; recipes make them.
func omnisharp() adapters.Engine {
	return adapters.Engine{
		ID:       omnisharpID,
		Program:  "OmniSharp",
		Roles:    adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Actions | adapters.Diagnose | adapters.Format,
		Trust:    true, // MSBuild evaluates the projects and runs their design-time targets
		InFlight: 4,
		Env:      declared,
		Version:  omnisharpVersion,
		Ask:      func(bin string) []string { return []string{bin, "--help"} }, // it has no question for its version
		Install:  "unpack omnisharp-linux-x64-net6.0.tar.gz of https://github.com/OmniSharp/omnisharp-roslyn/releases/tag/" + omnisharpVersion + " and put its program OmniSharp into PATH; it also needs the .NET SDK",
		Launch:   launchOmnisharp,
		New:      newOmnisharp,
		Deadline: within(10 * time.Minute),
	}
}

// roslyn is a small server on the Roslyn of the .NET SDK.
func roslyn() adapters.Engine {
	return adapters.Engine{
		ID:       roslynID,
		Roles:    adapters.Navigate | adapters.RenameRole | adapters.Hierarchy | adapters.Actions | adapters.Diagnose | adapters.Format,
		Trust:    true, // it restores and evaluates the projects
		InFlight: 4,
		Env:      declared,
		Version:  roslynVersion,
		Ask:      func(bin string) []string { return []string{bin, "--version"} },
		Install:  "make tools, with the C# bundle beside the checkout",
		Launch:   launchRoslyn,
		New:      newRoslyn,
		Deadline: within(time.Minute),
	}
}

// within returns the deadlines of an engine, which compiles what a question
// needs when it is asked. start is that of the handshake, which OmniSharp
// answers when it has loaded everything: minutes for a large solution.
func within(start time.Duration) map[string]time.Duration {
	const slow = 90 * time.Second
	out := map[string]time.Duration{"": 30 * time.Second, "initialize": start}
	for _, method := range []string{
		"textDocument/references", "textDocument/implementation", "textDocument/rename", "textDocument/definition",
		"callHierarchy/incomingCalls", "callHierarchy/outgoingCalls", "typeHierarchy/subtypes", "typeHierarchy/supertypes",
		"textDocument/diagnostic",
	} {
		out[method] = slow
	}
	return out
}

// declared are the variables of the client by which a server finds the SDK and
// packages, or evaluates projects otherwise: MSBuild takes any variable for a
// property, so only those that people set for it are passed.
var declared = []string{
	"DOTNET_ROOT", "DOTNET_ROOT_X64", "DOTNET_HOST_PATH", "DOTNET_CLI_HOME", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "DOTNET_ROLL_FORWARD",
	"MSBuildSDKsPath", "MSBuildExtensionsPath", "Configuration", "Platform", "TargetFramework", "RestoreConfigFile", "RestoreSources",
	"NUGET_PACKAGES", "NUGET_HTTP_CACHE_PATH", "NUGET_FALLBACK_PACKAGES", "NUGET_CREDENTIALPROVIDERS_PATH", "VSS_NUGET_EXTERNAL_FEED_ENDPOINTS",
	"OMNISHARPHOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "TMPDIR",
}

// quiet are the variables that keep .NET from telling its maker of each run
// and from leaving processes behind that outlive the server.
var quiet = map[string]string{
	"DOTNET_CLI_TELEMETRY_OPTOUT":               "1",
	"DOTNET_NOLOGO":                             "1",
	"DOTNET_SKIP_FIRST_TIME_EXPERIENCE":         "1",
	"DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE": "1",
	"DOTNET_CLI_USE_MSBUILD_SERVER":             "0",
	"DOTNET_GENERATE_ASPNET_CERTIFICATE":        "0",
	"MSBUILDDISABLENODEREUSE":                   "1",
	"UseSharedCompilation":                      "false",
}

// environment returns the child's complete environment, and the part of it by
// which instances differ.
func environment(site adapters.Site) (env []string, named map[string]string) {
	named = map[string]string{}
	for _, name := range declared {
		if v, ok := site.Env[name]; ok {
			named[name] = v
		}
	}
	vars := maps.Clone(named)
	maps.Copy(vars, quiet)
	for _, name := range []string{"HOME", "PATH"} {
		if v, ok := site.Env[name]; ok {
			vars[name] = v
		}
	}
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env, named
}

// sdk returns the dotnet program that a server will use, or an error that says
// how to get one: without an SDK a server starts and knows no project.
func sdk(site adapters.Site) (string, error) {
	if root := site.Env["DOTNET_ROOT"]; filepath.IsAbs(root) {
		if file := filepath.Join(root, "dotnet"); runs(file) {
			return file, nil
		}
	}
	for _, dir := range filepath.SplitList(site.Env["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue // a folder of the project must not decide what runs
		}
		if file := filepath.Join(dir, "dotnet"); runs(file) {
			return file, nil
		}
	}
	return "", errors.New("a C# server needs the .NET SDK, and there is no dotnet in DOTNET_ROOT or PATH; install it from https://dotnet.microsoft.com/download")
}

func runs(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// command returns the program that the user configured, or the first of the
// names that is found.
func command(site adapters.Site, names ...string) ([]string, error) {
	if len(site.Command) > 0 {
		return slices.Clone(site.Command), nil
	}
	if site.Look == nil {
		return nil, fmt.Errorf("%s is not configured", names[0])
	}
	var first error
	for _, name := range names {
		bin, err := site.Look(name)
		if err == nil {
			return []string{bin}, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// launchOmnisharp resolves OmniSharp. It ignores the root of the handshake;
// what it loads is said by -s, which must be a .sln or a folder: with a project
// file or a .slnx it never answers initialize.
func launchOmnisharp(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := command(site, "OmniSharp", "omnisharp")
	if err != nil {
		return adapters.Launch{}, err
	}
	if _, err := sdk(site); err != nil {
		return adapters.Launch{}, err
	}
	source := site.Root
	if strings.EqualFold(filepath.Ext(site.Marker), ".sln") {
		source = site.Marker
	}
	argv = append(argv, "-lsp", "-s", source)
	// What the user's files say of the server is for editors; these keep the
	// answers whole.
	argv = append(argv,
		"MsBuild:LoadProjectsOnDemand=false",
		"RoslynExtensionsOptions:EnableDecompilationSupport=false",
		"RenameOptions:RenameInComments=false",
		"RenameOptions:RenameInStrings=false",
		"RenameOptions:RenameOverloads=false",
	)
	env, named := environment(site)
	return adapters.Launch{Argv: argv, Dir: site.Root, Root: site.Root, Env: env, Named: named}, nil
}

// launchRoslyn resolves the stand-in. A solution is named, as it would take the
// first of a folder.
func launchRoslyn(_ context.Context, site adapters.Site) (adapters.Launch, error) {
	argv, err := command(site, roslynID)
	if err != nil {
		return adapters.Launch{}, err
	}
	source := site.Root
	if site.Marker != "" && strings.ToLower(filepath.Ext(site.Marker)) != ".csproj" {
		source = site.Marker
	}
	argv = append(argv, "-lsp", "-s", source)
	env, named := environment(site)
	settings := map[string]any{
		"pushDiagnostics": false,
		"analyzers":       true,
		"restore":         true,
	}
	if site.Setting != nil {
		for _, key := range []string{"restore", "analyzers"} {
			if v, ok := site.Setting(key); ok {
				settings[key] = v
			}
		}
	}
	return adapters.Launch{Argv: argv, Dir: site.Root, Root: site.Root, Env: env, Named: named, Settings: settings}, nil
}
