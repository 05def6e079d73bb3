package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/daemon/api"
)

// viewError prints a refusal on standard error: what, the choices, what to do.
func (a *app) viewError(e *api.Error) {
	p := a.errPaint
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSpace(e.Message), "\n") {
		if i == 0 {
			fmt.Fprintf(&b, "%s %s %s\n", p.red("auractl:"), escape(l), p.dim("("+string(e.Code)+")"))
			continue
		}
		fmt.Fprintf(&b, "  %s\n", escape(l))
	}
	a.choices(&b, e)
	if rest := slices.DeleteFunc(slices.Clone(e.Suggestions), func(s string) bool { return strings.Contains(e.Message, s) }); len(rest) > 0 {
		fmt.Fprintln(&b, "Did you mean:")
		for _, s := range rest {
			fmt.Fprintf(&b, "  %s\n", escape(s))
		}
	}
	a.details(&b, e)
	fmt.Fprint(a.err, b.String())
}

// choices prints candidates, each with the command that names it exactly.
func (a *app) choices(b *strings.Builder, e *api.Error) {
	if len(e.Candidates) == 0 {
		return
	}
	p := a.errPaint
	t := newTable(p)
	for _, c := range e.Candidates {
		t.add("  "+p.cyan(escape(c.Kind)), p.bold(escape(qualified(c.Container, c.Name))), p.magenta(a.shown(c.File))+":"+strconv.Itoa(c.Line))
	}
	fmt.Fprintln(b)
	t.print(b)
	if a.global.json || len(a.args) == 0 || a.args[0] == "call" {
		return
	}
	fmt.Fprintf(b, "\n%s\n", p.bold("Say which one:"))
	for i, c := range e.Candidates {
		if i == 10 {
			fmt.Fprintf(b, "  %s\n", p.dim(fmt.Sprintf("… and %d more", len(e.Candidates)-i)))
			break
		}
		fmt.Fprintf(b, "  %s\n", a.again(c, e.Candidates))
	}
}

// again is the command as it was given, with what makes it mean one candidate.
func (a *app) again(c api.Candidate, all []api.Candidate) string {
	words := []string{"auractl"}
	for _, w := range a.args {
		words = append(words, quote(w))
	}
	sameLine := 0
	for _, o := range all {
		if o.File == c.File && o.Line == c.Line {
			sameLine++
		}
	}
	if sameLine > 1 {
		return strings.Join(append(words, "--symbol-id", quote(c.SymbolID)), " ")
	}
	return strings.Join(append(words, "--file-path", quote(a.shown(c.File)), "--line", strconv.Itoa(c.Line)), " ")
}

// quote makes a word safe to paste into a shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-/:=,+@%", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(escape(s), "'", `'\''`) + "'"
}

// details prints what a failed validation found and which files stand in the way.
func (a *app) details(b *strings.Builder, e *api.Error) {
	raw, err := json.Marshal(e.Details)
	if err != nil || e.Details == nil {
		return
	}
	var d struct {
		RolledBack *bool           `json:"rolledBack"`
		Validation *api.Validation `json:"validation"`
		Files      []string        `json:"files"`
		Stderr     json.RawMessage `json:"stderr"`
	}
	if json.Unmarshal(raw, &d) != nil {
		return
	}
	p := a.errPaint
	if v := d.Validation; v != nil {
		for i, problem := range v.NewErrors {
			if i == 20 {
				fmt.Fprintf(b, "  %s\n", p.dim(fmt.Sprintf("… and %d more", len(v.NewErrors)-i)))
				break
			}
			code := ""
			if problem.Code != "" {
				code = p.dim(" [" + escape(problem.Code) + "]")
			}
			fmt.Fprintf(b, "  %s:%d:%d: %s%s\n", p.magenta(a.shown(problem.File)), problem.Line, problem.Column, escape(problem.Message), code)
		}
		for _, l := range validation(v) {
			fmt.Fprintf(b, "%s\n", p.dim(escape(l)))
		}
	}
	switch {
	case d.RolledBack != nil && *d.RolledBack:
		fmt.Fprintln(b, "Everything was put back.")
	case d.RolledBack != nil:
		fmt.Fprintln(b, "Nothing was written.")
	}
	for _, f := range d.Files {
		fmt.Fprintf(b, "  %s\n", p.magenta(a.shown(f)))
	}
	a.tail(b, d.Stderr)
}

// tail prints the last lines of a server's log, which come as text or as a list.
func (a *app) tail(b *strings.Builder, raw json.RawMessage) {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		var text string
		if json.Unmarshal(raw, &text) != nil || text == "" {
			return
		}
		list = lines(text)
	}
	for _, l := range list[max(0, len(list)-20):] {
		fmt.Fprintf(b, "  %s\n", a.errPaint.dim("| "+escape(l)))
	}
}
