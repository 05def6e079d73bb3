package graph

import (
	"strconv"
	"strings"
)

// AttributeNames returns the names of what an attribute as written applies,
// each as qualified as it is there:
//
//	[HttpGet("/"), return: NotNull]      HttpGet, NotNull
//	@pytest.fixture(scope="module")      pytest.fixture
//	#[derive(Debug, serde::Serialize)]   derive, Debug, serde::Serialize
//	`json:"id" db:"id"`                  json, db
//	//go:embed static                    go:embed
//
// A name without any marks is itself, also with arguments behind it.
func AttributeNames(attribute string) []string {
	s := strings.TrimSpace(attribute)
	switch {
	case s == "":
		return nil
	case s[0] == '`':
		return tagKeys(strings.Trim(s, "`"))
	case s[0] == '"':
		text, err := strconv.Unquote(s)
		if err != nil {
			return nil
		}
		return tagKeys(text)
	case strings.HasPrefix(s, "//"):
		name, _, _ := strings.Cut(s[len("//"):], " ")
		return []string{strings.TrimSpace(name)}
	}
	bare := strings.TrimLeft(s, "#!@")
	inner, bracketed := strings.CutPrefix(bare, "[")
	if !bracketed {
		return applied(nil, bare, false, 0)
	}
	inner = strings.TrimPrefix(inner, "[")
	return applied(nil, strings.TrimRight(inner, "] "), bare == s, 0)
}

// maxAttributes bounds how deep attributes within attributes are followed.
const maxAttributes = 8

// applied appends the names of a list of attributes. Before a name there may
// be what it applies to, with a colon; some apply those that they list.
func applied(names []string, list string, targets bool, depth int) []string {
	for _, part := range splitTop(list, ',') {
		if targets {
			if target, rest, ok := strings.Cut(part, ":"); ok && !strings.HasPrefix(rest, ":") && strings.IndexFunc(strings.TrimSpace(target), notLetter) < 0 {
				part = rest
			}
		}
		part = strings.TrimSpace(part)
		end := strings.IndexFunc(part, func(r rune) bool { return !NameRune(r) && r != '.' && r != ':' })
		if end < 0 {
			end = len(part)
		}
		name := strings.Trim(part[:end], ".:")
		if name == "" {
			continue
		}
		names = append(names, name)
		args, ok := strings.CutPrefix(strings.TrimSpace(part[end:]), "(")
		if !ok || depth == maxAttributes {
			continue
		}
		args = strings.TrimSuffix(args, ")")
		switch name {
		case "derive", "unsafe":
			names = applied(names, args, false, depth+1)
		case "cfg_attr":
			if all := splitTop(args, ','); len(all) > 1 {
				names = applied(names, strings.Join(all[1:], ","), false, depth+1)
			}
		}
	}
	return names
}

func notLetter(r rune) bool { return (r < 'a' || 'z' < r) && (r < 'A' || 'Z' < r) }

// tagKeys returns the keys of a tag of key:"value" pairs.
func tagKeys(tag string) []string {
	var keys []string
	for {
		key, rest, ok := strings.Cut(tag, `:"`)
		if !ok {
			return keys
		}
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(rest) {
			return keys
		}
		tag = rest[end+1:]
	}
}

// splitTop splits at a separator that is neither in brackets nor in quotes.
func splitTop(s string, separator byte) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}':
			depth--
		case '>':
			if i == 0 || s[i-1] != '=' && s[i-1] != '-' {
				depth--
			}
		case '"', '`':
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case separator:
			if depth <= 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[min(start, len(s)):])
}

// attributeSuffix is what the name of an attribute's type may end with.
const attributeSuffix = "Attribute"

// AttributeMatcher returns what tells whether an attribute as written is the
// one that a person names: with or without marks, arguments, namespace and the
// suffix of its type. It is nil when the text names none.
func AttributeMatcher(wanted string) func(attribute string) bool {
	names := AttributeNames(wanted)
	if len(names) == 0 {
		return nil
	}
	return func(attribute string) bool {
		have := AttributeNames(attribute)
		for _, w := range names {
			found := false
			for _, h := range have {
				found = found || sameTail(plainAttribute(w), plainAttribute(h))
			}
			if !found {
				return false
			}
		}
		return true
	}
}

func plainAttribute(name string) string {
	if plain := strings.TrimSuffix(name, attributeSuffix); plain != "" {
		return plain
	}
	return name
}

// sameTail reports whether one of two qualified names is the other, or what
// stands behind a separator at its end.
func sameTail(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutSuffix(b, a)
	return ok && (rest == "" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ":") || strings.HasSuffix(rest, "/"))
}
