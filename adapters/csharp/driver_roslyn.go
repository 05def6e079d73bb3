package csharp

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// reloads is how long roslyn-lsp may take to say that it reloads after a
// project file changed: it waits 0.3 s for more to change.
const reloads = 3 * time.Second

// restores is how long restoring packages may take without a word: roslyn-lsp
// ends it after three minutes.
const restores = 200 * time.Second

// roslynDriver holds what is particular to one running roslyn-lsp.
type roslynDriver struct {
	loading map[string]string // token of progress to what it does now
	begun   bool
	moves   uint64
	quiet   time.Time // since when packages are restored; zero when they are not
	due     time.Time // until when a reload must have begun; zero when none is expected
	doubts  []string  // why the load that ended last is less than whole
	fresh   []string  // the same of the load that is running
}

func newRoslyn(adapters.Launch) adapters.Driver {
	return &roslynDriver{loading: map[string]string{}}
}

// Configure implements adapters.Driver: it asks for nothing.
func (*roslynDriver) Configure(string, string) any { return nil }

// Observe implements adapters.Driver. It loads under a progress titled
// "Loading C# projects" or "Reloading C# projects" and ends it with "Loaded N
// projects with M documents in S s" or "Loading failed". Requests wait for the
// first load; during a later one the old state answers.
func (d *roslynDriver) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Notification && e.Method == "$/progress":
		d.progress(e.Params)
		d.quiet = time.Time{}
		for _, doing := range d.loading {
			if strings.HasPrefix(doing, "Restoring packages") {
				d.quiet = e.Time
			}
		}
	case e.Kind == adapters.Notification && e.Method == "window/logMessage":
		d.log(e.Params)
	case e.Kind == adapters.Sent && e.Method == recipe.Watched && reloadsFor(e.Params):
		d.due = e.Time.Add(reloads)
	}
	if e.Kind == adapters.Tick && !d.quiet.IsZero() && e.Time.Before(d.quiet.Add(restores)) {
		d.moves++ // it downloads, and says nothing meanwhile
	}
	if !d.due.IsZero() && len(d.loading) == 0 && e.Time.After(d.due) {
		d.due = time.Time{} // it saw no reason to
	}
	r := adapters.Readiness{Progress: d.moves}
	switch {
	case !d.begun:
		r.State, r.Waiting = adapters.Loading, "starting"
	case len(d.loading) > 0:
		r.State, r.Waiting = adapters.Loading, "loading the projects"
		for _, doing := range d.loading {
			if doing != "" {
				r.Waiting += ": " + doing
			}
		}
	case !d.due.IsZero():
		r.State, r.Waiting = adapters.Loading, "waiting for the projects to be loaded again"
	case len(d.doubts) > 0:
		r.State, r.Waiting = adapters.Broken, strings.Join(d.doubts, "; ")
	default:
		r.State = adapters.Ready
	}
	return r
}

func (d *roslynDriver) progress(params []byte) {
	var p progress
	if json.Unmarshal(params, &p) != nil {
		return
	}
	token := string(p.Token)
	switch p.Value.Kind {
	case "begin":
		if !strings.HasSuffix(p.Value.Title, "oading C# projects") {
			return
		}
		d.begun, d.due, d.fresh = true, time.Time{}, nil
		d.loading[token] = ""
	case "report":
		if _, ok := d.loading[token]; ok {
			d.loading[token] = firstLine(p.Value.Message)
		}
	case "end":
		if _, ok := d.loading[token]; !ok {
			return
		}
		delete(d.loading, token)
		switch {
		case strings.HasPrefix(p.Value.Message, "Loading failed"):
			d.fresh = append(d.fresh, "the projects could not be loaded; see `auractl logs`")
		case strings.HasPrefix(p.Value.Message, "Loaded 0 projects"):
			d.fresh = append(d.fresh, "no C# project was loaded")
		}
		d.doubts = d.fresh
	}
	d.moves++
}

// log takes from the log what makes a load less than whole.
func (d *roslynDriver) log(params []byte) {
	var m logged
	if json.Unmarshal(params, &m) != nil {
		return
	}
	line := firstLine(m.Message)
	switch {
	case strings.HasPrefix(line, "dotnet restore "):
		d.fresh = append(d.fresh, line+" what the packages declare is unknown")
	case strings.HasPrefix(line, "MSBuild could not load the projects"), strings.HasPrefix(line, "MSBuild loaded no project"):
		d.fresh = append(d.fresh, line+"; packages and generated code are unknown")
	}
}

// reloadsFor reports whether changes make it load the projects again.
func reloadsFor(params []byte) bool {
	var sent recipe.FileEvents
	if json.Unmarshal(params, &sent) != nil {
		return false
	}
	for _, e := range sent.Changes {
		if path := pathOf(e); projectInput(path) && !builds(path) {
			return true
		}
	}
	return false
}

// Mirror implements adapters.Driver: it watches nothing by itself.
func (*roslynDriver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	for _, c := range changes {
		if builds(c.Path) || !strings.EqualFold(ext(c.Path), ".cs") && !projectInput(c.Path) {
			continue
		}
		events = append(events, recipe.EventOf(c))
	}
	return recipe.Tell(events)
}

// Overlay implements adapters.Driver: a document that no disk holds belongs to
// the project whose folder it is in.
func (*roslynDriver) Overlay() adapters.Overlay {
	return adapters.Edits | adapters.Creates | adapters.Moves
}

// Probe implements adapters.Driver.
func (*roslynDriver) Probe() (method string, params any) { return probe() }
