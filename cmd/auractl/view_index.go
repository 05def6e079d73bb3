package main

import (
	"strconv"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

func (a *app) viewIndex(p *page, r api.IndexReport) {
	took := (time.Duration(r.Milliseconds) * time.Millisecond).String()
	switch r.Action {
	case "rebuild":
		p.line("%s in %s", a.paint.green("made anew"), took)
	case "verify":
		if r.Success {
			p.line("%s: the index says what the files say, checked in %s", a.paint.green("ok"), took)
		} else {
			p.line("%s", a.paint.red(plural(r.Total, "file")+" of which the index says something else"))
		}
	}
	t := newTable(a.paint)
	t.add("workspace", escape(r.Root))
	t.add("files", strconv.Itoa(r.Files))
	t.add("symbols", strconv.Itoa(r.Symbols))
	if r.Pending > 0 {
		t.add("waiting", plural(r.Pending, "file")+" to be looked at")
	}
	switch s := r.Saved; {
	case s == nil:
		t.add("saved", "no")
	case !s.Saving:
		t.add("saved", a.paint.yellow("no: it is in memory only"))
	default:
		t.add("saved", size(s.Bytes)+" in "+escape(s.File))
		if s.Waiting > 0 {
			t.add("", plural(s.Waiting, "file")+" not written yet")
		}
	}
	t.print(p)
	a.problems(p, "differs", r.Differences, r.Total)
	a.problems(p, "not indexed", r.Failed, len(r.Failed))
	p.notes = append(p.notes, warnings(r.Warnings)...)
}

// problems lists files with what is wrong.
func (a *app) problems(p *page, what string, list []api.IndexProblem, total int) {
	for _, d := range list {
		p.line("%s %s: %s", a.paint.yellow(what), escape(d.File), escape(d.Detail))
	}
	if total > len(list) {
		p.line("and %s", plural(total-len(list), "more file"))
	}
}
