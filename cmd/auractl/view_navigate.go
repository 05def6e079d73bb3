package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/daemon/api"
)

// viewPlaces prints locations as grep does: path:line:col: text.
func (a *app) viewPlaces(p *page, r api.Places) {
	what := map[string]string{"definition": "definition", "type_definition": "type definition", "usages": "usage"}[r.Operation]
	if what == "" {
		what = "reference"
	}
	groups, order := map[string][]api.Place{}, []string{}
	for _, l := range r.Locations {
		kind := ""
		if r.Operation == "usages" {
			kind = l.UsageKind
		}
		if _, seen := groups[kind]; !seen {
			order = append(order, kind)
		}
		groups[kind] = append(groups[kind], l)
	}
	for _, kind := range order {
		if len(order) > 1 || kind != "" {
			p.line("%s", a.paint.bold(fmt.Sprintf("%s (%d)", cmpOr(escape(kind), "other"), len(groups[kind]))))
		}
		for _, l := range groups[kind] {
			text := a.place(l.Location)
			if l.Context != "" {
				text += ": " + a.highlight(l.Location, r.Symbol)
			}
			if l.IsDeclaration {
				text += a.paint.dim("  (declaration)")
			}
			if l.Source != "" && r.Source == "mixed" {
				text += a.paint.dim("  [" + escape(l.Source) + "]")
			}
			p.line("%s", text)
		}
	}
	if len(r.Locations) == 0 && r.Complete {
		p.notes = append(p.notes, "none found")
	}
	if len(r.Candidates) > 1 {
		p.notes = append(p.notes, fmt.Sprintf("warning: this answers for %d symbols of that name: %s", len(r.Candidates), a.names(r.Candidates)))
	}
	a.trusted(p, shownOf(len(r.Locations), r.Total, r.Truncated, what), r.Trust)
	if r.Truncated && !a.errTTY && !a.global.verbose {
		p.notes = append(p.notes, shownOf(len(r.Locations), r.Total, true, what))
	}
}

// highlight paints the symbol's name in a line of text.
func (a *app) highlight(l api.Location, sym *api.SymbolRef) string {
	text := escape(l.Context)
	if sym == nil || !a.paint.on {
		return text
	}
	name := escape(sym.Name)
	name = name[strings.LastIndexByte(name, '.')+1:]
	var b strings.Builder
	for {
		before, after, found := cutWord(text, name)
		if !found {
			return b.String() + text
		}
		b.WriteString(before + a.paint.red(name))
		text = after
	}
}

func (a *app) names(list []api.Candidate) string {
	var out []string
	for _, c := range list[:min(len(list), 5)] {
		out = append(out, fmt.Sprintf("%s (%s:%d)", qualified(c.Container, c.Name), a.shown(c.File), c.Line))
	}
	if len(list) > 5 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

func qualified(container, name string) string {
	if container == "" {
		return name
	}
	return container + "." + name
}

// viewSymbols prints symbols: a tree for outline, else places with what stands there.
func (a *app) viewSymbols(p *page, r api.Symbols) {
	if r.Operation == "outline" {
		a.tree(p, r.Symbols, 0)
	} else {
		for _, s := range r.Symbols {
			a.symbolLine(p, s)
		}
	}
	if len(r.Symbols) == 0 && r.Complete {
		p.notes = append(p.notes, "none found")
	}
	if len(r.Candidates) > 1 {
		p.notes = append(p.notes, fmt.Sprintf("warning: this answers for %d symbols of that name: %s", len(r.Candidates), a.names(r.Candidates)))
	}
	shown := shownOf(count(r.Symbols), r.Total, r.Truncated, "symbol")
	a.trusted(p, shown, r.Trust)
	if r.Truncated && !a.errTTY && !a.global.verbose {
		p.notes = append(p.notes, shown)
	}
}

func count(list []api.SymbolEntry) int {
	n := len(list)
	for _, s := range list {
		n += count(s.Children)
	}
	return n
}

func (a *app) tree(p *page, list []api.SymbolEntry, depth int) {
	for _, s := range list {
		line := a.paint.dim(fmt.Sprintf("%5d", s.Line)) + "  " + strings.Repeat("  ", depth) + a.symbol(s)
		p.line("%s", line)
		a.tree(p, s.Children, depth+1)
	}
}

// symbol prints the signature with the name in bold, else kind and name.
func (a *app) symbol(s api.SymbolEntry) string {
	name, signature := escape(s.Name), escape(s.Signature)
	if before, after, found := cutWord(signature, name); found {
		return before + a.paint.bold(name) + after
	}
	text := a.paint.cyan(escape(s.Kind)) + " " + a.paint.bold(name)
	if signature != "" {
		text += "  " + a.paint.dim(signature)
	}
	return text
}

// cutWord splits s around the first place where word stands as a word of its own.
func cutWord(s, word string) (before, after string, found bool) {
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; word != ""; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			break
		}
		before, after = s[:from+i], s[from+i+len(word):]
		l, _ := utf8.DecodeLastRuneInString(before)
		r, _ := utf8.DecodeRuneInString(after)
		if !inWord(l) && !inWord(r) {
			return before, after, true
		}
		from += i + len(word)
	}
	return "", "", false
}

func (a *app) symbolLine(p *page, s api.SymbolEntry) {
	pad := strings.Repeat("  ", max(0, s.Depth-1))
	p.line("%s%s: %s", pad, a.place(s.Location), a.symbol(s))
	for _, r := range s.Ranges {
		text := a.place(r)
		if r.Context != "" {
			text += ": " + escape(r.Context)
		}
		p.line("%s    %s", pad, text)
	}
}

// viewDetails prints all about a symbol.
func (a *app) viewDetails(p *page, r api.SymbolDetails) {
	for i, s := range r.Symbols {
		if i > 0 {
			p.line("")
		}
		p.line("%s %s", a.paint.cyan(escape(s.Kind)), a.paint.bold(escape(qualified(s.Container, s.Name))))
		p.line("%s", a.place(s.Location))
		if s.Signature != "" {
			p.line("\n    %s", escape(s.Signature))
		}
		if s.Documentation != "" {
			p.line("")
			for _, l := range strings.Split(strings.TrimSpace(s.Documentation), "\n") {
				p.line("    %s", escape(l))
			}
		}
		var facts []string
		if s.Visibility != "" {
			facts = append(facts, escape(s.Visibility))
		}
		for _, attr := range s.Attributes {
			facts = append(facts, escape(attr))
		}
		if c := s.Counts; c != nil {
			for _, n := range []struct {
				n    *int
				what string
			}{{c.References, "reference"}, {c.Callers, "caller"}, {c.Implementations, "implementation"}} {
				if n.n != nil {
					facts = append(facts, plural(*n.n, n.what))
				}
			}
		}
		if len(facts) > 0 {
			p.line("\n%s", strings.Join(facts, " · "))
		}
		p.line("%s", a.paint.dim(escape(s.SymbolID)))
	}
	a.trusted(p, shownOf(len(r.Symbols), r.Total, r.Truncated, "symbol"), r.Trust)
}

// viewDiagnostics prints findings as compilers do.
func (a *app) viewDiagnostics(p *page, r api.Diagnostics) {
	for _, d := range r.Diagnostics {
		paint := map[string]func(string) string{"error": a.paint.red, "warning": a.paint.yellow}[d.Severity]
		if paint == nil {
			paint = a.paint.blue
		}
		text := fmt.Sprintf("%s: %s %s", a.place(api.Location{File: d.File, Line: d.Line, Column: d.Column}), paint(escape(d.Severity)+":"), escape(d.Message))
		if tag := strings.Join(slices.DeleteFunc([]string{escape(d.Origin), escape(d.Code)}, func(s string) bool { return s == "" }), " "); tag != "" {
			text += a.paint.dim(" [" + tag + "]")
		}
		p.line("%s", text)
	}
	if len(r.Diagnostics) == 0 && r.Complete {
		p.notes = append(p.notes, "no diagnostics")
	}
	a.trusted(p, shownOf(len(r.Diagnostics), r.Total, r.Truncated, "diagnostic"), r.Trust)
}
