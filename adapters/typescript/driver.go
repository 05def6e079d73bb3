package typescript

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

var (
	_ adapters.Driver = (*driver)(nil)
	_ adapters.Puller = (*driver)(nil)
)

// driver holds what is particular to one running server.
type driver struct {
	loading  map[string]bool // tokens of progress that loads projects
	begun    bool            // tsserver runs
	moves    uint64
	lost     string            // how tsserver ended
	outdated string            // what was installed anew
	indents  map[string]indent // of the documents that are open
}

// indent is how a document is indented, in the words of formattingOptions.
type indent struct {
	TabSize      int  `json:"tabSize"`
	InsertSpaces bool `json:"insertSpaces"`
}

func newDriver(adapters.Launch) adapters.Driver {
	return &driver{loading: map[string]bool{}, indents: map[string]indent{}}
}

// Configure implements adapters.Driver. The server asks once for each document
// how it is formatted, and takes four spaces where it gets no answer.
func (d *driver) Configure(section, scope string) any {
	if section != "formattingOptions" {
		return nil
	}
	if in, ok := d.indents[scope]; ok {
		return in
	}
	return indent{TabSize: 2, InsertSpaces: true}
}

// Observe implements adapters.Driver. The server says when its child runs, and
// tells each configuration that this loads by a progress. A child that has
// ended is said in the log only; from then on every question is answered
// with nothing.
func (d *driver) Observe(e adapters.Event) adapters.Readiness {
	switch {
	case e.Kind == adapters.Notification && e.Method == "$/typescriptVersion":
		d.begun = true
		d.moves++
	case e.Kind == adapters.Notification && e.Method == "$/progress":
		d.progress(e.Params)
	case e.Kind == adapters.Notification && e.Method == "window/logMessage":
		d.logged(e.Params)
	case e.Kind == adapters.Sent && e.Method == "textDocument/didOpen":
		d.opened(e.Params)
	case e.Kind == adapters.Sent && e.Method == "textDocument/didClose":
		d.closed(e.Params)
	}
	r := adapters.Readiness{Progress: d.moves}
	switch {
	case d.lost != "":
		r.State, r.Waiting = adapters.Lost, d.lost
	case d.outdated != "":
		r.State, r.Waiting = adapters.Outdated, d.outdated
	case !d.begun:
		r.State, r.Waiting = adapters.Loading, "starting tsserver"
	case len(d.loading) > 0:
		r.State, r.Waiting = adapters.Loading, "loading the project"
	default:
		// tsserver answers in order, so that what is asked behind the opening of a
		// document waits until its project is loaded.
		r.State = adapters.Ready
	}
	return r
}

func (d *driver) progress(params []byte) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind  string `json:"kind"`
			Title string `json:"title"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	d.moves++
	switch p.Value.Kind {
	case "begin":
		if strings.HasPrefix(p.Value.Title, "Initializing JS/TS") {
			d.loading[string(p.Token)] = true
		}
	case "end":
		delete(d.loading, string(p.Token))
	}
}

// logged finds the end of tsserver in what the server logs: "[tsserver] Exited.
// Code: null. Signal: SIGKILL", or that it was ended after an error.
func (d *driver) logged(params []byte) {
	var p struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	_, said, ok := strings.Cut(p.Message, "[tsserver] ")
	if ok && (strings.HasPrefix(said, "Exited") || strings.HasPrefix(said, "A non-recoverable error")) {
		said, _, _ = strings.Cut(said, "\n")
		d.lost = "its child tsserver ended (" + strings.TrimSuffix(said, ".") + ")"
	}
}

// opened notes how a document is indented.
func (d *driver) opened(params []byte) {
	var p struct {
		TextDocument struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"textDocument"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if path := pathOf(p.TextDocument.URI); path != "" {
		d.indents[path] = indentOf(p.TextDocument.Text)
	}
}

func (d *driver) closed(params []byte) {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
	}
	if json.Unmarshal(params, &p) == nil {
		delete(d.indents, pathOf(p.TextDocument.URI))
	}
}

func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}

// indentOf finds how a text is indented: by tabs, or by the step that most of
// its lines take.
func indentOf(text string) indent {
	const enough = 400 // lines
	steps := map[int]int{}
	tabs, before, n := 0, 0, 0
	for line := range strings.Lines(text) {
		if n++; n > enough {
			break
		}
		trimmed := strings.TrimLeft(line, " ")
		switch width := len(line) - len(trimmed); {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(trimmed, "*"):
		case strings.HasPrefix(line, "\t"):
			tabs++
		default:
			if step := width - before; step >= 2 && step <= 8 {
				steps[step]++
			}
			before = width
		}
	}
	best, count := 2, 0
	for _, step := range []int{2, 4, 3, 8, 6, 5, 7} {
		if steps[step] > count {
			best, count = step, steps[step]
		}
	}
	if tabs > count {
		return indent{TabSize: 4}
	}
	return indent{TabSize: best, InsertSpaces: true}
}

// installs are the files that package managers write when they put other
// packages into node_modules, which nobody watches.
var installs = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", ".pnp.cjs"}

// Mirror implements adapters.Driver: the server leaves watching to its client.
func (d *driver) Mirror(changes []adapters.FileChange) []adapters.Message {
	var events []recipe.FileEvent
	for _, c := range changes {
		base := filepath.Base(c.Path)
		install := slices.Contains(installs, base)
		if install {
			d.outdated = base + " changed: other packages may be installed"
		}
		if ext := filepath.Ext(base); !install && ext != ".json" && !slices.Contains(extensions, ext) {
			continue
		}
		events = append(events, recipe.EventOf(c))
	}
	return recipe.Tell(events)
}

// Overlay implements adapters.Driver: a document that no disk holds belongs to
// no configured project.
func (*driver) Overlay() adapters.Overlay { return adapters.Edits }

// Pull implements adapters.Puller.
func (*driver) Pull(path string) []adapters.Message {
	var out []adapters.Message
	for _, kind := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"} {
		out = append(out, adapters.Message{Method: "workspace/executeCommand", Params: tsserverRequest{
			Command: "typescript.tsserverRequest", Arguments: []any{kind, map[string]string{"file": filepath.ToSlash(path)}},
		}})
	}
	return out
}

// Pulled implements adapters.Puller. Lines and columns of tsserver begin at 1;
// columns count UTF-16 as LSP does.
func (*driver) Pulled(result []byte) ([]protocol.Diagnostic, error) {
	type place struct {
		Line   uint32 `json:"line"`
		Offset uint32 `json:"offset"`
	}
	var answer struct {
		Type    string `json:"type"`
		Success bool   `json:"success"`
		Message string `json:"message"`
		Body    []struct {
			Start       place  `json:"start"`
			End         place  `json:"end"`
			Text        string `json:"text"`
			Code        int32  `json:"code"`
			Category    string `json:"category"`
			Unnecessary bool   `json:"reportsUnnecessary"`
			Deprecated  bool   `json:"reportsDeprecated"`
		} `json:"body"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return nil, err
	}
	if answer.Type != "response" || !answer.Success {
		return nil, fmt.Errorf("tsserver answered %q: %s", answer.Type, said(answer.Message))
	}
	point := func(p place) protocol.Position {
		return protocol.Position{Line: max(p.Line, 1) - 1, Character: max(p.Offset, 1) - 1}
	}
	var out []protocol.Diagnostic
	for _, d := range answer.Body {
		item := protocol.Diagnostic{
			Range:    protocol.Range{Start: point(d.Start), End: point(d.End)},
			Severity: protocol.DiagnosticSeverityHint,
			Code:     protocol.Integer(d.Code),
			Source:   protocol.NewOptional("typescript"),
			Message:  protocol.String(d.Text),
		}
		switch d.Category {
		case "error":
			item.Severity = protocol.DiagnosticSeverityError
		case "warning":
			item.Severity = protocol.DiagnosticSeverityWarning
		}
		switch {
		case d.Unnecessary:
			item.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagUnnecessary)
		case d.Deprecated:
			item.Tags = protocol.NewDiagnosticTags(protocol.DiagnosticTagDeprecated)
		}
		out = append(out, item)
	}
	return out, nil
}

// tsserverRequest is what hands a request of tsserver's own protocol through.
type tsserverRequest struct {
	Command   string `json:"command"`
	Arguments []any  `json:"arguments"`
}

// Probe implements adapters.Driver: tsserver itself says its version, and
// takes everything that was sent before the question first.
func (*driver) Probe() (method string, params any) {
	return "workspace/executeCommand", tsserverRequest{Command: "typescript.tsserverRequest", Arguments: []any{"status"}}
}
