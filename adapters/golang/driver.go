package golang

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// driver holds what is particular to one running gopls.
type driver struct {
	settings any
	loading  map[string]bool // tokens of progress that loads packages
	begun    bool
	moves    uint64
	broken   map[string]string // token of a standing error to its text
	failed   string            // the last load failed; why
}

func newDriver(l adapters.Launch) adapters.Driver {
	return &driver{settings: l.Settings, loading: map[string]bool{}, broken: map[string]string{}}
}

// Configure implements adapters.Driver. gopls does nothing at all before its
// question is answered.
func (d *driver) Configure(section, _ string) any {
	if section == "gopls" {
		return d.settings
	}
	return nil
}

// Observe implements adapters.Driver. gopls loads under a progress titled
// "Setting up workspace" and ends it with "Finished loading packages." or
// "Error loading packages: …". Requests that come earlier wait in its queue, so
// that an answer is never less than whole.
func (d *driver) Observe(e adapters.Event) adapters.Readiness {
	if e.Kind == adapters.Notification && e.Method == "$/progress" {
		d.progress(e.Params)
	}
	r := adapters.Readiness{Progress: d.moves}
	switch {
	case !d.begun:
		r.State, r.Waiting = adapters.Loading, "starting"
	case len(d.loading) > 0:
		r.State, r.Waiting = adapters.Loading, "loading packages"
	case d.failed != "":
		r.State, r.Waiting = adapters.Broken, d.failed
	default:
		r.State = adapters.Ready
		for _, why := range d.broken {
			r.State, r.Waiting = adapters.Broken, why
		}
	}
	return r
}

func (d *driver) progress(params []byte) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind    string `json:"kind"`
			Title   string `json:"title"`
			Message string `json:"message"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	d.moves++
	token := string(p.Token)
	switch p.Value.Kind {
	case "begin":
		switch {
		case p.Value.Title == "Setting up workspace":
			d.begun = true
			d.loading[token] = true
		case strings.HasPrefix(p.Value.Title, "Error loading"):
			d.broken[token] = p.Value.Title + ": " + p.Value.Message
		}
	case "report":
		if _, ok := d.broken[token]; ok {
			d.broken[token] = p.Value.Message
		}
	case "end":
		if d.loading[token] {
			d.failed = ""
			if strings.HasPrefix(p.Value.Message, "Error") {
				d.failed = p.Value.Message
			}
		}
		delete(d.loading, token)
		delete(d.broken, token)
	}
}

// Mirror implements adapters.Driver: gopls watches nothing itself and believes
// what it read until it is told.
func (*driver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	for _, c := range changes {
		switch filepath.Ext(c.Path) {
		case ".go", ".mod", ".sum", ".work":
		default:
			continue
		}
		events = append(events, recipe.EventOf(c))
	}
	return recipe.Tell(events)
}

// Overlay implements adapters.Driver: documents may be open that no disk holds.
func (*driver) Overlay() adapters.Overlay {
	return adapters.Edits | adapters.Creates | adapters.Moves
}

// Probe implements adapters.Driver: an empty query is answered with null.
func (*driver) Probe() (method string, params any) {
	return "workspace/symbol", struct {
		Query string `json:"query"`
	}{}
}
