package python

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// driver holds what is particular to one running pyright.
type driver struct {
	settings map[string]any
	begun    bool
	listed   bool   // the project's files are known
	moves    uint64 // of loading
	broken   string // why the configuration is not that of the project
	outdated bool   // the interpreter that it was started with may not be the project's
}

func newDriver(l adapters.Launch) adapters.Driver {
	s, _ := l.Settings.(map[string]any) // the one that launch made
	return &driver{settings: s}
}

// Configure implements adapters.Driver. pyright answers nothing before it has
// both of its sections.
func (d *driver) Configure(section, _ string) any {
	if section == "python.analysis" {
		python, _ := d.settings["python"].(map[string]any)
		return python["analysis"]
	}
	return d.settings[section]
}

// Observe implements adapters.Driver. pyright answers at once, from the files
// that it has seen so far; it has seen those of the project when it logs how
// many it found. It says the same after its configuration was read again, and
// that it goes on without one that it cannot read.
func (d *driver) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Initialized:
		d.begun = true
	case e.Kind == adapters.Sent && e.Method == "workspace/didChangeConfiguration":
		d.listed = false
		d.moves++
	case e.Kind == adapters.Notification && e.Method == "window/logMessage":
		d.logged(e.Params)
	}
	r := adapters.Readiness{Progress: d.moves}
	switch {
	case d.outdated:
		r.State, r.Waiting = adapters.Outdated, "the project's environment has changed"
	case !d.begun:
		r.State, r.Waiting = adapters.Loading, "starting"
	case !d.listed:
		r.State, r.Waiting = adapters.Loading, "looking for source files"
	case d.broken != "":
		r.State, r.Waiting = adapters.Broken, d.broken
	default:
		r.State = adapters.Ready
	}
	return r
}

func (d *driver) logged(params []byte) {
	var p struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	m := p.Message
	switch {
	case m == "No source files found.",
		strings.HasPrefix(m, "Found ") && (strings.HasSuffix(m, " source files") || strings.HasSuffix(m, " source file")):
		d.listed = true
		d.moves++
	case strings.HasPrefix(m, "Config file \"") && strings.Contains(m, "could not be "):
		d.broken = "its configuration is not used: " + m
		d.moves++
	case strings.HasPrefix(m, "Loading pyproject.toml file at "), strings.HasPrefix(m, "Loading configuration file at "):
		d.broken = ""
		d.moves++
	case !d.listed:
		d.moves++
	}
}

// configuration are the files that pyright takes its settings from. It sees
// that one changed, but not that another one is there that counts more; told
// that its settings changed, it reads all of them again.
var configuration = []string{"pyrightconfig.json", "pyproject.toml"}

// Mirror implements adapters.Driver: pyright watches nothing itself.
func (d *driver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	again := false
	for _, c := range changes {
		if filepath.Base(c.Path) == "pyvenv.cfg" {
			d.outdated = true // which interpreter it is was settled at the start
		}
		if slices.Contains(configuration, filepath.Base(c.Path)) {
			again = true
			continue
		}
		switch filepath.Ext(c.Path) {
		case ".py", ".pyi", ".pth", ".so", ".ipynb":
		default:
			if filepath.Base(c.Path) != "py.typed" {
				continue
			}
		}
		events = append(events, recipe.EventOf(c))
	}
	out := recipe.Tell(events)
	if again {
		out = append(out, adapters.Message{
			Method: "workspace/didChangeConfiguration",
			Params: struct {
				Settings any `json:"settings"`
			}{struct{}{}}, // they are asked for
		})
	}
	return out
}

// Overlay implements adapters.Driver: documents may be open that no disk holds,
// but a module is known by the name of its file.
func (*driver) Overlay() adapters.Overlay { return adapters.Edits | adapters.Creates }

// Probe implements adapters.Driver: an empty query is answered with nothing.
func (*driver) Probe() (method string, params any) {
	return "workspace/symbol", struct {
		Query string `json:"query"`
	}{}
}
