package graph

import "unicode/utf8"

// BaseNames returns the bare names by which a base as written may mean a type:
// that of the type itself, without what qualifies it and without its type
// arguments; for a call, as mixins and metaclasses are written, also those of
// the arguments. "a.B[T]" gives B; "Mixin(m.Base)" gives Mixin and Base.
func BaseNames(base string) []string {
	var out []string
	last := ""
	depth, angles := 0, 0 // within parentheses, within type arguments
	put := func() {
		if last != "" {
			out = append(out, last)
		}
		last = ""
	}
	for i := 0; i < len(base); {
		r, size := utf8.DecodeRuneInString(base[i:])
		switch {
		case NameRune(r):
			start := i
			for i < len(base) && NameRune(r) {
				i += size
				r, size = utf8.DecodeRuneInString(base[i:])
			}
			if angles == 0 {
				last = base[start:i]
			}
			continue
		case r == '"' || r == '\'':
			for i += size; i < len(base) && rune(base[i]) != r; i++ {
			}
			size = 1
		case r == '<' || r == '[':
			angles++
		case r == '>' || r == ']':
			if angles > 0 && (i == 0 || base[i-1] != '=') {
				angles--
			}
		case angles > 0:
		case r == '(':
			depth++
			put()
		case r == ')' || r == ',':
			put()
		case r == '=':
			last = "" // the name of an argument
		}
		i += size
		if depth == 0 && angles == 0 && r == ',' {
			break
		}
	}
	put()
	return out
}

// NameRune reports whether a rune may be part of a name in some language.
func NameRune(r rune) bool {
	return r == '_' || r == '$' || r == '#' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' ||
		r >= utf8.RuneSelf && r != utf8.RuneError
}
