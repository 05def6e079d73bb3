package lspclient

import (
	"context"
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/wire"
)

// handler is the Client as the connection sees it.
type handler Client

// Event implements wire.Handler.
func (h *handler) Event(e wire.Event) {
	c := (*Client)(h)
	if e.Kind == wire.Notification {
		switch e.Method {
		case "textDocument/publishDiagnostics":
			c.published(e)
		case "$/progress":
			c.progress.report(e, c.log)
		}
	}
	if c.options.OnEvent != nil {
		c.options.OnEvent(e)
	}
}

// Request implements wire.Handler. Everything is answered at once, in wire
// order, from what is known here; only configuration is asked of the owner.
func (h *handler) Request(method string, params []byte) wire.Answer {
	c := (*Client)(h)
	if len(params) > maxQuestion && method != "workspace/applyEdit" {
		return badParams(fmt.Errorf("%s: %d bytes are too many", method, len(params)))
	}
	switch method {
	case "workspace/configuration":
		return c.configuration(params)
	case "workspace/workspaceFolders":
		return wire.Answer{Result: folders(c.options.Folders)}
	case "client/registerCapability":
		return c.register(params)
	case "client/unregisterCapability":
		return c.unregister(params)
	case "workspace/applyEdit":
		return c.applyEdit(params)
	case "window/showDocument":
		return wire.Answer{Result: &protocol.ShowDocumentResult{Success: false}}
	case "window/workDoneProgress/create",
		"window/showMessageRequest",
		"_typescript.rename",
		"workspace/codeLens/refresh",
		"workspace/diagnostic/refresh",
		"workspace/foldingRange/refresh",
		"workspace/inlayHint/refresh",
		"workspace/inlineValue/refresh",
		"workspace/semanticTokens/refresh",
		"workspace/textDocumentContent/refresh":
		return wire.Answer{}
	}
	return wire.Answer{Err: wire.NewError(wire.MethodNotFound, "method not found: "+method)}
}

// maxQuestion bounds the params of what the server asks, edits apart, in bytes.
const maxQuestion = 1 << 20

func badParams(err error) wire.Answer {
	return wire.Answer{Err: wire.NewError(wire.InvalidParams, err.Error())}
}

// configuration answers exactly as many items as were asked, or the servers
// that index into the answer read past its end.
func (c *Client) configuration(params []byte) wire.Answer {
	var p struct {
		Items []struct {
			ScopeURI string `json:"scopeUri"`
			Section  string `json:"section"`
		} `json:"items"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return badParams(err)
	}
	return wire.Answer{Later: func(context.Context) (any, *wire.Error) {
		values := make([]json.RawMessage, len(p.Items))
		for i, item := range p.Items {
			values[i] = json.RawMessage("null")
			if c.options.Configure == nil {
				continue
			}
			scope, err := Path(item.ScopeURI)
			if err != nil {
				scope = ""
			}
			raw, err := json.Marshal(c.options.Configure(item.Section, scope))
			if err != nil {
				c.log.Error("encode configuration", "section", item.Section, "err", err)
				continue
			}
			values[i] = raw
		}
		return values, nil
	}}
}

func (c *Client) register(params []byte) wire.Answer {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return badParams(err)
	}
	list := make([]Registration, len(p.Registrations))
	for i, r := range p.Registrations {
		list[i] = Registration(r)
	}
	c.features.register(list)
	return wire.Answer{}
}

func (c *Client) unregister(params []byte) wire.Answer {
	type entry struct {
		ID     string `json:"id"`
		Method string `json:"method"`
	}
	// LSP spells the member "unregisterations"; some servers correct it.
	var p struct {
		AsSpecified []entry `json:"unregisterations"`
		Corrected   []entry `json:"unregistrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return badParams(err)
	}
	for _, e := range append(p.AsSpecified, p.Corrected...) {
		c.features.unregister(e.ID, e.Method)
	}
	return wire.Answer{}
}
