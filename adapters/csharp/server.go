package csharp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
)

// bench is a Bench whose OmniSharp answers as other servers do.
type bench struct{ adapters.Bench }

// Server implements adapters.Bench.
func (b bench) Server(ctx context.Context, r adapters.Role) (adapters.Server, error) {
	srv, err := b.Bench.Server(ctx, r)
	if err != nil || srv.Engine() != omnisharpID {
		return srv, err
	}
	return plainServer{srv}, nil
}

// With implements adapters.Bench.
func (b bench) With(set change.Set) (adapters.Bench, error) {
	after, err := b.Bench.With(set)
	if err != nil {
		return nil, err
	}
	return bench{after}, nil
}

// plainServer is an OmniSharp without its own ways: it names compiled code as
// files that nobody has, knows no prepareRename, and explains an error by a
// stack trace.
type plainServer struct{ adapters.Server }

// metadata is in the URIs of compiled code.
var metadata = []byte(`/%24metadata%24/`)

// Call implements adapters.Server.
func (s plainServer) Call(ctx context.Context, method string, params, result any) error {
	if method == protocol.MethodTextDocumentPrepareRename {
		// Its rename answers a place that cannot be renamed with no edits.
		prepared, ok := result.(*protocol.PrepareRenameResult)
		asked, known := params.(*protocol.PrepareRenameParams)
		if !ok || !known {
			return errors.New("prepareRename is asked in a way that OmniSharp's stand-in does not know")
		}
		*prepared = &protocol.Range{Start: asked.Position, End: asked.Position}
		return nil
	}
	err := s.Server.Call(ctx, method, params, result)
	if err != nil {
		return brief(err)
	}
	if raw, ok := result.(*json.RawMessage); ok && bytes.Contains(*raw, metadata) {
		*raw, err = inSource(*raw)
	}
	return err
}

// inSource drops the places in compiled code from a list of places, or from one.
func inSource(raw json.RawMessage) (json.RawMessage, error) {
	if raw = bytes.TrimSpace(raw); bytes.HasPrefix(raw, []byte("{")) {
		return json.RawMessage("[]"), nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(place json.RawMessage) bool { return bytes.Contains(place, metadata) })
	return json.Marshal(list)
}

// briefError is a refusal of OmniSharp without its stack trace.
type briefError struct {
	error
	code    int
	message string
}

// Refusal implements adapters.ServerRefusal.
func (e briefError) Refusal() (code int, message string) { return e.code, e.message }

// Unwrap returns the error as it came.
func (e briefError) Unwrap() error { return e.error }

// Error implements error.
func (e briefError) Error() string { return "OmniSharp: " + e.message }

func brief(err error) error {
	var refused adapters.ServerRefusal
	if !errors.As(err, &refused) {
		return err
	}
	code, message := refused.Refusal()
	if strings.Contains(message, "\n") {
		return briefError{err, code, firstLine(strings.TrimPrefix(message, "Internal Error - "))}
	}
	return err
}
