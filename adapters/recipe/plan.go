package recipe

import (
	"context"
	"fmt"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Plan is a rename in the making; the renames of languages are built on it.
type Plan struct {
	Bench    adapters.Bench
	In       adapters.Rename
	Symbol   graph.Symbol   // what is renamed, where the server is asked
	Members  []graph.Symbol // all declarations that are renamed, Symbol first
	Edits    *Edits
	Moves    []change.Op // files that follow
	Holders  []string    // files of the project that hold the name
	Warnings []string
	// Behind is how far into the edit of the declaration the new name stands, for
	// edits that write more than it.
	Behind int
	// Foreign reports whether a file is read and not parsed; nil parses all.
	Foreign func(path string) bool

	sources map[string]*Source
}

// Source is a file that may mention the symbol.
type Source struct {
	Path    string
	Content []byte
	Tree    *syntax.Tree // nil of a foreign file
	File    *text.File   // the content by lines
}

// Source reads and parses a file once.
func (p *Plan) Source(ctx context.Context, path string) (*Source, error) {
	if s, ok := p.sources[path]; ok {
		return s, nil
	}
	content, _, err := p.Bench.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, Content: content, File: text.NewFile(content)}
	if p.Foreign == nil || !p.Foreign(path) {
		if s.Tree, err = p.Bench.Tree(ctx, path); err != nil {
			return nil, err
		}
	}
	if p.sources == nil {
		p.sources = map[string]*Source{}
	}
	p.sources[path] = s
	return s, nil
}

// Read reads files for change sets.
func (p *Plan) Read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := p.Bench.Snapshot().Read(ctx, path)
		return content, err
	}
}

// Warn adds a note, once.
func (p *Plan) Warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(p.Warnings, w) {
		p.Warnings = append(p.Warnings, w)
	}
}

// Where names a place for people: "shop/order.x:12:5".
func (p *Plan) Where(src *Source, offset int) string {
	at := src.File.PointOf(offset)
	return fmt.Sprintf("%s:%d:%d", Relative(p.Bench, src.Path), at.Line, at.Column)
}

// Mention changes the name where comments and strings of the edited files hold
// it as a word, and follows says that it is meant and that the options want it.
func (p *Plan) Mention(ctx context.Context, follows func(src *Source, m Mention) bool) error {
	if !p.In.Comments && !p.In.Strings {
		return nil
	}
	for _, path := range p.Edits.Paths() {
		src, err := p.Source(ctx, path)
		if err != nil {
			return err
		}
		if src.Tree == nil {
			continue
		}
		for _, m := range Mentions(src.Tree, src.Content, p.Symbol.Name) {
			if !p.Edits.Covers(path, m.Span) && follows(src, m) {
				p.Edits.Add(path, m.Span, p.In.NewName)
			}
		}
	}
	return nil
}

// Draft makes the answer of a change, which is that of Edits however it is cut
// into edits, and of the moves; it finds the renamed symbol in the planned text.
// bare takes the marks off a name that are not part of it; it may be nil.
func (p *Plan) Draft(ctx context.Context, set change.Set, bare func(name string) string) (adapters.Draft, error) {
	sym, target := p.Symbol, p.Symbol.Path
	for _, m := range p.Moves {
		set.Ops = append(set.Ops, m)
		if m.Path == target {
			target = m.NewPath
		}
	}
	offset := p.Edits.Moved(sym.Path, sym.NameSpan.Start) + p.Behind
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
	if bare == nil {
		bare = func(name string) string { return name }
	}
	renamed, ok := t.Declared(offset)
	if !ok || bare(renamed.Name) != bare(p.In.NewName) {
		return d, fmt.Errorf("the planned change does not declare %s in %s", p.In.NewName, Relative(p.Bench, target))
	}
	d.NewID = renamed.ID
	return d, nil
}
