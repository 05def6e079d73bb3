package typescript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// told is one event of a recording: "> method params" was sent to the server,
// "< method params" came from it.
func told(t *testing.T, d adapters.Driver, lines ...string) (r adapters.Readiness) {
	t.Helper()
	for _, line := range lines {
		direction, rest, _ := strings.Cut(line, " ")
		method, params, _ := strings.Cut(rest, " ")
		e := adapters.Event{Kind: adapters.Notification, Method: method, Params: []byte(params)}
		switch {
		case direction == ">":
			e.Kind = adapters.Sent
		case method == "initialized":
			e = adapters.Event{Kind: adapters.Initialized}
		case !json.Valid(e.Params):
			t.Fatalf("no JSON: %s", line)
		}
		r = d.Observe(e)
	}
	return r
}

const (
	started  = `< $/typescriptVersion {"version":"6.0.3","source":"user-setting"}`
	opened   = `> textDocument/didOpen {"textDocument":{"uri":"file:///w/a%20b.ts","languageId":"typescript","version":1,"text":"export {}\n"}}`
	loads    = `< $/progress {"token":"1","value":{"kind":"begin","title":"Initializing JS/TS language features…"}}`
	loadsOf  = `< $/progress {"token":"2","value":{"kind":"begin","title":"Initializing JS/TS language features…"}}`
	loaded   = `< $/progress {"token":"1","value":{"kind":"end"}}`
	loadedOf = `< $/progress {"token":"2","value":{"kind":"end"}}`
)

// TestObserve replays what typescript-language-server 5.3.0 was recorded to send.
func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		lines   []string
		state   adapters.State
		waiting string
	}{
		"nothing yet":                {nil, adapters.Loading, "starting tsserver"},
		"the handshake alone":        {[]string{`< initialized`}, adapters.Loading, "starting tsserver"},
		"its choice of a TypeScript": {[]string{`< initialized`, `< window/logMessage {"type":3,"message":"Using Typescript version (bundled) 6.0.3 from path \"/t/tsserver.js\""}`}, adapters.Loading, "starting tsserver"},
		"tsserver runs":              {[]string{started}, adapters.Ready, ""},
		"a document is opened":       {[]string{started, opened}, adapters.Ready, ""},
		"a project loads":            {[]string{started, opened, loads}, adapters.Loading, "loading the project"},
		"it has loaded":              {[]string{started, opened, loads, loaded}, adapters.Ready, ""},
		"one of two has loaded":      {[]string{started, opened, loads, loadsOf, loaded}, adapters.Loading, "loading the project"},
		"both have loaded":           {[]string{started, opened, loads, loadsOf, loaded, loadedOf}, adapters.Ready, ""},
		"it loads again":             {[]string{started, opened, loads, loaded, loadsOf}, adapters.Loading, "loading the project"},
		"some other progress":        {[]string{started, `< $/progress {"token":9,"value":{"kind":"begin","title":"Formatting"}}`}, adapters.Ready, ""},
		"tsserver was killed": {
			[]string{started, opened, loads, `< window/logMessage {"type":1,"message":"[lspserver] [tsclient] [tsserver] Exited. Code: null. Signal: SIGKILL"}`, loaded},
			adapters.Lost, "its child tsserver ended (Exited. Code: null. Signal: SIGKILL)",
		},
		"tsserver ended with an error": {
			[]string{started, `< window/logMessage {"type":1,"message":"[lspserver] [tsclient] [tsserver] Exited with error. Error message is: spawn ENOMEM"}`},
			adapters.Lost, "its child tsserver ended (Exited with error. Error message is: spawn ENOMEM)",
		},
		"the server gave tsserver up": {
			[]string{started, `< window/logMessage {"type":1,"message":"[lspserver] [tsclient] [tsserver] A non-recoverable error occurred while executing command: updateOpen\nat x"}`},
			adapters.Lost, "its child tsserver ended (A non-recoverable error occurred while executing command: updateOpen)",
		},
		"another line of the log": {[]string{started, `< window/logMessage {"type":1,"message":"[lspserver] tsserver Exited? no"}`}, adapters.Ready, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(adapters.Launch{})
			r := told(t, d, append([]string{`< initialized`}, c.lines...)...)
			if r.State != c.state || r.Waiting != c.waiting {
				t.Errorf("state %d, %q; want %d, %q", r.State, r.Waiting, c.state, c.waiting)
			}
		})
	}
}

// TestObserve_Moves shows that a wait for loading goes on while it moves.
func TestObserve_Moves(t *testing.T) {
	d := newDriver(adapters.Launch{})
	before := told(t, d, started).Progress
	for _, line := range []string{loads, loadsOf, loaded, loadedOf} {
		now := told(t, d, line).Progress
		if now <= before {
			t.Errorf("%s: progress stays at %d", line, now)
		}
		before = now
	}
}

func TestConfigure_Indent(t *testing.T) {
	d := newDriver(adapters.Launch{})
	open := func(uri, content string) {
		b, err := json.Marshal(map[string]any{"textDocument": map[string]any{"uri": uri, "text": content}})
		if err != nil {
			t.Fatal(err)
		}
		told(t, d, "> textDocument/didOpen "+string(b))
	}
	for content, want := range map[string]indent{
		"function f() {\n    return 1;\n}\n":                                      {4, true},
		"function f() {\n  if (x) {\n    return 1;\n  }\n}\n":                     {2, true},
		"function f() {\n\tif (x) {\n\t\treturn 1;\n\t}\n}\n":                     {4, false},
		"/**\n * text\n */\nfunction f() {\n    if (x) {\n        g();\n    }\n}": {4, true},
		"": {2, true},
	} {
		open("file:///w/%C3%BC.ts", content)
		if diff := cmp.Diff(any(want), d.Configure("formattingOptions", "/w/ü.ts")); diff != "" {
			t.Errorf("%q: %s", content, diff)
		}
	}
	told(t, d, `> textDocument/didClose {"textDocument":{"uri":"file:///w/%C3%BC.ts"}}`)
	if got := d.Configure("formattingOptions", "/w/ü.ts"); got != any(indent{2, true}) {
		t.Errorf("after the close: %v", got)
	}
	if got := d.Configure("typescript", ""); got != nil {
		t.Errorf("an unknown section: %v", got)
	}
}

func TestMirror(t *testing.T) {
	d := newDriver(adapters.Launch{})
	told(t, d, started)
	messages := d.Mirror([]adapters.FileChange{
		{Path: "/w/a b.ts"}, {Path: "/w/new.tsx", Created: true}, {Path: "/w/gone.mjs", Deleted: true}, {Path: "/w/tsconfig.base.json"}, {Path: "/w/readme.md"}, {Path: "/w/x.go"},
	})
	got, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"Method":"workspace/didChangeWatchedFiles","Params":{"changes":[` +
		`{"uri":"file:///w/a%20b.ts","type":2},{"uri":"file:///w/new.tsx","type":1},{"uri":"file:///w/gone.mjs","type":3},{"uri":"file:///w/tsconfig.base.json","type":2}]}}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if got := d.Mirror([]adapters.FileChange{{Path: "/w/readme.md"}}); got != nil {
		t.Errorf("a file that is not read: %v", got)
	}
}

// TestMirror_Install starts the server anew when other packages were installed:
// nobody watches node_modules.
func TestMirror_Install(t *testing.T) {
	for _, name := range []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"} {
		d := newDriver(adapters.Launch{})
		told(t, d, started)
		messages := d.Mirror([]adapters.FileChange{{Path: "/w/" + name}})
		if len(messages) != 1 {
			t.Fatalf("%s: %v; without a message nobody asks the driver what it concludes", name, messages)
		}
		r := told(t, d, "> "+messages[0].Method+" {}")
		if r.State != adapters.Outdated || !strings.HasPrefix(r.Waiting, name) {
			t.Errorf("%s: state %d, %q", name, r.State, r.Waiting)
		}
	}
	d := newDriver(adapters.Launch{})
	told(t, d, started)
	d.Mirror([]adapters.FileChange{{Path: "/w/package.json"}})
	if r := told(t, d, opened); r.State != adapters.Ready {
		t.Errorf("a package.json that installs nothing: %+v", r)
	}
}

func TestPulled(t *testing.T) {
	d := &driver{}
	items, err := d.Pulled([]byte(`{"seq":0,"type":"response","command":"semanticDiagnosticsSync","request_seq":8,"success":true,"body":[` +
		`{"start":{"line":3,"offset":14},"end":{"line":3,"offset":19},"text":"Type 'number' is not assignable to type 'string'.","code":2322,"category":"error"},` +
		`{"start":{"line":4,"offset":7},"end":{"line":4,"offset":13},"text":"unused","code":6133,"category":"suggestion","reportsUnnecessary":true}]}`))
	if err != nil || len(items) != 2 {
		t.Fatalf("%v, %v", items, err)
	}
	if r := items[0].Range; r.Start.Line != 2 || r.Start.Character != 13 || r.End.Character != 18 {
		t.Errorf("range %+v", r)
	}
	if items[0].Severity != 1 || items[1].Severity != 4 || items[1].Tags.Len() != 1 {
		t.Errorf("severities %d and %d, tags %v", items[0].Severity, items[1].Severity, items[1].Tags)
	}
	for _, bad := range []string{`{"type":"noServer"}`, `{"type":"cancelled","reason":"x"}`, `{"type":"response","success":false,"message":"No Project.\n at x"}`, `[]`} {
		if _, err := d.Pulled([]byte(bad)); err == nil {
			t.Errorf("%s was taken for no diagnostics", bad)
		}
	}
	if n := len(d.Pull("/w/a.ts")); n != 3 {
		t.Errorf("%d requests for syntax, types and suggestions", n)
	}
}
