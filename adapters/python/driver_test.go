package python

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// log is an event of a message that pyright logs.
func log(message string) adapters.Event {
	params, err := json.Marshal(map[string]any{"type": 3, "message": message})
	if err != nil {
		panic(err)
	}
	return adapters.Event{Kind: adapters.Notification, Method: "window/logMessage", Params: params}
}

func sent(method string) adapters.Event {
	return adapters.Event{Kind: adapters.Sent, Method: method}
}

// then is a sequence that goes on as another one did.
func then(events []adapters.Event, more ...adapters.Event) []adapters.Event {
	return slices.Concat(events, more)
}

// TestReadiness replays what pyright 1.1.414 was seen to send.
func TestReadiness(t *testing.T) {
	start := []adapters.Event{
		{Kind: adapters.Initialized},
		log("Pyright language server 1.1.414 starting"),
		log(`Starting service instance "ws"`),
		{Kind: adapters.Request, Method: "client/registerCapability"},
		{Kind: adapters.Request, Method: "workspace/configuration"},
		log("Loading pyproject.toml file at /ws/pyproject.toml"),
		log("Auto-excluding **/node_modules"),
		log("Assuming Python version 3.11.7.final.0"),
	}
	found := then(start, log("Found 27 source files"))
	for _, c := range []struct {
		name    string
		events  []adapters.Event
		state   adapters.State
		waiting string
	}{
		{"nothing yet", nil, adapters.Loading, "starting"},
		{"before the files are found", start, adapters.Loading, "looking for source files"},
		{"found", found, adapters.Ready, ""},
		{"one file", then(start, log("Found 1 source file")), adapters.Ready, ""},
		{"none", then(start, log("No source files found.")), adapters.Ready, ""},
		{"progress of a request is no loading", then(found, adapters.Event{Kind: adapters.Notification, Method: "$/progress",
			Params: []byte(`{"token":"t","value":{"kind":"begin","title":"Finding references","cancellable":true}}`)}), adapters.Ready, ""},
		{"settings are asked for again", then(found, sent("workspace/didChangeConfiguration")), adapters.Loading, "looking for source files"},
		{"and given", then(found, sent("workspace/didChangeConfiguration"), log("Loading configuration file at /ws/pyrightconfig.json"),
			log("Found 83 source files")), adapters.Ready, ""},
		{"a broken configuration", then(found, sent("workspace/didChangeConfiguration"), log("Loading pyproject.toml file at /ws/pyproject.toml"),
			log("Pyproject file parse attempt 6 error: {}"), log(`Config file "/ws/pyproject.toml" could not be parsed. Verify that format is correct.`),
			log("Found 4 source files")), adapters.Broken, `its configuration is not used: Config file "/ws/pyproject.toml" could not be parsed. Verify that format is correct.`},
		{"mended", then(found, log(`Config file "/ws/pyproject.toml" could not be parsed. Verify that format is correct.`),
			log("Reloading configuration file at /ws/pyproject.toml"), log("Loading pyproject.toml file at /ws/pyproject.toml"), log("Found 4 source files")), adapters.Ready, ""},
		{"what is no message", then(found, adapters.Event{Kind: adapters.Notification, Method: "window/logMessage", Params: []byte("{")}), adapters.Ready, ""},
	} {
		d := newDriver(adapters.Launch{})
		r := d.Observe(adapters.Event{Kind: adapters.Tick})
		for _, e := range c.events {
			r = d.Observe(e)
		}
		if r.State != c.state || r.Waiting != c.waiting {
			t.Errorf("%s: %v, %q; want %v, %q", c.name, r.State, r.Waiting, c.state, c.waiting)
		}
	}
	d := newDriver(adapters.Launch{})
	before := d.Observe(start[0]).Progress
	if after := d.Observe(log("Searching for source files")).Progress; after <= before {
		t.Error("loading does not show that it moves")
	}
}

func TestConfigure(t *testing.T) {
	l := adapters.Launch{Settings: map[string]any{"python": map[string]any{"analysis": map[string]any{"autoSearchPaths": true}}, "pyright": map[string]any{}}}
	d := newDriver(l)
	if diff := cmp.Diff(map[string]any{"analysis": map[string]any{"autoSearchPaths": true}}, d.Configure("python", "file:///ws")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"autoSearchPaths": true}, d.Configure("python.analysis", "")); diff != "" {
		t.Error(diff)
	}
	if d.Configure("pyright", "") == nil || d.Configure("editor", "") != nil {
		t.Error("pyright waits for both of its sections, and nothing else is answered")
	}
}

func TestMirror(t *testing.T) {
	d := newDriver(adapters.Launch{})
	got := d.Mirror([]adapters.FileChange{
		{Path: "/ws/a b.py"}, {Path: "/ws/new.pyi", Created: true}, {Path: "/ws/old.py", Deleted: true},
		{Path: "/ws/README.md"}, {Path: "/ws/pkg/py.typed", Created: true},
	})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"Method":"workspace/didChangeWatchedFiles","Params":{"changes":[{"uri":"file:///ws/a%20b.py","type":2},` +
		`{"uri":"file:///ws/new.pyi","type":1},{"uri":"file:///ws/old.py","type":3},{"uri":"file:///ws/pkg/py.typed","type":1}]}}]`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
	// That another configuration counts from now on is seen only when all are read again.
	for _, name := range configuration {
		got := d.Mirror([]adapters.FileChange{{Path: "/ws/" + name, Created: true}})
		if len(got) != 1 || got[0].Method != "workspace/didChangeConfiguration" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := d.Mirror([]adapters.FileChange{{Path: "/ws/x.txt"}}); got != nil {
		t.Errorf("told of %v", got)
	}
	if r := d.Observe(adapters.Event{Kind: adapters.Tick}); r.State == adapters.Outdated {
		t.Error("started anew without need")
	}
	d.Mirror([]adapters.FileChange{{Path: "/ws/.venv/pyvenv.cfg", Created: true}})
	if r := d.Observe(adapters.Event{Kind: adapters.Tick}); r.State != adapters.Outdated {
		t.Errorf("the interpreter is settled at the start, and a new environment leaves it %v", r.State)
	}
}
