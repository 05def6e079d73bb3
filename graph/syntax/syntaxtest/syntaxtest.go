// Package syntaxtest holds what the tests of every language's syntax share: a
// tree as text for golden files, and the laws that hold for any tree.
//
// It owns nothing at run time, knows no language and starts no goroutines.
package syntaxtest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Dump writes what a tree says, a line for each symbol and fact, so that a
// difference is read as a difference. Spans are written as the text they hold,
// shortened; positions are 1-based lines.
func Dump(t *syntax.Tree, content []byte) string {
	var b strings.Builder
	if t.Package != "" {
		fmt.Fprintf(&b, "package %s\n", t.Package)
	}
	for _, im := range t.Imports {
		fmt.Fprintf(&b, "import %q", im.Path)
		if im.Alias != "" {
			fmt.Fprintf(&b, " as %s", im.Alias)
		}
		for _, n := range im.Names {
			fmt.Fprintf(&b, ", %s as %s", cmp.Or(n.Name, "all"), n.As)
		}
		b.WriteByte('\n')
	}
	for _, s := range t.Symbols {
		dumpSymbol(&b, s, content)
	}
	for _, e := range t.Errors {
		fmt.Fprintf(&b, "error line %d: %s\n", line(content, e.Offset), e.Message)
	}
	dumpCalls(&b, t, content)
	strs, comments := 0, 0
	for _, tok := range t.Tokens {
		if tok.Kind == syntax.String {
			strs++
		} else {
			comments++
		}
	}
	fmt.Fprintf(&b, "%d identifiers, %d comments, %d strings\n", len(t.Idents), comments, strs)
	return b.String()
}

// dumpCalls writes the names that each line calls.
func dumpCalls(b *strings.Builder, t *syntax.Tree, content []byte) {
	last := 0
	for _, id := range t.Idents {
		if !id.Called {
			continue
		}
		if at := line(content, id.Span.Start); at != last {
			if last > 0 {
				b.WriteByte('\n')
			}
			last = at
			fmt.Fprintf(b, "calls line %d:", at)
		}
		b.WriteString(" " + id.Name)
	}
	if last > 0 {
		b.WriteByte('\n')
	}
}

func dumpSymbol(b *strings.Builder, s graph.Symbol, content []byte) {
	fmt.Fprintf(b, "%d: %s %s", line(content, s.NameSpan.Start), s.Kind, s.Qualified)
	if s.Container != "" {
		fmt.Fprintf(b, " in %s", s.Container)
	}
	if s.Alias != "" {
		fmt.Fprintf(b, " alias %s", s.Alias)
	}
	if s.Exact != "" {
		fmt.Fprintf(b, " exactly %s", s.Exact)
	}
	if s.Params != nil {
		fmt.Fprintf(b, " (%s)", strings.Join(s.Params, "; "))
	}
	if s.Results != nil {
		fmt.Fprintf(b, " -> %s", strings.Join(s.Results, "; "))
	}
	if s.Visibility != "" {
		b.WriteString(" " + s.Visibility)
	}
	if s.Local {
		b.WriteString(" local")
	}
	if s.Merged {
		b.WriteString(" merged")
	}
	fmt.Fprintf(b, "\n\t%s\n", s.Signature)
	list := func(what string, all []string) {
		if all != nil {
			fmt.Fprintf(b, "\t%s: %s\n", what, strings.Join(all, " | "))
		}
	}
	list("modifiers", s.Modifiers)
	list("attributes", s.Attributes)
	list("bases", s.Bases)
	list("resolved", s.Resolved)
	if s.Doc != "" {
		fmt.Fprintf(b, "\tdoc: %q\n", s.Doc)
	}
	if s.Kind == graph.KindParameter || s.Kind == graph.KindTypeParam {
		return
	}
	fmt.Fprintf(b, "\tdecl %s", ends(content, s.Decl))
	if s.Whole != s.Decl {
		fmt.Fprintf(b, " whole %s", ends(content, s.Whole))
	}
	if s.Body != (graph.Span{}) {
		fmt.Fprintf(b, " body %s", ends(content, s.Body))
	}
	b.WriteByte('\n')
}

// ends writes the first and last characters of a span.
func ends(content []byte, s graph.Span) string {
	const n = 12
	text := []rune(string(content[s.Start:s.End]))
	if len(text) > 2*n+1 {
		return fmt.Sprintf("%q…%q", string(text[:n]), string(text[len(text)-n:]))
	}
	return fmt.Sprintf("%q", string(text))
}

func line(content []byte, offset int) int {
	return strings.Count(string(content[:min(offset, len(content))]), "\n") + 1
}

// Check returns what is wrong with a tree, whatever the file: spans that leave
// it or each other, names that are not where they are said to be, disorder.
func Check(t *syntax.Tree, content []byte) []string {
	var wrong []string
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	in := func(s graph.Span) bool { return 0 <= s.Start && s.Start <= s.End && s.End <= len(content) }
	last := 0
	for i, s := range t.Symbols {
		switch {
		case !in(s.Whole) || !in(s.Decl) || !in(s.NameSpan) || !in(s.Body):
			fault("%s leaves the file", s.Qualified)
			continue
		case s.Decl.Start < last:
			fault("symbol %d, %s, is out of order", i, s.Qualified)
		case s.Name == "" || string(content[s.NameSpan.Start:s.NameSpan.End]) != s.Name:
			fault("%s: its name is %q, the file says %q", s.Qualified, s.Name, content[s.NameSpan.Start:s.NameSpan.End])
		case s.Whole.Start > s.Decl.Start || s.Whole.End < s.Decl.End:
			fault("%s: the whole is less than the declaration", s.Qualified)
		case s.NameSpan.Start < s.Decl.Start || s.NameSpan.End > s.Decl.End:
			fault("%s: its name is not in its declaration", s.Qualified)
		case s.Body.End > 0 && (s.Body.Start < s.Decl.Start || s.Body.End > s.Decl.End):
			fault("%s: its body is not in its declaration", s.Qualified)
		case !strings.HasSuffix(s.Qualified, s.Name):
			fault("%s: does not end in its name %s", s.Qualified, s.Name)
		case s.Signature == "" || strings.ContainsAny(s.Signature, "\n\r"):
			fault("%s: signature %q", s.Qualified, s.Signature)
		case s.Kind == "":
			fault("%s has no kind", s.Qualified)
		}
		last = s.Decl.Start
	}
	last = 0
	for _, id := range t.Idents {
		if !in(id.Span) || id.Span.Start < last || string(content[id.Span.Start:id.Span.End]) != id.Name {
			fault("identifier %q at %d", id.Name, id.Span.Start)
			break
		}
		last = id.Span.End
	}
	last = 0
	for _, tok := range t.Tokens {
		if !in(tok.Span) || tok.Span.Start < last {
			fault("token at %d overlaps the one before", tok.Span.Start)
			break
		}
		last = tok.Span.End
	}
	for _, im := range t.Imports {
		if !in(im.Span) {
			fault("import %s leaves the file", im.Path)
		}
	}
	for _, e := range t.Errors {
		if e.Offset < 0 || e.Offset > len(content) {
			fault("error at %d leaves the file", e.Offset)
		}
	}
	return wrong
}
