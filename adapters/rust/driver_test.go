package rust

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// step is one event of a recorded session: the time since its start in
// milliseconds, and what came.
type step struct {
	at    int
	event string // "status health quiescent message", "begin title", "report title message", "end title", "sent method", "tick", "mirror kind path"
	want  string // state and what is waited for; empty: not looked at
}

// replay feeds a recorded session to a driver.
func replay(t *testing.T, d *driver, steps []step) {
	t.Helper()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	states := map[adapters.State]string{adapters.Loading: "loading", adapters.Ready: "ready", adapters.Broken: "broken", adapters.Lost: "lost"}
	for i, s := range steps {
		what, rest, _ := strings.Cut(s.event, " ")
		e := adapters.Event{Time: begin.Add(time.Duration(s.at) * time.Millisecond), Kind: adapters.Notification, Method: "$/progress"}
		progress := func(kind, title, message string) []byte {
			b, err := json.Marshal(map[string]any{"token": "rustAnalyzer/" + title, "value": map[string]any{"kind": kind, "title": title, "message": message}})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		switch what {
		case "status":
			f := strings.SplitN(rest, " ", 3)
			message := "null"
			if len(f) == 3 {
				message = fmt.Sprintf("%q", f[2])
			}
			e.Method = "experimental/serverStatus"
			e.Params = fmt.Appendf(nil, `{"health":%q,"quiescent":%s,"message":%s}`, f[0], f[1], message)
		case "begin", "end":
			e.Params = progress(what, rest, "")
		case "report":
			title, message, _ := strings.Cut(rest, ": ")
			e.Params = progress(what, title, message)
		case "sent":
			e.Kind, e.Method = adapters.Sent, rest
		case "tick":
			e.Kind, e.Method = adapters.Tick, ""
		case "mirror":
			kind, path, _ := strings.Cut(rest, " ")
			d.Mirror([]adapters.FileChange{{Path: path, Created: kind == "created", Deleted: kind == "deleted", Content: []byte("// text\n")}})
			continue
		default:
			t.Fatalf("step %d: %s", i, s.event)
		}
		r := d.Observe(e)
		if got := strings.TrimSpace(states[r.State] + " " + r.Waiting); s.want != "" && got != s.want {
			t.Errorf("step %d, %s: %q, want %q", i, s.event, got, s.want)
		}
	}
}

func TestDriver_Readiness(t *testing.T) {
	start := []step{
		{0, "begin Fetching", "loading starting"},
		{1, "status ok false", "loading reading the project"},
		{10, "report Fetching: cargo metadata:  Downloading crates ...", "loading reading the project (cargo metadata: Downloading crates ...)"},
		{900, "end Fetching", "loading loading"},
		{910, "begin Roots Scanned", ""},
		{920, "report Roots Scanned: 3/57: /home/u/.cargo/x", "loading reading files (3/57)"},
		{930, "end Roots Scanned", ""},
		{940, "begin Building compile-time-deps", "loading building macros and build scripts"},
		{990, "end Building compile-time-deps", ""},
		{995, "begin Indexing", "loading indexing"},
		{1500, "end Indexing", "loading loading"},
		{1510, "status ok true", "ready"},
	}
	for name, steps := range map[string][]step{
		"a Cargo project": nil,
		"quiescent before anything was read": {
			{2000, "status ok true", "ready"},
		},
		"a created file is waited for until the server has said that it loads, and that it has": {
			{3000, "mirror created /w/src/a.rs", ""},
			{3001, "sent workspace/didChangeWatchedFiles", "loading looking at what changed"},
			{3002, "sent textDocument/didSave", "loading looking at what changed"},
			{4000, "tick", "loading looking at what changed"},
			{4010, "status ok false", "loading loading"},
			{4020, "begin Fetching", "loading reading the project"},
			{4900, "end Fetching", ""},
			{4950, "status ok true", "ready"},
		},
		"a server that does not load again is believed after a while": {
			{3000, "mirror deleted /w/src/a.rs", ""},
			{3001, "sent workspace/didChangeWatchedFiles", "loading looking at what changed"},
			{3001, "sent textDocument/didSave", "loading looking at what changed"},
			{8000, "tick", "loading looking at what changed"},
			{8002, "tick", "ready"},
		},
		"a changed file is known at once": {
			{3000, "mirror changed /w/src/a.rs", ""},
			{3001, "sent workspace/didChangeWatchedFiles", "ready"},
		},
		"a changed manifest": {
			{3000, "mirror changed /w/Cargo.toml", ""},
			{3001, "sent textDocument/didSave", "loading looking at what changed"},
			{3002, "status ok false", "loading loading"},
			{3400, "status error true Failed to load workspaces.", "broken Failed to load workspaces."},
			{5000, "mirror changed /w/Cargo.toml", ""},
			{5001, "sent textDocument/didSave", "loading looking at what changed"},
			{5002, "status error false Failed to load workspaces.", "loading loading"},
			{5400, "status ok true", "ready"},
		},
		"what changes while it loads is waited for, too": {
			{3000, "status ok false", ""},
			{3001, "mirror deleted /w/src/a.rs", ""},
			{3002, "sent textDocument/didSave", "loading loading"},
			{3003, "status ok true", "loading looking at what changed"}, // of what was before
			{3004, "status ok false", "loading loading"},
			{3400, "status ok true", "ready"},
		},
		"the process that expands macros was killed": {
			{3000, "status warning true proc-macro server for workspace `/w/Cargo.toml` exited: proc-macro server exited with signal: 9 (SIGKILL)", "lost the process that expands macros was killed"},
		},
		"the process that expands macros ended": {
			{3000, "status warning true proc-macro server for workspace `/w/Cargo.toml` exited: exit status: 1", "broken proc-macro server for workspace `/w/Cargo.toml` exited: exit status: 1"},
		},
		"a warning": {
			{3000, "status warning true Proc-macros and/or build scripts have changed and need to be rebuilt.", "broken Proc-macros and/or build scripts have changed and need to be rebuilt."},
		},
	} {
		t.Run(name, func(t *testing.T) { replay(t, project(), append(start[:len(start):len(start)], steps...)) })
	}
}

// project is a driver of a crate.
func project() *driver {
	return &driver{settings: map[string]any{"linkedProjects": []string{"/w/Cargo.toml"}}}
}

// TestLive23_NoProject: without a Cargo.toml the server calls itself quiescent
// before it has tried, and never begins to read anything.
func TestLive23_NoProject(t *testing.T) {
	replay(t, &driver{}, []step{
		{10, "status warning true Failed to discover workspace.", "loading starting"},
		{11, "begin Fetching", "loading starting"},
		{15, "status error true Failed to discover workspace.\n\nFailed to load workspaces.", "broken Failed to discover workspace. Failed to load workspaces."},
	})
}

func TestDriver_Untrusted(t *testing.T) {
	d, ok := newDriver(adapters.Launch{Named: map[string]string{unseenKey: "build scripts are not run"}}).(*driver)
	if !ok {
		t.Fatal("another driver")
	}
	replay(t, d, []step{{0, "status ok false", ""}, {1, "begin Fetching", ""}, {2, "end Fetching", ""}, {3, "status ok true", "broken build scripts are not run"}})
}

func TestDriver_Mirror(t *testing.T) {
	d := project()
	say := func(changes ...adapters.FileChange) []string {
		var out []string
		for _, m := range d.Mirror(changes) {
			b, err := json.Marshal(m.Params)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m.Method+" "+string(b))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		changes []adapters.FileChange
		want    []string
		due     time.Duration
	}{
		{"the text of a changed file", []adapters.FileChange{{Path: "/w/src/ä b.rs", Content: []byte("fn é() {}\r\n")}}, []string{
			`textDocument/didOpen {"textDocument":{"uri":"file:///w/src/%C3%A4%20b.rs","languageId":"rust","version":0,"text":"fn é() {}\r\n"}}`,
			`textDocument/didClose {"textDocument":{"uri":"file:///w/src/%C3%A4%20b.rs"}}`,
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/src/%C3%A4%20b.rs","type":2}]}`,
		}, 0},
		{"an open document is known already", []adapters.FileChange{{Path: "/w/a.rs", Open: true}}, []string{
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/a.rs","type":2}]}`,
		}, 0},
		{"text that is none", []adapters.FileChange{{Path: "/w/a.rs", Content: []byte("\xff")}}, []string{
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/a.rs","type":2}]}`,
		}, mayWait},
		{"a deleted file", []adapters.FileChange{{Path: "/w/a.rs", Deleted: true}}, []string{
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/a.rs","type":3}]}`,
			`textDocument/didSave {"textDocument":{"uri":"file:///w/Cargo.toml"}}`,
		}, sureWait},
		{"a build script makes the server read the project again", []adapters.FileChange{{Path: "/w/build.rs", Open: true}}, []string{
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/build.rs","type":2}]}`,
			`textDocument/didSave {"textDocument":{"uri":"file:///w/Cargo.toml"}}`,
		}, sureWait},
		{"a manifest is saved, and told of once", []adapters.FileChange{{Path: "/w/Cargo.toml"}, {Path: "/w/Cargo.lock", Created: true}}, []string{
			`textDocument/didSave {"textDocument":{"uri":"file:///w/Cargo.toml"}}`,
		}, sureWait},
		{"a toolchain", []adapters.FileChange{{Path: "/w/rust-toolchain.toml"}}, []string{
			`workspace/didChangeWatchedFiles {"changes":[{"uri":"file:///w/rust-toolchain.toml","type":2}]}`,
			`textDocument/didSave {"textDocument":{"uri":"file:///w/Cargo.toml"}}`,
		}, sureWait},
		{"other files", []adapters.FileChange{{Path: "/w/a.go"}, {Path: "/w/x.txt", Deleted: true}}, nil, 0},
	} {
		d.due = 0
		if diff := cmp.Diff(c.want, say(c.changes...)); diff != "" || d.due != c.due {
			t.Errorf("%s: waits %s (-want +got):\n%s", c.name, d.due, diff)
		}
	}
}
