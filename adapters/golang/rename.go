package golang

import (
	"context"
	"errors"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: gopls's edits for the whole family of a method,
// then what follows by convention, then comments and strings.
type renamer struct {
	recipe.Plan // Members are more than the symbol only for methods
	a           *Adapter
	srv         adapters.Server
	others      []graph.Symbol // of the same name that are not of the family
	home        string         // import path of the package that declares the symbol; empty outside a module
	pkg         string         // its name
	sources     map[string]*source
	modules     map[string]string // folder of the go.mod by folder, for the folders of the project
}

// source is a file that may mention the symbol.
type source struct {
	*recipe.Source
	built  bool         // part of the build here
	output []graph.Span // expected output of Example functions
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{Plan: recipe.Plan{Bench: b, In: in}, a: a, sources: map[string]*source{}, modules: map[string]string{}}
	if err := r.plan(ctx); err != nil {
		return adapters.Draft{}, err
	}
	return r.Draft(ctx, r.Edits.Set(), nil)
}

func (r *renamer) plan(ctx context.Context) error {
	var err error
	if r.srv, err = r.Bench.Server(ctx, adapters.RenameRole); err != nil {
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
	if err := r.notes(ctx); err != nil {
		return err
	}
	return r.files(ctx)
}

// choose picks the declaration that gopls sees. An embedded field has its
// type's name: the type is what is renamed.
func (r *renamer) choose(ctx context.Context) error {
	r.Symbol = r.In.Symbol
	for _, d := range append([]graph.Symbol{r.In.Symbol}, r.In.Declarations...) {
		src, err := r.source(ctx, d.Path)
		if err != nil {
			return err
		}
		if src.built {
			r.Symbol = d
			break
		}
	}
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	if !src.built && standsAlone(src.Tree) {
		// gopls knows a program that is run by hand only while it is open.
		if err := r.srv.Open(ctx, []string{r.Symbol.Path}); err != nil {
			return err
		}
	}
	if !slices.Contains(r.Symbol.Modifiers, "embedded") {
		return nil
	}
	list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/definition", r.Symbol, nil)
	if err != nil {
		return r.explain(ctx, err)
	}
	for _, p := range list {
		if !recipe.Inside(r.Bench.Root(), p.Path) {
			return recipe.Refuse(adapters.OutsideWorkspace, "the embedded field %s is named after a type of %s, outside this workspace", r.Symbol.Qualified, p.Path)
		}
		if s, ok := recipe.SymbolAt(ctx, r.Bench, p); ok {
			r.Warn("the embedded field %s has the name of its type, so the type %s is renamed", r.Symbol.Qualified, s.Qualified)
			r.Symbol = s
		}
	}
	return nil
}

// allowed refuses what gopls would do and Go would not survive.
func (r *renamer) allowed() error {
	s, name := r.Symbol, r.In.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return recipe.Refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindPackage:
		return recipe.Refuse(adapters.Unsupported, "renaming a package moves its folder, which is not supported; rename its declarations one by one")
	case s.Kind == graph.KindFunction && s.Name == "init":
		return recipe.Refuse(adapters.Unsupported, "Go runs init functions by their name; under another name it would never run")
	case s.Kind == graph.KindFunction && s.Name == "main" && strings.HasSuffix(s.Signature, "main()") && r.pkgOf(s) == "main":
		return recipe.Refuse(adapters.Unsupported, "a program starts at its function main; it cannot be renamed")
	case s.Name == "TestMain" && isTest(s.Path):
		return recipe.Refuse(adapters.Unsupported, "go test finds TestMain by its name; it cannot be renamed")
	}
	if types.Universe.Lookup(name) != nil && s.Container == "" {
		r.Warn("%s is predeclared in Go; from now on the name means the %s wherever it can be seen", name, s.Kind)
	}
	if kind := testKind(s); kind != "" && testKind(graph.Symbol{Name: name, Kind: s.Kind, Path: s.Path}) != kind {
		r.Warn("go test runs %s by the beginning of its name; as %s it is no longer run", s.Name, name)
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
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	r.pkg = src.Tree.Package
	if r.home, err = importPath(ctx, r.Bench.Snapshot(), filepath.Dir(r.Symbol.Path)); err != nil {
		return err
	}
	if r.Symbol.Local {
		r.Holders = []string{r.Symbol.Path}
		return nil
	}
	all, err := r.Bench.Snapshot().Grep(ctx, r.Symbol.Name)
	if err != nil {
		return err
	}
	for _, path := range all {
		ours, err := r.ours(ctx, path)
		if err != nil {
			return err
		}
		if ours {
			r.Holders = append(r.Holders, path)
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
	ours, err := owns(ctx, r.Bench.Snapshot(), r.Bench.Project(), dir)
	if err != nil {
		return false, err
	}
	r.modules[dir] = ""
	if ours {
		root, _, err := moduleOf(ctx, r.Bench.Snapshot(), dir)
		if err != nil {
			return false, err
		}
		if root == "" {
			root = r.Bench.Project().Root
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
		r.Edits, err = recipe.NewEdits(change.FromEdits(r.Symbol.Path, []text.Edit{{Start: r.Symbol.NameSpan.Start, End: r.Symbol.NameSpan.End, New: r.In.NewName}}), r.Read(ctx))
		return err
	}
	r.Members[0].NameSpan = at
	r.Edits, err = recipe.RenameFamily(ctx, r.Bench, r.srv, r.Members, r.In.NewName, r.Read(ctx),
		func(s graph.Symbol) bool { return slices.Contains(s.Modifiers, "abstract") },
		func(s graph.Symbol, err error) (change.Set, error) { return r.byReferences(ctx, s, err) })
	switch {
	case errors.Is(err, recipe.ErrNoRename) && !r.sources[r.Symbol.Path].built:
		return r.leftOut()
	case errors.Is(err, recipe.ErrNoRename):
		return recipe.Refuse(adapters.Unsupported, "gopls finds nothing to rename at the declaration of %s", r.Symbol.Qualified)
	case errors.Is(err, change.ErrConflict), errors.Is(err, text.ErrOverlap):
		return recipe.Refuse(adapters.NameConflict, "the renames of the methods that belong together with %s do not fit into one change: %v", r.Symbol.Qualified, err)
	}
	return err
}

// receiver returns where to ask for a rename. At the declaration of a method's
// receiver gopls renames the receivers of all methods of the type; at a use it
// renames the one that was meant. alone says that there is no use.
func (r *renamer) receiver(ctx context.Context) (at graph.Span, alone bool, err error) {
	at = r.Symbol.NameSpan
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return at, false, err
	}
	method, ok := src.Tree.Enclosing(at.Start)
	if !ok || r.Symbol.Kind != graph.KindParameter || method.Kind != graph.KindMethod || at.Start > method.NameSpan.Start {
		return at, false, nil
	}
	uses, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/references", r.Symbol,
		map[string]any{"context": map[string]any{"includeDeclaration": false}})
	if err != nil {
		return at, false, r.explain(ctx, err)
	}
	for _, u := range uses {
		if u.Path == r.Symbol.Path && u.Span != at {
			return u.Span, false, nil
		}
	}
	for _, id := range src.Tree.Named(r.In.NewName) {
		if method.Decl.Contains(id.Span.Start) {
			p := src.File.PointOf(id.Span.Start)
			return at, false, recipe.Refuse(adapters.NameConflict, "%s is used already in %s (%s:%d:%d)", r.In.NewName, method.Qualified, recipe.Relative(r.Bench, src.Path), p.Line, p.Column)
		}
	}
	return at, true, nil
}

// audit checks each of gopls's edits against the text: in code it must put the
// new name in place of the old one. gopls was seen to rename another type along
// with an alias that is embedded.
func (r *renamer) audit(ctx context.Context) error {
	for _, path := range r.Edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.Edits.Of(path) {
			if !r.inReach(src, e.Start) && (path != r.Symbol.Path || !inImportName(r.Symbol)) {
				return recipe.Refuse(adapters.Unsupported, "gopls would rename more than %s: also at %s, outside the function that declares it",
					r.Symbol.Name, r.Where(src.Source, e.Start))
			}
			if e.Start == e.End || recipe.InImport(src.Tree, e.Start) {
				continue
			}
			if _, comment := src.Tree.TokenAt(e.Start); comment {
				continue
			}
			was := strings.TrimSpace(string(src.Content[e.Start:e.End]))
			if was != r.Symbol.Name && strings.TrimSpace(e.New) == r.In.NewName {
				return recipe.Refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s it stands for %s, which would be renamed with it; rename %s first",
					r.Symbol.Name, r.Where(src.Source, e.Start), was, was)
			}
		}
	}
	return nil
}

// inImportName reports whether a symbol is the name of an import, which
// belongs to its file and to no function.
func inImportName(s graph.Symbol) bool { return s.Local && s.Kind == graph.KindNamespace }

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*source, error) {
	if s, ok := r.sources[path]; ok {
		return s, nil
	}
	read, err := r.Source(ctx, path)
	if err != nil {
		return nil, err
	}
	built, err := included(ctx, r.Bench.Snapshot(), path)
	if err != nil {
		return nil, err
	}
	s := &source{Source: read, built: built}
	s.output = expectedOutput(s)
	r.sources[path] = s
	return s, nil
}

// goHolders returns the Go files that hold the name, parsed.
func (r *renamer) goHolders(ctx context.Context) ([]*source, error) {
	var out []*source
	for _, path := range r.Holders {
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

func (r *renamer) pkgOf(s graph.Symbol) string {
	if src, ok := r.sources[s.Path]; ok {
		return src.Tree.Package
	}
	return ""
}
