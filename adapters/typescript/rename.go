package typescript

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: the server's edits for everything that must keep
// one name with the symbol, then comments and strings.
type renamer struct {
	recipe.Plan
	a   *Adapter
	srv adapters.Server
}

// page is a file that may mention the symbol; Tree is nil when it is not of the language.
type page struct{ *recipe.Source }

func newRenamer(a *Adapter, b adapters.Bench, in adapters.Rename) *renamer {
	foreign := func(path string) bool { return !source(path) }
	return &renamer{Plan: recipe.Plan{Bench: b, In: in, Symbol: in.Symbol, Foreign: foreign}, a: a}
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := newRenamer(a, b, in)
	for _, step := range []func(context.Context) error{
		r.allowed, r.show, r.relatives, r.ask, r.lookalikes, r.audit, r.clash, r.backing, r.file, r.mentions, r.leftovers,
	} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return r.draft(ctx)
}

// allowed refuses what the server would do and the program would not survive.
func (r *renamer) allowed(ctx context.Context) error {
	s, name := r.Symbol, r.In.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return recipe.Refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case installed(s.Path):
		return recipe.Refuse(adapters.OutsideWorkspace, "%s is declared in an installed package (%s)", s.Name, recipe.Relative(r.Bench, s.Path))
	case s.Kind == graph.KindModule || s.Kind == graph.KindFile || s.Kind == graph.KindPackage:
		return recipe.Refuse(adapters.Unsupported, "%s is a module, and its name is that of a file or a package: move the file instead", s.Name)
	case s.Kind == graph.KindConstruct:
		return recipe.Refuse(adapters.Unsupported, "a constructor has the name that the language gives it; rename its class %s instead", s.Container)
	case s.Name == "default":
		return recipe.Refuse(adapters.Unsupported, "a default export without a name has none to change: it is named by each file that imports it")
	}
	if isDeclaration(s.Path) {
		return r.described(ctx)
	}
	return nil
}

// described refuses what a declaration file says of code that is elsewhere.
func (r *renamer) described(ctx context.Context) error {
	s := r.Symbol
	if js, err := r.compiledFrom(ctx, s.Path); err != nil || js != "" {
		return cmp.Or(err, recipe.Refuse(adapters.Unsupported, "%s describes %s and is not changed: rename %s where its code is written", recipe.Relative(r.Bench, s.Path), recipe.Relative(r.Bench, js), s.Name))
	}
	switch s.Kind {
	case graph.KindInterface, graph.KindTypeAlias, graph.KindTypeParam, graph.KindParameter:
		return nil
	}
	return recipe.Refuse(adapters.Unsupported, "%s is only described in %s: the code that has this name is not there, and would keep it", s.Name, recipe.Relative(r.Bench, s.Path))
}

// compiledFrom returns the JavaScript file that a declaration file stands
// beside, empty when there is none.
func (r *renamer) compiledFrom(ctx context.Context, path string) (string, error) {
	for dts, js := range map[string][]string{".d.ts": {".js", ".jsx"}, ".d.mts": {".mjs"}, ".d.cts": {".cjs"}} {
		stem, ok := strings.CutSuffix(path, dts)
		if !ok {
			continue
		}
		for _, ext := range js {
			content, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), stem+ext)
			if err != nil || content != nil {
				return stem + ext, err
			}
		}
	}
	return "", nil
}

// show makes the server know of all files that may use the symbol.
func (r *renamer) show(ctx context.Context) (err error) {
	if r.srv, err = r.Bench.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	return show(ctx, r.Bench, r.srv, r.Symbol)
}

// relatives finds the members that must keep one name with the symbol.
func (r *renamer) relatives(ctx context.Context) error {
	r.Members = []graph.Symbol{r.Symbol}
	for _, d := range r.In.Declarations {
		if !slices.ContainsFunc(r.Members, func(m graph.Symbol) bool { return m.Path == d.Path && m.NameSpan == d.NameSpan }) {
			r.Members = append(r.Members, d)
		}
	}
	if r.Symbol.Local || r.Symbol.Kind != graph.KindMethod && r.Symbol.Kind != graph.KindProperty || strings.HasPrefix(r.Symbol.Name, "#") {
		return nil
	}
	family, err := recipe.MemberFamily(ctx, r.Bench, r.Symbol, recipe.FamilyOptions{Joins: joins})
	switch {
	case errors.Is(err, recipe.ErrFamily):
		return recipe.Refuse(adapters.Unsupported, "too many members named %s override or implement one another; rename one of a smaller family", r.Symbol.Name)
	case err != nil:
		return r.explain(err)
	}
	for _, o := range family.Outside {
		if _, ok := o.Place.File, o.Place.File != nil; ok && string(o.Place.File.Content()[o.Place.Span.Start:o.Place.Span.End]) == r.Symbol.Name {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s overrides or implements a member that is declared outside this workspace (%s); under another name it would not any more", o.Of.Qualified, o.Place.Path)
		}
	}
	for _, m := range family.Members {
		if installed(m.Path) {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s overrides or implements a member of an installed package (%s)", r.Symbol.Qualified, recipe.Relative(r.Bench, m.Path))
		}
		if !slices.ContainsFunc(r.Members, func(have graph.Symbol) bool { return have.Path == m.Path && have.NameSpan == m.NameSpan }) {
			r.Members = append(r.Members, m)
		}
	}
	if n := len(family.Members); n > 1 {
		r.Warn("%d members named %s override or implement one another and are renamed together", n, r.Symbol.Name)
	}
	return nil
}

// joins reports whether a member overrides or implements another: a method may
// implement a property that holds a function, and a parameter of a constructor
// a property.
func joins(upper, lower graph.Symbol) bool {
	member := func(s graph.Symbol) bool { return s.Kind == graph.KindMethod || s.Kind == graph.KindProperty }
	static := func(s graph.Symbol) bool { return slices.Contains(s.Modifiers, "static") }
	return upper.Name == lower.Name && member(upper) && member(lower) && static(upper) == static(lower) && !strings.HasPrefix(upper.Name, "#")
}

// ask gathers the server's edits for all that is renamed. Where a file exports
// the symbol on, the server keeps the old name for those behind it; they
// follow, too.
func (r *renamer) ask(ctx context.Context) error {
	r.Edits = &recipe.Edits{}
	var err error
	if r.Edits, err = recipe.NewEdits(change.Set{}, nil); err != nil {
		return err
	}
	first := true
	for queue := slices.Clone(r.Members); len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if !first && r.Edits.Covers(at.Path, at.NameSpan) && at.Kind != graph.KindModule {
			continue
		}
		set, err := recipe.Rename(ctx, r.srv, at, r.In.NewName)
		if err != nil {
			return r.explain(err)
		}
		first = false
		more, err := r.join(ctx, r.Edits, at, set)
		if err != nil {
			return err
		}
		queue = append(queue, more...)
	}
	return nil
}

// join adds the edits of one answer to others, and returns where the symbol is
// exported on under its old name.
func (r *renamer) join(ctx context.Context, edits *recipe.Edits, asked graph.Symbol, set change.Set) (more []graph.Symbol, err error) {
	answer, err := recipe.NewEdits(set, r.Read(ctx))
	if err != nil {
		return nil, err
	}
	old, name := r.Symbol.Name, r.In.NewName
	for _, path := range answer.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, e := range answer.Of(path) {
			e = whole(src.Content, e, old)
			span := graph.Span{Start: e.Start, End: e.End}
			switch {
			case e.New == name+" as "+old && passedOn(src.Content, e.Start):
				// export { old } from: those who import it from there are asked for next.
				e.New = name
				more = append(more, graph.Symbol{Name: old, Path: path, NameSpan: span, Kind: graph.KindModule})
			case e.New == old+" as "+name && asked.Kind == graph.KindModule && path == asked.Path && span == asked.NameSpan:
				continue // the export itself, which is renamed already
			}
			if edits.Add(path, span, e.New) {
				continue
			}
			if !slices.ContainsFunc(edits.Of(path), func(have text.Edit) bool { return have == e }) {
				at := text.NewFile(src.Content).PointOf(e.Start)
				return nil, recipe.Refuse(adapters.NameConflict, "%s means two things at %s:%d:%d that would have to be renamed differently; rename one of them by hand first",
					old, recipe.Relative(r.Bench, path), at.Line, at.Column)
			}
		}
	}
	return more, nil
}

// whole widens an edit that was narrowed to what differs from the old name.
func whole(content []byte, e text.Edit, old string) text.Edit {
	for back := range len(old) + 1 {
		start := e.Start - back
		if start < 0 || start+len(old) < e.End || start+len(old) > len(content) || string(content[start:start+len(old)]) != old {
			continue
		}
		return text.Edit{Start: start, End: start + len(old), New: string(content[start:e.Start]) + e.New + string(content[e.End:start+len(old)])}
	}
	return e
}

// explain says why the server renames nothing.
func (r *renamer) explain(err error) error {
	var server adapters.ServerRefusal
	switch {
	case errors.Is(err, recipe.ErrNoRename):
		return recipe.Refuse(adapters.Unsupported, "%s finds nothing to rename at the declaration of %s in %s", program, r.Symbol.Name, recipe.Relative(r.Bench, r.Symbol.Path))
	case errors.As(err, &server):
		_, message := server.Refusal()
		reason := adapters.Unsupported
		if strings.Contains(message, "standard TypeScript library") || strings.Contains(message, "node_modules") {
			reason = adapters.OutsideWorkspace
		}
		return recipe.Refuse(reason, "TypeScript declines to rename %s: %s", r.Symbol.Name, said(message))
	}
	return err
}

// audit checks each edit against the text: it must put the new name in place
// of the old one, in a file that people write.
func (r *renamer) audit(ctx context.Context) error {
	old, name := r.Symbol.Name, r.In.NewName
	for _, path := range r.Edits.Paths() {
		if !recipe.Inside(r.Bench.Root(), path) || installed(path) {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s is used in %s, which is not part of this workspace", old, recipe.Relative(r.Bench, path))
		}
		if isDeclaration(path) {
			js, err := r.compiledFrom(ctx, path)
			if err != nil {
				return err
			}
			if js != "" {
				return recipe.Refuse(adapters.Unsupported, "%s would have to change in %s, which describes %s: build that anew from what it was made of", old, recipe.Relative(r.Bench, path), recipe.Relative(r.Bench, js))
			}
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.Edits.Of(path) {
			was := string(src.Content[e.Start:e.End])
			if was == old && slices.Contains([]string{name, old + ": " + name, name + ": " + old, name + " as " + old, old + " as " + name}, e.New) {
				continue
			}
			at := text.NewFile(src.Content).PointOf(e.Start)
			return recipe.Refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s:%d:%d TypeScript would replace %q by %q", old, recipe.Relative(r.Bench, path), at.Line, at.Column, was, e.New)
		}
	}
	if !r.Edits.Covers(r.Symbol.Path, r.Symbol.NameSpan) {
		return recipe.Refuse(adapters.Unsupported, "TypeScript's rename of %s leaves out its declaration in %s", old, recipe.Relative(r.Bench, r.Symbol.Path))
	}
	return nil
}

// clash refuses a name that means something else already.
func (r *renamer) clash(ctx context.Context) error {
	return recipe.Clash(ctx, r.Bench, recipe.Renaming{Symbol: r.Symbol, Members: r.Members, NewName: r.In.NewName, Uses: r.Edits}, recipe.Rules{
		Blocks:    true,
		Imports:   true,
		Together:  together,
		Inherited: func(m graph.Symbol) bool { return !strings.HasPrefix(m.Name, "#") },
	})
}

// together reports whether two declarations may have one name in one place: a
// type and a value. Any other pair would merge, or be refused by the compiler.
func together(renamed, other graph.Symbol) bool {
	pure := func(s graph.Symbol) bool {
		return s.Kind == graph.KindInterface || s.Kind == graph.KindTypeAlias || s.Kind == graph.KindTypeParam
	}
	value := func(s graph.Symbol) bool {
		switch s.Kind {
		case graph.KindFunction, graph.KindVariable, graph.KindConstant, graph.KindParameter:
			return true
		}
		return false
	}
	return pure(renamed) && value(other) || value(renamed) && pure(other)
}

// backing renames the private field that a pair of accessors keeps its value in
// along with them: _name or #name.
func (r *renamer) backing(ctx context.Context) error {
	if !r.In.BackingField || r.Symbol.Kind != graph.KindProperty || !slices.ContainsFunc(r.Symbol.Modifiers, func(m string) bool { return m == "get" || m == "set" }) {
		return nil
	}
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	for _, f := range src.Tree.Symbols {
		prefix, ok := strings.CutSuffix(f.Name, r.Symbol.Name)
		if f.Kind != graph.KindProperty || f.Container != r.Symbol.Container || !ok || prefix != "_" && prefix != "#" || f.Visibility != private {
			continue
		}
		field := newRenamer(r.a, r.Bench, adapters.Rename{Symbol: f, NewName: prefix + r.In.NewName})
		field.srv = r.srv
		for _, step := range []func(context.Context) error{field.allowed, field.relatives, field.ask, field.audit, field.clash} {
			err = errors.Join(err, step(ctx))
			if err != nil {
				break
			}
		}
		var declined *adapters.Refusal
		if errors.As(err, &declined) {
			r.Warn("the field %s behind %s keeps its name: %s", f.Name, r.Symbol.Name, declined.Message)
			return nil
		}
		if err != nil {
			return err
		}
		for _, path := range field.Edits.Paths() {
			for _, e := range field.Edits.Of(path) {
				if !r.Edits.Add(path, graph.Span{Start: e.Start, End: e.End}, e.New) {
					return recipe.Refuse(adapters.NameConflict, "the field %s behind %s would change twice in %s; rename without the field", f.Name, r.Symbol.Name, recipe.Relative(r.Bench, path))
				}
			}
		}
		r.Warn("the field %s behind %s is renamed to %s", f.Name, r.Symbol.Name, field.In.NewName)
	}
	return nil
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.set(r.Edits)
	holders, err := r.Bench.Snapshot().Grep(ctx, r.Symbol.Name)
	if err != nil {
		return adapters.Draft{}, err
	}
	for _, path := range holders {
		if !r.Symbol.Local && source(path) {
			r.Holders = append(r.Holders, path)
		}
	}
	return r.Draft(ctx, set, nil)
}

// set returns edits as a change.
func (r *renamer) set(edits *recipe.Edits) change.Set {
	var set change.Set
	for _, path := range edits.Paths() {
		set = set.Append(change.FromEdits(path, r.parted(edits.Of(path))))
	}
	return set
}

// parted returns edits with those that put something before the new name as an
// insertion and a replacement, so that the place of a reference can be followed.
func (r *renamer) parted(edits []text.Edit) []text.Edit {
	var out []text.Edit
	for _, e := range edits {
		if before, ok := strings.CutSuffix(e.New, r.In.NewName); ok && strings.HasSuffix(before, " ") && e.Start < e.End {
			out = append(out, text.Edit{Start: e.Start, End: e.Start, New: before})
			e.New = r.In.NewName
		}
		out = append(out, e)
	}
	return out
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*page, error) {
	s, err := r.Source(ctx, path)
	return &page{s}, err
}

// position is where the server is asked about a place of a file.
func (r *renamer) position(ctx context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	return r.srv.Position(ctx, filepath.Clean(path), offset)
}
