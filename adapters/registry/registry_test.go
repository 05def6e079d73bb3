package registry_test

import (
	"strings"
	"testing"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/registry"
)

// TestLanguages holds every language to what the rest relies on.
func TestLanguages(t *testing.T) {
	ids, extensions := map[string]bool{}, map[string]string{}
	for _, a := range registry.Languages() {
		l := a.Language()
		if l.ID == "" || l.Name == "" || ids[l.ID] {
			t.Errorf("language %q (%q) has no id of its own", l.ID, l.Name)
		}
		ids[l.ID] = true
		if l.TestFile == nil || l.Generated == nil || l.Separator == "" || len(l.Markers) == 0 {
			t.Errorf("%s is not complete: %+v", l.ID, l)
		}
		for _, ext := range l.Extensions {
			if !strings.HasPrefix(ext, ".") || extensions[ext] != "" {
				t.Errorf("%s: extension %q, which %q has", l.ID, ext, extensions[ext])
			}
			if l.LanguageID[ext] == "" {
				t.Errorf("%s: no languageId for %s", l.ID, ext)
			}
			extensions[ext] = l.ID
		}
		if s := a.Syntax(); s == nil || s.Version == "" || s.Parse == nil || a.Syntax() != s {
			t.Errorf("%s: the syntax is not one value with a version", l.ID)
		}
		for _, e := range a.Engines() {
			if e.ID == "" || e.Launch == nil || e.New == nil || e.InFlight < 1 || e.Deadline[""] == 0 || e.Roles == 0 {
				t.Errorf("%s: engine %q is not complete", l.ID, e.ID)
			}
			// Some come with a toolchain, some only by hand; all say how.
			if e.Install == "" || e.Version == "" || e.Recipe.Client != "" && len(e.Recipe.Args) == 0 {
				t.Errorf("%s: nothing says how %s is installed", l.ID, e.ID)
			}
			if e.Recipe.Binary != "" && !strings.Contains(strings.Join(e.Recipe.Args, " "), e.Version) {
				t.Errorf("%s: %s is not installed as %s", l.ID, e.ID, e.Version)
			}
		}
		r := a.Recipes()
		for name, how := range map[string]adapters.How{
			"definition": r.Definition.How, "references": r.References.How, "callers": r.Callers.How, "rename": r.Rename.How,
		} {
			if how == adapters.Absent {
				t.Errorf("%s has no %s", l.ID, name)
			}
		}
	}
	if !ids["go"] {
		t.Error("Go is missing")
	}
}
