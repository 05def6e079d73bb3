package view

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// patterns are the lines of one ignore file, as gitignore(5) defines them. A
// pattern is asked about an entry of a folder, never about what is below it:
// that is left out with the folder.
type patterns []pattern

type pattern struct {
	negate  bool // the line begins with "!"
	dirOnly bool // it ends with "/"
	whole   bool // it counts from the ignore file's folder; else it is a name at any depth
	plain   string
	suffix  string // it is "*" and this
	glob    string // it needs matching; the others are empty then
}

// parsePatterns reads an ignore file. Lines that are no patterns match nothing,
// as in git.
func parsePatterns(content []byte) patterns {
	var out patterns
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		var p pattern
		line, p.negate = strings.CutPrefix(line, "!")
		line, p.dirOnly = strings.CutSuffix(line, "/")
		p.whole = strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if line == "" || !p.compile(line) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func (p *pattern) compile(line string) bool {
	rest, star := strings.CutPrefix(line, "*")
	switch {
	case !strings.ContainsAny(line, `*?[\`):
		p.plain = line
	case star && !p.whole && !strings.ContainsAny(rest, `*?[\`):
		p.suffix = rest
		if rest == "" {
			p.glob = "*"
		}
	default:
		p.glob = globOf(line)
		return doublestar.ValidatePattern(p.glob)
	}
	return true
}

// globOf writes a pattern of git as one of doublestar, which knows braces, does
// not know named classes, and lets "a/**" match "a".
func globOf(line string) string {
	if strings.HasSuffix(line, "/**") {
		line += "/*"
	}
	return strings.NewReplacer(
		`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, `{`, `\{`, `}`, `\}`,
		"[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:upper:]", "A-Z",
		"[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\r\n\v\f", "[:blank:]", " \t",
	).Replace(line)
}

// match says whether the last pattern that is about an entry, named relative
// to the ignore file's folder, leaves it out, and whether there is one.
func (list patterns) match(rel string, dir bool) (ignored, found bool) {
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(list) - 1; i >= 0; i-- {
		p := &list[i]
		if p.dirOnly && !dir {
			continue
		}
		name := base
		if p.whole {
			name = rel
		}
		var hit bool
		switch {
		case p.glob != "":
			hit = doublestar.MatchUnvalidated(p.glob, name)
		case p.suffix != "":
			hit = strings.HasSuffix(name, p.suffix)
		default:
			hit = name == p.plain
		}
		if hit {
			return !p.negate, true
		}
	}
	return false, false
}
