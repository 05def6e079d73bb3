package api

import (
	"reflect"
	"strings"
	"testing"
)

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
