package typescript

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// What a place does with a symbol, in the words of the answers.
const (
	usedByCall   = "call"
	usedByRead   = "read"
	usedByWrite  = "write"
	usedByImport = "import"
	usedAsType   = "type"
)

// usage names what a place does with a symbol, by the tokens around it: a
// thousand references are named without parsing their files.
func usage(sym graph.Symbol, p adapters.Place) string {
	content := p.File.Content()
	if passedOn(content, p.Span.Start) {
		return usedByImport
	}
	before, after := lastToken(content, p.Span.Start), content[p.Span.End:]
	switch sym.Kind {
	case graph.KindInterface, graph.KindTypeAlias, graph.KindTypeParam:
		return usedAsType
	case graph.KindModule, graph.KindNamespace:
		return usedByRead
	case graph.KindClass, graph.KindEnum:
		switch {
		case before == "new", before == "@":
			return usedByCall
		case before == "instanceof", before == "=" && !typeAlias(content, p.Span.Start), before == "typeof":
			return usedByRead
		case called(after):
			return usedByCall
		case slices.Contains(typeWords, before), before == "<", before == "|", before == "&", before == ":", before == ">", before == "=":
			return usedAsType
		case before == "," && (firstByte(after) == '>' || firstByte(after) == '{'):
			return usedAsType
		}
		return usedByRead
	}
	switch {
	case called(after), before == "new", before == "@":
		return usedByCall
	case tagged(after):
		return usedByCall
	case assigned(after), before == "++", before == "--", before == "delete":
		return usedByWrite
	case sym.Kind == graph.KindProperty && firstByte(after) == ':' && (before == "{" || before == ","):
		return usedByWrite // the key of an object
	}
	return usedByRead
}

// typeWords stand before a type.
var typeWords = []string{"extends", "implements", "as", "is", "keyof", "satisfies", "infer", "readonly", "asserts"}

// called reports whether what follows a name is the arguments of a call.
func called(after []byte) bool {
	after = bytes.TrimLeft(after, " \t")
	after, _ = bytes.CutPrefix(after, []byte("!"))
	after, _ = bytes.CutPrefix(after, []byte("?."))
	if len(after) > 0 && after[0] == '<' {
		after = behindTypes(after)
	}
	return firstByte(after) == '('
}

func tagged(after []byte) bool { return len(after) > 0 && after[0] == '`' }

// behindTypes returns what follows a list of type arguments, nil when there is none.
func behindTypes(code []byte) []byte {
	const enough = 400 // bytes
	depth := 0
	for i, c := range code[:min(len(code), enough)] {
		switch c {
		case '<', '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '>':
			if i > 0 && code[i-1] == '=' {
				continue
			}
			if depth--; depth == 0 {
				return code[i+1:]
			}
		case ';', '"', '`':
			return nil
		}
		if depth < 0 {
			return nil
		}
	}
	return nil
}

// assigned reports whether an assignment follows.
func assigned(after []byte) bool {
	after = bytes.TrimLeft(after, " \t\r\n!")
	switch {
	case bytes.HasPrefix(after, []byte("++")), bytes.HasPrefix(after, []byte("--")):
		return true
	case bytes.HasPrefix(after, []byte("==")), bytes.HasPrefix(after, []byte("=>")):
		return false
	case bytes.HasPrefix(after, []byte("=")):
		return true
	}
	for _, op := range []string{"+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="} {
		if bytes.HasPrefix(after, []byte(op)) {
			return true
		}
	}
	return false
}

func firstByte(code []byte) byte {
	code = bytes.TrimLeft(code, " \t\r\n")
	if len(code) == 0 {
		return 0
	}
	return code[0]
}

// lastToken returns the word or the sign before an offset.
func lastToken(content []byte, offset int) string {
	head := bytes.TrimRight(content[:offset], " \t\r\n")
	// What a name is qualified by comes before it as one.
	for bytes.HasSuffix(head, []byte(".")) && !bytes.HasSuffix(head, []byte("..")) {
		rest := bytes.TrimRight(head[:len(head)-1], " \t\r\n?")
		w := word(rest)
		if w == "" {
			return "."
		}
		head = bytes.TrimRight(rest[:len(rest)-len(w)], " \t\r\n")
	}
	if w := word(head); w != "" {
		return w
	}
	for _, two := range []string{"++", "--", "=>"} {
		if bytes.HasSuffix(head, []byte(two)) {
			return two
		}
	}
	if len(head) == 0 {
		return ""
	}
	return string(head[len(head)-1:])
}

// word returns the identifier that code ends with.
func word(code []byte) string {
	end := len(code)
	for end > 0 {
		r, n := utf8.DecodeLastRune(code[:end])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		end -= n
	}
	return string(code[end:])
}

// typeAlias reports whether the line of an offset declares a type.
func typeAlias(content []byte, offset int) bool {
	line := content[bytes.LastIndexByte(content[:offset], '\n')+1 : offset]
	line = bytes.TrimLeft(line, " \t")
	line, _ = bytes.CutPrefix(line, []byte("export "))
	line, _ = bytes.CutPrefix(line, []byte("declare "))
	return bytes.HasPrefix(line, []byte("type "))
}

// What stands before the braces of a clause that lists names, and before a
// name of a clause without braces.
var (
	listing = regexp.MustCompile(`(?:^|[^\w$.])(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?$`)
	naming  = regexp.MustCompile(`(?:^|[^\w$.])(?:import\s+(?:type\s+)?|(?:import|export)\s+(?:type\s+)?\*\s*as\s+|import\s+(?:type\s+)?[\w$]+\s*,\s*\*\s*as\s+)$`)
)

// passedOn reports whether an offset lies in the clause of an import or of an
// export that lists names.
func passedOn(content []byte, offset int) bool {
	const (
		clause = 32 << 10 // bytes: barrels list hundreds of names
		words  = 200
	)
	head := content[max(0, offset-clause):offset]
	if naming.Match(head[max(0, len(head)-words):]) {
		return true
	}
	brace := bytes.LastIndexByte(head, '{')
	if brace < 0 {
		return false
	}
	for rest := head[brace+1:]; len(rest) > 0; rest = rest[1:] {
		if bytes.HasPrefix(rest, []byte("//")) {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				return false
			}
			rest = rest[end:]
		} else if bytes.HasPrefix(rest, []byte("/*")) {
			end := bytes.Index(rest, []byte("*/"))
			if end < 0 {
				return false
			}
			rest = rest[end+1:]
		} else if bytes.IndexByte([]byte("};()=:.<>\"'`[]&|?!+-*/"), rest[0]) >= 0 {
			return false
		}
	}
	before := head[:brace]
	return listing.Match(before[max(0, len(before)-words):])
}
