package python

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// around is how many bytes before a place decide what it is.
const around = 4 << 10

// usage names what a place does with a symbol, by the text of its statement.
func usage(sym graph.Symbol, p adapters.Place) string {
	content := p.File.Content()
	before, after := statement(content[max(0, p.Span.Start-around):p.Span.Start]), content[p.Span.End:]
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	rest := strings.TrimLeft(string(after), " \t")
	head := strings.TrimLeft(before.text, " \t\r\n;")
	switch {
	case strings.HasPrefix(head, "import ") || strings.HasPrefix(head, "from "):
		return "import"
	case strings.HasPrefix(rest, "(") && !strings.HasPrefix(head, "class ") && !strings.HasPrefix(head, "def "):
		return "call"
	case keyword(before, rest):
		return "write" // the argument that a call gives to a parameter or a field
	case sym.Kind == graph.KindClass || sym.Kind == graph.KindEnum || sym.Kind == graph.KindTypeAlias || sym.Kind == graph.KindTypeParam:
		if before.annotates(rest) {
			return "type"
		}
	case sym.Kind == graph.KindFunction || sym.Kind == graph.KindMethod:
		if strings.HasPrefix(head, "@") && strings.TrimLeft(head[1:], ". \t_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
			return "call" // a decorator is
		}
	}
	if strings.HasPrefix(rest, ":=") || before.depth() == 0 && assigned.MatchString(rest) && !strings.HasPrefix(head, "return ") {
		return "write"
	}
	if at := target.FindStringIndex(head); at != nil && !strings.Contains(head[at[0]:], " in ") || strings.HasPrefix(head, "del ") {
		return "write"
	}
	return "read"
}

var (
	// assigned matches what follows a name that is given a value, alone, in a
	// list, or with a type.
	assigned = regexp.MustCompile(`^(?:,[\w\s.,*]*)?(?::[^=]*)?(?:[-+*/%&|^@]|//|\*\*|<<|>>|:)?=(?:[^=]|$)`)
	// target matches what stands before a name that a statement binds.
	target = regexp.MustCompile(`(?:^|[\s(\[{])(?:for|as|global|nonlocal)\s+(?:[\w\s.,*()]*[\s,(*])?$`)
)

// keyword reports whether a name is that of an argument: f(name=…).
func keyword(s line, rest string) bool {
	if s.inner() != '(' || !strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "==") {
		return false
	}
	t := strings.TrimRight(s.text, " \t\r\n")
	return strings.HasSuffix(t, "(") || strings.HasSuffix(t, ",")
}

// line is a statement up to a place.
type line struct {
	text     string
	brackets []byte // open at the place, the outermost first
	openers  []int  // where, in the code that was read
	start    int    // of text, in that code
}

func (s line) depth() int { return len(s.brackets) }

func (s line) inner() byte {
	if len(s.brackets) == 0 {
		return 0
	}
	return s.brackets[len(s.brackets)-1]
}

// annotates reports whether a type stands at the place: in an annotation, a
// list of bases, or the arguments of a generic type.
func (s line) annotates(rest string) bool {
	t := strings.TrimRight(s.text, " \t\r\n\"'")
	head := strings.TrimLeft(s.text, " \t\r\n;")
	switch {
	case strings.HasPrefix(head, "class ") && s.depth() > 0 && s.brackets[0] == '(':
		return true
	case strings.HasSuffix(t, "->"), strings.HasSuffix(t, "|") && s.typed(), strings.HasPrefix(rest, "|") && s.typed():
		return true
	case strings.HasSuffix(t, ":"):
		return s.inner() != '{' && s.inner() != '[' && !strings.HasPrefix(head, "lambda")
	case s.inner() == '[':
		return s.typed()
	}
	return false
}

// typed reports whether the place lies behind the colon or arrow of an annotation.
func (s line) typed() bool {
	head := strings.TrimLeft(s.text, " \t\r\n;")
	if strings.HasPrefix(head, "def ") || strings.HasPrefix(head, "async def ") {
		return !strings.Contains(head[strings.LastIndexAny(head, ":>,")+1:], "=")
	}
	colon := strings.IndexByte(head, ':')
	return colon > 0 && !strings.ContainsAny(head[:colon], "([{=") && !strings.Contains(head, "=")
}

// statement returns the end of code that begins with the statement it is in:
// behind the last line break that no bracket holds.
func statement(code []byte) line {
	var s line
	start := 0
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '#':
			for i+1 < len(code) && code[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			i = literal(code, i)
		case '(', '[', '{':
			s.brackets, s.openers = append(s.brackets, c), append(s.openers, i)
		case ')', ']', '}':
			if n := len(s.brackets); n > 0 {
				s.brackets, s.openers = s.brackets[:n-1], s.openers[:n-1]
			}
		case '\\':
			i++
		case '\n':
			if len(s.brackets) == 0 {
				start = i + 1
			} else if opens(code[i+1:]) {
				// No statement begins within brackets: the text began in a string or comment.
				s.brackets, s.openers, start = nil, nil, i+1
			}
		}
	}
	s.start = min(start, len(code))
	s.text = string(code[s.start:])
	return s
}

// opens reports whether code begins with a statement that no expression can be.
func opens(code []byte) bool {
	for _, word := range []string{"def ", "class ", "import ", "from ", "async def ", "return ", "@"} {
		if bytes.HasPrefix(bytes.TrimLeft(code, " \t"), []byte(word)) {
			return true
		}
	}
	return false
}

// literal returns where the string that begins at i ends; one that does not
// end is left where it begins.
func literal(code []byte, i int) int {
	quote := code[i : i+1]
	if bytes.HasPrefix(code[i:], bytes.Repeat(quote, 3)) {
		quote = bytes.Repeat(quote, 3)
	}
	for j := i + len(quote); j < len(code); j++ {
		switch {
		case code[j] == '\\':
			j++
		case bytes.HasPrefix(code[j:], quote):
			return j + len(quote) - 1
		case code[j] == '\n' && len(quote) == 1:
			return i
		}
	}
	return i + len(quote) - 1
}
