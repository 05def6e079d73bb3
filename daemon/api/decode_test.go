package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	rename := func(change func(*Rename)) Rename {
		r := Rename{IncludeComments: true, RenameBackingField: true, Mutation: Mutation{ValidateCompilation: true, RollbackOnError: true}}
		change(&r)
		return r
	}
	tests := []struct {
		name, method, params string
		want                 any
	}{
		{"defaults", "aura_rename_symbol", `{"symbolName":"A","newName":"B"}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"a default turned off", "rename", `{"symbolName":"A","newName":"B","includeComments":false,"rollbackOnError":false}`, rename(func(r *Rename) {
			r.SymbolName, r.NewName, r.IncludeComments, r.RollbackOnError = "A", "B", false, false
		})},
		{"null is absent", "rename", `{"symbolName":"A","newName":"B","includeComments":null,"line":null}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"broad tool", "code.refactor", `{"operation":"Rename","symbolName":"A","newName":"B"}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"broad tool under its MCP name", "code_refactor", `{"operation":"rename","symbolName":"A","newName":"B"}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"another spelling", "rename", `{"fullName":"A","newName":"B"}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"both spellings, equal", "rename", `{"symbolName":"A","fullName":"A","newName":"B"}`, rename(func(r *Rename) { r.SymbolName, r.NewName = "A", "B" })},
		{"solutionPath", "undo", `{"solutionPath":"x","undoToken":"T"}`, Undo{Request: Request{ProjectPath: "x"}, UndoToken: "T"}},
		{"camel case operation", "code.navigate", `{"operation":"typeDefinition","symbolName":"A"}`, Navigate{Address: Address{SymbolName: "A"}, Limit: 20, Wait: -1}},
		{"null of another operation's field", "code.navigate", `{"operation":"references","symbolName":"A","depth":null}`, Navigate{Address: Address{SymbolName: "A"}, Limit: 20, Wait: -1}},
		{"embedded twice", "aura_find_callers", `{"symbolName":"A","depth":3}`, Calls{Navigate: Navigate{Address: Address{SymbolName: "A"}, Limit: 20, Wait: -1}, Depth: 3}},
		{"enum without case", "diagnostics", `{"minSeverity":"WARNING"}`, DiagnosticsQuery{MinSeverity: "warning", Limit: 100}},
		{"enum of list elements", "events.subscribe", `{"events":["Server"]}`, Subscribe{Events: []string{"server"}}},
		{"no parameters", "history", ``, History{Limit: 20}},
		{"surrogate pair", "undo", `{"undoToken":"\ud83d\ude00"}`, Undo{UndoToken: "😀"}},
		{"escaped backslash before u", "undo", `{"undoToken":"\\ud83d"}`, Undo{UndoToken: `\ud83d`}},
		{"nested object", "initialize", `{"client":{"name":"x"},"tier":"Observe"}`, Initialize{ProtocolVersion: 1, Client: ClientInfo{Name: "x"}, Tier: "observe"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec, err := Find(tt.method, json.RawMessage(tt.params))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(spec, json.RawMessage(tt.params))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, method, params, message, suggestion string
	}{
		{"unknown field", "rename", `{"symbolName":"A","newName":"B","preveiw":true}`, `rename has no field "preveiw"; did you mean preview?`, "preview"},
		{"a field in another case", "rename", `{"SymbolName":"A","newName":"B"}`, `did you mean symbolName?`, "symbolName"},
		{"unknown field far from all", "undo", `{"undoToken":"T","zzzzzz":1}`, `it has workspace, session, projectPath, undoToken`, ""},
		{"another operation's field", "code.navigate", `{"operation":"references","symbolName":"A","depth":2}`, `references has no field "depth"`, ""},
		{"missing", "rename", `{"symbolName":"A"}`, `rename needs newName`, ""},
		{"null for a required one", "rename", `{"symbolName":"A","newName":null}`, `rename needs newName`, ""},
		{"wrong type", "references", `{"symbolName":"A","limit":"20"}`, `limit must be a whole number, not "20"`, ""},
		{"fraction", "references", `{"symbolName":"A","limit":1.5}`, `limit must be a whole number, not 1.5`, ""},
		{"too large a number", "references", `{"symbolName":"A","line":99999999999999999999}`, `line must be a whole number`, ""},
		{"zero line", "references", `{"filePath":"a","line":0,"column":1}`, `line must be at least 1, not 0`, ""},
		{"negative limit", "references", `{"symbolName":"A","limit":-1}`, `limit must be at least 1, not -1`, ""},
		{"enum", "diagnostics", `{"minSeverity":"eror"}`, `minSeverity must be one of error, warning, information, hint, not "eror"`, "error"},
		{"enum in a list", "events.subscribe", `{"events":["servers"]}`, `events must be one of`, "server"},
		{"unequal spellings", "rename", `{"symbolName":"A","fullName":"B","newName":"C"}`, `symbolName and fullName are the same field`, ""},
		{"twice", "rename", `{"newName":"A","newName":"B"}`, `newName is given twice`, ""},
		{"list instead of object", "rename", `["A","B"]`, `parameters must be a JSON object, not ["A","B"]`, ""},
		{"broken JSON", "undo", `{"undoToken":`, `not valid JSON`, ""},
		{"text after", "undo", `{"undoToken":"T"} {}`, `text after the parameters`, ""},
		{"brace after", "undo", `{"undoToken":"T"}}`, `text after the parameters`, ""},
		{"bad UTF-8", "undo", "{\"undoToken\":\"\xff\"}", `not valid UTF-8`, ""},
		{"lone surrogate", "undo", `{"undoToken":"\ud800x"}`, `half of a surrogate pair`, ""},
		{"low surrogate alone", "undo", `{"undoToken":"\uDC00"}`, `half of a surrogate pair`, ""},
		{"L05 nested too deep", "undo", `{"undoToken":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`, `nested deeper than 1000`, ""},
		{"unknown inner field", "initialize", `{"client":{"nam":"x"}}`, `client has no field "nam"`, ""},
		{"inner type", "initialize", `{"client":{"name":1}}`, `client.name must be a string, not number`, ""},
		{"no operation", "code.navigate", `{"symbolName":"A"}`, `code.navigate needs operation: one of definition, type_definition,`, ""},
		{"unknown operation", "code.navigate", `{"operation":"reference"}`, `code.navigate has no operation "reference"`, "references"},
		{"operation of another method", "aura_rename_symbol", `{"operation":"move","symbolName":"A","newName":"B"}`, `operation "move" does not go with aura_rename_symbol`, ""},
		{"operation of the wrong type", "code.navigate", `{"operation":3}`, `operation of code.navigate must be a string`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec, err := Find(tt.method, json.RawMessage(tt.params))
			if err == nil {
				_, err = Decode(spec, json.RawMessage(tt.params))
			}
			e, ok := err.(*Error)
			if !ok || e.Code != InvalidArgument {
				t.Fatalf("got %v, want INVALID_ARGUMENT", err)
			}
			if !strings.Contains(e.Message, tt.message) {
				t.Errorf("message %q does not hold %q", e.Message, tt.message)
			}
			if strings.Join(e.Suggestions, " ") != tt.suggestion {
				t.Errorf("suggestions %q, want %q", e.Suggestions, tt.suggestion)
			}
		})
	}
}

func TestFindUnknownMethod(t *testing.T) {
	_, err := Find("aura_rename_symbl", nil)
	e, ok := err.(*Error)
	if !ok || e.Code != UnsupportedOperation || len(e.Suggestions) == 0 || e.Suggestions[0] != "aura_rename_symbol" {
		t.Fatalf("got %#v", err)
	}
}

func TestNeeds(t *testing.T) {
	spec, _, _ := ByMethod("rename")
	if got := spec.Needs(Rename{Mutation: Mutation{Preview: true}}); got != PreviewTier {
		t.Errorf("a preview needs %v", got)
	}
	if got := spec.Needs(Rename{}); got != ApplyTier {
		t.Errorf("a rename needs %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("code.navigate", `{"operation":"references","symbolName":"A","limit":3}`)
	f.Add("rename", `{"symbolName":"\ud83d\ude00","newName":"B"}`)
	f.Add("initialize", `{"client":{"name":"x"},"environment":{"A":"b"}}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		spec, err := Find(method, json.RawMessage(params))
		if err == nil {
			var in any
			if in, err = Decode(spec, json.RawMessage(params)); err == nil {
				again, merr := json.Marshal(in)
				if merr != nil {
					t.Fatal(merr)
				}
				if !json.Valid([]byte(params)) && strings.TrimSpace(params) != "" {
					t.Fatalf("accepted invalid JSON %q as %s", params, again)
				}
			}
		}
		if err != nil && CodeOf(err) == Internal {
			t.Fatalf("untyped error %v", err)
		}
	})
}
