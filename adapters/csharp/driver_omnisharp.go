package csharp

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// How long OmniSharp may take to tell of its projects after the handshake, and
// of one that changed.
const (
	tells  = 2 * time.Second
	reread = 15 * time.Second
)

// omnisharpDriver holds what is particular to one running OmniSharp.
type omnisharpDriver struct {
	opened   bool // the handshake is done, and with it the load
	told     bool // it has told of its projects
	opens    time.Time
	moves    uint64
	doing    string               // of the load, from its log
	reading  map[string]time.Time // project files that it reads again, until when
	failed   map[string]string    // project file to why its code is not known
	dead     string               // why initialize is never answered
	outdated string               // what it cannot be told; "" when nothing
	known    map[string]bool      // project files that it has
}

func newOmnisharp(adapters.Launch) adapters.Driver {
	return &omnisharpDriver{reading: map[string]time.Time{}, failed: map[string]string{}, known: map[string]bool{}}
}

var _ adapters.Resender = (*omnisharpDriver)(nil)

// ResendOpened implements adapters.Resender: the text of didOpen is ignored,
// and that of a closed document is kept.
func (*omnisharpDriver) ResendOpened() {}

// Configure implements adapters.Driver: the sections csharp and omnisharp hold
// what omnisharp.json may, and nothing of it is needed.
func (*omnisharpDriver) Configure(string, string) any { return nil }

// Observe implements adapters.Driver. The answer to initialize is sent when all
// projects are loaded; what could not be loaded is told right behind it. There
// is no progress: the log tells what it loads.
func (d *omnisharpDriver) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Initialized:
		d.opened, d.opens = true, e.Time
	case e.Kind == adapters.Notification && e.Method == "window/logMessage":
		d.log(e.Params)
	case e.Kind == adapters.Notification && strings.HasPrefix(e.Method, "o#/"):
		d.notify(e)
	case e.Kind == adapters.Sent && e.Method == recipe.Watched:
		d.sent(e)
	}
	for file, until := range d.reading {
		if e.Time.After(until) {
			delete(d.reading, file)
			d.failed[file] = filepath.Base(file) + " changed, and OmniSharp does not say that it has read it again"
		}
	}
	r := adapters.Readiness{Progress: d.moves}
	switch {
	case d.dead != "":
		r.State, r.Waiting = adapters.Lost, d.dead
	case d.outdated != "":
		r.State, r.Waiting = adapters.Outdated, d.outdated
	case !d.opened:
		r.State, r.Waiting = adapters.Loading, "loading the projects"
		if d.doing != "" {
			r.Waiting += ": " + d.doing
		}
	case !d.told && e.Time.Before(d.opens.Add(tells)):
		r.State, r.Waiting = adapters.Loading, "listing the projects"
	case len(d.reading) > 0:
		r.State, r.Waiting = adapters.Loading, "reading a project file again"
	case len(d.known) == 0:
		r.State, r.Waiting = adapters.Broken, "OmniSharp has loaded no project; see `auractl logs`"
	case len(d.failed) > 0:
		why := slices.Sorted(maps.Values(d.failed))
		r.State, r.Waiting = adapters.Broken, strings.Join(why, "; ")
	default:
		r.State = adapters.Ready
	}
	return r
}

// What the log says of a project while it is loaded.
const (
	logLoading = "Loading project: "
	logLoaded  = "Successfully loaded project file"
	logFailed  = "Failed to load project file"
)

func (d *omnisharpDriver) log(params []byte) {
	var m logged
	if json.Unmarshal(params, &m) != nil {
		return
	}
	d.moves++
	if !d.opened && strings.Contains(m.Message, "Failed to handle request initialize") {
		d.dead = "OmniSharp failed to load the project and will not answer: " + firstLine(m.Message)
		return
	}
	_, said, _ := strings.Cut(m.Message, ": ") // the part that speaks comes first
	said = strings.TrimSuffix(firstLine(said), " |")
	switch {
	case strings.HasPrefix(said, logLoading):
		d.doing = filepath.Base(strings.TrimPrefix(said, logLoading))
	case strings.HasPrefix(said, logFailed):
		file := quoted(said)
		d.failed[file] = "OmniSharp could not load " + filepath.Base(file) + ", so that its code is unknown"
		delete(d.reading, file)
	case strings.HasPrefix(said, logLoaded):
		delete(d.failed, quoted(said))
	}
}

// quoted returns what stands between the first two single quotes.
func quoted(s string) string {
	_, rest, _ := strings.Cut(s, "'")
	in, _, _ := strings.Cut(rest, "'")
	return in
}

// notify takes OmniSharp's own notifications; their fields are in Pascal case.
func (d *omnisharpDriver) notify(e adapters.Event) {
	var p struct {
		FileName               string
		Errors                 []struct{ Text string }
		UnresolvedDependencies []struct{ Name string }
		MsBuildProject         struct{ Path string }
	}
	if json.Unmarshal(e.Params, &p) != nil {
		return
	}
	switch e.Method {
	case "o#/projectadded", "o#/projectchanged":
		d.told = true
		d.known[p.MsBuildProject.Path] = true
		delete(d.reading, p.MsBuildProject.Path)
	case "o#/projectremoved":
		delete(d.known, p.MsBuildProject.Path)
		delete(d.reading, p.MsBuildProject.Path)
		delete(d.failed, p.MsBuildProject.Path)
	case "o#/msbuildprojectdiagnostics":
		delete(d.failed, p.FileName)
		if len(p.Errors) > 0 {
			d.failed[p.FileName] = fmt.Sprintf("%s does not load: %s", filepath.Base(p.FileName), firstLine(p.Errors[0].Text))
			delete(d.reading, p.FileName)
		}
	case "o#/unresolveddependencies":
		names := make([]string, 0, len(p.UnresolvedDependencies))
		for _, u := range p.UnresolvedDependencies {
			names = append(names, u.Name)
		}
		d.failed[p.FileName] = fmt.Sprintf("%s is not restored, so that what its packages declare is unknown (%s); run `dotnet restore`",
			filepath.Base(p.FileName), strings.Join(names, ", "))
	default:
		return // the state of analysis, which no answer depends on
	}
	d.moves++
}

// sent sees what OmniSharp was told of project files: it reads a changed one
// again, and never sees a new one, or a changed solution.
func (d *omnisharpDriver) sent(e adapters.Event) {
	var p recipe.FileEvents
	if json.Unmarshal(e.Params, &p) != nil {
		return
	}
	for _, c := range p.Changes {
		path := pathOf(c)
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csproj":
			if d.known[path] && c.Type == recipe.FileChanged {
				d.reading[path] = e.Time.Add(reread)
				continue
			}
			d.outdated = filepath.Base(path) + " is new or gone, which OmniSharp sees only at its start"
		case ".sln", ".slnf", ".slnx", ".props", ".targets":
			d.outdated = filepath.Base(path) + " changed, which OmniSharp sees only at its start"
		}
	}
}

// Mirror implements adapters.Driver. A change of an open document is not told:
// OmniSharp would throw its unsaved text away for what the disk has. A new one
// is, since it ignores documents that it does not know.
func (*omnisharpDriver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	for _, c := range changes {
		source := strings.EqualFold(ext(c.Path), ".cs")
		if builds(c.Path) || !source && !projectInput(c.Path) || source && c.Open && !c.Created && !c.Deleted {
			continue
		}
		events = append(events, recipe.EventOf(c))
	}
	return recipe.Tell(events)
}

// Overlay implements adapters.Driver: a document that no disk holds is ignored.
func (*omnisharpDriver) Overlay() adapters.Overlay { return adapters.Edits }

// Probe implements adapters.Driver.
func (*omnisharpDriver) Probe() (method string, params any) { return probe() }
