package csharp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// began is when recorded conversations begin here.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// message is one line of a recorded conversation.
type message struct {
	T      float64
	Dir    string
	Method string
	Params json.RawMessage
}

// replay feeds a recorded conversation to a driver and returns what it
// concludes, a line for each time that it changes its mind.
func replay(t *testing.T, d adapters.Driver, name string) []string {
	t.Helper()
	f, err := os.Open("../../testdata/transcripts/omnisharp/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	note := func(at float64, r adapters.Readiness) {
		line := fmt.Sprintf("%v %s", r.State, r.Waiting)
		if len(out) == 0 || !strings.HasSuffix(out[len(out)-1], line) {
			out = append(out, fmt.Sprintf("%.1f %s", at, line))
		}
	}
	note(0, d.Observe(event(0, adapters.Tick, "", "")))
	for s := bufio.NewScanner(f); s.Scan(); {
		var m message
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		kind := adapters.Notification
		switch {
		case m.Dir == "client" && m.Method == "initialized":
			kind = adapters.Initialized
		case m.Dir == "client":
			kind = adapters.Sent
		case m.Dir == "server-request":
			kind = adapters.Request
		case m.Method == "":
			kind = adapters.Replied
		}
		note(m.T, d.Observe(event(m.T, kind, m.Method, string(m.Params))))
	}
	return out
}

func event(at float64, kind adapters.EventKind, method, params string) adapters.Event {
	return adapters.Event{Time: began.Add(time.Duration(at * float64(time.Second))), Kind: kind, Method: method, Params: []byte(params)}
}

// states prints a replay, a line for each.
type states []string

func (s states) String() string { return strings.Join(s, "\n") }

// TestOmnisharpDriver_Startup: the answer to initialize is the end of loading,
// and what is told of the projects right behind it says whether all is known.
func TestOmnisharpDriver_Startup(t *testing.T) {
	for _, name := range []string{"startup", "startup_static"} {
		got := replay(t, newOmnisharp(adapters.Launch{}), name)
		if !strings.HasPrefix(got[0], "0.0 0 loading the projects") || !strings.HasSuffix(got[len(got)-1], " 1 ") {
			t.Errorf("%s:\n%s", name, states(got))
		}
		for _, step := range []string{"0 loading the projects: Lib.csproj", "0 loading the projects: App.csproj"} {
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, step) }) {
				t.Errorf("%s: never %q:\n%s", name, step, states(got))
			}
		}
	}
}

// TestOmnisharpDriver_Files: after the handshake a changed project file is read
// again, and one whose packages are not restored is told.
func TestOmnisharpDriver_Files(t *testing.T) {
	d := newOmnisharp(adapters.Launch{}).(*omnisharpDriver)
	d.Observe(event(0, adapters.Initialized, "", ""))
	d.Observe(event(0, adapters.Notification, "o#/projectadded", `{"MsBuildProject":{"Path":"/ws/sample/Lib/Lib.csproj"}}`))
	got := replay(t, d, "sync")
	want := []string{
		"27.4 0 reading a project file again", "27.8 1 ", "33.4 0 reading a project file again",
		"33.6 2 Lib.csproj is not restored, so that what its packages declare is unknown (Newtonsoft.Json); run `dotnet restore`",
	}
	if diff := cmp.Diff(want, got[len(got)-min(len(got), len(want)):]); diff != "" {
		t.Errorf("%s\nall:\n%s", diff, states(got))
	}
}

func TestOmnisharpDriver_Troubles(t *testing.T) {
	ready := func() *omnisharpDriver {
		d := newOmnisharp(adapters.Launch{}).(*omnisharpDriver)
		d.Observe(event(0, adapters.Initialized, "", ""))
		d.Observe(event(0, adapters.Notification, "o#/projectadded", `{"MsBuildProject":{"Path":"/w/A.csproj"}}`))
		return d
	}
	sent := func(d adapters.Driver, at float64, path string, kind int) adapters.Readiness {
		return d.Observe(event(at, adapters.Sent, recipe.Watched, fmt.Sprintf(`{"changes":[{"uri":"file://%s","type":%d}]}`, path, kind)))
	}
	t.Run("nothing is told", func(t *testing.T) {
		d := newOmnisharp(adapters.Launch{})
		if r := d.Observe(event(0, adapters.Initialized, "", "")); r.State != adapters.Loading {
			t.Errorf("%+v", r)
		}
		if r := d.Observe(event(3, adapters.Tick, "", "")); r.State != adapters.Broken || !strings.Contains(r.Waiting, "no project") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a project does not load", func(t *testing.T) {
		d := ready()
		r := d.Observe(event(1, adapters.Notification, "o#/msbuildprojectdiagnostics", `{"FileName":"/w/B.csproj","Warnings":[],"Errors":[{"Text":"The project file could not be loaded."}]}`))
		if r.State != adapters.Broken || !strings.Contains(r.Waiting, "B.csproj does not load: The project file could not be loaded.") {
			t.Errorf("%+v", r)
		}
		if r = d.Observe(event(2, adapters.Notification, "o#/msbuildprojectdiagnostics", `{"FileName":"/w/B.csproj","Warnings":[],"Errors":[]}`)); r.State != adapters.Ready {
			t.Errorf("mended: %+v", r)
		}
	})
	t.Run("the log says that one failed", func(t *testing.T) {
		d := ready()
		r := d.Observe(event(1, adapters.Notification, "window/logMessage", `{"type":1,"message":"OmniSharp.MSBuild.ProjectManager: Failed to load project file '/w/B.csproj'. | "}`))
		if r.State != adapters.Broken || !strings.Contains(r.Waiting, "could not load B.csproj") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a new project", func(t *testing.T) {
		if r := sent(ready(), 1, "/w/C.csproj", recipe.FileCreated); r.State != adapters.Outdated || !strings.Contains(r.Waiting, "C.csproj") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("the solution changed", func(t *testing.T) {
		if r := sent(ready(), 1, "/w/All.sln", recipe.FileChanged); r.State != adapters.Outdated {
			t.Errorf("%+v", r)
		}
	})
	t.Run("a project is never read again", func(t *testing.T) {
		d := ready()
		if r := sent(d, 1, "/w/A.csproj", recipe.FileChanged); r.State != adapters.Loading {
			t.Errorf("%+v", r)
		}
		if r := d.Observe(event(20, adapters.Tick, "", "")); r.State != adapters.Broken {
			t.Errorf("%+v", r)
		}
	})
	t.Run("initialize is never answered", func(t *testing.T) {
		d := newOmnisharp(adapters.Launch{})
		r := d.Observe(event(1, adapters.Notification, "window/logMessage", `{"type":1,"message":"OmniSharp.Extensions.JsonRpc.InputHandler: Failed to handle request initialize 1 | "}`))
		if r.State != adapters.Lost || !strings.Contains(r.Waiting, "Failed to handle request initialize") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("sources change", func(t *testing.T) {
		if r := sent(ready(), 1, "/w/A.cs", recipe.FileCreated); r.State != adapters.Ready {
			t.Errorf("%+v", r)
		}
	})
}

// TestDrivers_Mirror: what is built is not told, and OmniSharp is not told of a
// document that it has open, as it would drop the document's text.
func TestDrivers_Mirror(t *testing.T) {
	changes := []adapters.FileChange{
		{Path: "/w/A.cs"}, {Path: "/w/New.cs", Created: true}, {Path: "/w/Old.cs", Deleted: true}, {Path: "/w/Open.cs", Open: true},
		{Path: "/w/OpenNew.cs", Open: true, Created: true}, {Path: "/w/obj/Debug/A.g.cs", Created: true}, {Path: "/w/bin/x.cs"}, {Path: "/w/A.csproj"}, {Path: "/w/readme.md"},
	}
	told := func(d adapters.Driver) []string {
		var out []string
		for _, m := range d.Mirror(changes) {
			raw, err := json.Marshal(m.Params)
			if err != nil {
				t.Fatal(err)
			}
			var events recipe.FileEvents
			if err := json.Unmarshal(raw, &events); err != nil {
				t.Fatal(err)
			}
			for _, e := range events.Changes {
				out = append(out, fmt.Sprintf("%s %d", e.URI, e.Type))
			}
		}
		return out
	}
	all := []string{"file:///w/A.cs 2", "file:///w/New.cs 1", "file:///w/Old.cs 3", "file:///w/Open.cs 2", "file:///w/OpenNew.cs 1", "file:///w/A.csproj 2"}
	if diff := cmp.Diff(all, told(newRoslyn(adapters.Launch{}))); diff != "" {
		t.Errorf("roslyn-lsp: %s", diff)
	}
	if diff := cmp.Diff(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.Contains(s, "/Open.cs") }), told(newOmnisharp(adapters.Launch{}))); diff != "" {
		t.Errorf("OmniSharp: %s", diff)
	}
}

// TestRoslynDriver_Restoring: packages are restored without a word, which is no
// reason to give up; but not for ever.
func TestRoslynDriver_Restoring(t *testing.T) {
	d := newRoslyn(adapters.Launch{})
	d.Observe(event(0, adapters.Notification, "$/progress", `{"token":1,"value":{"kind":"begin","title":"Loading C# projects"}}`))
	start := d.Observe(event(1, adapters.Notification, "$/progress", `{"token":1,"value":{"kind":"report","message":"Restoring packages"}}`))
	later := d.Observe(event(100, adapters.Tick, "", ""))
	if later.Progress <= start.Progress || later.State != adapters.Loading || !strings.Contains(later.Waiting, "Restoring packages") {
		t.Errorf("after 100 s: %+v", later)
	}
	late := d.Observe(event(300, adapters.Tick, "", ""))
	if again := d.Observe(event(301, adapters.Tick, "", "")); again.Progress != late.Progress {
		t.Errorf("after 300 s: %+v", again)
	}
}

func TestRoslynDriver(t *testing.T) {
	step := func(token, kind, title, message string) string {
		return fmt.Sprintf(`{"token":%q,"value":{"kind":%q,"title":%q,"message":%q}}`, token, kind, title, message)
	}
	type seen struct {
		at      float64
		kind    adapters.EventKind
		method  string
		params  string
		state   adapters.State
		waiting string
	}
	load := []seen{
		{0, adapters.Initialized, "", "", adapters.Loading, "starting"},
		{1, adapters.Notification, "$/progress", step("a", "begin", "Loading C# projects", ""), adapters.Loading, "loading the projects"},
		{2, adapters.Notification, "$/progress", step("a", "report", "", "Build App.csproj"), adapters.Loading, "Build App.csproj"},
	}
	whole := append(slices.Clone(load), seen{3, adapters.Notification, "$/progress", step("a", "end", "", "Loaded 2 projects with 9 documents in 1.5 s"), adapters.Ready, ""})
	project := `{"changes":[{"uri":"file:///w/A.csproj","type":2}]}`
	for name, steps := range map[string][]seen{
		"loads":         whole,
		"fails":         append(slices.Clone(load), seen{3, adapters.Notification, "$/progress", step("a", "end", "", "Loading failed"), adapters.Broken, "could not be loaded"}),
		"finds nothing": append(slices.Clone(load), seen{3, adapters.Notification, "$/progress", step("a", "end", "", "Loaded 0 projects with 0 documents in 0.1 s"), adapters.Broken, "no C# project"}),
		"is not restored": append(slices.Clone(load),
			seen{2.5, adapters.Notification, "window/logMessage", `{"type":2,"message":"dotnet restore /w/A.sln failed:\nNU1101"}`, adapters.Loading, ""},
			seen{3, adapters.Notification, "$/progress", step("a", "end", "", "Loaded 2 projects with 9 documents in 1.5 s"), adapters.Broken, "dotnet restore /w/A.sln failed"}),
		"reloads": append(slices.Clone(whole),
			seen{10, adapters.Sent, recipe.Watched, project, adapters.Loading, "loaded again"},
			seen{10.3, adapters.Notification, "$/progress", step("b", "begin", "Reloading C# projects", ""), adapters.Loading, "loading"},
			seen{14, adapters.Tick, "", "", adapters.Loading, "loading"},
			seen{15, adapters.Notification, "$/progress", step("b", "end", "", "Loaded 2 projects with 9 documents in 1.5 s"), adapters.Ready, ""}),
		"sees no reason to reload": append(slices.Clone(whole),
			seen{10, adapters.Sent, recipe.Watched, project, adapters.Loading, ""}, seen{14, adapters.Tick, "", "", adapters.Ready, ""}),
		"sources do not reload": append(slices.Clone(whole),
			seen{10, adapters.Sent, recipe.Watched, `{"changes":[{"uri":"file:///w/A.cs","type":1},{"uri":"file:///w/obj/A.csproj.props","type":1}]}`, adapters.Ready, ""}),
		"other progress": append(slices.Clone(whole), seen{10, adapters.Notification, "$/progress", step("c", "begin", "Analysing", ""), adapters.Ready, ""}),
	} {
		t.Run(name, func(t *testing.T) {
			d := newRoslyn(adapters.Launch{})
			for _, s := range steps {
				r := d.Observe(event(s.at, s.kind, s.method, s.params))
				if r.State != s.state || !strings.Contains(r.Waiting, s.waiting) {
					t.Fatalf("at %v after %s: %+v", s.at, s.method, r)
				}
			}
		})
	}
}
