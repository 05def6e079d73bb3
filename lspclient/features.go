package lspclient

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
)

// Registration is a feature that the server registered after the handshake.
type Registration struct {
	ID      string
	Method  string
	Options json.RawMessage // nil when there are none
}

// featureSet is what the server says it can do: announced in the handshake, or
// registered later.
type featureSet struct {
	mu           sync.Mutex // guards the fields below
	raw          map[string]json.RawMessage
	capabilities protocol.ServerCapabilities
	registered   []Registration
}

func (f *featureSet) init() { f.raw = map[string]json.RawMessage{} }

// announced takes the capabilities of the handshake. One that is not of its
// type is left out rather than failing the server.
func (f *featureSet) announced(raw map[string]json.RawMessage, log *slog.Logger) {
	decode := func(m map[string]json.RawMessage) (c protocol.ServerCapabilities, err error) {
		all, err := json.Marshal(m)
		if err == nil {
			err = protocol.Unmarshal(all, &c)
		}
		return c, err
	}
	capabilities, err := decode(raw)
	if err != nil {
		good := make(map[string]json.RawMessage, len(raw))
		for name, value := range raw {
			if _, err := decode(map[string]json.RawMessage{name: value}); err != nil {
				log.Warn("capability of another type than the protocol's", "capability", name, "err", err)
				continue
			}
			good[name] = value
		}
		capabilities, err = decode(good)
		if err != nil {
			log.Warn("capabilities cannot be decoded", "err", err)
		}
		raw = good
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw, f.capabilities = raw, capabilities
}

// register adds registrations. The same id may come twice with other options,
// and both count; one that is equal in all is kept once.
func (f *featureSet) register(list []Registration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range list {
		known := slices.ContainsFunc(f.registered, func(k Registration) bool {
			return k.ID == r.ID && k.Method == r.Method && bytes.Equal(k.Options, r.Options)
		})
		if !known {
			f.registered = append(f.registered, r)
		}
	}
}

func (f *featureSet) unregister(id, method string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.registered = slices.DeleteFunc(f.registered, func(r Registration) bool {
		return r.ID == id && r.Method == method
	})
}

// Capabilities returns what the server announced in the handshake.
func (c *Client) Capabilities() protocol.ServerCapabilities {
	c.features.mu.Lock()
	defer c.features.mu.Unlock()
	return c.features.capabilities
}

// Registrations returns what the server has registered for a method, or for all
// methods when it is empty, in the order of arrival.
func (c *Client) Registrations(method string) []Registration {
	c.features.mu.Lock()
	defer c.features.mu.Unlock()
	var list []Registration
	for _, r := range c.features.registered {
		if method == "" || r.Method == method {
			list = append(list, r)
		}
	}
	return list
}

// Supports reports whether the server announced or registered a method. Of
// methods that LSP 3.18 ties to no capability it knows nothing and says false.
func (c *Client) Supports(method string) bool {
	f := &c.features
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.registered {
		if r.Method == method {
			return true
		}
	}
	key, ok := capabilityOf(method)
	if !ok {
		return false
	}
	name, member, nested := strings.Cut(key, ".")
	value := f.raw[name]
	if nested {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return false
		}
		value = object[member]
	}
	return len(value) > 0 && string(value) != "null" && string(value) != "false"
}

// capabilityOf returns the member of ServerCapabilities that announces a method.
func capabilityOf(method string) (string, bool) {
	key, ok := map[string]string{
		"callHierarchy/incomingCalls":       "callHierarchyProvider",
		"callHierarchy/outgoingCalls":       "callHierarchyProvider",
		"codeAction/resolve":                "codeActionProvider.resolveProvider",
		"textDocument/codeAction":           "codeActionProvider",
		"textDocument/codeLens":             "codeLensProvider",
		"textDocument/completion":           "completionProvider",
		"textDocument/declaration":          "declarationProvider",
		"textDocument/definition":           "definitionProvider",
		"textDocument/diagnostic":           "diagnosticProvider",
		"textDocument/documentHighlight":    "documentHighlightProvider",
		"textDocument/documentLink":         "documentLinkProvider",
		"textDocument/documentSymbol":       "documentSymbolProvider",
		"textDocument/foldingRange":         "foldingRangeProvider",
		"textDocument/formatting":           "documentFormattingProvider",
		"textDocument/hover":                "hoverProvider",
		"textDocument/implementation":       "implementationProvider",
		"textDocument/inlayHint":            "inlayHintProvider",
		"textDocument/linkedEditingRange":   "linkedEditingRangeProvider",
		"textDocument/moniker":              "monikerProvider",
		"textDocument/prepareCallHierarchy": "callHierarchyProvider",
		"textDocument/prepareRename":        "renameProvider.prepareProvider",
		"textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
		"textDocument/rangeFormatting":      "documentRangeFormattingProvider",
		"textDocument/references":           "referencesProvider",
		"textDocument/rename":               "renameProvider",
		"textDocument/selectionRange":       "selectionRangeProvider",
		"textDocument/semanticTokens/full":  "semanticTokensProvider",
		"textDocument/signatureHelp":        "signatureHelpProvider",
		"textDocument/typeDefinition":       "typeDefinitionProvider",
		"typeHierarchy/subtypes":            "typeHierarchyProvider",
		"typeHierarchy/supertypes":          "typeHierarchyProvider",
		"workspace/diagnostic":              "diagnosticProvider.workspaceDiagnostics",
		"workspace/executeCommand":          "executeCommandProvider",
		"workspace/symbol":                  "workspaceSymbolProvider",
		"workspaceSymbol/resolve":           "workspaceSymbolProvider.resolveProvider",
	}[method]
	return key, ok
}
