package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/auralsp/aura/daemon/api"
)

// viewSearch prints each result with its place, which terminals can open, and
// below it the lines that answer.
func (a *app) viewSearch(p *page, r api.SearchResults) {
	for i, s := range r.Results {
		if i > 0 {
			p.line("")
		}
		head := a.place(api.Location{File: s.File, Line: s.Line})
		if s.Name != "" {
			head += "  " + a.paint.bold(escape(s.Name))
		}
		if s.Kind != "" {
			head += " " + a.paint.cyan(escape(s.Kind))
		}
		switch {
		case s.Type == "exact_match":
			head += "  " + a.paint.green("exact")
		default:
			head += "  " + a.paint.dim(fmt.Sprintf("%.2f", s.Score))
		}
		p.line("%s", head)
		width := len(strconv.Itoa(s.EndLine))
		lines := strings.Split(s.Snippet, "\n")
		shown := lines[:min(len(lines), a.shownLines())]
		for n, line := range shown {
			number := a.paint.dim(fmt.Sprintf("%*d", width+2, s.Line+n))
			p.line("%s", strings.TrimRight(number+"  "+escape(strings.TrimRight(line, "\r")), " "))
		}
		if len(shown) < len(lines) {
			p.line("%s", a.paint.dim(fmt.Sprintf("%*s", width+2, "…")))
		}
	}
	if len(r.Results) == 0 && r.Complete {
		p.notes = append(p.notes, "none found")
	}
	shown := shownOf(len(r.Results), r.Total, r.Truncated, "result")
	if r.Ranking != "" && r.Ranking != "lexical" {
		shown += " · " + escape(r.Ranking)
	}
	a.trusted(p, shown, r.Trust)
	if r.Truncated && !a.errTTY && !a.global.verbose {
		p.notes = append(p.notes, shown)
	}
}

// shownLines bounds the lines of a result: one looks through them for the place
// to go to.
func (a *app) shownLines() int {
	if a.global.verbose {
		return 1 << 10
	}
	return 8
}
