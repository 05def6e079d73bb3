package lsptest

import (
	"context"
	"encoding/json"
	"maps"
	"os"

	"github.com/auralsp/aura/lspclient/wire"
)

// position is the part that requests about a place share.
type position struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position struct {
		Line      uint32 `json:"line"`
		Character uint32 `json:"character"`
	} `json:"position"`
	NewName string `json:"newName"`
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

// result handles a message and returns the answer for a call.
func (s *Server) result(m wire.Message) (any, *wire.Error) {
	switch m.Method {
	case "initialize":
		return s.initialize(m.Params)
	case "initialized":
		s.initialized()
	case "shutdown":
		s.mu.Lock()
		s.shutdown = true
		s.mu.Unlock()
	case "exit":
		if s.process && s.config.IgnoreEOF {
			break
		}
		s.mu.Lock()
		code := 1
		if s.shutdown {
			code = 0
		}
		s.mu.Unlock()
		s.exit(code)
	case "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "workspace/didChangeWatchedFiles":
		changed, err := s.model.told(m.Method, m.Params)
		if err != nil {
			return nil, wire.NewError(wire.InvalidParams, err.Error())
		}
		for _, path := range changed {
			s.publish(path)
		}
	case "textDocument/definition", "textDocument/typeDefinition", "textDocument/implementation",
		"textDocument/references", "textDocument/prepareRename", "textDocument/rename",
		"textDocument/documentSymbol", "textDocument/diagnostic", "textDocument/hover", "workspace/symbol":
		if s.config.Loading.Empty && !s.isLoaded() {
			return nil, nil
		}
		select {
		case <-s.loaded:
		case <-s.ctx.Done():
			return nil, nil
		}
		var p position
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, wire.NewError(wire.InvalidParams, err.Error())
		}
		return s.model.answer(m.Method, p, m.Params)
	case "workspace/executeCommand":
		return s.command(m.Params)
	case "fake/state":
		return s.model.state(os.Getpid()), nil
	default:
		if m.Kind == wire.CallMessage {
			return nil, wire.NewError(wire.MethodNotFound, "method not found: "+m.Method)
		}
	}
	return nil, nil
}

func (s *Server) initialize(params []byte) (any, *wire.Error) {
	var p struct {
		RootURI          string `json:"rootUri"`
		WorkspaceFolders []struct {
			URI string `json:"uri"`
		} `json:"workspaceFolders"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, wire.NewError(wire.InvalidParams, err.Error())
	}
	roots := []string{}
	for _, f := range p.WorkspaceFolders {
		roots = append(roots, f.URI)
	}
	if len(roots) == 0 && p.RootURI != "" {
		roots = append(roots, p.RootURI)
	}
	s.model.setRoots(roots)
	yes := json.RawMessage("true")
	capabilities := map[string]json.RawMessage{
		"textDocumentSync":        json.RawMessage(`{"openClose":true,"change":2,"save":true}`),
		"definitionProvider":      yes,
		"typeDefinitionProvider":  yes,
		"implementationProvider":  yes,
		"referencesProvider":      yes,
		"documentSymbolProvider":  yes,
		"workspaceSymbolProvider": yes,
		"hoverProvider":           yes,
		"renameProvider":          json.RawMessage(`{"prepareProvider":true}`),
		"executeCommandProvider":  json.RawMessage(`{"commands":["fake.applyEdit"]}`),
	}
	if s.config.FullSync {
		capabilities["textDocumentSync"] = json.RawMessage("1")
	}
	if s.config.Pull {
		capabilities["diagnosticProvider"] = json.RawMessage(`{"interFileDependencies":false,"workspaceDiagnostics":false}`)
	}
	if s.config.Encoding != "" {
		capabilities["positionEncoding"], _ = json.Marshal(s.config.Encoding)
	}
	maps.Copy(capabilities, s.config.Claim)
	return map[string]any{
		"capabilities": capabilities,
		"serverInfo":   map[string]string{"name": s.config.Name, "version": s.config.Version},
	}, nil
}

// initialized does what servers do then: ask for settings, register for files,
// load, publish. It asks on a goroutine of its own, so that messages are taken meanwhile.
func (s *Server) initialized() {
	s.model.scan()
	s.wg.Go(func() {
		if s.config.Section != "" {
			s.Ask(s.ctx, "workspace/configuration", map[string]any{
				"items": []any{map[string]any{"section": s.config.Section}},
			})
		}
		s.Ask(s.ctx, "client/registerCapability", json.RawMessage(
			`{"registrations":[{"id":"files","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*"}]}}]}`))
		s.load(s.ctx)
	})
}

func (s *Server) load(ctx context.Context) {
	l := s.config.Loading
	if l.Millis > 0 || l.Never {
		progress := func(value map[string]any) {
			s.Notify("$/progress", map[string]any{"token": "load", "value": value})
		}
		s.Ask(ctx, "window/workDoneProgress/create", map[string]any{"token": "load"})
		progress(map[string]any{"kind": "begin", "title": l.Title, "message": "begin"})
		for i := range l.Reports {
			if !s.pause(l.Millis / (l.Reports + 1)) {
				return
			}
			progress(map[string]any{"kind": "report", "percentage": 100 * (i + 1) / (l.Reports + 1)})
		}
		if l.Never {
			return
		}
		if !s.pause(l.Millis / (l.Reports + 1)) {
			return
		}
		progress(map[string]any{"kind": "end", "message": l.Message})
	}
	close(s.loaded)
	for _, path := range s.model.paths() {
		if len(s.model.diagnose(path)) > 0 {
			s.publish(path)
		}
	}
}

func (s *Server) isLoaded() bool {
	select {
	case <-s.loaded:
		return true
	default:
		return false
	}
}

// publish sends the diagnostics of one document, as it is now.
func (s *Server) publish(path string) {
	s.Notify("textDocument/publishDiagnostics", s.model.publication(path))
}

// command runs fake.applyEdit, whose argument is a WorkspaceEdit that is pushed
// to the client; the answer is the client's.
func (s *Server) command(params []byte) (any, *wire.Error) {
	var p struct {
		Command   string            `json:"command"`
		Arguments []json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.Command != "fake.applyEdit" || len(p.Arguments) != 1 {
		return nil, wire.NewError(wire.InvalidParams, "unknown command")
	}
	return s.Ask(s.ctx, "workspace/applyEdit", map[string]any{"edit": p.Arguments[0]}), nil
}
