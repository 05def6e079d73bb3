package main

import (
	"fmt"
	"strings"

	"github.com/auralsp/aura/daemon/api"
)

// viewListing prints symbols in columns: types by kind and name, others by
// place with their signature and what the question asked about.
func (a *app) viewListing(p *page, r api.Listing) {
	t := newTable(a.paint)
	for _, s := range r.Symbols {
		if r.Operation == "list_types" {
			name := escape(s.Name)
			if s.Container != "" {
				name = a.paint.dim(escape(s.Container)+".") + a.paint.bold(name)
			} else {
				name = a.paint.bold(name)
			}
			t.add(a.paint.cyan(escape(s.Kind)), name, a.place(s.Location)+a.further(s.Declarations))
			continue
		}
		t.add(a.place(s.Location), a.symbol(s.SymbolEntry)+a.listed(r.Operation, s)+a.further(s.Declarations))
	}
	t.print(p)
	if len(r.Symbols) == 0 && r.Complete {
		p.notes = append(p.notes, "none found")
	}
	if len(r.Candidates) > 1 {
		p.notes = append(p.notes, fmt.Sprintf("warning: this answers for %d types of that name: %s", len(r.Candidates), a.names(r.Candidates)))
	}
	what := map[string]string{"list_types": "type", "type_members": "member"}[r.Operation]
	shown := shownOf(len(r.Symbols), r.Total, r.Truncated, cmpOr(what, "symbol"))
	a.trusted(p, shown, r.Trust)
	if r.Truncated && !a.errTTY && !a.global.verbose {
		p.notes = append(p.notes, shown)
	}
}

// listed says behind a symbol what its signature does not.
func (a *app) listed(operation string, s api.ListedSymbol) string {
	var facts []string
	switch {
	case operation == "by_attribute":
		facts = append(facts, s.Attributes...)
	case operation == "extension_methods":
		facts = append(facts, s.Via)
	case s.Inherited:
		facts = append(facts, "from "+s.Container)
	}
	if s.Static && !strings.Contains(s.Signature, "static") {
		facts = append(facts, "static")
	}
	if len(facts) == 0 {
		return ""
	}
	return a.paint.dim("  " + escape(strings.Join(facts, " ")))
}

// further names the other declarations of a symbol.
func (a *app) further(list []api.Location) string {
	var out strings.Builder
	for _, l := range list {
		out.WriteString(a.paint.dim(", ") + a.place(l))
	}
	return out.String()
}
