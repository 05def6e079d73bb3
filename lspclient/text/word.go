package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Words returns the byte offsets at which word stands as a whole identifier:
// not as a part of a longer run of letters, marks, digits and underscores. A
// "$" or "@" before it does not count as a part, as languages differ in that.
func Words(content []byte, word string) []int {
	var out []int
	for at := NextWord(content, word, 0); at >= 0; at = NextWord(content, word, at+len(word)) {
		out = append(out, at)
	}
	return out
}

// NextWord returns the first offset at or after from at which word stands as a
// whole identifier, or -1.
func NextWord(content []byte, word string, from int) int {
	if word == "" {
		return -1
	}
	w := []byte(word)
	for from <= len(content)-len(w) {
		n := bytes.Index(content[from:], w)
		if n < 0 {
			return -1
		}
		at := from + n
		end := at + len(w)
		before, _ := utf8.DecodeLastRune(content[:at])
		after, _ := utf8.DecodeRune(content[end:])
		first, _ := utf8.DecodeRune(w)
		last, _ := utf8.DecodeLastRune(w)
		// A word that begins or ends with a sign ("operator+") has no boundary there.
		if !(at > 0 && IdentifierRune(first) && IdentifierRune(before)) &&
			!(end < len(content) && IdentifierRune(last) && IdentifierRune(after)) &&
			!SplitsCharacter(content, at) && !SplitsCharacter(content, end) {
			return at
		}
		from = at + 1
	}
	return -1
}

// IdentifierRune reports whether r can be within an identifier: an underscore,
// a letter, a mark, a digit, or a joiner (UAX 31, default identifiers).
func IdentifierRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	case r == utf8.RuneError:
		return false
	case r == 0x200C || r == 0x200D:
		return true
	}
	return unicode.In(r, unicode.L, unicode.Nl, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc)
}
