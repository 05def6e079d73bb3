package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	for _, spec := range Specs() {
		in, err := InputSchema(spec)
		if err != nil {
			t.Fatal(err)
		}
		out, err := OutputSchema(spec)
		if err != nil {
			t.Fatal(err)
		}
		add(spec.Methods()[0]+" input", in)
		add(spec.Methods()[0]+" output", out)
	}
	for _, tool := range Tools() {
		s, err := ToolSchema(tool)
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
		t.Errorf("the contract changed; if it should, run go test ./daemon/api -update\n%s", cmp.Diff(string(want), string(text)))
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
		spec, _, ok := ByMethod(tt.method)
		if !ok {
			t.Fatal(tt.method)
		}
		s, err := InputSchema(spec)
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
		if _, err := Decode(spec, json.RawMessage(tt.params)); (err == nil) != tt.ok {
			t.Errorf("Decode of %s and %s: %v", tt.method, tt.params, err)
		}
	}
}

// Each Spec is complete, its positional fields exist, no method has two owners.
func TestSpecs(t *testing.T) {
	owners := map[string]string{}
	for _, s := range Specs() {
		if s.Name == "" || s.Group == "" || s.Summary == "" || s.Input == nil || s.Output == nil {
			t.Errorf("%+v lacks something", s)
		}
		if strings.HasSuffix(s.Summary, ".") {
			t.Errorf("%s: a summary has no full stop", s.Name)
		}
		for _, m := range s.Methods() {
			if o := owners[m]; o != "" {
				t.Errorf("%s is a method of %s and %s", m, o, s.Name)
			}
			owners[m] = s.Name
		}
		if s.Mutating && s.Tier < ApplyTier {
			t.Errorf("%s writes with tier %s", s.Name, s.Tier)
		}
		names := map[string]bool{}
		for _, f := range Fields(s.Input) {
			for _, n := range append([]string{f.Name}, f.Also...) {
				if names[n] {
					t.Errorf("%s has two fields %s", s.Name, n)
				}
				names[n] = true
			}
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", s.Name, f.Name)
			}
			if f.Default != "" && f.Required {
				t.Errorf("%s.%s is required and has a default", s.Name, f.Name)
			}
			if f.Default == "true" != (f.Type.Kind() == reflect.Bool && f.Default != "") {
				t.Errorf("%s.%s has the default %q", s.Name, f.Name, f.Default)
			}
		}
		for _, p := range s.Positional {
			if !names[p] {
				t.Errorf("%s has no field %s", s.Name, p)
			}
		}
	}
}
