package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSchemas holds the schemas of all operations to testdata/schemas.jsonl, so
// that a change of the contract is seen in review. Contracts only grow.
func TestSchemas(t *testing.T) {
	var text []byte // one line for each
	add := func(name string, v any) {
		line, err := json.Marshal(map[string]any{name: v})
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	for _, spec := range api.Specs() {
		in, err := Input(spec)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Output(spec)
		if err != nil {
			t.Fatal(err)
		}
		add(spec.Methods()[0]+" input", in)
		add(spec.Methods()[0]+" output", out)
	}
	for _, tool := range api.Tools() {
		s, err := Tool(tool)
		if err != nil {
			t.Fatal(err)
		}
		add(tool, s)
	}
	golden := filepath.Join("testdata", "schemas.jsonl")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("the contract changed; if it should, run go test ./daemon/api/schema -update\n%s", cmp.Diff(string(want), string(text)))
	}
}

// A schema must accept what Decode accepts and refuse what it refuses.
func TestSchemasAgreeWithDecode(t *testing.T) {
	tests := []struct {
		method, params string
		ok             bool
	}{
		{"rename", `{"symbolName":"A","newName":"B","preview":true}`, true},
		{"rename", `{"symbolName":"A"}`, false},
		{"rename", `{"symbolName":"A","newName":"B","x":1}`, false},
		{"references", `{"symbolName":"A","limit":0}`, false},
		{"references", `{"symbolName":"A","limit":5}`, true},
		{"diagnostics", `{"minSeverity":"loud"}`, false},
		{"diagnostics", `{"minSeverity":"error"}`, true},
		{"events.subscribe", `{"events":["nope"]}`, false},
		{"events.subscribe", `{"events":["index"]}`, true},
		{"initialize", `{"client":{"name":"x"},"environment":{"A":"b"}}`, true},
		{"initialize", `{"client":{"name":1}}`, false},
	}
	for _, tt := range tests {
		spec, _, ok := api.ByMethod(tt.method)
		if !ok {
			t.Fatal(tt.method)
		}
		s, err := Input(spec)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal([]byte(tt.params), &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); (err == nil) != tt.ok {
			t.Errorf("schema of %s and %s: %v", tt.method, tt.params, err)
		}
		if _, err := api.Decode(spec, json.RawMessage(tt.params)); (err == nil) != tt.ok {
			t.Errorf("Decode of %s and %s: %v", tt.method, tt.params, err)
		}
	}
}
