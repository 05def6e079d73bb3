package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Checked is what a server says of planned text that it was shown in a turn.
type Checked struct {
	Problems []api.Problem  // errors that the text before did not have
	Lost     []api.Location // references that the change would lose, in the text before
	Gained   []api.Location // places that the change would make references, in the text after
	Skipped  string         // why nothing could be said
}

// Renaming is the rename that a check judges by: the references of From now
// must be those of To then. OldName and NewName are what messages may say.
type Renaming struct {
	From, To         adapters.Marks
	OldName, NewName string
}

// spot is a reference: a file by its path before the change and an offset
// into its text after it.
type spot struct {
	path   string
	offset int
}

// Check shows the planned files to the project's server in a turn, and says
// which errors are new and whether each reference is still one.
func (b *Bench) Check(ctx context.Context, files []change.File, r Renaming) (Checked, error) {
	l, err := b.session.lease(ctx, b.lang, b.project, adapters.Navigate)
	if err != nil {
		return Checked{}, err
	}
	c := &check{bench: b, lease: l, rename: r, byPath: map[string]change.File{}, planned: map[string][]byte{}, unseen: map[string]bool{}}
	for _, f := range files {
		if f.Kind == change.Delete {
			return Checked{Skipped: "the change deletes a file, which " + l.Engine() + " cannot be shown"}, nil
		}
		if _, ok := b.session.ws.Language(f.Path); !ok {
			continue
		}
		// A file that also moves is shown where it is: its text is what matters.
		c.planned[f.Path], c.byPath[f.Path] = f.After, f
		c.paths = append(c.paths, f.Path)
	}
	slices.Sort(c.paths)
	moves := slices.ContainsFunc(files, func(f change.File) bool { return f.Kind == change.Rename })
	before, err := c.before(ctx)
	if err != nil {
		return Checked{}, err
	}
	var out Checked
	err = l.Turn(ctx, supervise.Budget{Moves: moves}, c.planned, func(t *supervise.Turn) error {
		return c.after(ctx, t, before, &out)
	})
	var skipped *supervise.SkippedError
	if errors.As(err, &skipped) {
		return Checked{Skipped: skipped.Reason}, nil
	}
	return out, err
}

type check struct {
	bench   *Bench
	lease   *lease
	rename  Renaming
	paths   []string // of planned, in order
	planned map[string][]byte
	byPath  map[string]change.File
	unseen  map[string]bool // files that the server does not know
}

// unknown reports whether the server itself declined to say anything of a file.
func unknown(err error) bool {
	var declined *lspclient.CallError
	return errors.As(err, &declined) && !lspclient.Retryable(err)
}

// sight is what a server says of one state of the text.
type sight struct {
	refs   map[spot]protocol.Location
	errors map[string]int // by file, code and message
}

func (c *check) before(ctx context.Context) (sight, error) {
	s := sight{refs: map[spot]protocol.Location{}, errors: map[string]int{}}
	for _, p := range c.paths {
		if c.byPath[p].Kind == change.Create {
			continue
		}
		d, err := c.lease.Lease.Diagnostics(ctx, p)
		if unknown(err) {
			c.unseen[p] = true // not part of the build that the server looks at
			continue
		}
		if err != nil {
			return s, err
		}
		for i := range d.Items {
			if severity(&d.Items[i]) == "error" {
				s.errors[c.key(p, &d.Items[i])]++
			}
		}
	}
	if c.rename.From.Path == "" {
		return s, nil
	}
	pos, err := c.lease.Position(ctx, c.rename.From.Path, c.rename.From.Offset)
	if err != nil {
		return s, err
	}
	var locs []protocol.Location
	if err := c.lease.Call(ctx, protocol.MethodTextDocumentReferences, referenceParams(pos), &locs); err != nil {
		return s, err
	}
	for _, loc := range locs {
		p, err := c.lease.Place(ctx, loc)
		if err != nil {
			return s, err
		}
		offset := p.Span.Start
		if f, ok := c.byPath[p.Path]; ok {
			offset = moved(f.Edits, offset)
		}
		s.refs[spot{p.Path, offset}] = loc
	}
	return s, nil
}

func (c *check) after(ctx context.Context, t *supervise.Turn, before sight, out *Checked) error {
	found := map[string]int{}
	for _, p := range c.paths {
		if c.unseen[p] {
			continue
		}
		d, err := t.Diagnostics(ctx, p)
		if err != nil {
			return err
		}
		f := text.NewFile(c.planned[p])
		for i := range d.Items {
			if severity(&d.Items[i]) != "error" {
				continue
			}
			key := c.key(p, &d.Items[i])
			if found[key]++; found[key] <= before.errors[key] {
				continue
			}
			problem, err := diagnostic(c.bench.session.Relative(c.byPath[p].Target()), f, c.lease.Encoding(), &d.Items[i])
			if err != nil {
				return err
			}
			out.Problems = append(out.Problems, problem.Problem)
		}
	}
	if c.rename.To.Path == "" {
		return nil
	}
	return c.references(ctx, t, before, out)
}

// references compares the references of the new name with those of the old.
func (c *check) references(ctx context.Context, t *supervise.Turn, before sight, out *Checked) error {
	path := c.rename.To.Path
	for _, f := range c.byPath {
		if f.Target() == path {
			path = f.Path
		}
	}
	file := func(path string) (*text.File, error) {
		b, err := t.Text(ctx, path)
		if err != nil {
			return nil, err
		}
		return text.NewFile(b), nil
	}
	f, err := file(path)
	if err != nil {
		return err
	}
	at, err := f.Position(c.rename.To.Offset, c.lease.Encoding())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	pos := protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: lspclient.URI(path)},
		Position:     protocol.Position{Line: at.Line, Character: at.Character},
	}
	var locs []protocol.Location
	if err := t.Call(ctx, protocol.MethodTextDocumentReferences, referenceParams(pos), &locs); err != nil {
		return err
	}
	files := map[string]*text.File{}
	after := map[spot]bool{}
	for _, loc := range locs {
		p, err := lspclient.Path(loc.URI)
		if err != nil {
			return err
		}
		if files[p] == nil {
			if files[p], err = file(p); err != nil {
				return err
			}
		}
		start, end, err := files[p].Slice(text.Range{Start: textPosition(loc.Range.Start), End: textPosition(loc.Range.End)}, c.lease.Encoding())
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		after[spot{p, start}] = true
		if _, ok := before.refs[spot{p, start}]; !ok {
			out.Gained = append(out.Gained, c.place(p, files[p], start, end))
		}
	}
	for s, loc := range before.refs {
		if after[s] {
			continue
		}
		p, err := c.lease.Place(ctx, loc)
		if err != nil {
			return err
		}
		out.Lost = append(out.Lost, c.place(p.Path, p.File, p.Span.Start, p.Span.End))
	}
	return nil
}

func (c *check) place(path string, f *text.File, start, end int) api.Location {
	from, to := f.PointOf(start), f.PointOf(end)
	return api.Location{
		File: c.bench.session.Relative(path), Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column,
		Context: strings.TrimSpace(string(f.Line(from.Line - 1))),
	}
}

// key tells errors apart without their lines, which move, and without the old
// or the new name, which a message may say; one may be part of the other. What
// follows the first line explains, and in another order of checking otherwise.
func (c *check) key(path string, d *protocol.Diagnostic) string {
	msg, _, _ := strings.Cut(diagnosticMessage(d), "\n")
	if old, name := c.rename.OldName, c.rename.NewName; old != "" {
		for _, word := range []string{old, name} {
			for at := text.NextWord([]byte(msg), word, 0); at >= 0; at = text.NextWord([]byte(msg), word, at) {
				msg = msg[:at] + "\x00" + msg[at+len(word):]
			}
		}
	}
	return path + "\x00" + diagnosticCode(d) + "\x00" + msg
}

// moved returns where an offset is after the edits; an offset that an edit
// replaces is where its new text starts.
func moved(edits []text.Edit, offset int) int {
	shift := 0
	for _, e := range edits {
		switch {
		case e.End <= offset:
			shift += len(e.New) - (e.End - e.Start)
		case e.Start < offset:
			return e.Start + shift
		}
	}
	return offset + shift
}

func referenceParams(pos protocol.TextDocumentPositionParams) *protocol.ReferenceParams {
	return &protocol.ReferenceParams{
		TextDocumentPositionParams: pos,
		Context:                    protocol.ReferenceContext{IncludeDeclaration: true},
	}
}
