package lsptest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/text"
)

// maxFile is the size above which files of the root are left out, in bytes.
const maxFile = 4 << 20

// model is what the server knows: open documents, over files read when it
// started and again when it is told that they changed, never in between.
type model struct {
	enc        text.Encoding
	word       string
	extensions []string

	mu         sync.Mutex // guards the fields below
	roots      []string
	disk       map[string][]byte
	open       map[string]document
	violations []string // of the protocol, by the client
}

type document struct {
	version int32
	content []byte
}

func newModel(c Config) *model {
	enc, err := text.ParseEncoding(c.Encoding)
	if err != nil {
		enc = text.UTF16
	}
	return &model{
		enc: enc, word: c.Word, extensions: c.Extensions,
		disk: map[string][]byte{}, open: map[string]document{},
	}
}

// State is the answer to the request fake/state.
type State struct {
	PID        int              `json:"pid"`
	Documents  map[string]State `json:"documents,omitempty"` // open ones by path
	Files      []string         `json:"files,omitempty"`     // known from disk
	Violations []string         `json:"violations,omitempty"`
	Version    int32            `json:"version,omitempty"` // of a document
	Text       string           `json:"text,omitempty"`    // of a document
}

func (m *model) state(pid int) State {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := State{PID: pid, Documents: map[string]State{}, Files: slices.Sorted(maps.Keys(m.disk)), Violations: m.violations}
	for path, d := range m.open {
		s.Documents[path] = State{Version: d.version, Text: string(d.content)}
	}
	return s
}

func (m *model) setRoots(uris []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range uris {
		if path, err := lspclient.Path(u); err == nil {
			m.roots = append(m.roots, path)
		}
	}
}

// scan reads the files below the roots.
func (m *model) scan() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, root := range m.roots {
		// An unreadable folder is one that the server does not know.
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			case entry.Type().IsRegular():
				m.read(path)
			}
			return nil
		})
	}
}

// read takes a file from disk; it needs the lock.
func (m *model) read(path string) {
	if m.extensions != nil && !slices.Contains(m.extensions, filepath.Ext(path)) {
		return
	}
	delete(m.disk, path)
	if info, err := os.Stat(path); err != nil || info.Size() > maxFile {
		return
	}
	if content, err := os.ReadFile(path); err == nil {
		m.disk[path] = content
	}
}

// told takes a notification about documents or files, and returns the paths
// whose text may have changed.
func (m *model) told(method string, params []byte) ([]string, error) {
	var p struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int32  `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []contentChange `json:"contentChanges"`
		Changes        []struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		} `json:"changes"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if method == "workspace/didChangeWatchedFiles" {
		var changed []string
		for _, c := range p.Changes {
			path, err := lspclient.Path(c.URI)
			if err != nil {
				return nil, err
			}
			m.read(path)
			if _, open := m.open[path]; !open {
				changed = append(changed, path)
			}
		}
		return changed, nil
	}
	path, err := lspclient.Path(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	doc, open := m.open[path]
	switch method {
	case "textDocument/didOpen":
		if open {
			m.violate("%s opened twice", path)
		}
		m.open[path] = document{p.TextDocument.Version, []byte(p.TextDocument.Text)}
	case "textDocument/didChange":
		if !open {
			m.violate("%s changed but not open", path)
			return nil, nil
		}
		if p.TextDocument.Version <= doc.version {
			m.violate("%s went from version %d to %d", path, doc.version, p.TextDocument.Version)
		}
		doc.version = p.TextDocument.Version
		for _, c := range p.ContentChanges {
			if doc.content, err = c.apply(doc.content, m.enc); err != nil {
				m.violate("%s: %v", path, err)
			}
		}
		m.open[path] = doc
	case "textDocument/didClose":
		if !open {
			m.violate("%s closed but not open", path)
		}
		delete(m.open, path)
		m.read(path)
	}
	return []string{path}, nil
}

func (m *model) violate(format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf(format, args...))
}

type contentChange struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// span is a range as the protocol writes it.
type span struct {
	Start place `json:"start"`
	End   place `json:"end"`
}

type place struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

func (c contentChange) apply(content []byte, enc text.Encoding) ([]byte, error) {
	if c.Range == nil {
		return []byte(c.Text), nil
	}
	f := text.NewFile(content)
	start, err := f.Offset(text.Position(c.Range.Start), enc)
	if err != nil {
		return content, err
	}
	end, err := f.Offset(text.Position(c.Range.End), enc)
	if err != nil {
		return content, err
	}
	return text.Apply(content, []text.Edit{{Start: start, End: end, New: c.Text}})
}

// paths returns all known files in order.
func (m *model) paths() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.disk)
	for path, d := range m.open {
		all[path] = d.content
	}
	return slices.Sorted(maps.Keys(all))
}

// content returns the text of a file and the version of its document, 0 when it
// is not open.
func (m *model) content(path string) ([]byte, int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d, open := m.open[path]; open {
		return d.content, d.version
	}
	return m.disk[path], 0
}
