package lsptest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/text"
	"github.com/auralsp/aura/lspclient/wire"
)

// definers are the words that make the next identifier a definition.
func definers() []string {
	return []string{"func", "type", "var", "const", "def", "class", "fn", "let"}
}

// location is a Location of the protocol.
type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// occurrence is one identifier in a file.
type occurrence struct {
	path    string
	start   int
	name    string
	defines bool
	uses    bool // stands after the word "use"
}

// identifiers returns the identifiers of a text in order.
func identifiers(path string, content []byte) []occurrence {
	var list []occurrence
	previous := ""
	for at := 0; at < len(content); {
		r, size := utf8.DecodeRune(content[at:])
		if !inIdentifier(r) {
			at += size
			continue
		}
		start := at
		for at < len(content) {
			r, size := utf8.DecodeRune(content[at:])
			if !inIdentifier(r) {
				break
			}
			at += size
		}
		name := string(content[start:at])
		list = append(list, occurrence{
			path: path, start: start, name: name,
			defines: slices.Contains(definers(), previous), uses: previous == "use",
		})
		previous = name
	}
	return list
}

func inIdentifier(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// all returns the occurrences of a name in all files.
func (m *model) all(name string) []occurrence {
	var list []occurrence
	for _, path := range m.paths() {
		content, _ := m.content(path)
		if !bytes.Contains(content, []byte(name)) {
			continue
		}
		for _, o := range identifiers(path, content) {
			if o.name == name {
				list = append(list, o)
			}
		}
	}
	return list
}

// at returns the identifier at a place, or one that ends there.
func (m *model) at(p position) (occurrence, bool) {
	path, err := lspclient.Path(p.TextDocument.URI)
	if err != nil {
		return occurrence{}, false
	}
	content, _ := m.content(path)
	offset, err := text.NewFile(content).Offset(text.Position(p.Position), m.enc)
	if err != nil {
		return occurrence{}, false
	}
	for _, o := range identifiers(path, content) {
		if o.start <= offset && offset <= o.start+len(o.name) {
			return o, true
		}
	}
	return occurrence{}, false
}

func (m *model) locate(o occurrence) location {
	content, _ := m.content(o.path)
	f := text.NewFile(content)
	return location{URI: string(lspclient.URI(o.path)), Range: m.rangeOf(f, o.start, o.start+len(o.name))}
}

func (m *model) rangeOf(f *text.File, start, end int) span {
	from, err := f.Position(start, m.enc)
	if err != nil {
		return span{}
	}
	to, err := f.Position(end, m.enc)
	if err != nil {
		return span{}
	}
	return span{Start: place(from), End: place(to)}
}

func (m *model) definition(name string) (occurrence, bool) {
	list := m.all(name)
	for _, o := range list {
		if o.defines {
			return o, true
		}
	}
	if len(list) == 0 {
		return occurrence{}, false
	}
	return list[0], true
}

// answer answers a request about a place, a document or the workspace.
func (m *model) answer(method string, p position, params []byte) (any, *wire.Error) {
	path, _ := lspclient.Path(p.TextDocument.URI)
	switch method {
	case "textDocument/documentSymbol":
		return m.symbols(path), nil
	case "textDocument/diagnostic":
		return map[string]any{"kind": "full", "items": m.diagnose(path)}, nil
	case "workspace/symbol":
		return m.find(params), nil
	}
	o, ok := m.at(p)
	if !ok {
		if method == "textDocument/rename" || method == "textDocument/prepareRename" {
			return nil, wire.NewError(0, "no identifier found")
		}
		return nil, nil
	}
	switch method {
	case "textDocument/definition", "textDocument/typeDefinition", "textDocument/implementation":
		d, _ := m.definition(o.name)
		return []location{m.locate(d)}, nil
	case "textDocument/references":
		list := []location{}
		for _, r := range m.all(o.name) {
			if !r.defines || p.Context.IncludeDeclaration {
				list = append(list, m.locate(r))
			}
		}
		return list, nil
	case "textDocument/prepareRename":
		return map[string]any{"range": m.locate(o).Range, "placeholder": o.name}, nil
	case "textDocument/rename":
		return m.rename(o.name, p.NewName)
	default: // hover
		return map[string]any{"contents": map[string]string{"kind": "plaintext", "value": o.name}}, nil
	}
}

// rename answers with documentChanges, the version null for files not open.
func (m *model) rename(name, to string) (any, *wire.Error) {
	if to == "" || strings.ContainsFunc(to, func(r rune) bool { return !inIdentifier(r) }) {
		return nil, wire.NewError(0, "invalid identifier: "+to)
	}
	type edit struct {
		Range   span   `json:"range"`
		NewText string `json:"newText"`
	}
	byPath := map[string][]edit{}
	for _, o := range m.all(name) {
		byPath[o.path] = append(byPath[o.path], edit{m.locate(o).Range, to})
	}
	changes := []any{}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		document := map[string]any{"uri": lspclient.URI(path), "version": nil}
		if _, version := m.content(path); version != 0 {
			document["version"] = version
		}
		changes = append(changes, map[string]any{"textDocument": document, "edits": byPath[path]})
	}
	return map[string]any{"documentChanges": changes}, nil
}

func (m *model) symbols(path string) []any {
	content, _ := m.content(path)
	f := text.NewFile(content)
	list := []any{}
	for _, o := range identifiers(path, content) {
		if !o.defines {
			continue
		}
		line := f.LineOf(o.start)
		from, _ := f.LineStart(line)
		list = append(list, map[string]any{
			"name": o.name, "kind": 12,
			"range":          m.rangeOf(f, from, from+len(f.Line(line))),
			"selectionRange": m.rangeOf(f, o.start, o.start+len(o.name)),
		})
	}
	return list
}

func (m *model) find(params []byte) []any {
	var p struct {
		Query string `json:"query"`
	}
	if json.Unmarshal(params, &p) != nil {
		return []any{}
	}
	list := []any{}
	for _, path := range m.paths() {
		content, _ := m.content(path)
		for _, o := range identifiers(path, content) {
			if o.defines && strings.Contains(strings.ToLower(o.name), strings.ToLower(p.Query)) {
				list = append(list, map[string]any{"name": o.name, "kind": 12, "location": m.locate(o)})
			}
		}
	}
	return list
}

// diagnose finds the configured word, and names after "use" that nothing defines.
func (m *model) diagnose(path string) []any {
	content, _ := m.content(path)
	f := text.NewFile(content)
	list := []any{}
	add := func(o occurrence, code, message string) {
		list = append(list, map[string]any{
			"range": m.rangeOf(f, o.start, o.start+len(o.name)), "severity": 1,
			"source": "fake", "code": code, "message": message,
		})
	}
	for _, o := range identifiers(path, content) {
		if o.name == m.word {
			add(o, "E1", "found "+o.name)
		}
		if o.uses {
			if d, ok := m.definition(o.name); !ok || !d.defines {
				add(o, "E2", "undefined: "+o.name)
			}
		}
	}
	return list
}

// publication returns publishDiagnosticsParams of a document as it is now.
func (m *model) publication(path string) map[string]any {
	p := map[string]any{"uri": lspclient.URI(path), "diagnostics": m.diagnose(path)}
	if _, version := m.content(path); version != 0 {
		p["version"] = version
	}
	return p
}
