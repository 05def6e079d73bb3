package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Specs returns every operation and method, in the order in which help lists them.
func Specs() []Spec { return slices.Clone(catalogue().specs) }

// Tools returns the names of the broad tools.
func Tools() []string { return slices.Clone(catalogue().tools) }

// ByMethod returns the operation of a method. A broad tool carries several: then
// broad is true, and spec holds only the tool's name; Find reads the request.
// The bare name of an operation is accepted too, and "_" for "." in a tool's.
func ByMethod(name string) (spec Spec, broad, ok bool) {
	c := catalogue()
	if i, ok := c.methods[name]; ok {
		return c.specs[i], false, true
	}
	if slices.Contains(c.tools, name) {
		return Spec{Tool: name}, true, true
	}
	if dotted := strings.Replace(name, "_", ".", 1); slices.Contains(c.tools, dotted) {
		return Spec{Tool: dotted}, true, true
	}
	return Spec{}, false, false
}

// Find returns the operation that a request asks for: a broad tool's by its
// field operation. The error is an *Error that names what there is instead.
func Find(method string, params json.RawMessage) (Spec, error) {
	spec, broad, ok := ByMethod(method)
	switch {
	case !ok:
		return Spec{}, unknownMethod(method)
	case broad:
		return operationOf(spec.Tool, params)
	}
	return spec, nil
}

// CatalogueHash identifies the operations and their fields; two programs with
// the same hash understand each other's requests.
func CatalogueHash() string {
	h := sha256.New()
	for _, s := range Specs() {
		fmt.Fprintln(h, s.Name, s.Tool, s.Methods(), s.Mutating, s.Tier)
		for _, f := range Fields(s.Input) {
			fmt.Fprintln(h, " ", f.Name, f.Type, f.Also, f.Default, f.Required, f.Enum, f.Min)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

type index struct {
	specs   []Spec
	tools   []string
	methods map[string]int // every name under which a spec can be called
	fields  *sync.Map      // reflect.Type to []Field, read when first asked for
}

// catalogue is made once; only its memory of fields grows.
var catalogue = sync.OnceValue(func() index {
	c := index{methods: map[string]int{}, fields: &sync.Map{}}
	for _, family := range [][]Spec{navigateSpecs(), inspectSpecs(), graphSpecs(), searchSpecs(), refactorSpecs(), changeSpecs(), daemonSpecs(), indexSpecs(), connectionSpecs()} {
		c.specs = append(c.specs, family...)
	}
	for i, s := range c.specs {
		for _, m := range append(s.Methods(), s.Name) {
			if _, taken := c.methods[m]; !taken {
				c.methods[m] = i
			}
		}
		if s.Tool != "" && !slices.Contains(c.tools, s.Tool) {
			c.tools = append(c.tools, s.Tool)
		}
	}
	return c
})

func unknownMethod(method string) error {
	e := Errorf(UnsupportedOperation, "there is no method %q", method)
	c := catalogue()
	names := slices.Clone(c.tools)
	for _, s := range c.specs {
		names = append(append(names, s.Name), s.Methods()...)
	}
	e.Suggestions = Nearest(method, names, 3)
	if len(e.Suggestions) > 0 {
		e.Message += "; the nearest is " + e.Suggestions[0]
	}
	return e
}

func operationOf(tool string, params json.RawMessage) (Spec, error) {
	var in struct {
		Operation *string `json:"operation"`
	}
	if err := json.Unmarshal(orEmpty(params), &in); err != nil && !isObject(params) {
		return Spec{}, notObject(params)
	} else if err != nil {
		return Spec{}, Errorf(InvalidArgument, "operation of %s must be a string", tool)
	}
	var names []string
	for _, s := range catalogue().specs {
		if s.Tool == tool {
			names = append(names, s.Name)
		}
	}
	if in.Operation == nil {
		return Spec{}, Errorf(InvalidArgument, "%s needs operation: one of %s", tool, strings.Join(names, ", "))
	}
	for _, s := range catalogue().specs {
		if s.Tool == tool && foldName(s.Name) == foldName(*in.Operation) {
			return s, nil
		}
	}
	e := Errorf(InvalidArgument, "%s has no operation %q; it has %s", tool, *in.Operation, strings.Join(names, ", "))
	e.Suggestions = Nearest(*in.Operation, names, 3)
	return Spec{}, e
}

// foldName makes typeDefinition, type-definition and TYPE_DEFINITION equal.
func foldName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}
