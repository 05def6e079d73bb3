// Package schema derives JSON Schemas from the contract. It is apart from
// package api so that the command line, which needs none, does not pay for the
// library at every start. It owns no state and starts no goroutines.
package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/auralsp/aura/daemon/api"
)

// Input returns the JSON Schema of an operation's parameters, as its
// struct tags declare them. Only the main spelling of each field is listed.
func Input(spec api.Spec) (*jsonschema.Schema, error) {
	s, err := of(spec.Input)
	if err != nil {
		return nil, err
	}
	s.Required = nil // the library takes every field without omitempty
	for _, f := range api.Fields(spec.Input) {
		p := s.Properties[f.Name]
		if err := describe(p, f); err != nil {
			return nil, fmt.Errorf("schema of %s: %s: %w", spec.Name, f.Name, err)
		}
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s, nil
}

// Output returns the JSON Schema of an operation's answer.
func Output(spec api.Spec) (*jsonschema.Schema, error) { return of(spec.Output) }

// Tool returns the JSON Schema of a broad tool's parameters: the fields of
// all its operations and the field operation.
func Tool(tool string) (*jsonschema.Schema, error) {
	var all *jsonschema.Schema
	var operations []any
	for _, spec := range api.Specs() {
		if spec.Tool != tool {
			continue
		}
		operations = append(operations, spec.Name)
		s, err := Input(spec)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = s
			continue
		}
		for _, name := range s.PropertyOrder {
			if all.Properties[name] == nil {
				all.Properties[name] = s.Properties[name]
				all.PropertyOrder = append(all.PropertyOrder, name)
			} else if string(all.Properties[name].Default) != string(s.Properties[name].Default) {
				all.Properties[name].Default = nil // it depends on the operation
			}
		}
	}
	if all == nil {
		return nil, fmt.Errorf("there is no tool %q", tool)
	}
	all.Properties["operation"] = &jsonschema.Schema{Type: "string", Enum: operations, Description: "what to do"}
	all.PropertyOrder = append([]string{"operation"}, all.PropertyOrder...)
	all.Required = []string{"operation"}
	return all, nil
}

// of reads a type. An outline's entries hold entries: those are
// described once and referred to.
func of(v any) (*jsonschema.Schema, error) {
	const definition = "symbolEntry"
	children := reflect.TypeFor[[]api.SymbolEntry]()
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		children: {Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/" + definition}},
	}}
	t := reflect.TypeOf(v)
	s, err := jsonschema.ForType(t, opts)
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", t, err)
	}
	if _, nested := t.FieldByName("Symbols"); nested {
		entry, err := jsonschema.ForType(children.Elem(), opts)
		if err != nil {
			return nil, fmt.Errorf("schema of %v: %w", children.Elem(), err)
		}
		s.Defs = map[string]*jsonschema.Schema{definition: entry}
	}
	return s, nil
}

// describe adds what the tags of a field say to its schema.
func describe(p *jsonschema.Schema, f api.Field) error {
	if p == nil {
		return fmt.Errorf("the schema lacks it")
	}
	p.Description = f.Doc
	if len(p.Types) > 0 { // a null counts as absent everywhere: it need not be said
		p.Type, p.Types = p.Types[len(p.Types)-1], nil
	}
	if f.Min != nil {
		least := float64(*f.Min)
		p.Minimum = &least
	}
	target := p
	if f.Type.Kind() == reflect.Slice {
		target = p.Items
	}
	for _, e := range f.Enum {
		target.Enum = append(target.Enum, e)
	}
	if f.Default == "" {
		return nil
	}
	text := f.Default
	if f.Type.Kind() == reflect.String {
		text = strconv.Quote(text)
	}
	p.Default = json.RawMessage(text)
	if !json.Valid(p.Default) {
		return fmt.Errorf("default %s is not JSON", text)
	}
	return nil
}
