package golang

import (
	"bytes"
	"go/ast"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSignature bounds a signature in bytes: a table as a variable's value is not one.
const maxSignature = 200

// docText returns a doc comment as text, without its directives.
func docText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return strings.TrimSpace(doc.Text())
}

// directives returns the //go: and tool directives of a doc comment, as written.
func directives(doc *ast.CommentGroup) []string {
	if doc == nil {
		return nil
	}
	var out []string
	for _, c := range doc.List {
		if isDirective(c.Text) {
			out = append(out, strings.TrimRight(c.Text, "\r"))
		}
	}
	return out
}

// isDirective reports whether a comment is "//tool:verb …" (go.dev/doc/comment).
func isDirective(text string) bool {
	rest, ok := strings.CutPrefix(text, "//")
	if !ok {
		return false
	}
	tool, verb, ok := strings.Cut(rest, ":")
	if !ok || tool == "" || verb == "" || verb[0] == ' ' || verb[0] == '/' {
		return false
	}
	return !strings.ContainsFunc(tool, func(r rune) bool { return !unicode.IsLower(r) && !unicode.IsDigit(r) })
}

// clip appends code on one line to a head, within maxSignature.
func clip(head string, code []byte) string {
	if len(code) > 2*maxSignature {
		code = code[:2*maxSignature]
	}
	s := head + oneLine(code)
	cut := maxSignature
	if n := strings.IndexAny(s, "\r\n"); n >= 0 {
		cut = min(cut, n) // in a raw string
	}
	if len(s) <= cut {
		return s
	}
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// oneLine puts code on one line: comments dropped, runs of space made one, and
// the space and comma that a list over several lines leaves taken away.
func oneLine(code []byte) string {
	if plain(code) {
		return string(bytes.TrimSpace(code))
	}
	out := make([]byte, 0, len(code))
	space := false
	put := func(b ...byte) {
		if space && len(out) > 0 {
			last := out[len(out)-1]
			switch {
			case b[0] == ')' || b[0] == ']':
				if last == ',' {
					out = out[:len(out)-1]
				}
			case last == '(' || last == '[':
			default:
				out = append(out, ' ')
			}
		}
		space = false
		out = append(out, b...)
	}
	for i := 0; i < len(code); {
		rest := code[i:]
		switch c := code[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			space = true
			i++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			space = true
			i += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest, []byte("*/"))
			if n < 0 {
				n = len(rest) - 2
			}
			space = true
			i += n + 2
		case c == '"' || c == '`' || c == '\'':
			n := quoted(rest)
			put(rest[:n]...)
			i += n
		default:
			put(c)
			i++
		}
	}
	return string(out)
}

// plain reports whether code is on one line already.
func plain(code []byte) bool {
	return !bytes.ContainsAny(code, "\n\t\r`\"'") && !bytes.Contains(code, []byte("  ")) &&
		!bytes.Contains(code, []byte("//")) && !bytes.Contains(code, []byte("/*"))
}

// quoted returns the length of the literal at the start of code.
func quoted(code []byte) int {
	quote := code[0]
	for i := 1; i < len(code); i++ {
		switch {
		case code[i] == quote:
			return i + 1
		case code[i] == '\\' && quote != '`':
			i++
		}
	}
	return len(code)
}
