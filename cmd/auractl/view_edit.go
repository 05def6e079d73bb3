package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// viewEdit prints a change: a preview as a diff, a done one as what it touched.
func (a *app) viewEdit(p *page, r api.EditResult) {
	if r.Preview {
		for _, c := range r.Changes {
			a.diff(p, c)
		}
		n := r.ChangesApplied
		if n == 0 {
			n = hunks(r.Changes)
		}
		p.notes = append(p.notes, fmt.Sprintf("%s in %s; nothing was written", plural(n, "change"), plural(len(r.Changes), "file")))
	} else {
		a.done(p, r)
	}
	p.notes = append(p.notes, validation(r.Validation)...)
	a.trusted(p, "", api.Trust{Source: r.Source, Complete: r.Complete, Warnings: r.Warnings})
	if !r.Preview && r.UndoToken != "" {
		verb := "undo"
		if strings.HasPrefix(r.Operation, "undo") {
			verb = "redo"
		}
		p.notes = append(p.notes, verb+": auractl undo "+r.UndoToken)
	}
}

func hunks(list []api.FileChange) int {
	n := 0
	for _, c := range list {
		n += len(c.Hunks)
	}
	return n
}

func (a *app) done(p *page, r api.EditResult) {
	verb := a.paint.green("done")
	if !r.Success {
		verb = a.paint.red("not done")
	}
	p.line("%s: %s, %s", verb, escape(r.Operation), plural(r.ChangesApplied, "change"))
	counts := map[string]int{}
	for _, d := range r.Details {
		counts[d.File]++
	}
	line := func(mark, file, note string) {
		if n := counts[file]; n > 0 && note == "" {
			note = plural(n, "change")
		}
		p.line("  %s %s%s", mark, a.shown(file), a.paint.dim(strings.TrimRight("  "+note, " ")))
	}
	for _, f := range r.FilesModified {
		line(a.paint.yellow("M"), f, "")
	}
	for _, f := range r.FilesCreated {
		line(a.paint.green("A"), f, "")
	}
	for _, f := range r.FilesDeleted {
		line(a.paint.red("D"), f, "")
	}
	for _, m := range r.FilesRenamed {
		line(a.paint.cyan("R"), m.From, "to "+a.shown(m.To))
	}
}

// validation says in words what the check of a change found.
func validation(v *api.Validation) []string {
	switch {
	case v == nil:
		return nil
	case v.Where == "":
		quick := ""
		if v.Quick != "" {
			quick = "quick check " + v.Quick + "; "
		}
		if v.Skipped == "" {
			quick = strings.TrimSuffix(quick, "; ")
			if quick == "" {
				return nil
			}
			return []string{"validation: " + quick}
		}
		return []string{"validation: " + quick + "no build: " + v.Skipped}
	}
	where := "in a shadow of the tree"
	if v.Where == "place" {
		where = "in place"
	}
	text := "validation: passed " + where
	if !v.Success {
		text = fmt.Sprintf("validation: %s %s", plural(len(v.NewErrors), "new error"), where)
	}
	if v.Command != "" {
		text += " (" + v.Command + ")"
	}
	if v.DurationMs > 0 {
		text += " in " + (time.Duration(v.DurationMs) * time.Millisecond).Round(10*time.Millisecond).String()
	}
	if v.PreExisting > 0 {
		text += fmt.Sprintf("; %s from before", plural(v.PreExisting, "error"))
	}
	if v.TimedOut {
		text += "; it ran out of time"
	}
	return []string{text}
}

// diff prints one file of a preview as a unified diff, with context where the
// file on disk is still the one that was planned on.
func (a *app) diff(p *page, c api.FileChange) {
	from, to := "a/"+escape(c.File), "b/"+escape(cmpOr(c.NewFile, c.File))
	switch c.Kind {
	case "create":
		from = "/dev/null"
	case "delete":
		to = "/dev/null"
	case "rename":
		p.line("%s", a.paint.bold("rename from "+escape(c.File)))
		p.line("%s", a.paint.bold("rename to "+escape(c.NewFile)))
		if len(c.Hunks) == 0 {
			return
		}
	}
	text, ok := a.unified(c)
	if !ok {
		text = bare(c)
	}
	p.line("%s\n%s", a.paint.bold("--- "+from), a.paint.bold("+++ "+to))
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		paint := func(s string) string { return s }
		switch {
		case strings.HasPrefix(l, "@@"):
			paint = a.paint.cyan
		case strings.HasPrefix(l, "+"):
			paint = a.paint.green
		case strings.HasPrefix(l, "-"):
			paint = a.paint.red
		}
		p.line("%s", paint(escape(l)))
	}
}

// around is how many unchanged lines a diff shows around a change.
const around = 3

// unified prints the hunks with the lines around them from the file on disk; ok
// is false when that is not the file that was planned on.
func (a *app) unified(c api.FileChange) (text string, ok bool) {
	var file []string
	if c.Kind != "create" {
		b, err := os.ReadFile(filepath.Join(a.root, filepath.FromSlash(c.File)))
		if err != nil || a.root == "" {
			return "", false
		}
		file = lines(strings.TrimPrefix(string(b), "\ufeff"))
	}
	var b strings.Builder
	shift := 0 // lines that the hunks before added
	for i := 0; i < len(c.Hunks); {
		first := max(0, start(c, i)-around)
		var body strings.Builder
		removed, added, at := 0, 0, first
		for {
			h := c.Hunks[i]
			from, end := start(c, i), start(c, i)+len(h.OldLines)
			if from < at || end > len(file) || !slices.Equal(file[from:end], trimAll(h.OldLines)) {
				return "", false
			}
			for _, l := range file[at:from] {
				body.WriteString(" " + l + "\n")
			}
			for _, l := range trimAll(h.OldLines) {
				body.WriteString("-" + l + "\n")
			}
			for _, l := range trimAll(h.NewLines) {
				body.WriteString("+" + l + "\n")
			}
			removed, added, at = removed+len(h.OldLines), added+len(h.NewLines), end
			if i++; i == len(c.Hunks) || start(c, i)-at > 2*around {
				break
			}
		}
		last := min(len(file), at+around)
		for _, l := range file[at:last] {
			body.WriteString(" " + l + "\n")
		}
		old := last - first
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", span(first, old), span(first+shift, old-removed+added), body.String())
		shift += added - removed
	}
	return b.String(), true
}

// start is the line of the old file, from 0, at which a hunk begins.
func start(c api.FileChange, i int) int {
	if c.Kind == "create" {
		return 0
	}
	return max(0, c.Hunks[i].StartLine-1)
}

// span prints a range of lines, from 0, as diff does: an empty one is named by
// the line before it.
func span(first, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", first)
	}
	return fmt.Sprintf("%d,%d", first+1, n)
}

// lines splits without line ends, of which a diff for people shows neither form.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	return trimAll(strings.Split(strings.TrimSuffix(s, "\n"), "\n"))
}

func trimAll(list []string) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = strings.TrimRight(l, "\r\n")
	}
	return out
}

// bare prints hunks without context.
func bare(c api.FileChange) string {
	var b strings.Builder
	shift := 0
	for _, h := range c.Hunks {
		first := max(0, h.StartLine-1)
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(first, len(h.OldLines)), span(first+shift, len(h.NewLines)))
		for _, l := range trimAll(h.OldLines) {
			b.WriteString("-" + l + "\n")
		}
		for _, l := range trimAll(h.NewLines) {
			b.WriteString("+" + l + "\n")
		}
		shift += len(h.NewLines) - len(h.OldLines)
	}
	return b.String()
}

// viewHistory prints transactions, newest first.
func (a *app) viewHistory(p *page, r api.Transactions) {
	t := newTable(a.paint, "TOKEN", "WHEN", "OPERATION", "STATE", "CLIENT", "FILES")
	for _, x := range r.Transactions {
		when := x.Time
		if at, err := time.Parse(time.RFC3339, x.Time); err == nil {
			when = at.Local().Format("2006-01-02 15:04:05")
		}
		files := plural(len(x.Files), "file")
		if len(x.Files) == 1 {
			files = a.shown(x.Files[0])
		}
		state := escape(x.State)
		if x.State == "committed" {
			state = a.paint.green(state)
		}
		t.add(cmpOr(escape(x.UndoToken), "-"), escape(when), strings.TrimSpace(escape(x.Operation)+" "+escape(x.Summary)), state, escape(x.Client), files)
	}
	if len(r.Transactions) > 0 {
		t.print(p)
	} else {
		p.notes = append(p.notes, "no changes yet")
	}
	p.notes = append(p.notes, warnings(r.Warnings)...)
	if r.Truncated {
		p.notes = append(p.notes, shownOf(len(r.Transactions), r.Total, true, "change"))
	}
}
