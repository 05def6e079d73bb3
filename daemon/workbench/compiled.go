package workbench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Compilation asks for the checks of a project as the session sees it.
type Compilation struct {
	Caller  Caller
	Project adapters.Project
	Builder adapters.Builder
	File    string        // absolute; the one that is asked about
	Unsaved []change.File // what clients have changed and not saved
	Session *Session
}

// Compiled is what the checks of a project find.
type Compiled struct {
	Problems []adapters.Problem
	By       string // the program that found them
	Missing  string // why they found nothing, or not all; in words for people
}

// compiled returns what the language's own checks find in a file, for a server
// that leaves something to them. What is missing is noted.
func (b *Bench) compiled(ctx context.Context, path string, engine adapters.Engine) ([]api.Diagnostic, error) {
	why := engine.ID + ": " + engine.Overlooks
	builder, ok := b.lang.(adapters.Builder)
	compile := b.session.ws.opts.Compile
	if !ok || compile == nil || !b.session.Inside(path) {
		b.Incomplete(why)
		return nil, nil
	}
	c := Compilation{Caller: b.session.caller, Project: b.project, Builder: builder, File: path, Session: b.session}
	var err error
	if c.Unsaved, err = b.session.unsaved(ctx); err != nil {
		return nil, err
	}
	got, err := compile(ctx, c)
	if err != nil {
		return nil, err
	}
	if got.Missing != "" {
		b.Incomplete(why + "; " + got.Missing)
	}
	// Read anew: the places are in the text that was compiled, which must still be that of the session.
	content, _, err := b.session.snap.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	f := b.session.ws.lined(path, content)
	var out []api.Diagnostic
	elsewhere := ""
	for _, p := range got.Problems {
		switch {
		case p.Path == path:
			out = append(out, b.finding(f, p, got.By))
		case !p.Warning && p.Path == "":
			b.Incomplete(fmt.Sprintf("%s; %s fails: %s", why, got.By, p.Message))
		case !p.Warning:
			elsewhere = cmp.Or(elsewhere, p.Path)
		}
	}
	// A compiler that fails in one place may never come to another.
	reached := slices.ContainsFunc(out, func(d api.Diagnostic) bool { return d.Severity == "error" })
	if elsewhere != "" && !reached {
		b.Incomplete(fmt.Sprintf("%s; %s finds errors in %s, and may not have come to %s", why, got.By, b.session.Relative(elsewhere), b.session.Relative(path)))
	}
	return out, nil
}

// unsaved returns what clients have changed and not saved, over what is on disk.
func (s *Session) unsaved(ctx context.Context) ([]change.File, error) {
	var out []change.File
	for _, doc := range s.ws.view.Buffers() {
		if !doc.Dirty {
			continue
		}
		content, _, err := s.snap.Read(ctx, doc.Path)
		if err != nil {
			return nil, err
		}
		f := change.File{Kind: change.Edit, Path: doc.Path, After: content}
		if doc.Real == "" {
			f.Kind = change.Create
		}
		out = append(out, f)
	}
	return out, nil
}

// finding is a problem of a check as answers show it: to the end of the word at
// its place, since checks name no end.
func (b *Bench) finding(f *text.File, p adapters.Problem, by string) api.Diagnostic {
	d := api.Diagnostic{
		Problem: api.Problem{
			File: b.session.Relative(p.Path), Line: max(p.Line, 1), Column: max(p.Column, 1), Code: p.Code, Message: p.Message, Severity: "error",
		},
		Origin: by,
	}
	if p.Warning {
		d.Severity = "warning"
	}
	d.EndLine, d.EndColumn = d.Line, d.Column
	if d.Line > f.LineCount() {
		return d
	}
	line := f.Line(d.Line - 1)
	for rest := line[min(d.Column-1, len(line)):]; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		rest = rest[n:]
		d.EndColumn += n
	}
	return d
}

// joined adds to a server's findings those of a check that it does not have:
// one of the same code on the same line is the same, though the two may put it
// into other words and point at another word of the expression.
func joined(server, check []api.Diagnostic) []api.Diagnostic {
	out := slices.Clone(server)
	unmatched := slices.Clone(server)
	for _, d := range check {
		i := slices.IndexFunc(unmatched, func(s api.Diagnostic) bool {
			return s.Line == d.Line && s.Severity == d.Severity && (s.Code != "" && s.Code == d.Code || s.Message == d.Message)
		})
		if i >= 0 {
			unmatched = slices.Delete(unmatched, i, i+1)
		} else {
			out = append(out, d)
		}
	}
	return out
}
