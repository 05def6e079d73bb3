package golang

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: gopls's edits for the whole family of a method,
// then what follows by convention, then comments and strings.
type renamer struct {
	a        *Adapter
	b        adapters.Bench
	srv      adapters.Server
	in       adapters.Rename
	sym      graph.Symbol   // where gopls is asked
	family   []graph.Symbol // sym first; more only for methods
	others   []graph.Symbol // of the same name that are not of the family
	home     string         // import path of the package that declares sym; empty outside a module
	pkg      string         // its name
	edits    *recipe.Edits
	sources  map[string]*source
	holders  []string          // files of the workspace that hold the name as a word
	modules  map[string]string // folder of the go.mod by folder, for the folders of the project
	warnings []string
}

// source is a file that may mention the symbol.
type source struct {
	path    string
	content []byte
	tree    *syntax.Tree
	built   bool         // part of the build here
	output  []graph.Span // expected output of Example functions
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{a: a, b: b, in: in, sources: map[string]*source{}, modules: map[string]string{}}
	if err := r.plan(ctx); err != nil {
		return adapters.Draft{}, err
	}
	return r.draft(ctx)
}

func (r *renamer) plan(ctx context.Context) error {
	var err error
	if r.srv, err = r.b.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	if err := r.choose(ctx); err != nil {
		return err
	}
	if err := r.allowed(); err != nil {
		return err
	}
	if err := r.locate(ctx); err != nil {
		return err
	}
	if err := r.show(ctx); err != nil {
		return err
	}
	if err := r.relatives(ctx); err != nil {
		return err
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	if err := r.audit(ctx); err != nil {
		return err
	}
	if err := r.unbuilt(ctx); err != nil {
		return err
	}
	if err := r.examples(ctx); err != nil {
		return err
	}
	if err := r.mentions(ctx); err != nil {
		return err
	}
	return r.notes(ctx)
}

// choose picks the declaration that gopls sees. An embedded field has its
// type's name: the type is what is renamed.
func (r *renamer) choose(ctx context.Context) error {
	r.sym = r.in.Symbol
	for _, d := range append([]graph.Symbol{r.in.Symbol}, r.in.Declarations...) {
		src, err := r.source(ctx, d.Path)
		if err != nil {
			return err
		}
		if src.built {
			r.sym = d
			break
		}
	}
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	if !src.built && standsAlone(src.tree) {
		// gopls knows a program that is run by hand only while it is open.
		if err := r.srv.Open(ctx, []string{r.sym.Path}); err != nil {
			return err
		}
	}
	if !slices.Contains(r.sym.Modifiers, "embedded") {
		return nil
	}
	list, err := recipe.Locate(ctx, r.b, adapters.Navigate, "textDocument/definition", r.sym, nil)
	if err != nil {
		return r.explain(ctx, err)
	}
	for _, p := range list {
		if !recipe.Inside(r.b.Root(), p.Path) {
			return refuse(adapters.OutsideWorkspace, "the embedded field %s is named after a type of %s, outside this workspace", r.sym.Qualified, p.Path)
		}
		if s, ok := recipe.SymbolAt(ctx, r.b, p); ok {
			r.warn("the embedded field %s has the name of its type, so the type %s is renamed", r.sym.Qualified, s.Qualified)
			r.sym = s
		}
	}
	return nil
}

// allowed refuses what gopls would do and Go would not survive.
func (r *renamer) allowed() error {
	s, name := r.sym, r.in.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindPackage:
		return refuse(adapters.Unsupported, "renaming a package moves its folder, which is not supported; rename its declarations one by one")
	case s.Kind == graph.KindFunction && s.Name == "init":
		return refuse(adapters.Unsupported, "Go runs init functions by their name; under another name it would never run")
	case s.Kind == graph.KindFunction && s.Name == "main" && strings.HasSuffix(s.Signature, "main()") && r.pkgOf(s) == "main":
		return refuse(adapters.Unsupported, "a program starts at its function main; it cannot be renamed")
	case s.Name == "TestMain" && isTest(s.Path):
		return refuse(adapters.Unsupported, "go test finds TestMain by its name; it cannot be renamed")
	}
	if types.Universe.Lookup(name) != nil && s.Container == "" {
		r.warn("%s is predeclared in Go; from now on the name means the %s wherever it can be seen", name, s.Kind)
	}
	if kind := testKind(s); kind != "" && testKind(graph.Symbol{Name: name, Kind: s.Kind, Path: s.Path}) != kind {
		r.warn("go test runs %s by the beginning of its name; as %s it is no longer run", s.Name, name)
	}
	return nil
}

// testKind returns what go test takes a function for: Test, Benchmark, Fuzz or nothing.
func testKind(s graph.Symbol) string {
	if s.Kind != graph.KindFunction || !isTest(s.Path) {
		return ""
	}
	for _, kind := range []string{"Test", "Benchmark", "Fuzz"} {
		if rest, ok := strings.CutPrefix(s.Name, kind); ok && !startsLower(rest) {
			return kind
		}
	}
	return ""
}

// locate finds what the rest needs to know of the symbol's surroundings.
func (r *renamer) locate(ctx context.Context) error {
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	r.pkg = src.tree.Package
	if r.home, err = importPath(ctx, r.b.Snapshot(), filepath.Dir(r.sym.Path)); err != nil {
		return err
	}
	if r.sym.Local {
		r.holders = []string{r.sym.Path}
		return nil
	}
	all, err := r.b.Snapshot().Grep(ctx, r.sym.Name)
	if err != nil {
		return err
	}
	for _, path := range all {
		ours, err := r.ours(ctx, path)
		if err != nil {
			return err
		}
		if ours {
			r.holders = append(r.holders, path)
		}
	}
	return nil
}

// ours reports whether a file belongs to a module of the project. Another
// module of the workspace builds against a version of this one that does not
// change with it.
func (r *renamer) ours(ctx context.Context, path string) (bool, error) {
	dir := filepath.Dir(path)
	if root, ok := r.modules[dir]; ok {
		return root != "", nil
	}
	ours, err := owns(ctx, r.b.Snapshot(), r.b.Project(), dir)
	if err != nil {
		return false, err
	}
	r.modules[dir] = ""
	if ours {
		root, _, err := moduleOf(ctx, r.b.Snapshot(), dir)
		if err != nil {
			return false, err
		}
		if root == "" {
			root = r.b.Project().Root
		}
		r.modules[dir] = root
	}
	return ours, nil
}

// ask gathers gopls's edits for the whole family.
func (r *renamer) ask(ctx context.Context) error {
	at, alone, err := r.receiver(ctx)
	if err != nil {
		return err
	}
	if alone {
		r.edits, err = recipe.NewEdits(change.FromEdits(r.sym.Path, []text.Edit{{Start: r.sym.NameSpan.Start, End: r.sym.NameSpan.End, New: r.in.NewName}}), r.read(ctx))
		return err
	}
	r.family[0].NameSpan = at
	r.edits, err = recipe.RenameFamily(ctx, r.b, r.srv, r.family, r.in.NewName, r.read(ctx),
		func(s graph.Symbol) bool { return slices.Contains(s.Modifiers, "abstract") },
		func(s graph.Symbol, err error) (change.Set, error) { return r.byReferences(ctx, s, err) })
	switch {
	case errors.Is(err, recipe.ErrNoRename) && !r.sources[r.sym.Path].built:
		return r.leftOut()
	case errors.Is(err, recipe.ErrNoRename):
		return refuse(adapters.Unsupported, "gopls finds nothing to rename at the declaration of %s", r.sym.Qualified)
	case errors.Is(err, change.ErrConflict), errors.Is(err, text.ErrOverlap):
		return refuse(adapters.NameConflict, "the renames of the methods that belong together with %s do not fit into one change: %v", r.sym.Qualified, err)
	}
	return err
}

// receiver returns where to ask for a rename. At the declaration of a method's
// receiver gopls renames the receivers of all methods of the type; at a use it
// renames the one that was meant. alone says that there is no use.
func (r *renamer) receiver(ctx context.Context) (at graph.Span, alone bool, err error) {
	at = r.sym.NameSpan
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return at, false, err
	}
	method, ok := src.tree.Enclosing(at.Start)
	if !ok || r.sym.Kind != graph.KindParameter || method.Kind != graph.KindMethod || at.Start > method.NameSpan.Start {
		return at, false, nil
	}
	uses, err := recipe.Locate(ctx, r.b, adapters.Navigate, "textDocument/references", r.sym,
		map[string]any{"context": map[string]any{"includeDeclaration": false}})
	if err != nil {
		return at, false, r.explain(ctx, err)
	}
	for _, u := range uses {
		if u.Path == r.sym.Path && u.Span != at {
			return u.Span, false, nil
		}
	}
	for _, id := range src.tree.Named(r.in.NewName) {
		if method.Decl.Contains(id.Span.Start) {
			p := src.point(id.Span.Start)
			return at, false, refuse(adapters.NameConflict, "%s is used already in %s (%s:%d:%d)", r.in.NewName, method.Qualified, r.relative(src.path), p.Line, p.Column)
		}
	}
	return at, true, nil
}

// read reads files for change sets.
func (r *renamer) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := r.b.Snapshot().Read(ctx, path)
		return content, err
	}
}

// audit checks each of gopls's edits against the text: in code it must put the
// new name in place of the old one. gopls was seen to rename another type along
// with an alias that is embedded.
func (r *renamer) audit(ctx context.Context) error {
	for _, path := range r.edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.edits.Of(path) {
			if !r.inReach(src, e.Start) && (path != r.sym.Path || !inImportName(r.sym)) {
				at := src.point(e.Start)
				return refuse(adapters.Unsupported, "gopls would rename more than %s: also at %s:%d:%d, outside the function that declares it",
					r.sym.Name, r.relative(path), at.Line, at.Column)
			}
			if e.Start == e.End || inImport(src.tree, e.Start) {
				continue
			}
			if _, comment := src.tree.TokenAt(e.Start); comment {
				continue
			}
			was := strings.TrimSpace(string(src.content[e.Start:e.End]))
			if was != r.sym.Name && strings.TrimSpace(e.New) == r.in.NewName {
				at := src.point(e.Start)
				return refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s:%d:%d it stands for %s, which would be renamed with it; rename %s first",
					r.sym.Name, r.relative(path), at.Line, at.Column, was, was)
			}
		}
	}
	return nil
}

// inImportName reports whether a symbol is the name of an import, which
// belongs to its file and to no function.
func inImportName(s graph.Symbol) bool { return s.Local && s.Kind == graph.KindNamespace }

func inImport(t *syntax.Tree, offset int) bool {
	return slices.ContainsFunc(t.Imports, func(im syntax.Import) bool { return im.Span.Start <= offset && offset < im.Span.End })
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.edits.Set()
	target := r.sym.Path
	moves, err := r.files(ctx)
	if err != nil {
		return adapters.Draft{}, err
	}
	for _, m := range moves {
		set.Ops = append(set.Ops, change.Op{Kind: change.Rename, Path: m.from, NewPath: m.to})
		if m.from == target {
			target = m.to
		}
	}
	offset := r.edits.Moved(r.sym.Path, r.sym.NameSpan.Start)
	d := adapters.Draft{
		Change:   set,
		Reads:    slices.DeleteFunc(slices.Clone(r.holders), func(p string) bool { return len(r.edits.Of(p)) > 0 }),
		Old:      adapters.Marks{Path: r.sym.Path, Offset: r.sym.NameSpan.Start},
		New:      adapters.Marks{Path: target, Offset: offset},
		Warnings: r.warnings,
	}
	after, err := r.b.With(set)
	if err != nil {
		return d, fmt.Errorf("the planned change does not fit the text: %w", err)
	}
	tree, err := after.Tree(ctx, target)
	if err != nil {
		return d, err
	}
	renamed, ok := tree.Declared(offset)
	if !ok || renamed.Name != r.in.NewName {
		return d, fmt.Errorf("the planned change does not declare %s at %s", r.in.NewName, r.relative(target))
	}
	d.NewID = renamed.ID
	return d, nil
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*source, error) {
	if s, ok := r.sources[path]; ok {
		return s, nil
	}
	content, _, err := r.b.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	tree, err := r.b.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	built, err := included(ctx, r.b.Snapshot(), path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, content: content, tree: tree, built: built}
	s.output = expectedOutput(s)
	r.sources[path] = s
	return s, nil
}

// goHolders returns the Go files that hold the name, parsed.
func (r *renamer) goHolders(ctx context.Context) ([]*source, error) {
	var out []*source
	for _, path := range r.holders {
		if filepath.Ext(path) != ".go" {
			continue
		}
		s, err := r.source(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (s *source) point(offset int) text.Point { return text.NewFile(s.content).PointOf(offset) }

func (r *renamer) pkgOf(s graph.Symbol) string {
	if src, ok := r.sources[s.Path]; ok {
		return src.tree.Package
	}
	return ""
}

func (r *renamer) relative(path string) string {
	rel, err := filepath.Rel(r.b.Root(), path)
	if err != nil || !recipe.Inside(r.b.Root(), path) {
		return path
	}
	return filepath.ToSlash(rel)
}

func (r *renamer) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

func refuse(reason adapters.Reason, format string, args ...any) error {
	return &adapters.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
