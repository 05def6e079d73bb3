package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape makes text from files and servers harmless on a terminal: control
// characters, directions, invisible characters and bytes that are not UTF-8 are
// spelled out. Tabs stay.
func escape(s string) string {
	if !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unsafe(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// escapeJSON does the same within JSON text, where such characters stand in
// strings only: the result means the same.
func escapeJSON(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, func(r rune) bool { return r >= 0x7f && unsafe(r) }) {
		return raw
	}
	var b bytes.Buffer
	for _, r := range string(raw) {
		switch {
		case r < 0x7f || !unsafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// unsafe reports whether a terminal would obey the character, or a reader not see it.
func unsafe(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r <= 0x9f, // C0, DEL, C1
		r >= 0x200b && r <= 0x200f, r == 0x061c, // zero width, directional marks
		r >= 0x2028 && r <= 0x202e,            // line ends, embeddings, overrides
		r >= 0x2060 && r <= 0x206f,            // isolates, invisible operators
		r == 0xfeff, r == 0x00ad, r == 0x180e, // byte order mark, soft hyphen, vowel separator
		r >= 0xfff9 && r <= 0xfffb,                // annotations
		r >= 0xe0000 && r <= 0xe0fff, r == 0x034f: // tags, joiner
		return true
	}
	return false
}
