package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/wire"
)

// shape is a Message with its parts printable.
type shape struct {
	Kind                       wire.MessageKind
	ID, Method, Params, Result string
	Code                       wire.Code
	Message                    string
}

func shapeOf(m wire.Message) shape {
	s := shape{Kind: m.Kind, Method: m.Method, Params: string(m.Params), Result: string(m.Result)}
	if n, ok := m.ID.Number(); ok {
		raw, _ := json.Marshal(n)
		s.ID = string(raw)
	} else if v, ok := m.ID.StringValue(); ok {
		raw, _ := json.Marshal(v)
		s.ID = string(raw)
	}
	if m.Error != nil {
		s.Code, s.Message = m.Error.Code, m.Error.Message
	}
	return s
}

func TestParse(t *testing.T) {
	cases := []struct {
		name, body string
		want       shape
		err        error
	}{
		{"notification", `{"jsonrpc":"2.0","method":"a","params":{"x":1}}`, shape{Kind: wire.NotificationMessage, Method: "a", Params: `{"x":1}`}, nil},
		{"null params", `{"jsonrpc":"2.0","method":"a","params":null}`, shape{Kind: wire.NotificationMessage, Method: "a"}, nil},
		{"call", `{"jsonrpc":"2.0","id":7,"method":"a"}`, shape{Kind: wire.CallMessage, ID: "7", Method: "a"}, nil},
		{"call with a string id", `{"jsonrpc":"2.0","id":"x\"y","method":"a"}`, shape{Kind: wire.CallMessage, ID: `"x\"y"`, Method: "a"}, nil},
		{"result", `{"jsonrpc":"2.0","id":7,"result":[1]}`, shape{Kind: wire.ResultMessage, ID: "7", Result: "[1]"}, nil},
		{"null result", `{"jsonrpc":"2.0","id":7,"result":null}`, shape{Kind: wire.ResultMessage, ID: "7", Result: "null"}, nil},
		{"error", `{"jsonrpc":"2.0","id":7,"error":{"code":-32801,"message":"m"}}`, shape{Kind: wire.ErrorMessage, ID: "7", Code: wire.ContentModified, Message: "m"}, nil},
		{"error without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, shape{Kind: wire.ErrorMessage, Code: wire.ParseError, Message: "m"}, nil},
		{"result beside null error", `{"jsonrpc":"2.0","id":7,"result":1,"error":null}`, shape{Kind: wire.ResultMessage, ID: "7", Result: "1"}, nil},
		{"error beside null result", `{"jsonrpc":"2.0","id":7,"result":null,"error":{"code":1,"message":"m"}}`, shape{Kind: wire.ErrorMessage, ID: "7", Code: 1, Message: "m"}, nil},
		{"neither", `{"jsonrpc":"2.0","id":7}`, shape{Kind: wire.ResultMessage, ID: "7", Result: "null"}, nil},
		{"no version", `{"id":7,"result":1}`, shape{Kind: wire.ResultMessage, ID: "7", Result: "1"}, nil},
		{"error code is a float", `{"jsonrpc":"2.0","id":7,"error":{"code":1.5,"message":"m"}}`, shape{Kind: wire.ErrorMessage, ID: "7", Code: wire.UnknownErrorCode, Message: "m"}, nil},
		{"error is a string", `{"jsonrpc":"2.0","id":7,"error":"boom"}`, shape{Kind: wire.ErrorMessage, ID: "7", Code: wire.UnknownErrorCode, Message: `"boom"`}, nil},
		{"id of 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"result":1}`, shape{Kind: wire.ResultMessage, ID: "9007199254740993", Result: "1"}, nil},
		{"float id", `{"jsonrpc":"2.0","id":1.5,"result":1}`, shape{}, wire.ErrNotMessage},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"a"}`, shape{}, wire.ErrNotMessage},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"a","result":1}`, shape{}, wire.ErrNotMessage},
		{"method is a number", `{"jsonrpc":"2.0","method":5}`, shape{}, wire.ErrNotMessage},
		{"batch", `[{"jsonrpc":"2.0","method":"a"}]`, shape{}, wire.ErrNotMessage},
		{"number", `5`, shape{}, wire.ErrNotMessage},
		{"answer to nothing", `{"jsonrpc":"2.0","result":1}`, shape{}, wire.ErrNotMessage},
		{"empty object", `{}`, shape{}, wire.ErrNotMessage},
		{"not JSON", `{"jsonrpc":"2.0","method":"a`, shape{}, wire.ErrNotJSON},
		{"two values", `{"jsonrpc":"2.0","method":"a"}{}`, shape{}, wire.ErrNotJSON},
		{"text", `hello`, shape{}, wire.ErrNotJSON},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := wire.Parse([]byte(c.body))
			if !errors.Is(err, c.err) {
				t.Fatalf("error is %v, want %v", err, c.err)
			}
			got := shapeOf(m)
			if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestL05_DeepAndDuplicate(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + deep + `}`))
	if err != nil {
		t.Fatalf("envelope: %v", err)
	}
	var into protocol.WorkspaceEdit
	if err := wire.Unmarshal(m.Result, &into); err == nil {
		t.Error("100,000 levels were decoded")
	}
	var loose any
	if err := wire.Unmarshal(m.Result, &loose); err == nil {
		t.Error("100,000 levels were decoded into any")
	}
	var loc protocol.Location
	twice := `{"uri":"file:///a","uri":"file:///b","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}}}`
	if err := wire.Unmarshal([]byte(twice), &loc); err == nil && loc.URI != "file:///b" {
		t.Errorf("a duplicate key gave %s; want the last, or an error", loc.URI)
	}
}

// FuzzParse looks for panics, and checks that what Parse takes is classified.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		ping, `{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":"\ud800","method":"\u0000"}`,
		`{"id":1,"error":{"code":1e9,"message":"\xff"}}`, `[[[[`, `{"jsonrpc":"2.0","id":1,"result":1,"error":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := wire.Parse(body)
		if err != nil {
			if !errors.Is(err, wire.ErrNotJSON) && !errors.Is(err, wire.ErrNotMessage) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		switch m.Kind {
		case wire.CallMessage:
			if !m.ID.IsValid() {
				t.Fatal("a call without an id")
			}
		case wire.NotificationMessage:
		case wire.ResultMessage:
			if m.Result == nil {
				t.Fatal("a result that is nothing")
			}
		case wire.ErrorMessage:
			if m.Error == nil {
				t.Fatal("an error that is none")
			}
		default:
			t.Fatalf("kind %d", m.Kind)
		}
	})
}

// FuzzUnmarshal decodes hostile answers into the types that operations use.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`null`, `[]`, `{"changes":{"file:///a":[{"range":{"start":{"line":0,"character":0},"end":{"line":1,"character":4294967296}},"newText":""}]}}`,
		`{"documentChanges":[{"kind":"rename","oldUri":"file:///a","newUri":"x"}]}`, `[{"targetUri":"file:///a"}]`,
		`{"uri":"%00","diagnostics":[{"range":null,"message":{"kind":"x"}}]}`, `"\ud800"`, `[{"name":"\u0000","kind":99}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range []any{
			new(protocol.WorkspaceEdit), new(protocol.PublishDiagnosticsParams), new([]protocol.Location),
			new(protocol.DefinitionResult), new([]protocol.DocumentSymbol), new(protocol.PrepareRenameResult),
			new(protocol.ApplyWorkspaceEditParams), new(protocol.InitializeResult), new([]protocol.CallHierarchyItem),
		} {
			if err := wire.Unmarshal(data, v); err == nil {
				if _, err := wire.Marshal(v); err != nil {
					t.Logf("%T decodes but does not encode: %v", v, err)
				}
			}
		}
	})
}
