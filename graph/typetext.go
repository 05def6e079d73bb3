package graph

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// TypeMatcher returns what tells whether a type as written is one that a person
// names. The name alone stands for all that has it, whatever its namespace, type
// arguments, pointers, references and nullability are: "Task" for "Task<Order>",
// "Order" for "*store.Order" and "Order | null", "error" for "(Order, error)".
// Type arguments and pointers that are given must be the same. It is nil when
// the text names no type.
func TypeMatcher(wanted string) func(written string) bool {
	w := parseType(folders.ReplaceAllString(wanted, ""))
	if w.empty() {
		return nil
	}
	nothing := isNothing(w.name)
	return func(written string) bool {
		p := typeParser{text: written, nothing: nothing}
		return w.matches(p.union())
	}
}

// folders is what a path of packages puts before a type's own.
var folders = regexp.MustCompile(`[^\s<>\[\](){},*&|]*/`)

// typeText is a type as some language writes it, taken apart.
type typeText struct {
	marks string     // pointers and references before or behind it
	name  string     // as qualified as written; "[]" for lists, "=>" for functions, "()" for tuples, "|" for one of several
	args  []typeText // type arguments, elements, alternatives
}

func (t typeText) empty() bool { return t.name == "" }

// matches reports whether a written type is the one that t asks for.
func (t typeText) matches(w typeText) bool {
	switch {
	case t.name == "|" && w.name == "|":
		return !slices.ContainsFunc(t.args, func(a typeText) bool {
			return !slices.ContainsFunc(w.args, a.matches)
		})
	case w.name == "|", w.name == "()" && t.name != "()":
		return slices.ContainsFunc(w.args, t.matches)
	}
	return t.same(w, false)
}

// same compares the types themselves. In a type argument everything is meant as written.
func (t typeText) same(w typeText, exact bool) bool {
	if !sameTail(t.name, w.name) || (exact || t.marks != "") && t.marks != w.marks {
		return false
	}
	if len(t.args) == 0 && !exact {
		return true
	}
	return slices.EqualFunc(t.args, w.args, func(a, b typeText) bool { return a.same(b, true) })
}

// maxTypes bounds how deep types within types are followed.
const maxTypes = 32

// parseType reads a type. What it does not understand ends it.
func parseType(s string) typeText {
	p := typeParser{text: s}
	return p.union()
}

type typeParser struct {
	text    string
	at      int
	depth   int
	nothing bool // that there may be no value is what is asked about
}

func (p *typeParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n') {
		p.at++
	}
}

// take consumes a token that comes next.
func (p *typeParser) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *typeParser) peek() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// union reads types that are joined by |, & or +; that there may be no value
// says nothing of them.
func (p *typeParser) union() typeText {
	p.take("|")
	all := []typeText{p.one()}
	for p.take("|") || p.take("&") || p.take("+") {
		all = append(all, p.one())
	}
	all = slices.DeleteFunc(all, func(t typeText) bool { return t.empty() || len(all) > 1 && !p.nothing && isNothing(t.name) })
	switch len(all) {
	case 0:
		return typeText{}
	case 1:
		return all[0]
	}
	return typeText{name: "|", args: all}
}

func isNothing(name string) bool {
	return name == "null" || name == "undefined" || name == "None" || name == "nil"
}

// one reads a type with the marks before and behind it.
func (p *typeParser) one() typeText {
	if p.depth++; p.depth > maxTypes {
		p.at = len(p.text)
	}
	defer func() { p.depth-- }()
	marks := ""
	for {
		switch c := p.peek(); {
		case c == '*' || c == '&':
			marks += string(c)
			p.at++
		case c == '?' || c == '"' || c == '\'' && !p.lifetime():
			p.at++
		case c == '\'':
			p.at++
			p.word()
		case p.take("..."), p.take("<-"), p.take("!"):
		case p.particle():
		default:
			t := p.behind(p.core())
			t.marks = marks + t.marks
			return t
		}
	}
}

// lifetime reports whether a quote begins a name that no quote ends.
func (p *typeParser) lifetime() bool {
	rest := p.text[p.at+1:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !NameRune(r) })
	return end < 0 && rest != "" || end > 0 && rest[end] != '\''
}

// particle consumes a word that may stand before a type and is none.
func (p *typeParser) particle() bool {
	from := p.at
	switch p.word() {
	case "mut", "dyn", "impl", "ref", "out", "in", "params", "this", "scoped", "readonly", "const", "final", "unsafe":
		if c := p.peek(); p.at > from && c != 0 && strings.IndexByte(",)]>|=", c) < 0 {
			return true
		}
	}
	p.at = from
	return false
}

// word consumes a name.
func (p *typeParser) word() string {
	from := p.at
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		if !NameRune(r) {
			break
		}
		p.at += size
	}
	return p.text[from:p.at]
}

// core reads what is neither mark nor particle.
func (p *typeParser) core() typeText {
	switch p.peek() {
	case '(':
		p.at++
		list := p.list(')')
		switch {
		case p.take("=>"):
			return typeText{name: "=>", args: append(list, p.union())}
		case len(list) == 1:
			return list[0]
		}
		return typeText{name: "()", args: list}
	case '[':
		p.at++
		from := p.at
		list := p.list(']')
		if c := p.peek(); c == '*' || c == '[' || c == '(' || c == '<' || nameByte(c) {
			return typeText{name: "[]", args: []typeText{p.one()}} // the length is before the element
		}
		if len(list) == 1 && !strings.Contains(p.text[from:p.at], ",") {
			return typeText{name: "[]", args: list}
		}
		return typeText{name: "()", args: list}
	case '{':
		p.skip('{', '}')
		return typeText{name: "{}"}
	}
	return p.named()
}

func nameByte(c byte) bool { return c >= utf8.RuneSelf || NameRune(rune(c)) }

// named reads a qualified name with its type arguments.
func (p *typeParser) named() typeText {
	var t typeText
	for {
		part := p.word()
		if part == "" {
			break
		}
		t.name, t.args = t.name+part, nil
		p.take("::<") // as expressions write type arguments
		if strings.HasSuffix(p.text[:p.at], "::<") {
			t.args = p.list('>')
		} else if p.at < len(p.text) && p.text[p.at] == '<' {
			p.at++
			t.args = p.list('>')
		} else if p.at+1 < len(p.text) && p.text[p.at] == '[' && p.text[p.at+1] != ']' && p.text[p.at+1] != ',' {
			p.at++
			t = p.special(t.name, p.list(']'))
		}
		switch {
		case p.at < len(p.text) && p.text[p.at] == '.' && !strings.HasPrefix(p.text[p.at:], "..."):
			p.at++
			t.name += "."
		case strings.HasPrefix(p.text[p.at:], "::"):
			p.at += 2
			t.name += "::"
		default:
			return p.applied(t)
		}
	}
	t.name = strings.Trim(t.name, ".:")
	return t
}

// special returns what a name means with type arguments in square brackets:
// some stand for several types, or for the one in them.
func (p *typeParser) special(name string, args []typeText) typeText {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "Optional", "Annotated":
		if len(args) > 0 {
			return args[0]
		}
	case "Union":
		args = slices.DeleteFunc(args, func(t typeText) bool { return len(args) > 1 && !p.nothing && isNothing(t.name) })
		if len(args) == 1 {
			return args[0]
		}
		return typeText{name: "|", args: args}
	}
	return typeText{name: name, args: args}
}

// applied reads what some types have behind their name: parameters and result
// of a function, element of a map or channel.
func (p *typeParser) applied(t typeText) typeText {
	switch {
	case t.name == "func" || t.name == "fn" || t.name == "Fn" || t.name == "FnMut" || t.name == "FnOnce":
		if p.take("(") {
			t.args = p.list(')')
		}
		if c := p.peek(); p.take("->") || c == '(' || c == '*' || c == '[' || nameByte(c) {
			t.args = append(t.args, p.one())
		}
	case t.name == "map" && len(t.args) == 1:
		t.args = append(t.args, p.one())
	case t.name == "chan":
		t.args = []typeText{p.one()}
	}
	return t
}

// behind reads the marks behind a type.
func (p *typeParser) behind(t typeText) typeText {
	for !t.empty() {
		switch {
		case p.at >= len(p.text):
			return t
		case p.text[p.at] == '?' || p.text[p.at] == '!' || p.text[p.at] == '"' || p.text[p.at] == '\'':
			p.at++
		case p.text[p.at] == '*':
			t.marks += "*"
			p.at++
		case p.text[p.at] == '[':
			p.skip('[', ']')
			t = typeText{name: "[]", args: []typeText{t}}
		default:
			return t
		}
	}
	return t
}

// list reads types up to a closing bracket. Lifetimes and numbers are none;
// behind a colon or an equals sign stands the type of what is named before.
func (p *typeParser) list(closing byte) []typeText {
	var out []typeText
	for {
		t := p.union()
		for {
			switch c := p.peek(); {
			case c == 0:
				return put(out, t)
			case c == closing:
				p.at++
				return put(out, t)
			case c == ',':
				p.at++
			case c == '=' && !strings.HasPrefix(p.text[p.at:], "=>"), c == ':':
				p.at++
				t = p.union()
				continue
			case c == '(':
				p.skip('(', ')')
				continue
			case c == '[':
				p.skip('[', ']')
				continue
			case c == '{':
				p.skip('{', '}')
				continue
			case c == '<':
				p.skip('<', '>')
				continue
			default:
				p.at++ // the name of an element, the length of an array
				continue
			}
			break
		}
		out = put(out, t)
	}
}

func put(list []typeText, t typeText) []typeText {
	if t.empty() || t.name[0] >= '0' && t.name[0] <= '9' || t.name == "_" && len(list) == 0 && t.marks == "" {
		return list
	}
	return append(list, t)
}

// skip consumes a bracket with all that is in it.
func (p *typeParser) skip(opening, closing byte) {
	depth := 0
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case opening:
			depth++
		case closing:
			if depth--; depth <= 0 {
				p.at++
				return
			}
		}
	}
}
