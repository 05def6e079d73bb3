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
	recipe.Plan // Holders are the files that pyright was shown
	a           *Adapter
	srv         adapters.Server
	pytest      []string          // calls by which pytest is given the name in a string
	made        map[graph.ID]bool // fixtures, and whether they make a value of the family's classes
}

// source is a file that may mention the symbol; Tree is nil when it is not Python.
type source struct{ *recipe.Source }

func newRenamer(a *Adapter, b adapters.Bench, in adapters.Rename) *renamer {
	foreign := func(path string) bool { return !strings.HasSuffix(path, ".py") && !strings.HasSuffix(path, ".pyi") }
	return &renamer{Plan: recipe.Plan{Bench: b, In: in, Symbol: in.Symbol, Foreign: foreign}, a: a}
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := newRenamer(a, b, in)
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
	if err := r.file(ctx); err != nil {
		return adapters.Draft{}, err
	}
	d, err := r.Draft(ctx, r.Edits.Set(), nil)
	if err != nil {
		return d, err
	}
	// What was wrong before is known of open files only.
	return d, r.srv.Open(ctx, r.Edits.Paths())
}

func (r *renamer) plan(ctx context.Context) error {
	if err := r.allowed(ctx); err != nil {
		return err
	}
	var err error
	if r.srv, err = r.Bench.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	if r.Holders, err = show(ctx, r.Bench, r.srv, r.Symbol); err != nil {
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
	s, name := r.Symbol, r.In.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return recipe.Refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case dunder(s.Name):
		return recipe.Refuse(adapters.Unsupported, "Python itself calls %s by its name; it cannot be renamed", s.Name)
	case s.Kind == graph.KindModule || s.Kind == graph.KindPackage || s.Kind == graph.KindFile:
		return recipe.Refuse(adapters.Unsupported, "%s is a module, and its name is that of its file: move the file and correct the imports instead", s.Name)
	case s.Kind == graph.KindField && isTypedDict(r.ownerOf(ctx, s)):
		return recipe.Refuse(adapters.Unsupported, "%s is a key of a TypedDict: it is written as a string wherever it is used, and pyright does not find those", s.Qualified)
	}
	if s.Kind == graph.KindParameter {
		return r.handed(ctx)
	}
	return nil
}

// ownerOf returns the class that holds a member; its zero value when there is none.
func (r *renamer) ownerOf(ctx context.Context, s graph.Symbol) graph.Symbol {
	src, err := r.source(ctx, s.Path)
	if err != nil || src.Tree == nil {
		return graph.Symbol{}
	}
	return classOf(src.Tree, s)
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
	if err := r.srv.Open(ctx, r.Holders); err != nil {
		return err
	}
	wide, near := r.Members, []graph.Symbol(nil)
	if len(r.pytest) > 0 {
		wide, near = nil, nil
		for _, m := range r.Members {
			if m.Kind == graph.KindParameter {
				near = append(near, m)
			} else {
				wide = append(wide, m)
			}
		}
	}
	var err error
	r.Edits, err = recipe.RenameFamily(ctx, r.Bench, r.srv, wide, r.In.NewName, r.Read(ctx),
		func(s graph.Symbol) bool { return strings.HasSuffix(s.Path, ".pyi") }, // a stub speaks for its code as well
		func(s graph.Symbol, err error) (change.Set, error) {
			if errors.Is(err, recipe.ErrNoRename) {
				return r.byReferences(ctx, s, err)
			}
			return change.Set{}, r.explain(s, err)
		})
	if errors.Is(err, change.ErrConflict) || errors.Is(err, text.ErrOverlap) {
		return recipe.Refuse(adapters.NameConflict, "the renames of what belongs together with %s do not fit into one change: %v", r.Symbol.Qualified, err)
	}
	if err != nil {
		return err
	}
	if len(wide) == 0 {
		if r.Edits, err = recipe.NewEdits(change.Set{}, r.Read(ctx)); err != nil {
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
		r.Edits.Add(p.Path, p.Span, r.In.NewName)
	}
	return nil
}

// explain says why pyright renames nothing.
func (r *renamer) explain(s graph.Symbol, err error) error {
	var server adapters.ServerRefusal
	switch {
	case errors.Is(err, recipe.ErrNoRename):
		return recipe.Refuse(adapters.Unsupported, "pyright does not rename %s at %s: it is not declared by the workspace alone, its file is left out by the project's configuration, or pyright takes the code for unreachable on this platform",
			s.Name, recipe.Relative(r.Bench, s.Path))
	case errors.As(err, &server):
		_, message := server.Refusal()
		line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
		return recipe.Refuse(adapters.Unsupported, "pyright declines to rename %s: %s", s.Name, line)
	}
	return err
}

// audit checks each of pyright's edits against the text: it must put the new
// name in place of the old one, within the workspace.
func (r *renamer) audit(ctx context.Context) error {
	for _, path := range r.Edits.Paths() {
		if !recipe.Inside(r.Bench.Root(), path) {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s is used in %s, which is not part of this workspace", r.Symbol.Name, path)
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.Edits.Of(path) {
			if was := string(src.Content[e.Start:e.End]); was != r.Symbol.Name || e.New != r.In.NewName {
				return recipe.Refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s pyright would replace %q by %q", r.Symbol.Name, r.where(src, e.Start), was, e.New)
			}
		}
	}
	if !r.Edits.Covers(r.Symbol.Path, r.Symbol.NameSpan) {
		return recipe.Refuse(adapters.Unsupported, "pyright's rename of %s leaves out its declaration in %s, as it does in code that cannot be reached on this platform", r.Symbol.Name, recipe.Relative(r.Bench, r.Symbol.Path))
	}
	return nil
}

// clash refuses a name that means something else already.
func (r *renamer) clash(ctx context.Context) error {
	return recipe.Clash(ctx, r.Bench, recipe.Renaming{Symbol: r.Symbol, Members: r.Members, NewName: r.In.NewName, Uses: r.Edits}, recipe.Rules{
		Imports:   true,
		Roots:     true,
		Inherited: func(m graph.Symbol) bool { return !mangled(m.Name) },
	})
}

// backing renames the field that a property keeps its value in along with it.
func (r *renamer) backing(ctx context.Context) error {
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	for _, f := range src.Tree.Symbols {
		prefix := strings.TrimSuffix(f.Name, r.Symbol.Name)
		if f.Kind != graph.KindField || f.Container != r.Symbol.Container || prefix != "_" && prefix != "__" || f.Name != prefix+r.Symbol.Name {
			continue
		}
		field := newRenamer(r.a, r.Bench, adapters.Rename{Symbol: f, NewName: prefix + r.In.NewName})
		err := field.plan(ctx)
		var declined *adapters.Refusal
		if errors.As(err, &declined) {
			r.Warn("the field %s behind the property keeps its name: %s", f.Name, declined.Message)
			continue
		}
		if err != nil {
			return err
		}
		for _, path := range field.Edits.Paths() {
			for _, e := range field.Edits.Of(path) {
				r.Edits.Add(path, graph.Span{Start: e.Start, End: e.End}, e.New)
			}
		}
		r.Warn("the field %s behind the property is renamed to %s", f.Name, prefix+r.In.NewName)
	}
	return nil
}

// pages returns the Python files that may refer to the symbol, parsed.
func (r *renamer) pages(ctx context.Context) ([]*source, error) {
	paths := slices.Clone(r.Holders)
	if r.Edits != nil {
		paths = append(paths, r.Edits.Paths()...)
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
		if s.Tree != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// where names a place for people.
func (r *renamer) where(src *source, offset int) string {
	at := src.File.PointOf(offset)
	return fmt.Sprintf("%s:%d:%d", recipe.Relative(r.Bench, src.Path), at.Line, at.Column)
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*source, error) {
	s, err := r.Source(ctx, path)
	return &source{s}, err
}
