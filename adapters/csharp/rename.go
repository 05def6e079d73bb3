package csharp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: the server's edits for the symbol and what belongs
// to it, judged word by word, then what follows by convention.
type renamer struct {
	a        *Adapter
	b        bench
	srv      adapters.Server
	in       adapters.Rename
	sym      graph.Symbol   // where the server is asked
	decls    []graph.Symbol // all declarations of sym
	family   []graph.Symbol // declarations that must keep one name with it, its own among them
	edits    *recipe.Edits
	sources  map[string]*source
	holders  []string // files of the workspace that hold the old name as a word
	dropped  []string // files of a build's output that the server would have edited
	warnings []string
}

// source is a file that was read and parsed.
type source struct {
	path    string
	content []byte
	tree    *syntax.Tree
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	edits, err := recipe.NewEdits(change.Set{}, nil)
	if err != nil {
		return adapters.Draft{}, err
	}
	r := &renamer{a: a, b: bench{b}, in: in, edits: edits, sources: map[string]*source{}}
	for _, step := range []func(context.Context) error{
		r.choose, r.allowed, r.relatives, r.outsiders, r.clashes, r.ask, r.overloads, r.backing, r.positional, r.mentions, r.notes,
	} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return r.draft(ctx)
}

// choose picks what the server is asked about: of a constructor or a
// destructor its type, which is what has the name.
func (r *renamer) choose(ctx context.Context) error {
	r.sym, r.decls = r.in.Symbol, r.in.Declarations
	if len(r.decls) == 0 {
		r.decls = []graph.Symbol{r.sym}
	}
	if r.sym.Kind == graph.KindConstruct {
		src, err := r.source(ctx, r.sym.Path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(src.tree.Symbols, func(s graph.Symbol) bool {
			return isType(s.Kind) && s.Name == r.sym.Name && s.Decl.Start <= r.sym.Decl.Start && r.sym.Decl.End <= s.Decl.End
		})
		if i < 0 {
			return refuse(adapters.Unsupported, "the type of the constructor %s is not found in %s", r.sym.Qualified, r.relative(r.sym.Path))
		}
		r.sym = src.tree.Symbols[i]
		if r.decls, err = r.b.Graph().ByID(ctx, r.sym.ID); err != nil {
			return err
		}
		r.warn("a constructor has the name of its type, so the type %s is renamed", r.sym.Qualified)
	}
	var err error
	if r.srv, err = r.b.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	if r.holders, err = r.b.Snapshot().Grep(ctx, r.sym.Name); err != nil {
		return err
	}
	return nil
}

// allowed refuses what has no name to change, and names that no server checks.
func (r *renamer) allowed(ctx context.Context) error {
	s, name := r.sym, r.in.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case strings.TrimPrefix(name, "@") == s.Name:
		return refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindMethod && s.Name == "Main" && slices.Contains(s.Modifiers, "static"):
		return refuse(adapters.Unsupported, "a program starts at its method Main; it cannot be renamed")
	}
	for _, d := range r.decls {
		content, _, err := r.b.Snapshot().Read(ctx, d.Path)
		if err != nil {
			return err
		}
		if generatedFile(d.Path, content) {
			return refuse(adapters.Unsupported, "%s is declared in %s, which a tool writes again; rename it where the tool takes it from", s.Name, r.relative(d.Path))
		}
	}
	return nil
}

// generatedFile reports whether a tool writes a file.
func generatedFile(path string, content []byte) bool {
	base := strings.ToLower(filepath.Base(path))
	return builds(path) || strings.HasSuffix(base, ".g.cs") || strings.HasSuffix(base, ".g.i.cs") || strings.HasSuffix(base, ".designer.cs") || isGenerated(content)
}

// ask takes the server's edits for the symbol; it follows overrides,
// implementations and partial declarations by itself.
func (r *renamer) ask(ctx context.Context) error {
	return r.include(ctx, r.sym, r.in.NewName)
}

// include adds the server's edits for one symbol to the plan.
func (r *renamer) include(ctx context.Context, sym graph.Symbol, name string) error {
	if r.edits.Covers(sym.Path, sym.NameSpan) {
		return nil
	}
	set, err := recipe.Rename(ctx, r.srv, sym, name)
	if errors.Is(err, recipe.ErrNoRename) {
		return refuse(adapters.Unsupported, "%s finds nothing to rename at the declaration of %s; see that a project includes %s", r.srv.Engine(), sym.Qualified, r.relative(sym.Path))
	}
	if err != nil {
		return r.explain(sym, err)
	}
	asked, err := recipe.NewEdits(set, r.read(ctx))
	if err != nil {
		return err
	}
	for _, path := range asked.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if builds(path) {
			r.dropped = append(r.dropped, r.relative(path))
			continue // the next build writes it again
		}
		if generatedFile(path, src.content) {
			return refuse(adapters.Unsupported, "%s is used in %s, which a tool would write again with the old name; rename it where the tool takes it from", sym.Name, r.relative(path))
		}
		if bytes.IndexByte(src.content, 0) >= 0 {
			return refuse(adapters.Unsupported, "%s uses %s and is not UTF-8, so that it cannot be changed; save it as UTF-8 and rename again", r.relative(path), sym.Name)
		}
		words, err := wholeWords(src.content, asked.Of(path), sym.Name, name)
		if at := new(strangeEdit); errors.As(err, &at) {
			return &adapters.Refusal{Reason: adapters.NameConflict, Message: fmt.Sprintf(
				"%s cannot be renamed to %s without rewriting other code: at %s %s would put %q in place of %q; choose another name",
				sym.Name, name, r.point(src, at.edit.Start), r.srv.Engine(), at.edit.New, src.content[at.edit.Start:at.edit.End])}
		}
		for _, e := range words {
			span := graph.Span{Start: e.Start, End: e.End}
			if e.Start == e.End {
				r.warn("at %s %q is written before the name, so that it keeps its meaning", r.point(src, e.Start), e.New)
			}
			if !r.edits.Add(path, span, e.New) && !slices.Contains(r.edits.Of(path), e) {
				return refuse(adapters.NameConflict, "the renames of %s do not fit into one change: at %s", sym.Name, r.point(src, e.Start))
			}
		}
	}
	if !r.edits.Covers(sym.Path, sym.NameSpan) {
		return refuse(adapters.Unsupported, "%s renames nothing at the declaration of %s; see that a project includes %s", r.srv.Engine(), sym.Qualified, r.relative(sym.Path))
	}
	return nil
}

// explain turns a refusal of the server into one of ours.
func (r *renamer) explain(sym graph.Symbol, err error) error {
	var server adapters.ServerRefusal
	if !errors.As(err, &server) {
		return err
	}
	_, message := server.Refusal()
	message = firstLine(message)
	switch {
	case strings.Contains(message, "is not a valid C# identifier"):
		return recipe.InvalidName(r.in.NewName, "is not a C# identifier")
	case strings.Contains(message, "would conflict with another symbol"):
		return refuse(adapters.NameConflict, "%s", message)
	case strings.Contains(message, "not in source"):
		return refuse(adapters.OutsideWorkspace, "%s", message)
	case strings.Contains(message, "is not a C# document of the workspace"):
		return refuse(adapters.Unsupported, "%s", unknownFile(r.b, sym.Path))
	}
	return refuse(adapters.Unsupported, "%s declines: %s", r.srv.Engine(), message)
}

// overloads renames the other methods of the name in the same type, when asked to.
func (r *renamer) overloads(ctx context.Context) error {
	if !r.in.Overloads || r.sym.Kind != graph.KindMethod && r.sym.Kind != graph.KindFunction {
		return nil
	}
	all, err := r.b.Graph().ByName(ctx, r.sym.Name)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Kind != r.sym.Kind || o.Container != r.sym.Container || o.Project != r.sym.Project || r.edits.Covers(o.Path, o.NameSpan) {
			continue
		}
		if err := r.include(ctx, o, r.in.NewName); err != nil {
			return err
		}
	}
	return nil
}

// backing renames the field that a property keeps its value in, when asked to:
// one of its type that its accessors name and that is called after it.
func (r *renamer) backing(ctx context.Context) error {
	if !r.in.BackingField || r.sym.Kind != graph.KindProperty {
		return nil
	}
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	for _, style := range []func(string) string{
		func(s string) string { return "_" + lowerFirst(s) }, func(s string) string { return "m_" + lowerFirst(s) },
		func(s string) string { return "s_" + lowerFirst(s) }, lowerFirst, func(s string) string { return "_" + s },
	} {
		name := style(r.sym.Name)
		used := slices.ContainsFunc(src.tree.Named(name), func(id syntax.Ident) bool { return r.sym.Decl.Contains(id.Span.Start) })
		fields, err := r.b.Graph().ByName(ctx, name)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if used && f.Kind == graph.KindField && f.Container == r.sym.Container && f.Project == r.sym.Project {
				if err := r.free(ctx, f, style(r.in.NewName)); err != nil {
					return err
				}
				return r.include(ctx, f, style(r.in.NewName))
			}
		}
	}
	return nil
}

func lowerFirst(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToLower(s[:size]) + s[size:]
}

// read reads files for change sets.
func (r *renamer) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := r.b.Snapshot().Read(ctx, path)
		return content, err
	}
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.edits.Set()
	target := r.sym.Path
	moves, err := r.moves(ctx)
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
	if !ok || strings.TrimPrefix(renamed.Name, "@") != strings.TrimPrefix(r.in.NewName, "@") {
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
	s := &source{path: path, content: content, tree: tree}
	r.sources[path] = s
	return s, nil
}

// point names a place as people do.
func (r *renamer) point(src *source, offset int) string {
	p := text.NewFile(src.content).PointOf(offset)
	return fmt.Sprintf("%s:%d:%d", r.relative(src.path), p.Line, p.Column)
}

func (r *renamer) relative(path string) string { return relative(r.b.Root(), path) }

func (r *renamer) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}
