package typescript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// renamer plans one rename: the server's edits for everything that must keep
// one name with the symbol, then comments and strings.
type renamer struct {
	a        *Adapter
	b        adapters.Bench
	srv      adapters.Server
	in       adapters.Rename
	sym      graph.Symbol
	members  []graph.Symbol // the symbol's declarations and its family's; sym first
	edits    *recipe.Edits
	moves    []change.Op
	sources  map[string]*page
	warnings []string
}

// page is a file that may mention the symbol; tree is nil when it is not of the language.
type page struct {
	path    string
	content []byte
	tree    *syntax.Tree
}

func refuse(reason adapters.Reason, format string, args ...any) error {
	return recipe.Refuse(reason, format, args...)
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{a: a, b: b, in: in, sym: in.Symbol, sources: map[string]*page{}}
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
	s, name := r.sym, r.in.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case installed(s.Path):
		return refuse(adapters.OutsideWorkspace, "%s is declared in an installed package (%s)", s.Name, recipe.Relative(r.b, s.Path))
	case s.Kind == graph.KindModule || s.Kind == graph.KindFile || s.Kind == graph.KindPackage:
		return refuse(adapters.Unsupported, "%s is a module, and its name is that of a file or a package: move the file instead", s.Name)
	case s.Kind == graph.KindConstruct:
		return refuse(adapters.Unsupported, "a constructor has the name that the language gives it; rename its class %s instead", s.Container)
	case s.Name == "default":
		return refuse(adapters.Unsupported, "a default export without a name has none to change: it is named by each file that imports it")
	}
	if isDeclaration(s.Path) {
		return r.described(ctx)
	}
	return nil
}

// described refuses what a declaration file says of code that is elsewhere.
func (r *renamer) described(ctx context.Context) error {
	s := r.sym
	if js, err := r.compiledFrom(ctx, s.Path); err != nil || js != "" {
		return cmp.Or(err, refuse(adapters.Unsupported, "%s describes %s and is not changed: rename %s where its code is written", recipe.Relative(r.b, s.Path), recipe.Relative(r.b, js), s.Name))
	}
	switch s.Kind {
	case graph.KindInterface, graph.KindTypeAlias, graph.KindTypeParam, graph.KindParameter:
		return nil
	}
	return refuse(adapters.Unsupported, "%s is only described in %s: the code that has this name is not there, and would keep it", s.Name, recipe.Relative(r.b, s.Path))
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
			content, err := recipe.ReadOptional(ctx, r.b.Snapshot(), stem+ext)
			if err != nil || content != nil {
				return stem + ext, err
			}
		}
	}
	return "", nil
}

// show makes the server know of all files that may use the symbol.
func (r *renamer) show(ctx context.Context) (err error) {
	if r.srv, err = r.b.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	return show(ctx, r.b, r.srv, r.sym)
}

// relatives finds the members that must keep one name with the symbol.
func (r *renamer) relatives(ctx context.Context) error {
	r.members = []graph.Symbol{r.sym}
	for _, d := range r.in.Declarations {
		if !slices.ContainsFunc(r.members, func(m graph.Symbol) bool { return m.Path == d.Path && m.NameSpan == d.NameSpan }) {
			r.members = append(r.members, d)
		}
	}
	if r.sym.Local || r.sym.Kind != graph.KindMethod && r.sym.Kind != graph.KindProperty || strings.HasPrefix(r.sym.Name, "#") {
		return nil
	}
	family, err := recipe.MemberFamily(ctx, r.b, r.sym, recipe.FamilyOptions{Joins: joins})
	switch {
	case errors.Is(err, recipe.ErrFamily):
		return refuse(adapters.Unsupported, "too many members named %s override or implement one another; rename one of a smaller family", r.sym.Name)
	case err != nil:
		return r.explain(err)
	}
	for _, o := range family.Outside {
		if _, ok := o.Place.File, o.Place.File != nil; ok && string(o.Place.File.Content()[o.Place.Span.Start:o.Place.Span.End]) == r.sym.Name {
			return refuse(adapters.OutsideWorkspace, "%s overrides or implements a member that is declared outside this workspace (%s); under another name it would not any more", o.Of.Qualified, o.Place.Path)
		}
	}
	for _, m := range family.Members {
		if installed(m.Path) {
			return refuse(adapters.OutsideWorkspace, "%s overrides or implements a member of an installed package (%s)", r.sym.Qualified, recipe.Relative(r.b, m.Path))
		}
		if !slices.ContainsFunc(r.members, func(have graph.Symbol) bool { return have.Path == m.Path && have.NameSpan == m.NameSpan }) {
			r.members = append(r.members, m)
		}
	}
	if n := len(family.Members); n > 1 {
		r.warn("%d members named %s override or implement one another and are renamed together", n, r.sym.Name)
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
	r.edits = &recipe.Edits{}
	var err error
	if r.edits, err = recipe.NewEdits(change.Set{}, nil); err != nil {
		return err
	}
	first := true
	for queue := slices.Clone(r.members); len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if !first && r.edits.Covers(at.Path, at.NameSpan) && at.Kind != graph.KindModule {
			continue
		}
		set, err := recipe.Rename(ctx, r.srv, at, r.in.NewName)
		if err != nil {
			return r.explain(err)
		}
		first = false
		more, err := r.join(ctx, r.edits, at, set)
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
	answer, err := recipe.NewEdits(set, r.read(ctx))
	if err != nil {
		return nil, err
	}
	old, name := r.sym.Name, r.in.NewName
	for _, path := range answer.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, e := range answer.Of(path) {
			e = whole(src.content, e, old)
			span := graph.Span{Start: e.Start, End: e.End}
			switch {
			case e.New == name+" as "+old && passedOn(src.content, e.Start):
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
				at := text.NewFile(src.content).PointOf(e.Start)
				return nil, refuse(adapters.NameConflict, "%s means two things at %s:%d:%d that would have to be renamed differently; rename one of them by hand first",
					old, recipe.Relative(r.b, path), at.Line, at.Column)
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
		return refuse(adapters.Unsupported, "%s finds nothing to rename at the declaration of %s in %s", program, r.sym.Name, recipe.Relative(r.b, r.sym.Path))
	case errors.As(err, &server):
		_, message := server.Refusal()
		reason := adapters.Unsupported
		if strings.Contains(message, "standard TypeScript library") || strings.Contains(message, "node_modules") {
			reason = adapters.OutsideWorkspace
		}
		return refuse(reason, "TypeScript declines to rename %s: %s", r.sym.Name, said(message))
	}
	return err
}

// audit checks each edit against the text: it must put the new name in place
// of the old one, in a file that people write.
func (r *renamer) audit(ctx context.Context) error {
	old, name := r.sym.Name, r.in.NewName
	for _, path := range r.edits.Paths() {
		if !recipe.Inside(r.b.Root(), path) || installed(path) {
			return refuse(adapters.OutsideWorkspace, "%s is used in %s, which is not part of this workspace", old, recipe.Relative(r.b, path))
		}
		if isDeclaration(path) {
			js, err := r.compiledFrom(ctx, path)
			if err != nil {
				return err
			}
			if js != "" {
				return refuse(adapters.Unsupported, "%s would have to change in %s, which describes %s: build that anew from what it was made of", old, recipe.Relative(r.b, path), recipe.Relative(r.b, js))
			}
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, e := range r.edits.Of(path) {
			was := string(src.content[e.Start:e.End])
			if was == old && slices.Contains([]string{name, old + ": " + name, name + ": " + old, name + " as " + old, old + " as " + name}, e.New) {
				continue
			}
			at := text.NewFile(src.content).PointOf(e.Start)
			return refuse(adapters.NameConflict, "%s cannot be renamed alone: at %s:%d:%d TypeScript would replace %q by %q", old, recipe.Relative(r.b, path), at.Line, at.Column, was, e.New)
		}
	}
	if !r.edits.Covers(r.sym.Path, r.sym.NameSpan) {
		return refuse(adapters.Unsupported, "TypeScript's rename of %s leaves out its declaration in %s", old, recipe.Relative(r.b, r.sym.Path))
	}
	return nil
}

// clash refuses a name that means something else already.
func (r *renamer) clash(ctx context.Context) error {
	return recipe.Clash(ctx, r.b, recipe.Renaming{Symbol: r.sym, Members: r.members, NewName: r.in.NewName, Uses: r.edits}, recipe.Rules{
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
	if !r.in.BackingField || r.sym.Kind != graph.KindProperty || !slices.ContainsFunc(r.sym.Modifiers, func(m string) bool { return m == "get" || m == "set" }) {
		return nil
	}
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	for _, f := range src.tree.Symbols {
		prefix, ok := strings.CutSuffix(f.Name, r.sym.Name)
		if f.Kind != graph.KindProperty || f.Container != r.sym.Container || !ok || prefix != "_" && prefix != "#" || f.Visibility != private {
			continue
		}
		field := &renamer{a: r.a, b: r.b, srv: r.srv, sources: r.sources, sym: f, in: adapters.Rename{Symbol: f, NewName: prefix + r.in.NewName}}
		for _, step := range []func(context.Context) error{field.allowed, field.relatives, field.ask, field.audit, field.clash} {
			err = errors.Join(err, step(ctx))
			if err != nil {
				break
			}
		}
		var declined *adapters.Refusal
		if errors.As(err, &declined) {
			r.warn("the field %s behind %s keeps its name: %s", f.Name, r.sym.Name, declined.Message)
			return nil
		}
		if err != nil {
			return err
		}
		for _, path := range field.edits.Paths() {
			for _, e := range field.edits.Of(path) {
				if !r.edits.Add(path, graph.Span{Start: e.Start, End: e.End}, e.New) {
					return refuse(adapters.NameConflict, "the field %s behind %s would change twice in %s; rename without the field", f.Name, r.sym.Name, recipe.Relative(r.b, path))
				}
			}
		}
		r.warn("the field %s behind %s is renamed to %s", f.Name, r.sym.Name, field.in.NewName)
	}
	return nil
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.set(r.edits)
	offset := r.edits.Moved(r.sym.Path, r.sym.NameSpan.Start)
	target := r.sym.Path
	for _, m := range r.moves {
		set.Ops = append(set.Ops, m)
		if m.Path == target {
			target = m.NewPath
		}
	}
	d := adapters.Draft{
		Change:   set,
		Old:      adapters.Marks{Path: r.sym.Path, Offset: r.sym.NameSpan.Start},
		New:      adapters.Marks{Path: target, Offset: offset},
		Warnings: r.warnings,
	}
	holders, err := r.b.Snapshot().Grep(ctx, r.sym.Name)
	if err != nil {
		return d, err
	}
	for _, path := range holders {
		if !r.sym.Local && source(path) && len(r.edits.Of(path)) == 0 {
			d.Reads = append(d.Reads, path)
		}
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
		return d, fmt.Errorf("the planned change does not declare %s in %s", r.in.NewName, recipe.Relative(r.b, target))
	}
	d.NewID = renamed.ID
	return d, nil
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
		if before, ok := strings.CutSuffix(e.New, r.in.NewName); ok && strings.HasSuffix(before, " ") && e.Start < e.End {
			out = append(out, text.Edit{Start: e.Start, End: e.Start, New: before})
			e.New = r.in.NewName
		}
		out = append(out, e)
	}
	return out
}

// read reads files for change sets.
func (r *renamer) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := r.b.Snapshot().Read(ctx, path)
		return content, err
	}
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*page, error) {
	if s, ok := r.sources[path]; ok {
		return s, nil
	}
	content, _, err := r.b.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &page{path: path, content: content}
	if source(path) {
		if s.tree, err = r.b.Tree(ctx, path); err != nil {
			return nil, err
		}
	}
	r.sources[path] = s
	return s, nil
}

func (r *renamer) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// position is where the server is asked about a place of a file.
func (r *renamer) position(ctx context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	return r.srv.Position(ctx, filepath.Clean(path), offset)
}
