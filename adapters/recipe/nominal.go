package recipe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Nominal is how a language with named classes renames. Every function may be nil.
type Nominal struct {
	// CheckName refuses what is not a name of the language.
	CheckName func(sym graph.Symbol, name string) error
	// Allowed refuses symbols that must keep their names, as the entry of a program does.
	Allowed func(ctx context.Context, b adapters.Bench, in adapters.Rename) error
	// Family says how members belong together; HasFamily whether a symbol can
	// have one, by default every member but private ones and constructors.
	Family    FamilyOptions
	HasFamily func(sym graph.Symbol) bool
	// Also returns symbols that are renamed with one, each with its own new
	// name: the backing field of a property.
	Also func(ctx context.Context, b adapters.Bench, in adapters.Rename) ([]adapters.Rename, error)
	// Open is how many of the files that hold the name are opened before the
	// server is asked; 0 for a server that reads all files by itself.
	Open int
	// Unprepared is set for servers without prepareRename.
	Unprepared bool
	// Ask replaces the server's rename at one declaration.
	Ask func(ctx context.Context, b adapters.Bench, srv adapters.Server, sym graph.Symbol, name string) (change.Set, error)
	// Fallback makes the edits of a declaration that the server declines to
	// rename; without it the refusal is the server's.
	Fallback func(ctx context.Context, b adapters.Bench, srv adapters.Server, sym graph.Symbol, name string, refused error) (change.Set, error)
	// Accept judges an edit of the server that does not simply put the new name
	// in place of the old one: true takes it, false drops it, an error ends the rename.
	Accept func(e Edited) (bool, error)
	// Moves allows the server to rename files.
	Moves bool
	// Rules are when names clash.
	Rules Rules
	// Extra adds what the server leaves out: places that follow by convention.
	Extra func(ctx context.Context, p *Plan) error
	// Mention reports whether a word in a comment or string may be the symbol; nil takes all.
	Mention func(p *Plan, path string, t *syntax.Tree, m Mention) bool
	// File returns where a file that is named after the symbol goes; empty when it stays.
	File func(sym graph.Symbol, name string) (to string)
	// Doubt bounds how many members of the same name, of which the server does
	// not say what they are, are asked for and reported.
	Doubt int
	// Declared says how a declaration of the new name is written, for names
	// that need a mark; by default as given.
	Declared func(name string) string
}

// Edited is one edit of a server's rename.
type Edited struct {
	Path    string
	Content []byte
	Tree    *syntax.Tree
	Old     string // the symbol's name
	New     string // the wanted name
	Edit    text.Edit
}

// Plan is a rename in the making.
type Plan struct {
	Bench    adapters.Bench
	In       adapters.Rename
	Members  []graph.Symbol // all declarations that are renamed; the chosen one is first
	Edits    *Edits
	Holders  []string // files of the project that hold the name
	Warnings []string

	opts  *Nominal
	srv   adapters.Server
	moves []change.Op
}

// Warn adds a note, once.
func (p *Plan) Warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(p.Warnings, w) {
		p.Warnings = append(p.Warnings, w)
	}
}

// Source returns a file of the plan with its syntax.
func (p *Plan) Source(ctx context.Context, path string) ([]byte, *syntax.Tree, error) {
	content, _, err := p.Bench.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.Bench.Tree(ctx, path)
	return content, t, err
}

// RenameNominal plans a rename: the family of the symbol, the server's edits at
// the declaration of each member, checks of every edit and of all names, then
// what follows by convention, comments and strings.
func RenameNominal(ctx context.Context, b adapters.Bench, in adapters.Rename, opts Nominal) (adapters.Draft, error) {
	p := &Plan{Bench: b, In: in, opts: &opts}
	if err := p.allowed(ctx); err != nil {
		return adapters.Draft{}, err
	}
	var err error
	if p.srv, err = b.Server(ctx, adapters.RenameRole); err != nil {
		return adapters.Draft{}, err
	}
	for _, step := range []func(context.Context) error{p.find, p.gather, p.ask, p.audit, p.clash, p.extra, p.also, p.mentions, p.doubts} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return p.draft(ctx)
}

// allowed refuses what needs no server to be refused.
func (p *Plan) allowed(ctx context.Context) error {
	sym, name := p.In.Symbol, p.In.NewName
	if p.opts.CheckName != nil {
		if err := p.opts.CheckName(sym, name); err != nil {
			return err
		}
	}
	if name == sym.Name {
		return Refuse(adapters.InvalidArgument, "%s has that name already", sym.Name)
	}
	if !Inside(p.Bench.Root(), sym.Path) {
		return Refuse(adapters.OutsideWorkspace, "%s is declared in %s, outside this workspace", sym.Name, sym.Path)
	}
	if p.opts.Allowed != nil {
		return p.opts.Allowed(ctx, p.Bench, p.In)
	}
	return nil
}

// find lists the files that hold the name and opens them for a server that needs it.
func (p *Plan) find(ctx context.Context) error {
	sym := p.In.Symbol
	if sym.Local {
		p.Holders = []string{sym.Path}
		return nil
	}
	sure, unsure, err := holders(ctx, p.Bench, sym, []string{sym.Name})
	if err != nil {
		return err
	}
	p.Holders = append(sure, unsure...)
	slices.Sort(p.Holders)
	if p.opts.Open == 0 {
		return nil
	}
	_, err = Candidates(ctx, p.Bench, p.srv, sym, p.opts.Open)
	return err
}

// gather finds all declarations that must keep one name.
func (p *Plan) gather(ctx context.Context) error {
	sym := p.In.Symbol
	p.Members = []graph.Symbol{sym}
	add := func(list ...graph.Symbol) {
		for _, s := range list {
			if !slices.ContainsFunc(p.Members, func(m graph.Symbol) bool { return markOf(m) == markOf(s) }) {
				p.Members = append(p.Members, s)
			}
		}
	}
	add(slices.DeleteFunc(slices.Clone(p.In.Declarations), func(s graph.Symbol) bool { return s.ID != sym.ID || s.Name != sym.Name })...)
	if p.In.Overloads && !sym.Local {
		same, err := p.Bench.Graph().ByName(ctx, sym.Name)
		if err != nil {
			return err
		}
		add(slices.DeleteFunc(same, func(s graph.Symbol) bool {
			return s.Local || s.Language != sym.Language || s.Project != sym.Project || s.Container != sym.Container || s.Qualified != sym.Qualified || s.Params == nil
		})...)
	}
	has := p.opts.HasFamily
	if has == nil {
		has = func(s graph.Symbol) bool { return s.Container != "" && isMember(s.Kind) && s.Visibility != "private" }
	}
	for _, m := range slices.Clone(p.Members) {
		if !has(m) {
			continue
		}
		f, err := MemberFamily(ctx, p.Bench, m, p.opts.Family)
		if errors.Is(err, ErrFamily) {
			return Refuse(adapters.Unsupported, "more than %d declarations of %s belong together; rename one of a smaller hierarchy", maxFamily, sym.Name)
		}
		if err != nil {
			return err
		}
		if err := f.Bound(); err != nil {
			return err
		}
		for _, u := range f.Unknown {
			p.Warn("the base %s cannot be resolved; if it declares %s, that does not follow", u, sym.Name)
		}
		add(f.Members...)
	}
	return nil
}

// ask gathers the server's edits for all members.
func (p *Plan) ask(ctx context.Context) error {
	ask := p.opts.Ask
	if ask == nil {
		ask = func(ctx context.Context, _ adapters.Bench, srv adapters.Server, sym graph.Symbol, name string) (change.Set, error) {
			return renameAt(ctx, srv, sym, name, !p.opts.Unprepared)
		}
	}
	var set change.Set
	p.Edits = &Edits{byPath: map[string][]text.Edit{}}
	for _, m := range p.Members {
		if p.Edits.Covers(m.Path, m.NameSpan) {
			continue
		}
		next, err := ask(ctx, p.Bench, p.srv, m, p.In.NewName)
		if err != nil && p.opts.Fallback != nil {
			next, err = p.opts.Fallback(ctx, p.Bench, p.srv, m, p.In.NewName, err)
		}
		if err != nil {
			return p.explain(m, err)
		}
		if set, err = change.Merge(set, next, p.read(ctx)); err != nil {
			return p.explain(m, err)
		}
		if err := p.take(ctx, set); err != nil {
			return p.explain(m, err)
		}
		if !p.Edits.Covers(m.Path, m.NameSpan) {
			return Refuse(adapters.Unsupported, "%s does not rename %s at its declaration (%s)", p.srv.Engine(), m.Qualified, Relative(p.Bench, m.Path))
		}
	}
	return nil
}

// take turns the server's change into edits and moves of files.
func (p *Plan) take(ctx context.Context, set change.Set) error {
	files, err := set.Resolve(p.read(ctx))
	if err != nil {
		return err
	}
	p.Edits, p.moves = &Edits{byPath: map[string][]text.Edit{}}, nil
	for _, f := range files {
		for _, path := range []string{f.Path, f.Target()} {
			if !Inside(p.Bench.Root(), path) {
				return Refuse(adapters.OutsideWorkspace, "%s would change %s, which is outside this workspace", p.srv.Engine(), path)
			}
		}
		switch {
		case f.Kind == change.Edit:
		case f.Kind == change.Rename && p.opts.Moves:
			p.moves = append(p.moves, change.Op{Kind: change.Rename, Path: f.Path, NewPath: f.NewPath})
		default:
			return Refuse(adapters.Unsupported, "%s would %s %s to rename %s, which is more than a rename", p.srv.Engine(), f.Kind, Relative(p.Bench, f.Path), p.In.Symbol.Name)
		}
		p.Edits.byPath[f.Path] = slices.Clone(f.Edits)
	}
	return nil
}

// explain turns what a server declines into a refusal; other errors stay.
func (p *Plan) explain(m graph.Symbol, err error) error {
	var server adapters.ServerRefusal
	switch {
	case errors.Is(err, ErrNoRename):
		return Refuse(adapters.Unsupported, "%s finds nothing to rename at the declaration of %s (%s); check that the file is part of the project", p.srv.Engine(), m.Qualified, Relative(p.Bench, m.Path))
	case errors.As(err, &server):
		_, message := server.Refusal()
		return Refuse(adapters.Unsupported, "%s declines to rename %s: %s", p.srv.Engine(), m.Qualified, Printable(strings.TrimSpace(message)))
	case errors.Is(err, change.ErrConflict), errors.Is(err, text.ErrOverlap):
		return Refuse(adapters.NameConflict, "the renames of the declarations that belong together with %s do not fit into one change: %v", p.In.Symbol.Qualified, err)
	}
	return err
}

// audit checks each edit of the server against the text.
func (p *Plan) audit(ctx context.Context) error {
	for _, path := range p.Edits.Paths() {
		content, t, err := p.Source(ctx, path)
		if err != nil {
			return err
		}
		var kept []text.Edit
		for _, e := range p.Edits.Of(path) {
			ok, err := p.judge(Edited{Path: path, Content: content, Tree: t, Old: p.In.Symbol.Name, New: p.In.NewName, Edit: e})
			if err != nil {
				return err
			}
			if ok {
				kept = append(kept, e)
			}
		}
		p.Edits.byPath[path] = kept
	}
	return nil
}

// judge decides on one edit.
func (p *Plan) judge(e Edited) (bool, error) {
	was := string(e.Content[e.Edit.Start:e.Edit.End])
	if was == e.Old && e.Edit.New == e.New {
		return true, nil
	}
	if p.opts.Accept != nil {
		return p.opts.Accept(e)
	}
	at := text.NewFile(e.Content).PointOf(e.Edit.Start)
	return false, Refuse(adapters.Unsupported, "%s would put %q in place of %q at %s:%d:%d, which is not a rename of %s; nothing was changed",
		p.srv.Engine(), Printable(e.Edit.New), Printable(was), Relative(p.Bench, e.Path), at.Line, at.Column, e.Old)
}

func (p *Plan) clash(ctx context.Context) error {
	return Clash(ctx, p.Bench, Renaming{Symbol: p.In.Symbol, Members: p.Members, NewName: p.In.NewName, Uses: p.Edits}, p.opts.Rules)
}

func (p *Plan) extra(ctx context.Context) error {
	if p.opts.Extra == nil {
		return nil
	}
	return p.opts.Extra(ctx, p)
}

// also plans the renames that come with this one, and joins them.
func (p *Plan) also(ctx context.Context) error {
	if p.opts.Also == nil {
		return nil
	}
	more, err := p.opts.Also(ctx, p.Bench, p.In)
	if err != nil {
		return err
	}
	for _, in := range more {
		opts := *p.opts
		opts.Also, opts.File, opts.Moves = nil, nil, false
		in.File = false
		d, err := RenameNominal(ctx, p.Bench, in, opts)
		if err != nil {
			var declined *adapters.Refusal
			if errors.As(err, &declined) {
				return &adapters.Refusal{Reason: declined.Reason, Message: fmt.Sprintf("%s follows %s, but %s", in.Symbol.Name, p.In.Symbol.Name, declined.Message), Places: declined.Places}
			}
			return err
		}
		joined, err := change.Merge(p.Edits.Set(), d.Change, p.read(ctx))
		if err != nil {
			return p.explain(in.Symbol, err)
		}
		moves := p.moves
		if err := p.take(ctx, joined); err != nil {
			return err
		}
		p.moves = moves
		for _, w := range d.Warnings {
			p.Warn("%s", w)
		}
		p.Warn("%s is renamed to %s with it", in.Symbol.Qualified, in.NewName)
	}
	return nil
}

func (p *Plan) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := p.Bench.Snapshot().Read(ctx, path)
		return content, err
	}
}

// draft makes the plan of the edits, and finds the renamed symbol in the planned text.
func (p *Plan) draft(ctx context.Context) (adapters.Draft, error) {
	sym := p.In.Symbol
	if err := p.file(ctx); err != nil {
		return adapters.Draft{}, err
	}
	set := p.Edits.Set()
	target := sym.Path
	for _, m := range p.moves {
		set.Ops = append(set.Ops, m)
		if m.Path == target {
			target = m.NewPath
		}
	}
	offset := p.Edits.Moved(sym.Path, sym.NameSpan.Start)
	d := adapters.Draft{
		Change:   set,
		Reads:    slices.DeleteFunc(slices.Clone(p.Holders), func(path string) bool { return len(p.Edits.Of(path)) > 0 }),
		Old:      adapters.Marks{Path: sym.Path, Offset: sym.NameSpan.Start},
		New:      adapters.Marks{Path: target, Offset: offset},
		Warnings: p.Warnings,
	}
	after, err := p.Bench.With(set)
	if err != nil {
		return d, fmt.Errorf("the planned change does not fit the text: %w", err)
	}
	t, err := after.Tree(ctx, target)
	if err != nil {
		return d, err
	}
	wanted := p.In.NewName
	if p.opts.Declared != nil {
		wanted = p.opts.Declared(wanted)
	}
	renamed, ok := t.Declared(offset)
	if !ok || renamed.Name != wanted {
		return d, fmt.Errorf("the planned change does not declare %s at %s", wanted, Relative(p.Bench, target))
	}
	d.NewID = renamed.ID
	return d, nil
}

// file plans the move of a file that is named after the symbol.
func (p *Plan) file(ctx context.Context) error {
	sym := p.In.Symbol
	if !p.In.File || slices.ContainsFunc(p.moves, func(m change.Op) bool { return m.Path == sym.Path }) {
		return nil
	}
	to := ""
	if p.opts.File != nil && !sym.Local {
		to = p.opts.File(sym, p.In.NewName)
	}
	if to == "" || to == sym.Path {
		p.Warn("%s is not named after %s and keeps its name", filepath.Base(sym.Path), sym.Name)
		return nil
	}
	taken, err := ReadOptional(ctx, p.Bench.Snapshot(), to)
	if err != nil {
		return err
	}
	if taken != nil {
		return Refuse(adapters.NameConflict, "%s exists already; rename without the file", Relative(p.Bench, to))
	}
	p.moves = append(p.moves, change.Op{Kind: change.Rename, Path: sym.Path, NewPath: to})
	return nil
}
