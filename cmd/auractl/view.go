package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/auralsp/aura/daemon/api"
)

// view prints an answer for people. An answer without a view of its own is
// printed as JSON.
func (a *app) view(spec api.Spec, raw json.RawMessage) error {
	switch spec.Output.(type) {
	case api.Places:
		return show(a, raw, a.viewPlaces)
	case api.Symbols:
		return show(a, raw, a.viewSymbols)
	case api.Listing:
		return show(a, raw, a.viewListing)
	case api.SymbolDetails:
		return show(a, raw, a.viewDetails)
	case api.Diagnostics:
		return show(a, raw, a.viewDiagnostics)
	case api.EditResult:
		return show(a, raw, a.viewEdit)
	case api.Transactions:
		return show(a, raw, a.viewHistory)
	case api.Status:
		return show(a, raw, a.viewStatus)
	case api.Doctor:
		return show(a, raw, a.viewDoctor)
	case api.Installed:
		return show(a, raw, a.viewInstalled)
	case api.Trusted:
		return show(a, raw, a.viewTrusted)
	case api.Why:
		return show(a, raw, a.viewWhy)
	case api.Restarted:
		return show(a, raw, a.viewRestarted)
	case api.Capabilities:
		return show(a, raw, a.viewCapabilities)
	case api.SearchResults:
		return show(a, raw, a.viewSearch)
	case api.IndexReport:
		return show(a, raw, a.viewIndex)
	case api.Done:
		return show(a, raw, a.viewDone)
	}
	return a.printJSON(raw)
}

// show decodes an answer and prints it in one write, so that a pipe that ends
// early sees whole lines.
func show[T any](a *app, raw json.RawMessage, view func(*page, T)) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return api.Errorf(api.Internal, "the answer cannot be read: %v", err)
	}
	var p page
	view(&p, v)
	if _, err := a.out.Write(p.Bytes()); err != nil {
		return err
	}
	if a.global.quiet {
		return nil
	}
	for _, n := range p.notes {
		text := escape(n)
		switch rest, warning := strings.CutPrefix(text, "warning: "); {
		case warning:
			text = a.errPaint.yellow("warning:") + " " + rest
		default:
			text = a.errPaint.dim(text)
		}
		fmt.Fprintln(a.err, text)
	}
	return nil
}

// page collects what is printed.
type page struct {
	bytes.Buffer
	notes []string // for standard error, after the answer
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// width is the terminal's; 100 where there is none.
func (a *app) width() int {
	for _, f := range []any{a.out, a.err} {
		if file, ok := f.(*os.File); ok {
			if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
				return w
			}
		}
	}
	return 100
}

// shown turns a path of an answer into one that the terminal can open from the
// current folder.
func (a *app) shown(file string) string {
	abs := file
	if !filepath.IsAbs(file) {
		if a.root == "" {
			return escape(file)
		}
		abs = filepath.Join(a.root, filepath.FromSlash(file))
	}
	rel, err := filepath.Rel(a.dir, abs)
	if err != nil || strings.HasPrefix(rel, "../../../") {
		return escape(abs)
	}
	return escape(rel)
}

// place prints a location as path:line:col.
func (a *app) place(l api.Location) string {
	text := a.paint.magenta(a.shown(l.File))
	if l.Line > 0 {
		text += ":" + a.paint.green(strconv.Itoa(l.Line))
	}
	if l.Column > 0 {
		text += ":" + strconv.Itoa(l.Column)
	}
	return text
}

// trusted adds what must be known about an answer: warnings always, the rest
// where somebody looks.
func (a *app) trusted(p *page, count string, t api.Trust) {
	p.notes = append(p.notes, warnings(t.Warnings)...)
	if !t.Complete && len(t.Warnings) == 0 {
		p.notes = append(p.notes, "warning: places may be missing")
	}
	if t.Stale {
		p.notes = append(p.notes, "warning: a file on disk is newer than this answer")
	}
	if a.errTTY || a.global.verbose {
		complete := "complete"
		if !t.Complete {
			complete = "incomplete"
		}
		p.notes = append(p.notes, strings.Trim(count+" · "+cmpOr(t.Source, "-")+" · "+complete, " ·"))
	}
}

func warnings(list []string) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = "warning: " + w
	}
	return out
}

// shownOf says how many of the results are printed.
func shownOf(n, total int, truncated bool, what string) string {
	if truncated || n < total {
		return fmt.Sprintf("%d of %s; --limit %d shows all", n, plural(total, what), total)
	}
	return plural(total, what)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
