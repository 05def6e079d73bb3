package rust

import (
	"bytes"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// usage names what a place does with a symbol, by the tokens around it.
func usage(sym graph.Symbol, p adapters.Place) string {
	content := p.File.Content()
	if inUse(content, p.Span.Start) {
		return "import"
	}
	switch sym.Kind {
	case graph.KindStruct, graph.KindEnum, graph.KindTrait, graph.KindTypeAlias, graph.KindTypeParam:
		return "type"
	case graph.KindModule, graph.KindNamespace:
		return "read"
	}
	before, after := content[:p.Span.Start], content[p.Span.End:]
	switch {
	case called(after):
		return "call"
	case sym.Kind == graph.KindFunction || sym.Kind == graph.KindMethod || sym.Kind == graph.KindConstant || sym.Kind == graph.KindEnumMem:
		return "read"
	case assigned(after), bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("&mut")):
		return "write"
	case sym.Kind == graph.KindField && previous(before) != '.' && named(after):
		return "write" // the key of a struct expression
	}
	return "read"
}

// near bounds how far around a place its use is looked for, in bytes.
const near = 2000

// inUse reports whether an offset is in a use declaration: only what may stand
// in one is between it and the keyword.
func inUse(content []byte, offset int) bool {
	end := offset
	for i := offset - 1; i >= 0 && offset-i < near; i-- {
		c := content[i]
		switch {
		case wordByte(c):
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ':' || c == ',' || c == '{' || c == '}' || c == '*' || c == '#':
			if string(content[i+1:end]) == "use" {
				return true
			}
			end = i
		default:
			return string(content[i+1:end]) == "use"
		}
	}
	return bytes.HasPrefix(content, []byte("use ")) && offset < near
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// called reports whether code that follows a name calls it, as a function or a macro.
func called(after []byte) bool {
	rest := bytes.TrimLeft(after, " \t\r\n")
	if arguments, ok := bytes.CutPrefix(rest, []byte("::<")); ok {
		depth := 1
		for i := 0; i < min(len(arguments), near) && depth > 0; i++ {
			switch arguments[i] {
			case '<':
				depth++
			case '>':
				if i > 0 && arguments[i-1] == '-' {
					continue
				}
				if depth--; depth == 0 {
					rest = bytes.TrimLeft(arguments[i+1:], " \t\r\n")
				}
			}
		}
	}
	return bytes.HasPrefix(rest, []byte("(")) || bytes.HasPrefix(rest, []byte("!")) && !bytes.HasPrefix(rest, []byte("!="))
}

// assigned reports whether code that follows a name gives it a value.
func assigned(after []byte) bool {
	rest := bytes.TrimLeft(after, " \t\r\n")
	for _, op := range []string{"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|="} {
		if bytes.HasPrefix(rest, []byte(op)) {
			return true
		}
	}
	return bytes.HasPrefix(rest, []byte("=")) && !bytes.HasPrefix(rest, []byte("==")) && !bytes.HasPrefix(rest, []byte("=>"))
}

// named reports whether code that follows a name makes it the name of a field.
func named(after []byte) bool {
	rest := bytes.TrimLeft(after, " \t\r\n")
	return bytes.HasPrefix(rest, []byte(":")) && !bytes.HasPrefix(rest, []byte("::"))
}

// previous returns the last byte of code that is not space; 0 when there is none.
func previous(before []byte) byte {
	before = bytes.TrimRight(before, " \t\r\n")
	if len(before) == 0 {
		return 0
	}
	return before[len(before)-1]
}
