package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// ID is a JSON-RPC request id.
type ID = jsonrpc2.ID

// Error is the error object of a response.
type Error = jsonrpc2.Error

// Code is the code of an Error.
type Code = jsonrpc2.Code

// Codes of JSON-RPC 2.0 and of LSP 3.17, section "Response Message".
const (
	ParseError       Code = -32700
	InvalidRequest   Code = -32600
	MethodNotFound   Code = -32601
	InvalidParams    Code = -32602
	InternalError    Code = -32603
	NotInitialized   Code = -32002
	UnknownErrorCode Code = -32001
	RequestFailed    Code = -32803
	ServerCancelled  Code = -32802
	ContentModified  Code = -32801
	RequestCancelled Code = -32800
)

// NewError makes the error object of an answer.
func NewError(code Code, message string) *Error { return jsonrpc2.NewError(code, message) }

// MessageKind says what a Message is.
type MessageKind uint8

// The kinds of a Message.
const (
	CallMessage MessageKind = iota + 1
	NotificationMessage
	ResultMessage
	ErrorMessage
)

// Message is one JSON-RPC message. Its byte slices belong to the body it was parsed from.
type Message struct {
	Kind   MessageKind
	ID     ID     // CallMessage, ResultMessage, ErrorMessage; may be null in the last
	Method string // CallMessage, NotificationMessage
	Params []byte // JSON, nil when absent or null
	Result []byte // JSON, "null" when absent
	Error  *Error
}

// Errors of Parse.
var (
	// ErrNotJSON says that a body is no JSON text: lengths and bodies do not agree.
	ErrNotJSON = errors.New("body is not JSON")
	// ErrNotMessage says that a body is JSON, but no message of JSON-RPC 2.0.
	ErrNotMessage = errors.New("body is not a JSON-RPC message")
)

// Parse reads one body. Beyond the specification it takes what real servers
// write: a result beside "error": null, neither of the two, no "jsonrpc".
func Parse(body []byte) (Message, error) {
	v, err := jsonrpc2.ScanMessageView(body)
	if err != nil {
		return parseLenient(body)
	}
	m := Message{Params: v.Params, Result: v.Result}
	var ok bool
	if m.ID, ok = v.ID.ID(); !ok {
		return Message{}, fmt.Errorf("id %.40q: %w", v.IDRaw, ErrNotMessage)
	}
	switch v.Kind {
	case jsonrpc2.MessageViewCall, jsonrpc2.MessageViewNotification:
		m.Kind = NotificationMessage
		if v.Kind == jsonrpc2.MessageViewCall {
			m.Kind = CallMessage
		}
		if m.Method, ok = v.MethodString(); !ok {
			return Message{}, fmt.Errorf("method %.40q: %w", v.MethodRaw, ErrNotMessage)
		}
	case jsonrpc2.MessageViewResponseResult:
		if !m.ID.IsValid() {
			return Message{}, fmt.Errorf("answer without an id: %w", ErrNotMessage)
		}
		m.Kind = ResultMessage
	case jsonrpc2.MessageViewResponseError:
		m.Kind = ErrorMessage
		if m.Error, ok = v.Error.Owned(); !ok {
			return parseLenient(body)
		}
	default:
		return Message{}, ErrNotMessage
	}
	return m, nil
}

func parseLenient(body []byte) (Message, error) {
	if !json.Valid(body) {
		return Message{}, ErrNotJSON
	}
	var f struct {
		ID     json.RawMessage
		Method *string
		Params json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(body, &f); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrNotMessage, err)
	}
	id, ok := parseID(f.ID)
	if !ok {
		return Message{}, fmt.Errorf("id %.40q: %w", f.ID, ErrNotMessage)
	}
	m := Message{ID: id, Params: present(f.Params)}
	failed := present(f.Error)
	switch {
	case f.Method != nil && (failed != nil || present(f.Result) != nil):
		return Message{}, fmt.Errorf("request with an answer: %w", ErrNotMessage)
	case f.Method != nil:
		m.Method, m.Kind = *f.Method, NotificationMessage
		if id.IsValid() {
			m.Kind = CallMessage
		}
	case failed != nil:
		m.Kind, m.Error = ErrorMessage, lenientError(failed)
	case !id.IsValid():
		return Message{}, fmt.Errorf("answer without an id: %w", ErrNotMessage)
	default:
		m.Kind, m.Result = ResultMessage, f.Result
		if f.Result == nil {
			m.Result = []byte("null")
		}
	}
	return m, nil
}

func present(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

func parseID(raw json.RawMessage) (ID, bool) {
	if present(raw) == nil {
		return ID{}, true
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return jsonrpc2.NewStringID(s), true
	}
	var n int64
	if json.Unmarshal(raw, &n) == nil {
		return jsonrpc2.NewNumberID(n), true
	}
	return ID{}, false
}

func lenientError(raw []byte) *Error {
	var f struct {
		Code    float64
		Message string
		Data    json.RawMessage
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return NewError(UnknownErrorCode, string(raw[:min(len(raw), 1024)]))
	}
	e := NewError(UnknownErrorCode, f.Message)
	if c := Code(f.Code); float64(c) == f.Code && c != 0 {
		e.Code = c
	}
	e.Data = jsonrpc2.RawMessage(f.Data)
	return e
}

// Marshal encodes params or a result: raw JSON as it is, nil as nothing, all
// else by protocol.Marshal, which knows the unions of LSP.
func Marshal(v any) ([]byte, error) {
	switch m := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return m, nil
	case jsonrpc2.RawMessage:
		return m, nil
	}
	return protocol.Marshal(v)
}

// Unmarshal decodes params or a result into v, which may be nil, a
// *json.RawMessage that receives a copy, or anything protocol.Unmarshal takes.
// Strings of the decoded value share one copy of data.
func Unmarshal(data []byte, v any) error {
	switch p := v.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*p = append((*p)[:0], data...)
		return nil
	case *jsonrpc2.RawMessage:
		*p = append((*p)[:0], data...)
		return nil
	}
	return protocol.Unmarshal(data, v)
}
