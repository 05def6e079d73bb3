package validate

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
)

// toy is a language whose projects are the folders that a table names.
type toy struct {
	scripted
	projects []adapters.Project // nearest first
}

func (toy) Language() adapters.Language {
	return adapters.Language{ID: "toy", Extensions: []string{".toy"}, Markers: []string{"toy.mod"}}
}

func (l toy) Projects(_ context.Context, _ adapters.Snapshot, dir string) ([]adapters.Project, error) {
	var out []adapters.Project
	for _, p := range l.projects {
		if within(p.Root, dir) || within(dir, p.Root) {
			out = append(out, p)
		}
	}
	return out, nil
}
func (toy) Engines() []adapters.Engine { return nil }
func (toy) Syntax() *syntax.Spec       { return nil }
func (toy) Recipes() adapters.Recipes  { return adapters.Recipes{} }

func TestUnits(t *testing.T) {
	l := toy{projects: []adapters.Project{
		{Language: "toy", Root: "/w/a/nested", Marker: "/w/a/nested/toy.mod"},
		{Language: "toy", Root: "/w/a", Marker: "/w/a/toy.mod"},
		{Language: "toy", Root: "/w/b", Marker: "/w/b/toy.work", Members: []string{"/w/b/one", "/w/b/two"}},
	}}
	files := []change.File{
		{Kind: change.Edit, Path: "/w/a/x.toy"},
		{Kind: change.Create, Path: "/w/a/new.toy"},
		{Kind: change.Edit, Path: "/w/a/nested/deep/y.toy"},
		{Kind: change.Delete, Path: "/w/a/old.toy"},
		{Kind: change.Rename, Path: "/w/a/m.toy", NewPath: "/w/b/two/m.toy"},
		{Kind: change.Edit, Path: "/w/a/toy.mod"},
		{Kind: change.Edit, Path: "/w/a/README"},
		{Kind: change.Edit, Path: "/w/b/three/z.toy"},
		{Kind: change.Edit, Path: "/w/outside.toy"},
	}
	units, err := Units(t.Context(), []adapters.Adapter{l}, nil, nil, files)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, u := range units {
		got[u.Project.Root] = strings.Join(u.Changed, " ")
	}
	want := map[string]string{
		"/w/a":        "/w/a/x.toy /w/a/new.toy /w/a/old.toy /w/a/m.toy /w/a/toy.mod",
		"/w/a/nested": "/w/a/nested/deep/y.toy",
		"/w/b":        "/w/b/two/m.toy",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
}

func TestComparisonIgnoresNumbersInMessages(t *testing.T) {
	c := newComparison([]change.File{{Kind: change.Rename, Path: "/w/old.go", NewPath: "/w/new.go"}}, []Renamed{{"T$", "U$1"}})
	at := func(path, message, line string) problem {
		return problem{adapters.Problem{Path: path, Message: message}, line}
	}
	before := []problem{
		at("/w/a.go", "x redeclared in this block\n\tb.go:12:3: other declaration of x", "var x int"),
		at("/w/old.go", "T$ T$ is bad", "T$(T$)"),
		at("/w/c.go", "twice", "l"),
	}
	after := []problem{
		at("/w/a.go", "x redeclared in this block\n\tb.go:15:3: other declaration of x", "var x int"),
		at("/w/new.go", "U$1 U$1 is bad", "U$1(U$1)"),
		at("/w/c.go", "twice", "l"),
		at("/w/c.go", "twice", "l"),
		at("/w/a.go", "x redeclared in this block\n\tc.go:15:3: other declaration of x", "var x int"),
	}
	fresh, existing := c.split(before, after)
	if len(existing) != 3 || len(fresh) != 2 || fresh[0].Path != "/w/c.go" || !strings.Contains(fresh[1].Message, "c.go") {
		t.Errorf("new %v\nexisting %v", fresh, existing)
	}
}

func TestLines(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a"), "\ufeffone\r\n\ttwo   words\r\n")
	l := newLines([]change.File{
		{Kind: change.Rename, Path: filepath.Join(root, "gone"), NewPath: filepath.Join(root, "b"), After: []byte("planned")},
	})
	for _, test := range []struct {
		name string
		line int
		want string
	}{
		{"a", 2, "two words"}, {"a", 9, ""}, {"a", 0, ""}, {"b", 1, "planned"}, {"gone", 1, ""}, {"missing", 1, ""},
	} {
		if got := l.at(filepath.Join(root, test.name), test.line); got != test.want {
			t.Errorf("%s:%d is %q, want %q", test.name, test.line, got, test.want)
		}
	}
}
