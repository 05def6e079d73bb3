package csharp

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/lspclient/text"
)

var _ adapters.Builder = (*Adapter)(nil)

// Checks implements adapters.Builder: "dotnet build" of the solution, or of the
// projects that no other one of theirs references. In a shadow it builds on
// what the user has built, which is a layer below; in place it writes into a
// folder of Aura's own.
func (*Adapter) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]adapters.Check, error) {
	if p.Marker == "" {
		return nil, nil // files of no project: nothing says how they are compiled
	}
	targets, projects, err := built(ctx, s, p)
	if err != nil {
		return nil, err
	}
	restored := !slices.ContainsFunc(changed, projectInput)
	for _, file := range projects {
		assets, err := recipe.ReadOptional(ctx, s, filepath.Join(filepath.Dir(file), "obj", "project.assets.json"))
		if err != nil {
			return nil, err
		}
		restored = restored && assets != nil
	}
	var out []adapters.Check
	for _, target := range targets {
		out = append(out, check(ctx, s, p, target, restored))
	}
	return out, nil
}

// built returns what is given to dotnet build, and the project files that it covers.
func built(ctx context.Context, s adapters.Snapshot, p adapters.Project) (targets, projects []string, err error) {
	content, err := recipe.ReadOptional(ctx, s, p.Marker)
	if err != nil {
		return nil, nil, err
	}
	switch strings.ToLower(filepath.Ext(p.Marker)) {
	case ".sln":
		return []string{p.Marker}, listedInSln(p.Marker, content), nil
	case ".slnx":
		return []string{p.Marker}, listedInSlnx(p.Marker, content), nil
	}
	dirs := p.Members
	if len(dirs) == 0 {
		dirs = []string{p.Root}
	}
	all, err := s.Glob(ctx, "**/*.csproj")
	if err != nil {
		return nil, nil, err
	}
	referenced := map[string]bool{}
	for _, file := range all {
		if !slices.Contains(dirs, filepath.Dir(file)) {
			continue
		}
		projects = append(projects, file)
		content, err := recipe.ReadOptional(ctx, s, file)
		if err != nil {
			return nil, nil, err
		}
		for _, to := range references(file, content) {
			referenced[to] = true
		}
	}
	for _, file := range projects {
		if !referenced[file] {
			targets = append(targets, file)
		}
	}
	if len(targets) == 0 {
		targets = []string{p.Marker} // they reference each other in a circle, which the build will say
	}
	return targets, projects, nil
}

// common keeps a build from leaving processes behind, from drawing, and from
// naming files by anything but their absolute paths.
var common = []string{
	"-nologo", "-v:quiet", "-tl:off", "-clp:NoSummary", "-nodeReuse:false",
	"-p:UseSharedCompilation=false", "-p:GenerateFullPaths=true",
}

// check is one build. In place it writes not where the user's builds do, whose
// next one would take what it finds there for its own.
func check(ctx context.Context, s adapters.Snapshot, p adapters.Project, target string, restored bool) adapters.Check {
	argv := append([]string{"dotnet", "build", target}, common...)
	place := append(slices.Clone(argv), "-p:UseArtifactsOutput=true", "-p:ArtifactsPath="+adapters.KeptFolder)
	if restored {
		argv = append(argv, "--no-restore")
	}
	return adapters.Check{
		Name: "dotnet build", Argv: argv, Place: place, Dir: p.Root, Stale: adapters.ByMTime,
		Env: []string{
			"DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1", "DOTNET_CLI_USE_MSBUILD_SERVER=0",
			"DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=1", "DOTNET_GENERATE_ASPNET_CERTIFICATE=0", "MSBUILDDISABLENODEREUSE=1", "DOTNET_CLI_UI_LANGUAGE=en",
		},
		Install: "install the .NET SDK (https://dotnet.microsoft.com/download) and put dotnet into PATH",
		Parse: func(output []byte, exit int) ([]adapters.Problem, error) {
			return problems(output, exit, func(path string) *text.File {
				content, err := recipe.ReadOptional(ctx, s, path)
				if err != nil || content == nil {
					return nil
				}
				return text.NewFile(content)
			})
		},
	}
}

// finding is one line of MSBuild's canonical form:
// "file(line,column): error CODE: message [project]"; the file may be a tool.
var finding = regexp.MustCompile(`^\s*(.*?)\s*(?:\((\d+)(?:,(\d+))?[^)]*\))?\s*:\s+(error|warning)\s+([A-Za-z]+\d+)?\s*:\s*(.*?)(?:\s+\[([^\]]+)\])?\s*$`)

// unable are the codes of errors after which nothing was compiled: packages
// that are not restored, an SDK or a target framework that is missing.
var unable = regexp.MustCompile(`^(?:NU1\d\d\d|NETSDK1004|NETSDK1005|NETSDK1045|NETSDK1047|NETSDK1064|NETSDK1127|NETSDK1141|MSB4236|MSB4237|MSB1003|MSB1009|MSB1011)$`)

// problems reads what dotnet build prints. Each finding is printed for each
// target framework, and a second time at the end: it counts once.
func problems(output []byte, exit int, open func(path string) *text.File) ([]adapters.Problem, error) {
	var out []adapters.Problem
	cannot, compiled := "", false
	for line := range strings.Lines(string(output)) {
		m := finding.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		p := adapters.Problem{Line: number(m[2]), Code: m[5], Message: m[6], Warning: m[4] == "warning"}
		switch {
		case filepath.IsAbs(m[1]):
			p.Path = m[1]
		case filepath.IsAbs(m[7]):
			p.Path, _, _ = strings.Cut(m[7], "::") // the project, for which target follows
		}
		if column := number(m[3]); column > 0 && p.Path == m[1] {
			p.Column = bytesOf(open(p.Path), p.Line, column)
		}
		if !p.Warning {
			compiled = compiled || strings.HasPrefix(p.Code, "CS")
			if unable.MatchString(p.Code) && cannot == "" {
				cannot = p.Code + ": " + p.Message
			}
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if exit == 0 {
		return slices.DeleteFunc(out, func(p adapters.Problem) bool { return !p.Warning }), nil
	}
	if cannot != "" && !compiled {
		return nil, &adapters.UnableError{Reason: fmt.Sprintf("dotnet build cannot compile the project as it is: %s; see that `dotnet restore` and `dotnet build` run", cannot)}
	}
	return out, nil
}

// bytesOf turns the compiler's column, which counts UTF-16, into one of bytes;
// 0 when the text is not known.
func bytesOf(f *text.File, line, column int) int {
	if f == nil {
		return 0
	}
	offset, err := f.OffsetClamped(text.Position{Line: uint32(line - 1), Character: uint32(column - 1)}, text.UTF16)
	if err != nil {
		return 0
	}
	return f.PointOf(offset).Column
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
