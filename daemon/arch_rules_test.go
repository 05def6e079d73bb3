package daemon_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "github.com/auralsp/aura"
	maxLines = 500
)

// starts matches the functions that may hold a go statement: they start
// something that has a Close, Stop or Wait, or they run until their context
// ends. Everywhere else a goroutine is started by WaitGroup.Go or errgroup's
// Go, so that the reader sees who waits for it.
var starts = regexp.MustCompile(`^(?i:run|start|open|new|serve|dial|listen)`)

// servers are programs that only their language's folder may name.
var servers = regexp.MustCompile(`(?i)gopls|rust-analyzer|pyright|pyrefly|tsserver|typescript-language-server|omnisharp`)

// languages are literals that stand for a language when they stand alone.
var languages = []string{
	"go", "golang", "rust", "python", "typescript", "javascript", "csharp", "c#",
	".go", ".rs", ".py", ".ts", ".tsx", ".js", ".jsx", ".cs", "_test.go",
	"go.mod", "go.work", "cargo.toml", "pyproject.toml", "tsconfig.json", "package.json",
}

// machinePath matches paths of the machines that this code was written on.
var machinePath = regexp.MustCompile(`/(wo` + `rk|fa` + `rm|ro` + `ot)/`)

// tree is the module's Go files, and its other texts for the check of paths.
type tree struct {
	set   *token.FileSet
	files map[string]*file // by slash path from the module's root
	texts map[string][]byte
}

// file is one parsed Go file.
type file struct {
	ast    *ast.File
	source []byte
	test   bool
}

func newTree() *tree {
	return &tree{set: token.NewFileSet(), files: map[string]*file{}, texts: map[string][]byte{}}
}

// add parses a file; test files and every build tag count.
func (tr *tree) add(t *testing.T, name string, source []byte) {
	t.Helper()
	parsed, err := parser.ParseFile(tr.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	tr.files[name] = &file{ast: parsed, source: source, test: strings.HasSuffix(name, "_test.go")}
}

// readTree reads the module below root. Folders that hold another module,
// testdata, and those whose name starts with a dot are left out.
func readTree(t *testing.T, root string) *tree {
	t.Helper()
	tr := newTree()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		base := path.Base(rel)
		if entry.IsDir() {
			if rel == "." {
				return nil
			}
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if nested == nil || base == "testdata" || rel == "bin" || rel == "demo" || strings.HasPrefix(base, ".") && base != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(base, ".go"):
			source, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			tr.add(t, rel, source)
		case entry.Type().IsRegular() && isText(rel):
			source, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			tr.texts[rel] = source
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// isText reports whether a file that is not Go is read by people.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".md", ".sh", ".yml", ".yaml", ".toml", ".txtar":
		return true
	}
	return name == "Makefile" || strings.HasPrefix(name, ".ci/")
}

// faults applies every rule.
func (tr *tree) faults() []string {
	var all []string
	report := func(at, format string, args ...any) {
		all = append(all, at+": "+fmt.Sprintf(format, args...))
	}
	docs := map[string]string{}
	for name, f := range tr.files {
		dir := path.Dir(name)
		if !f.test {
			docs[dir] += "" // the package exists
			if f.ast.Doc != nil {
				docs[dir] += f.ast.Doc.Text()
			}
		}
		tr.checkImports(name, f, report)
		tr.checkCode(name, f, report)
		if n := bytes.Count(f.source, []byte("\n")); n > maxLines {
			report(name, "%d lines; a file has at most %d: split it by what its parts own", n, maxLines)
		}
		checkPaths(name, f.source, report)
	}
	for name, source := range tr.texts {
		checkPaths(name, source, report)
	}
	for dir, doc := range docs {
		switch {
		case doc == "":
			report(dir, "no package comment: say what it owns, what it must not know and its goroutines")
		case !strings.Contains(strings.ToLower(doc), "goroutine") && !strings.HasPrefix(dir, "cmd/"):
			report(dir, "the package comment does not say which goroutines the package has, or that it starts none")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkImports holds one file's imports to the tables.
func (tr *tree) checkImports(name string, f *file, report func(at, format string, args ...any)) {
	dir := path.Dir(name)
	row, ok := layers[dir]
	if !ok {
		report(dir, "has no row in the table of layers")
		return
	}
	allowed := expand(row.may)
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(name, "import %s: %v", spec.Path.Value, err)
			continue
		}
		ours, isOurs := strings.CutPrefix(imported, module+"/")
		switch {
		case isOurs && f.test:
			// A test may use anything below it, itself, and the fake server.
			low, known := layers[ours]
			if !known || ours != dir && ours != "lspclient/lsptest" && low.layer >= row.layer {
				report(name, "a test of layer %d may not import %s", row.layer, ours)
			}
		case isOurs:
			if !slices.Contains(allowed, ours) {
				report(name, "%s may not import %s (it owns %s)", dir, ours, row.why)
			}
		case strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
			// Packages like lsptest exist for tests only.
			checkOwner(name, dir, imported, f.test || strings.HasSuffix(dir, "test"), report)
		}
	}
}

// checkOwner holds an import of another's module to the table of owners.
func checkOwner(name, dir, imported string, test bool, report func(at, format string, args ...any)) {
	for module, owners := range thirdParty {
		if imported != module && !strings.HasPrefix(imported, module+"/") {
			continue
		}
		list := strings.Fields(owners)
		if list[0] != "any" && !slices.Contains(list, dir) && !(test && (list[0] == "tests" || mayTest[module])) {
			report(name, "imports %s, which belongs to %s", imported, owners)
		}
		return
	}
	report(name, "imports %s, which has no owner: add a row, and a line in CONTRIBUTING.md", imported)
}

// mayTest lists modules with an owner that the tests of any package may use.
var mayTest = map[string]bool{
	"go.lsp.dev/protocol": true,
	"golang.org/x/sys":    true,
}

// checkCode looks for what must not be written.
func (tr *tree) checkCode(name string, f *file, report func(at, format string, args ...any)) {
	clock := "time"
	for _, spec := range f.ast.Imports {
		if spec.Path.Value == `"time"` && spec.Name != nil {
			clock = spec.Name.Name
		}
	}
	language := !f.test && !strings.HasPrefix(name, "adapters/") && !strings.HasPrefix(name, "lspclient/lsptest/")
	tags := map[*ast.BasicLit]bool{}
	for _, decl := range f.ast.Decls {
		within := ""
		if fn, ok := decl.(*ast.FuncDecl); ok {
			within = fn.Name.Name
		}
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR && !f.test {
			checkState(tr, gen, report)
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if n.Tag != nil {
					tags[n.Tag] = true
				}
			case *ast.GoStmt:
				at := tr.set.Position(n.Pos()).String()
				switch {
				case f.test || starts.MatchString(within):
				case within == "":
					report(at, "go statement outside a function that starts something")
				default:
					report(at, "go statement in %s: only in Run, Start, Open, New, Serve, Dial or Listen of what waits for it; else WaitGroup.Go", within)
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == clock && n.Sel.Name == "Sleep" {
					report(tr.set.Position(n.Pos()).String(), "time.Sleep: wait on a condition with a deadline")
				}
			case *ast.BasicLit:
				if language && n.Kind == token.STRING && !tags[n] {
					checkLiteral(tr.set.Position(n.Pos()).String(), n.Value, report)
				}
			}
			return true
		})
	}
}

// checkLiteral looks for the names of servers and languages.
func checkLiteral(at, quoted string, report func(at, format string, args ...any)) {
	value, err := strconv.Unquote(quoted)
	if err != nil {
		return
	}
	if servers.MatchString(value) {
		report(at, "%s names a server: only adapters/ may", quoted)
	}
	if slices.Contains(languages, strings.ToLower(value)) {
		report(at, "%s names a language: only adapters/ may", quoted)
	}
}

// checkState refuses package variables that look like state: those without a
// value, and counters. Tables, sentinel errors, compiled patterns, embedded
// files and interface checks are values that nothing changes.
func checkState(tr *tree, gen *ast.GenDecl, report func(at, format string, args ...any)) {
	embedded := gen.Doc != nil && strings.Contains(fmt.Sprint(rawLines(gen.Doc)), "//go:embed")
	for _, spec := range gen.Specs {
		value := spec.(*ast.ValueSpec)
		if value.Doc != nil && strings.Contains(fmt.Sprint(rawLines(value.Doc)), "//go:embed") || embedded {
			continue
		}
		if value.Names[0].Name == "_" || len(value.Values) > 0 {
			continue
		}
		// Set by the linker: -X main.version.
		if id, ok := value.Type.(*ast.Ident); ok && id.Name == "string" && value.Names[0].Name == "version" {
			continue
		}
		report(tr.set.Position(value.Pos()).String(), "package-level state %s: give it an owner", value.Names[0].Name)
	}
}

// rawLines returns the comment's lines with their directives.
func rawLines(group *ast.CommentGroup) []string {
	var lines []string
	for _, c := range group.List {
		lines = append(lines, c.Text)
	}
	return lines
}

// checkPaths looks for paths of a developer's machine.
func checkPaths(name string, source []byte, report func(at, format string, args ...any)) {
	for i, line := range bytes.Split(source, []byte("\n")) {
		if found := machinePath.Find(line); found != nil {
			report(fmt.Sprintf("%s:%d", name, i+1), "machine path %s", found)
		}
	}
}
