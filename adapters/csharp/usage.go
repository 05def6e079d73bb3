package csharp

import (
	"bytes"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// usage names what a place does with a symbol, by the code around it.
func usage(sym graph.Symbol, p adapters.Place) string {
	content := p.File.Content()
	before, word := precedes(content, p.Span.Start)
	if sym.Kind == graph.KindNamespace || word == "using" && before == 0 {
		if imported(p) {
			return "import"
		}
		return "read"
	}
	if imported(p) && isType(sym.Kind) {
		return "import"
	}
	next := follows(content, p.Span.End)
	switch sym.Kind {
	case graph.KindConstruct:
		return "call"
	case graph.KindClass, graph.KindStruct, graph.KindRecord:
		if word == "new" && next == "(" {
			return "call"
		}
		return "type"
	case graph.KindInterface, graph.KindEnum, graph.KindTypeParam, graph.KindTypeAlias:
		return "type"
	case graph.KindMethod, graph.KindFunction:
		if next == "(" {
			return "call"
		}
		return "read"
	case graph.KindConstant, graph.KindEnumMem:
		return "read"
	}
	switch {
	case word == "out" || word == "ref", next == "=", before == '+' || before == '-':
		return "write"
	case next == "(":
		return "call" // a delegate
	}
	return "read"
}

// imported reports whether a place stands in a using directive.
func imported(p adapters.Place) bool {
	line := bytes.TrimSpace(p.File.Line(p.File.LineOf(p.Span.Start)))
	line = bytes.TrimPrefix(line, []byte("global "))
	return bytes.HasPrefix(line, []byte("using ")) && bytes.HasSuffix(line, []byte(";")) && !bytes.ContainsAny(line, "({") &&
		!bytes.HasPrefix(line, []byte("using var "))
}

// precedes returns what stands before a name and the qualifiers in front of
// it: the sign of ++ or -- in sign, or a word.
func precedes(content []byte, at int) (sign byte, word string) {
	for {
		at = skipBack(content, at)
		if at == 0 || content[at-1] != '.' {
			break
		}
		at = skipBack(content, at-1)
		if at > 0 && content[at-1] == '?' {
			at--
		}
		start := wordStart(content, at)
		if start == at {
			return 0, "" // the member of something that is no name
		}
		at = start
	}
	if at >= 2 && (content[at-1] == '+' || content[at-1] == '-') && content[at-2] == content[at-1] {
		return content[at-1], ""
	}
	return 0, string(content[wordStart(content, at):at])
}

func skipBack(content []byte, at int) int {
	for at > 0 && (content[at-1] == ' ' || content[at-1] == '\t' || content[at-1] == '\n' || content[at-1] == '\r') {
		at--
	}
	return at
}

func wordStart(content []byte, at int) int {
	for at > 0 {
		r, size := utf8.DecodeLastRune(content[:at])
		if !text.IdentifierRune(r) {
			break
		}
		at -= size
	}
	return at
}

func wordEnd(content []byte, at int) int {
	for at < len(content) {
		r, size := utf8.DecodeRune(content[at:])
		if !text.IdentifierRune(r) {
			break
		}
		at += size
	}
	return at
}

// follows tells what stands behind a name: "(" of a call, also behind type
// arguments; "=" of an assignment of any kind; else nothing.
func follows(content []byte, at int) string {
	const enough = 300 // bytes: nothing is decided further away
	rest := bytes.TrimLeft(content[at:min(len(content), at+enough)], " \t\r\n")
	if bytes.HasPrefix(rest, []byte("<")) {
		if args := arguments(rest); args > 0 {
			rest = bytes.TrimLeft(rest[args:], " \t\r\n")
			if !bytes.HasPrefix(rest, []byte("(")) {
				return ""
			}
		}
	}
	switch {
	case bytes.HasPrefix(rest, []byte("(")), bytes.HasPrefix(rest, []byte("?.Invoke(")), bytes.HasPrefix(rest, []byte(".Invoke(")):
		return "("
	case bytes.HasPrefix(rest, []byte("==")), bytes.HasPrefix(rest, []byte("=>")):
		return ""
	case bytes.HasPrefix(rest, []byte("=")), bytes.HasPrefix(rest, []byte("++")), bytes.HasPrefix(rest, []byte("--")),
		bytes.HasPrefix(rest, []byte("??=")), bytes.HasPrefix(rest, []byte("<<=")), bytes.HasPrefix(rest, []byte(">>=")), bytes.HasPrefix(rest, []byte(">>>=")):
		return "="
	case len(rest) > 1 && rest[1] == '=' && bytes.IndexByte([]byte("+-*/%&|^"), rest[0]) >= 0:
		return "="
	}
	return ""
}

// arguments returns the length of a list of type arguments that code begins
// with, 0 when it is a comparison.
func arguments(code []byte) int {
	depth := 0
	for i := 0; i < len(code); {
		r, size := utf8.DecodeRune(code[i:])
		switch {
		case r == '<':
			depth++
		case r == '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case text.IdentifierRune(r), r == ',', r == '.', r == '?', r == '[', r == ']', r == ' ', r == '(', r == ')', r == ':':
		default:
			return 0
		}
		i += size
	}
	return 0
}

// called reports whether a name that ends at an offset is called there.
func called(content []byte, end int) bool { return follows(content, end) == "(" }
