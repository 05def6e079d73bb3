package e2e

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// soakGo takes a Go module. Only files of the default build count, since
// nothing can check the others.
func soakGo(t *testing.T, name string) project {
	dir := module(t, name)
	return project{dir: dir, picks: goPicks(t, dir), judge: func() map[string]bool { return complaints(dir) }}
}

func goPicks(t testing.TB, dir string) []pick {
	t.Helper()
	var all []pick
	for _, file := range sources(t, dir) {
		all = append(all, candidates(t, dir, file)...)
	}
	return all
}

// fixed are method names that interfaces outside a module prescribe: no tool
// can rename them, so that picking them would measure nothing.
var fixed = regexp.MustCompile(`^(Error|String|GoString|Format|Read|Write|Close|Seek|Len|Less|Swap|Push|Pop|Is|As|Unwrap|` +
	`(Read|Write)(At|From|To|Byte|Rune|String)|Unread(Byte|Rune)|Scan|Set|Type|Get|Lock|Unlock|ServeHTTP|Next|Value|` +
	`(Un)?[Mm]arshal(Text|Binary|JSON|XML|XMLAttr)|Append(Text|Binary)|Gob(En|De)code|Visit|Import|ExecuteContext)$`)

// testEntry are functions that the test runner finds by name.
var testEntry = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)([^a-z]|$)`)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// complaints returns the lines that build and vet print, as a set.
func complaints(dir string) map[string]bool {
	lines := map[string]bool{}
	for _, args := range [][]string{{"build", "./..."}, {"vet", "./..."}} {
		if err := gocmd(dir, args...); err != nil {
			for line := range strings.Lines(err.Error()) {
				lines[strings.TrimSpace(line)] = true
			}
		}
	}
	return lines
}

// relocate finds the symbol again after earlier renames moved columns.
func relocate(t *testing.T, dir string, p pick) pick {
	t.Helper()
	best := p
	distance := 1 << 30
	for _, c := range candidates(t, dir, filepath.Join(dir, filepath.FromSlash(p.file))) {
		if c.kind != p.kind || c.name != p.name || c.line != p.line {
			continue
		}
		if d := max(c.column-p.column, p.column-c.column); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// sources lists the module's Go files of the default build, tests included.
func sources(t testing.TB, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir                                string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			list = append(list, filepath.Join(p.Dir, name))
		}
	}
	slices.Sort(list)
	return list
}

// candidates lists what a file declares.
func candidates(t testing.TB, dir, path string) []pick {
	t.Helper()
	source := read(t, path)
	if generated.MatchString(source) {
		return nil // edits there are lost, so that asking for one proves nothing
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{set: set, file: filepath.ToSlash(rel)}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			c.declaration(d, "")
		case *ast.FuncDecl:
			c.function(d)
		}
	}
	return c.picks
}

// collector gathers the declarations of one file.
type collector struct {
	set   *token.FileSet
	file  string
	picks []pick
}

func (c *collector) add(kind, owner string, id *ast.Ident) {
	if id.Name == "_" {
		return
	}
	at := c.set.Position(id.Pos())
	c.picks = append(c.picks, pick{kind: kind, name: id.Name, owner: owner, file: c.file, line: at.Line, column: at.Column})
}

// declaration takes what a type, const or var declaration declares. Inside a
// function, owner, all but types are locals.
func (c *collector) declaration(d *ast.GenDecl, owner string) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if owner != "" {
				continue
			}
			c.add("type", owner, s.Name)
			switch u := s.Type.(type) {
			case *ast.StructType:
				for _, f := range u.Fields.List {
					for _, id := range f.Names {
						c.add("field", s.Name.Name, id)
					}
				}
			case *ast.InterfaceType:
				for _, f := range u.Methods.List {
					for _, id := range f.Names {
						if !fixed.MatchString(id.Name) {
							c.add("interface method", s.Name.Name, id)
						}
					}
				}
			}
		case *ast.ValueSpec:
			kind := "variable"
			switch {
			case owner != "":
				kind = "local"
			case d.Tok == token.CONST:
				kind = "constant"
			}
			for _, id := range s.Names {
				c.add(kind, owner, id)
			}
		}
	}
}

// function takes a function, its parameters and its locals.
func (c *collector) function(d *ast.FuncDecl) {
	name := d.Name.Name
	switch {
	case d.Recv != nil && !fixed.MatchString(name):
		c.add("method", "", d.Name)
	case d.Recv == nil && name != "main" && name != "init" && !testEntry.MatchString(name):
		c.add("function", "", d.Name)
	}
	for _, f := range d.Type.Params.List {
		for _, id := range f.Names {
			c.add("parameter", name, id)
		}
	}
	if d.Body == nil {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			c.declaration(n, name)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if id, ok := left.(*ast.Ident); ok {
						c.add("local", name, id)
					}
				}
			}
		}
		return true
	})
}
