package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/auralsp/aura/daemon/api"
)

// Numbers of JSON-RPC errors; clients switch on data.code.
const (
	parseError     = -32700 // of JSON-RPC itself
	invalidRequest = -32600 // of JSON-RPC itself
	invalidParams  = -32602
	internalError  = -32603
	cancelled      = -32800 // of LSP
	refused        = -32000
)

func numberOf(code api.Code) int {
	switch code {
	case api.InvalidArgument:
		return invalidParams
	case api.Cancelled:
		return cancelled
	case api.Internal:
		return internalError
	}
	return refused
}

// message is what a client sent: a request, a notification or (ignored) a response.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // exactly as it came; answers repeat it
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// parseMessage reads one message. problem is the number and text of what is
// wrong with it; the id is still set where it could be read.
func parseMessage(raw []byte) (m message, number int, problem string) {
	if err := json.Unmarshal(raw, &m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || len(bytes.TrimSpace(raw)) == 0 {
			return message{}, parseError, "the message is not valid JSON: " + err.Error()
		}
		return message{ID: m.ID}, invalidRequest, "the message is not a JSON-RPC request: " + err.Error()
	}
	switch {
	case m.Version != "2.0":
		return m, invalidRequest, `jsonrpc must be "2.0"`
	case !validID(m.ID):
		return message{}, invalidRequest, "id must be a string or a number"
	case m.Method == nil && m.Result == nil && m.Error == nil:
		return m, invalidRequest, "method is missing"
	}
	return m, 0, ""
}

func validID(id json.RawMessage) bool {
	if len(id) == 0 || string(id) == "null" {
		return true
	}
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

type wireError struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *api.Error `json:"data,omitempty"`
}

// encode writes JSON on one line, without escaping < > & for web pages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func appendResponse(dst []byte, id json.RawMessage, member string, value []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	dst = append(append(dst, id...), `,"`...)
	dst = append(append(dst, member...), `":`...)
	return append(append(dst, value...), '}')
}

func resultMessage(id json.RawMessage, result []byte) []byte {
	return appendResponse(nil, id, "result", result)
}

func errorMessage(id json.RawMessage, number int, e *api.Error) []byte {
	text, err := encode(wireError{Code: number, Message: e.Message, Data: e})
	if err != nil { // details that are not JSON
		text, _ = encode(wireError{Code: number, Message: e.Message, Data: &api.Error{Code: e.Code, Message: e.Message}})
	}
	return appendResponse(nil, id, "error", text)
}

func notificationMessage(method string, params any) ([]byte, error) {
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

// refusal turns what a handler returned into what every door shows. internal is
// true when it is a defect of ours, which the caller logs under the id.
func refusal(err error, id string) (e *api.Error, internal bool) {
	switch {
	case errors.As(err, &e):
		return e, e.Code == api.Internal
	case errors.Is(err, context.Canceled):
		return api.Errorf(api.Cancelled, "the request was cancelled"), false
	case errors.Is(err, context.DeadlineExceeded):
		return api.Errorf(api.Timeout, "the request took too long"), false
	}
	return &api.Error{
		Code:    api.Internal,
		Message: fmt.Sprintf("%v (request %s; auractl logs has more)", err, id),
		Details: map[string]string{"request": id},
	}, true
}
