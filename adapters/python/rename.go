package python

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: pyright's edits for everything that must keep one
// name with the symbol, then the strings that name it, then comments.
type renamer struct {
	a        *Adapter
	b        adapters.Bench
	srv      adapters.Server
	in       adapters.Rename
	sym      graph.Symbol   // what is renamed
	members  []graph.Symbol // its declarations and its family's; sym first
	shown    []string       // files that may refer to it
	edits    *recipe.Edits
	pytest   []string // calls by which pytest is given the name in a string
	sources  map[string]*source
	warnings []string
}

// source is a file that may mention the symbol; tree is nil when it is not Python.
type source struct {
	path    string
	content []byte
	tree    *syntax.Tree
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{a: a, b: b, in: in, sym: in.Symbol, sources: map[string]*source{}}
	if err := r.plan(ctx); err != nil {
		return adapters.Draft{}, err
	}
	if in.BackingField && in.Symbol.Kind == graph.KindProperty {
		if err := r.backing(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	if err := r.mentions(ctx); err != nil {
		return adapters.Draft{}, err
	}
	if err := r.leftovers(ctx); err != nil {
		return adapters.Draft{}, err
	}
	return r.draft(ctx)
}

func (r *renamer) plan(ctx context.Context) error {
	if err := r.allowed(ctx); err != nil {
		return err
	}
	var err error
	if r.srv, err = r.b.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	if r.shown, err = show(ctx, r.b, r.srv, r.sym); err != nil {
		return err
	}
	if err := r.relatives(ctx); err != nil {
		return err
	}
	if err := r.gather(ctx); err != nil {
		return err
	}
	if err := r.audit(ctx); err != nil {
		return err
	}
	if err := r.named(ctx); err != nil {
		return err
	}
	if err := r.requested(ctx); err != nil {
		return err
	}
	if err := r.dynamic(ctx); err != nil {
		return err
	}
	return r.clash(ctx)
}

// allowed refuses what pyright would do and the program would not survive.
func (r *renamer) allowed(ctx context.Context) error {
	s, name := r.sym, r.in.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case dunder(s.Name):
		return refuse(adapters.Unsupported, "Python itself calls %s by its name; it cannot be renamed", s.Name)
	case s.Kind == graph.KindModule || s.Kind == graph.KindPackage || s.Kind == graph.KindFile:
		return refuse(adapters.Unsupported, "%s is a module, and its name is that of its file: move the file and correct the imports instead", s.Name)
	case r.in.File && fileNamedAfter(s):
		return refuse(adapters.Unsupported, "the file of %s is a module, and its imports would have to change with it, which is not supported: rename without the file", s.Name)
	case s.Kind == graph.KindField && isTypedDict(r.ownerOf(ctx, s)):
		return refuse(adapters.Unsupported, "%s is a key of a TypedDict: it is written as a string wherever it is used, and pyright does not find those", s.Qualified)
	}
	if s.Kind == graph.KindParameter {
		return r.handed(ctx)
	}
	return nil
}

// fileNamedAfter reports whether a type's file has its name.
func fileNamedAfter(s graph.Symbol) bool {
	if s.Kind != graph.KindClass && s.Kind != graph.KindEnum || s.Container == "" {
		return false
	}
	flat := func(n string) string { return strings.ToLower(strings.ReplaceAll(n, "_", "")) }
	stem := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
	stem, _, _ = strings.Cut(stem, ".")
	return flat(stem) == flat(s.Name)
}

// ownerOf returns the class that holds a member; its zero value when there is none.
func (r *renamer) ownerOf(ctx context.Context, s graph.Symbol) graph.Symbol {
	src, err := r.source(ctx, s.Path)
	if err != nil || src.tree == nil {
		return graph.Symbol{}
	}
	return classOf(src.tree, s)
}

// classOf returns the innermost class around a declaration.
func classOf(t *syntax.Tree, s graph.Symbol) (class graph.Symbol) {
	for _, c := range t.Symbols {
		if (c.Kind == graph.KindClass || c.Kind == graph.KindEnum) && c.Qualified == s.Container && c.Decl.Start < s.NameSpan.Start && s.NameSpan.End <= c.Decl.End {
			class = c
		}
	}
	return class
}

func isTypedDict(class graph.Symbol) bool {
	return slices.ContainsFunc(class.Bases, func(b string) bool { return last(b) == "TypedDict" })
}

// isMember reports whether a declaration belongs to a class.
func isMember(s graph.Symbol) bool {
	switch s.Kind {
	case graph.KindMethod, graph.KindProperty, graph.KindField, graph.KindEnumMem:
		return true
	}
	return false
}

// ask gathers pyright's edits for all that is renamed.
func (r *renamer) ask(ctx context.Context) error {
	// Looking at other files may have pushed some of these out.
	if err := r.srv.Open(ctx, r.shown); err != nil {
		return err
	}
	wide, near := r.members, []graph.Symbol(nil)
	if len(r.pytest) > 0 {
		wide, near = nil, nil
		for _, m := range r.members {
			if m.Kind == graph.KindParameter {
				near = append(near, m)
			} else {
				wide = append(wide, m)
			}
		}
	}
	var err error
	r.edits, err = recipe.RenameFamily(ctx, r.b, r.srv, wide, r.in.NewName, r.read(ctx),
		func(s graph.Symbol) bool { return strings.HasSuffix(s.Path, ".pyi") }, // a stub speaks for its code as well
		func(s graph.Symbol, err error) (change.Set, error) {
			if errors.Is(err, recipe.ErrNoRename) {
				return r.byReferences(ctx, s, err)
			}
			return change.Set{}, r.explain(s, err)
		})
	if errors.Is(err, change.ErrConflict) || errors.Is(err, text.ErrOverlap) {
		return refuse(adapters.NameConflict, "the renames of what belongs together with %s do not fit into one change: %v", r.sym.Qualified, err)
	}
	if err != nil {
		return err
	}
	if len(wide) == 0 {
		if r.edits, err = recipe.NewEdits(change.Set{}, r.read(ctx)); err != nil {
			return err
		}
	}
	for _, m := range near {
		if err := r.inFile(ctx, m); err != nil {
			return err
		}
	}
	return r.complete(ctx, wide)
}

// inFile renames what is used in its own file only, which pyright answers
// without looking through all others.
func (r *renamer) inFile(ctx context.Context, m graph.Symbol) error {
	pos, err := r.srv.Position(ctx, m.Path, m.NameSpan.Start)
	if err != nil {
		return err
	}
	var found []protocol.DocumentHighlight
	if err := r.srv.Call(ctx, protocol.MethodTextDocumentDocumentHighlight, &protocol.DocumentHighlightParams{TextDocumentPositionParams: pos}, &found); err != nil {
		return r.explain(m, err)
	}
	if len(found) == 0 {
		return r.explain(m, recipe.ErrNoRename)
	}
	for _, h := range found {
		p, err := r.srv.Place(ctx, protocol.Location{URI: pos.TextDocument.URI, Range: h.Range})
		if err != nil {
			return err
		}
		r.edits.Add(p.Path, p.Span, r.in.NewName)
	}
	return nil
}

// explain says why pyright renames nothing.
func (r *renamer) explain(s graph.Symbol, err error) error {
	var server adapters.ServerRefusal
	switch {
	case errors.Is(err, recipe.ErrNoRename):
		return refuse(adapters.Unsupported, "pyright does not rename %s at %s: it is not declared by the workspace alone, or its file is left out by the project's configuration",
			s.Name, recipe.Relative(r.b, s.Path))
	case errors.As(err, &server):
		_, message := server.Refusal()
		line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
		return refuse(adapters.Unsupported, "pyright declines to rename %s: %s", s.Name, line)
	}
	return err
}

// audit checks each of pyright's edits against the text: it must put the new
// name in place of the old one, within the workspace.
func (r *renamer) audit(ctx context.Context) error {
	for _, path := range r.edits.Paths() {
		if !recipe.Inside(r.b.Root(), path) {
			return refuse(adapters.OutsideWorkspace, "%s is used in %s, which is not part of this workspace", r.sym.Name, path)
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.edits.Of(path) {
			if was := string(src.content[e.Start:e.End]); was != r.sym.Name || e.New != r.in.NewName {
				return refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s pyright would replace %q by %q", r.sym.Name, r.where(src, e.Start), was, e.New)
			}
		}
	}
	if !r.edits.Covers(r.sym.Path, r.sym.NameSpan) {
		return refuse(adapters.Unsupported, "pyright's rename of %s leaves out its declaration in %s", r.sym.Name, recipe.Relative(r.b, r.sym.Path))
	}
	return nil
}

// clash refuses a name that means something else already.
func (r *renamer) clash(ctx context.Context) error {
	return recipe.Clash(ctx, r.b, recipe.Renaming{Symbol: r.sym, Members: r.members, NewName: r.in.NewName, Uses: r.edits}, recipe.Rules{
		Imports:   true,
		Inherited: func(m graph.Symbol) bool { return !mangled(m.Name) },
	})
}

// backing renames the field that a property keeps its value in along with it.
func (r *renamer) backing(ctx context.Context) error {
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	for _, f := range src.tree.Symbols {
		prefix := strings.TrimSuffix(f.Name, r.sym.Name)
		if f.Kind != graph.KindField || f.Container != r.sym.Container || prefix != "_" && prefix != "__" || f.Name != prefix+r.sym.Name {
			continue
		}
		field := &renamer{a: r.a, b: r.b, sources: r.sources, sym: f, in: adapters.Rename{Symbol: f, NewName: prefix + r.in.NewName}}
		err := field.plan(ctx)
		var declined *adapters.Refusal
		if errors.As(err, &declined) {
			r.warn("the field %s behind the property keeps its name: %s", f.Name, declined.Message)
			continue
		}
		if err != nil {
			return err
		}
		for _, path := range field.edits.Paths() {
			for _, e := range field.edits.Of(path) {
				r.edits.Add(path, graph.Span{Start: e.Start, End: e.End}, e.New)
			}
		}
		r.warn("the field %s behind the property is renamed to %s", f.Name, prefix+r.in.NewName)
	}
	return nil
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.edits.Set()
	offset := r.edits.Moved(r.sym.Path, r.sym.NameSpan.Start)
	d := adapters.Draft{
		Change:   set,
		Reads:    slices.DeleteFunc(slices.Clone(r.shown), func(p string) bool { return len(r.edits.Of(p)) > 0 }),
		Old:      adapters.Marks{Path: r.sym.Path, Offset: r.sym.NameSpan.Start},
		New:      adapters.Marks{Path: r.sym.Path, Offset: offset},
		Warnings: r.warnings,
	}
	after, err := r.b.With(set)
	if err != nil {
		return d, fmt.Errorf("the planned change does not fit the text: %w", err)
	}
	tree, err := after.Tree(ctx, r.sym.Path)
	if err != nil {
		return d, err
	}
	renamed, ok := tree.Declared(offset)
	if !ok || renamed.Name != r.in.NewName {
		return d, fmt.Errorf("the planned change does not declare %s in %s", r.in.NewName, recipe.Relative(r.b, r.sym.Path))
	}
	d.NewID = renamed.ID
	// What was wrong before is known of open files only.
	return d, r.srv.Open(ctx, r.edits.Paths())
}

// read reads files for change sets.
func (r *renamer) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := r.b.Snapshot().Read(ctx, path)
		return content, err
	}
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
	s := &source{path: path, content: content}
	if strings.HasSuffix(path, ".py") || strings.HasSuffix(path, ".pyi") {
		if s.tree, err = r.b.Tree(ctx, path); err != nil {
			return nil, err
		}
	}
	r.sources[path] = s
	return s, nil
}

// pages returns the Python files that may refer to the symbol, parsed.
func (r *renamer) pages(ctx context.Context) ([]*source, error) {
	paths := slices.Clone(r.shown)
	if r.edits != nil {
		paths = append(paths, r.edits.Paths()...)
	}
	slices.Sort(paths)
	var out []*source
	for _, path := range slices.Compact(paths) {
		s, err := r.source(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s.tree != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

func (s *source) point(offset int) text.Point { return text.NewFile(s.content).PointOf(offset) }

// where names a place for people.
func (r *renamer) where(src *source, offset int) string {
	at := src.point(offset)
	return fmt.Sprintf("%s:%d:%d", recipe.Relative(r.b, src.path), at.Line, at.Column)
}

func (r *renamer) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}
