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
	recipe.Plan
	a       *Adapter
	srv     adapters.Server
	decls   []graph.Symbol // all declarations of sym
	dropped []string       // files of a build's output that the server would have edited
}

// source is a file that was read and parsed.
type source struct{ *recipe.Source }

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	edits, err := recipe.NewEdits(change.Set{}, nil)
	if err != nil {
		return adapters.Draft{}, err
	}
	r := &renamer{Plan: recipe.Plan{Bench: bench{b}, In: in, Edits: edits}, a: a}
	for _, step := range []func(context.Context) error{
		r.choose, r.allowed, r.relatives, r.outsiders, r.clashes, r.ask, r.overloads, r.backing, r.positional, r.mentions, r.notes, r.files,
	} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return r.Draft(ctx, r.Edits.Set(), bare)
}

// choose picks what the server is asked about: of a constructor or a
// destructor its type, which is what has the name.
func (r *renamer) choose(ctx context.Context) error {
	r.Symbol, r.decls = r.In.Symbol, r.In.Declarations
	if len(r.decls) == 0 {
		r.decls = []graph.Symbol{r.Symbol}
	}
	if r.Symbol.Kind == graph.KindConstruct {
		src, err := r.source(ctx, r.Symbol.Path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(src.Tree.Symbols, func(s graph.Symbol) bool {
			return isType(s.Kind) && s.Name == r.Symbol.Name && s.Decl.Start <= r.Symbol.Decl.Start && r.Symbol.Decl.End <= s.Decl.End
		})
		if i < 0 {
			return recipe.Refuse(adapters.Unsupported, "the type of the constructor %s is not found in %s", r.Symbol.Qualified, recipe.Relative(r.Bench, r.Symbol.Path))
		}
		r.Symbol = src.Tree.Symbols[i]
		if r.decls, err = r.Bench.Graph().ByID(ctx, r.Symbol.ID); err != nil {
			return err
		}
		r.Warn("a constructor has the name of its type, so the type %s is renamed", r.Symbol.Qualified)
	}
	var err error
	if r.srv, err = r.Bench.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	if r.Holders, err = r.Bench.Snapshot().Grep(ctx, r.Symbol.Name); err != nil {
		return err
	}
	return nil
}

// allowed refuses what has no name to change, and names that no server checks.
func (r *renamer) allowed(ctx context.Context) error {
	s, name := r.Symbol, r.In.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case strings.TrimPrefix(name, "@") == s.Name:
		return recipe.Refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindMethod && s.Name == "Main" && slices.Contains(s.Modifiers, "static"):
		return recipe.Refuse(adapters.Unsupported, "a program starts at its method Main; it cannot be renamed")
	}
	for _, d := range r.decls {
		content, _, err := r.Bench.Snapshot().Read(ctx, d.Path)
		if err != nil {
			return err
		}
		if generatedFile(d.Path, content) {
			return recipe.Refuse(adapters.Unsupported, "%s is declared in %s, which a tool writes again; rename it where the tool takes it from", s.Name, recipe.Relative(r.Bench, d.Path))
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
	return r.include(ctx, r.Symbol, r.In.NewName)
}

// include adds the server's edits for one symbol to the plan.
func (r *renamer) include(ctx context.Context, sym graph.Symbol, name string) error {
	if r.Edits.Covers(sym.Path, sym.NameSpan) {
		return nil
	}
	set, err := recipe.Rename(ctx, r.srv, sym, name)
	if errors.Is(err, recipe.ErrNoRename) {
		return recipe.Refuse(adapters.Unsupported, "%s finds nothing to rename at the declaration of %s; see that a project includes %s", r.srv.Engine(), sym.Qualified, recipe.Relative(r.Bench, sym.Path))
	}
	if err != nil {
		return r.inferred(ctx, sym, name, r.explain(sym, err))
	}
	asked, err := recipe.NewEdits(set, r.Read(ctx))
	if err != nil {
		return err
	}
	for _, path := range asked.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if builds(path) {
			r.dropped = append(r.dropped, recipe.Relative(r.Bench, path))
			continue // the next build writes it again
		}
		if generatedFile(path, src.Content) {
			return recipe.Refuse(adapters.Unsupported, "%s is used in %s, which a tool would write again with the old name; rename it where the tool takes it from", sym.Name, recipe.Relative(r.Bench, path))
		}
		if bytes.IndexByte(src.Content, 0) >= 0 {
			return recipe.Refuse(adapters.Unsupported, "%s uses %s and is not UTF-8, so that it cannot be changed; save it as UTF-8 and rename again", recipe.Relative(r.Bench, path), sym.Name)
		}
		words, err := wholeWords(src.Content, asked.Of(path), sym.Name, name)
		if at := new(strangeEdit); errors.As(err, &at) {
			return &adapters.Refusal{Reason: adapters.NameConflict, Message: fmt.Sprintf(
				"%s cannot be renamed to %s without rewriting other code: at %s %s would put %q in place of %q; choose another name",
				sym.Name, name, r.point(src, at.edit.Start), r.srv.Engine(), at.edit.New, src.Content[at.edit.Start:at.edit.End])}
		}
		for _, e := range words {
			span := graph.Span{Start: e.Start, End: e.End}
			if e.Start == e.End {
				r.Warn("at %s %q is written before the name, so that it keeps its meaning", r.point(src, e.Start), e.New)
			}
			if !r.Edits.Add(path, span, e.New) && !slices.Contains(r.Edits.Of(path), e) {
				return recipe.Refuse(adapters.NameConflict, "the renames of %s do not fit into one change: at %s", sym.Name, r.point(src, e.Start))
			}
		}
	}
	if !r.Edits.Covers(sym.Path, sym.NameSpan) {
		return recipe.Refuse(adapters.Unsupported, "%s renames nothing at the declaration of %s; see that a project includes %s", r.srv.Engine(), sym.Qualified, recipe.Relative(r.Bench, sym.Path))
	}
	return nil
}

// inferred says more of a conflict over a name that nothing in the workspace
// has: somewhere a name is taken from the symbol without being written.
func (r *renamer) inferred(ctx context.Context, sym graph.Symbol, name string, err error) error {
	var refused *adapters.Refusal
	if !errors.As(err, &refused) || refused.Reason != adapters.NameConflict {
		return err
	}
	if taken, gerr := r.Bench.Snapshot().Grep(ctx, bare(name)); gerr != nil || len(taken) > 0 {
		return err
	}
	return recipe.Refuse(adapters.NameConflict, "%s; nothing here is named %s, so that a member of an anonymous object or of a tuple takes its name from %s: write it out (\"%s = x.%s\") and rename again",
		refused.Message, name, sym.Name, sym.Name, sym.Name)
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
		return recipe.InvalidName(r.In.NewName, "is not a C# identifier")
	case strings.Contains(message, "would conflict with another symbol"):
		return recipe.Refuse(adapters.NameConflict, "%s", message)
	case strings.Contains(message, "not in source"):
		return recipe.Refuse(adapters.OutsideWorkspace, "%s", message)
	case strings.Contains(message, "is not a C# document of the workspace"):
		return recipe.Refuse(adapters.Unsupported, "%s", unknownFile(r.Bench, sym.Path))
	}
	return recipe.Refuse(adapters.Unsupported, "%s declines: %s", r.srv.Engine(), message)
}

// overloads renames the other methods of the name in the same type, when asked to.
func (r *renamer) overloads(ctx context.Context) error {
	if !r.In.Overloads || r.Symbol.Kind != graph.KindMethod && r.Symbol.Kind != graph.KindFunction {
		return nil
	}
	all, err := r.Bench.Graph().ByName(ctx, r.Symbol.Name)
	if err != nil {
		return err
	}
	for _, o := range all {
		if o.Kind != r.Symbol.Kind || o.Container != r.Symbol.Container || o.Project != r.Symbol.Project || r.Edits.Covers(o.Path, o.NameSpan) {
			continue
		}
		if err := r.include(ctx, o, r.In.NewName); err != nil {
			return err
		}
	}
	return nil
}

// backing renames the field that a property keeps its value in, when asked to:
// one of its type that its accessors name and that is called after it.
func (r *renamer) backing(ctx context.Context) error {
	if !r.In.BackingField || r.Symbol.Kind != graph.KindProperty {
		return nil
	}
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	for _, style := range []func(string) string{
		func(s string) string { return "_" + lowerFirst(s) }, func(s string) string { return "m_" + lowerFirst(s) },
		func(s string) string { return "s_" + lowerFirst(s) }, lowerFirst, func(s string) string { return "_" + s },
	} {
		name := style(r.Symbol.Name)
		used := slices.ContainsFunc(src.Tree.Named(name), func(id syntax.Ident) bool { return r.Symbol.Decl.Contains(id.Span.Start) })
		fields, err := r.Bench.Graph().ByName(ctx, name)
		if err != nil {
			return err
		}
		for _, f := range fields {
			if used && f.Kind == graph.KindField && f.Container == r.Symbol.Container && f.Project == r.Symbol.Project {
				if err := r.free(ctx, f, style(r.In.NewName)); err != nil {
					return err
				}
				return r.include(ctx, f, style(r.In.NewName))
			}
		}
	}
	return nil
}

func lowerFirst(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToLower(s[:size]) + s[size:]
}

// point names a place as people do.
func (r *renamer) point(src *source, offset int) string {
	p := text.NewFile(src.Content).PointOf(offset)
	return fmt.Sprintf("%s:%d:%d", recipe.Relative(r.Bench, src.Path), p.Line, p.Column)
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*source, error) {
	s, err := r.Source(ctx, path)
	return &source{s}, err
}
