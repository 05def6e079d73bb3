package csharp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/syntax/syntaxtest"
	"github.com/auralsp/aura/lspclient/text"
)

func TestChecks(t *testing.T) {
	sln := `Project("{F}") = "L", "L\L.csproj", "{1}"
Project("{F}") = "A", "A\A.csproj", "{2}"`
	refers := `<Project><ItemGroup><ProjectReference Include="..\L\L.csproj" /></ItemGroup></Project>`
	for _, c := range []struct {
		name    string
		files   syntaxtest.Files
		changed []string
		want    []string // what is built, with "restored" where nothing is to be restored
	}{
		{"a solution", syntaxtest.Files{"All.sln": sln, "L/L.csproj": "", "A/A.csproj": refers}, nil, []string{"/ws/All.sln"}},
		{"restored", syntaxtest.Files{"All.sln": sln, "L/L.csproj": "", "A/A.csproj": refers, "L/obj/project.assets.json": "{}", "A/obj/project.assets.json": "{}"}, nil, []string{"/ws/All.sln restored"}},
		{"restored in part", syntaxtest.Files{"All.sln": sln, "L/L.csproj": "", "A/A.csproj": refers, "L/obj/project.assets.json": "{}"}, nil, []string{"/ws/All.sln"}},
		{"a project file changes", syntaxtest.Files{"L/L.csproj": "", "L/obj/project.assets.json": "{}"}, []string{"/ws/L/L.csproj"}, []string{"/ws/L/L.csproj"}},
		{"projects that reference", syntaxtest.Files{"L/L.csproj": "", "A/A.csproj": refers}, nil, []string{"/ws/A/A.csproj"}},
		{"loose files", syntaxtest.Files{"a.cs": ""}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			projects, err := New().Projects(t.Context(), c.files, syntaxtest.Root)
			if err != nil || len(projects) == 0 {
				t.Fatal(projects, err)
			}
			checks, err := New().Checks(t.Context(), c.files, projects[0], c.changed)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, ck := range checks {
				line := ck.Argv[2]
				if slices.Contains(ck.Argv, "--no-restore") {
					line += " restored"
				}
				got = append(got, line)
				// In place nothing of the user's is written, and nothing stays behind.
				place := strings.Join(ck.Place, " ")
				if !strings.Contains(place, "-p:ArtifactsPath=") || strings.Contains(place, "-p:ArtifactsPath="+projects[0].Root) || strings.Contains(place, "--no-restore") {
					t.Errorf("in place: %s", place)
				}
				if !slices.Contains(ck.Argv, "-nodeReuse:false") || !slices.Contains(ck.Argv, "-p:UseSharedCompilation=false") || !slices.Contains(ck.Env, "MSBUILDDISABLENODEREUSE=1") {
					t.Errorf("a server may stay behind: %q, %q", ck.Argv, ck.Env)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProblems reads what real builds printed.
func TestProblems(t *testing.T) {
	const printed = `/ws/Lib/Circle.cs(14,28): error CS0115: 'Circle.Aria()': no suitable method found to override [/ws/Lib/Lib.csproj]
/ws/Lib/Circle.cs(5,14): error CS0534: 'Circle' does not implement inherited abstract member 'ShapeBase.Area()' [/ws/Lib/Lib.csproj]
/ws/Lib/Emoji.cs(1,13): warning CS0168: The variable 'x' is declared but never used [/ws/Lib/Lib.csproj::TargetFramework=net10.0]
CSC : error CS0006: Metadata file '/ws/Lib/obj/Debug/net10.0/ref/Lib.dll' could not be found [/ws/App/App.csproj]

Build FAILED.

/ws/Lib/Circle.cs(14,28): error CS0115: 'Circle.Aria()': no suitable method found to override [/ws/Lib/Lib.csproj]
    0 Warning(s)
    2 Error(s)

Time Elapsed 00:00:02.75
`
	open := func(path string) *text.File {
		if path == "/ws/Lib/Emoji.cs" {
			return text.NewFile([]byte("var s = \"👋\"; int x;\n"))
		}
		return text.NewFile([]byte(strings.Repeat("                                        \n", 20)))
	}
	got, err := problems([]byte(printed), 1, open)
	if err != nil {
		t.Fatal(err)
	}
	want := []adapters.Problem{
		{Path: "/ws/Lib/Circle.cs", Line: 14, Column: 28, Code: "CS0115", Message: "'Circle.Aria()': no suitable method found to override"},
		{Path: "/ws/Lib/Circle.cs", Line: 5, Column: 14, Code: "CS0534", Message: "'Circle' does not implement inherited abstract member 'ShapeBase.Area()'"},
		{Path: "/ws/Lib/Emoji.cs", Line: 1, Column: 15, Code: "CS0168", Message: "The variable 'x' is declared but never used", Warning: true},
		{Path: "/ws/App/App.csproj", Code: "CS0006", Message: "Metadata file '/ws/Lib/obj/Debug/net10.0/ref/Lib.dll' could not be found"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := problems([]byte(printed), 0, open); err != nil || len(got) != 1 || !got[0].Warning {
		t.Errorf("of a build that passed: %v, %v", got, err)
	}
}

// TestProblems_Unable: a build that could not begin says nothing of the change,
// and must not count as one that finds the same errors as before.
func TestProblems_Unable(t *testing.T) {
	for _, printed := range []string{
		"/ws/A/A.csproj : error NU1101: Unable to find package Nope. No packages exist with this id in source(s): offline [/ws/All.sln]\n",
		"/sdk/Microsoft.PackageDependencyResolution.targets(266,5): error NETSDK1004: Assets file '/ws/obj/project.assets.json' not found. Run a NuGet package restore to generate this file. [/ws/A.csproj]\n",
		"MSBUILD : error MSB1009: Project file does not exist.\n",
	} {
		_, err := problems([]byte(printed), 1, func(string) *text.File { return nil })
		var unable *adapters.UnableError
		if !errors.As(err, &unable) || !strings.Contains(unable.Reason, "dotnet restore") {
			t.Errorf("%s: %v", printed, err)
		}
	}
	mixed := "/ws/A.csproj : error NU1605: downgrade [/ws/A.sln]\n/ws/a.cs(1,1): error CS1002: ; expected [/ws/B.csproj]\n"
	if got, err := problems([]byte(mixed), 1, func(string) *text.File { return nil }); err != nil || len(got) != 2 {
		t.Errorf("where something was compiled its errors count: %v, %v", got, err)
	}
}
