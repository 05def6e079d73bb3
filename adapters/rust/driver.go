package rust

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// How long the server has to say that it loads again: after a saved manifest,
// which makes it do so in any case, and after what may make it do so. On a
// machine with nothing else to do it says so within 20 ms.
const (
	sureWait = 5 * time.Second
	mayWait  = 300 * time.Millisecond
)

// killed is how the server says that the process that runs procedural macros was killed.
var killed = regexp.MustCompile(`proc-macro server .*SIGKILL`)

// driver holds what is particular to one running rust-analyzer.
type driver struct {
	settings any
	unseen   string // why it cannot know the whole project
	fetched  bool   // it has tried to read the project once
	reported bool   // it has told a status
	status   status
	doing    []work        // open progress, in order
	moves    uint64        // grows with everything that arrives about loading
	due      time.Duration // Mirror has told of something that makes it load again: how long to wait for that
	again    bool          // that was sent while it was loading
	until    time.Time     // end of that wait; zero when there is none
}

// status is experimental/serverStatus.
type status struct {
	Health    string `json:"health"`
	Quiescent bool   `json:"quiescent"`
	Message   string `json:"message"`
}

// work is one progress of the server.
type work struct{ token, title, message string }

func newDriver(l adapters.Launch) adapters.Driver {
	return &driver{settings: l.Settings, unseen: l.Named[unseenKey]}
}

// Configure implements adapters.Driver.
func (d *driver) Configure(section, _ string) any {
	if section == "rust-analyzer" {
		return d.settings
	}
	return nil
}

// Observe implements adapters.Driver. rust-analyzer answers before it has read
// the project: errors, then nothing, then a part. It tells its state in
// experimental/serverStatus when that changes; quiescent counts once it has
// tried to read the project, and not while it is to find out that it must read
// it again.
func (d *driver) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Notification && e.Method == "experimental/serverStatus":
		d.told(e.Time, e.Params)
	case e.Kind == adapters.Notification && e.Method == "$/progress":
		d.progress(e.Params)
	case e.Kind == adapters.Sent && d.due > 0 && (e.Method == "textDocument/didSave" || d.due == mayWait && e.Method == recipe.Watched):
		if d.again = !d.status.Quiescent; !d.again {
			d.until = e.Time.Add(d.due)
		}
		d.due = 0
	}
	if !d.until.IsZero() && e.Time.After(d.until) {
		d.until = time.Time{}
	}
	return d.readiness()
}

func (d *driver) readiness() adapters.Readiness {
	r := adapters.Readiness{State: adapters.Loading, Progress: d.moves}
	switch {
	case d.due > 0 || !d.until.IsZero():
		r.Waiting = "looking at what changed"
	case !d.reported:
		r.Waiting = "starting"
	case !d.status.Quiescent:
		r.Waiting = d.waiting()
	case d.status.Health == "error":
		r.State, r.Waiting = adapters.Broken, d.trouble("it cannot load the project")
	case !d.fetched:
		r.Waiting = "starting"
	case killed.MatchString(d.status.Message):
		// It goes on without, and knows nothing more of what macros write. One that
		// ended by itself might do so each time.
		r.State, r.Waiting = adapters.Lost, "the process that expands macros was killed"
	case d.status.Health != "ok":
		r.State, r.Waiting = adapters.Broken, d.trouble("it did not load all of the project")
	case d.unseen != "":
		r.State, r.Waiting = adapters.Broken, d.unseen
	default:
		r.State = adapters.Ready
	}
	return r
}

func (d *driver) told(at time.Time, params []byte) {
	var s status
	if json.Unmarshal(params, &s) != nil {
		return
	}
	d.moves++
	d.reported, d.status = true, s
	switch {
	case !s.Quiescent:
		d.until = time.Time{}
	case d.again:
		d.again, d.until = false, at.Add(mayWait) // it may say so of what was before
	}
}

func (d *driver) progress(params []byte) {
	var p struct {
		Token any `json:"token"`
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
	token := fmt.Sprint(p.Token)
	at := -1
	for i := range d.doing {
		if d.doing[i].token == token {
			at = i
		}
	}
	switch p.Value.Kind {
	case "begin":
		if at < 0 {
			d.doing = append(d.doing, work{token: token})
			at = len(d.doing) - 1
		}
		d.doing[at].title, d.doing[at].message = p.Value.Title, p.Value.Message
	case "report":
		if at >= 0 {
			d.doing[at].message = p.Value.Message
		}
	case "end":
		if token == "rustAnalyzer/Fetching" {
			d.fetched = true
		}
		if at >= 0 {
			d.doing = append(d.doing[:at], d.doing[at+1:]...)
		}
	}
}

// stages says in words what the server's titles of progress stand for.
var stages = map[string]string{
	"Fetching":                   "reading the project",
	"Building CrateGraph":        "joining the crates",
	"Roots Scanned":              "reading files",
	"Building compile-time-deps": "building macros and build scripts",
	"Loading proc-macros":        "loading macros",
	"Indexing":                   "indexing",
}

// waiting says what the server is at.
func (d *driver) waiting() string {
	if len(d.doing) == 0 {
		return "loading"
	}
	w := d.doing[len(d.doing)-1]
	words := stages[w.title]
	if words == "" {
		words = strings.ToLower(w.title)
	}
	message, _, _ := strings.Cut(strings.TrimSpace(w.message), "\n")
	if w.title == "Roots Scanned" {
		message, _, _ = strings.Cut(message, ":")
	}
	if message != "" {
		words += " (" + strings.Join(strings.Fields(message), " ") + ")"
	}
	return words
}

// trouble is what the server says of its state, on one line.
func (d *driver) trouble(otherwise string) string {
	const enough = 300
	words := strings.Join(strings.Fields(d.status.Message), " ")
	if words == "" {
		return otherwise
	}
	if len(words) > enough {
		words = strings.ToValidUTF8(words[:enough], "") + "…"
	}
	return words
}

// reloads reports whether rust-analyzer reads the project again when a file of
// this name changes.
func reloads(base string) bool {
	switch base {
	case "Cargo.toml", "Cargo.lock", "rust-analyzer.toml", ".rust-analyzer.toml", "config.toml", "config", "rust-project.json":
		return true
	}
	return false
}

// Mirror implements adapters.Driver. rust-analyzer reads a file that it is told
// of when it comes to that, and answers from the old text until then. So it is
// shown the text: a document that is opened counts at once, and closing it
// makes it read the same from the disk.
func (d *driver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	var out []adapters.Message
	again, saved := false, d.manifest()
	for _, c := range changes {
		base := filepath.Base(c.Path)
		ext := filepath.Ext(base)
		switch {
		case base == "build.rs" || base == "rust-toolchain" || base == "rust-toolchain.toml":
			again = true
		case ext == ".rs", ext == ".md", reloads(base):
		default:
			continue
		}
		e := recipe.EventOf(c)
		again = again || e.Type != recipe.FileChanged || reloads(base)
		if (base == "Cargo.toml" || base == "Cargo.lock") && saved != "" {
			continue // saved below; told of both it would read the project twice
		}
		events = append(events, e)
		if ext == ".rs" && !c.Deleted && !c.Open {
			known := shown(c, e.URI)
			if known == nil {
				d.due = max(d.due, mayWait)
			}
			out = append(out, known...)
		}
	}
	if len(events) > 0 {
		out = append(out, recipe.Tell(events)...)
	}
	switch {
	case again && saved != "":
		// It reads the project again when a file comes or goes, as soon as it has
		// read the disk; of a saved manifest it says so at once.
		d.due = sureWait
		out = append(out, adapters.Message{Method: "textDocument/didSave", Params: map[string]any{"textDocument": document{URI: saved}}})
	case again:
		d.due = max(d.due, mayWait)
	}
	return out
}

type document struct {
	URI        string  `json:"uri"`
	LanguageID string  `json:"languageId,omitempty"`
	Version    *int    `json:"version,omitempty"`
	Text       *string `json:"text,omitempty"`
}

// shown are the messages that make the text of a closed file known at once.
func shown(c adapters.FileChange, uri string) []adapters.Message {
	if c.Content == nil || !utf8.Valid(c.Content) {
		return nil
	}
	version, text := 0, string(c.Content)
	return []adapters.Message{
		{Method: "textDocument/didOpen", Params: map[string]any{"textDocument": document{URI: uri, LanguageID: "rust", Version: &version, Text: &text}}},
		{Method: "textDocument/didClose", Params: map[string]any{"textDocument": document{URI: uri}}},
	}
}

// RereadsLate implements adapters.Rereader.
func (*driver) RereadsLate() {}

// manifest returns the URI of the project's manifest.
func (d *driver) manifest() string {
	s, ok := d.settings.(map[string]any)
	if !ok {
		return ""
	}
	linked, ok := s["linkedProjects"].([]string)
	if !ok || len(linked) == 0 || filepath.Base(linked[0]) != "Cargo.toml" {
		return ""
	}
	return recipe.FileURI(linked[0])
}

// Overlay implements adapters.Driver: a file that is not there yet makes it
// read the project again, twice.
func (*driver) Overlay() adapters.Overlay { return adapters.Edits }

// Probe implements adapters.Driver: an empty query for a crate that is not there.
func (*driver) Probe() (method string, params any) {
	return "workspace/symbol", struct {
		Query string `json:"query"`
	}{Query: "\u0001"}
}
