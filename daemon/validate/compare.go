package validate

import (
	"bytes"
	"os"
	"regexp"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// problem is an error of a check together with the line that it points at:
// lines move, so the number says nothing about whether it was there before.
type problem struct {
	adapters.Problem
	line string // trimmed, runs of white space as one space
}

// Renamed says that a plan gives a symbol another name, so that an old error
// which mentions it is known again.
type Renamed struct {
	Old, New string
}

// lines reads lines of files, the planned text of planned ones.
type lines struct {
	planned map[string][]byte
	files   map[string]*text.File
}

func newLines(files []change.File) *lines {
	l := &lines{planned: make(map[string][]byte), files: make(map[string]*text.File)}
	for _, f := range files {
		if f.Kind == change.Rename {
			l.planned[f.Path] = nil
		}
		l.planned[f.Target()] = f.After
	}
	return l
}

// at returns the 1-based line of a file, or nothing when there is none.
func (l *lines) at(path string, line int) string {
	if path == "" || line < 1 {
		return ""
	}
	f, ok := l.files[path]
	if !ok {
		content, planned := l.planned[path]
		if !planned {
			content, _ = os.ReadFile(path)
		}
		f = text.NewFile(content)
		l.files[path] = f
	}
	if line > f.LineCount() {
		return ""
	}
	return string(bytes.Join(bytes.Fields(f.Line(line-1)), []byte(" ")))
}

// locate adds the lines to a check's problems and drops repeated ones.
func (l *lines) locate(found []adapters.Problem) []problem {
	out := make([]problem, 0, len(found))
	seen := make(map[adapters.Problem]bool, len(found))
	for _, p := range found {
		if seen[p] {
			continue
		}
		seen[p] = true
		out = append(out, problem{p, l.at(p.Path, p.Line)})
	}
	return out
}

// comparison tells new errors from old ones.
type comparison struct {
	moved map[string]string // old path to new
	names []Renamed
	words []*regexp.Regexp // of names, the old one as a whole identifier
}

func newComparison(files []change.File, names []Renamed) *comparison {
	c := &comparison{moved: make(map[string]string), names: names}
	for _, f := range files {
		if f.Kind == change.Rename {
			c.moved[f.Path] = f.NewPath
		}
	}
	for _, n := range names {
		c.words = append(c.words, regexp.MustCompile(`(^|[^\pL\pN_])`+regexp.QuoteMeta(n.Old)+`($|[^\pL\pN_])`))
	}
	return c
}

// mark is what two sightings of one error have in common.
type mark struct{ path, code, message, line string }

// place matches places that a message names; their numbers move like all others.
var place = regexp.MustCompile(`(\.\w+):\d+(:\d+)?`)

// markOf takes the first line of a message: what follows explains it, and
// compilers that check in another order explain otherwise.
func markOf(p problem) mark {
	said, _, _ := strings.Cut(p.Message, "\n")
	return mark{p.Path, p.Code, place.ReplaceAllString(said, "$1"), p.line}
}

// renamed is the mark that an error from before the change has after it.
func (c *comparison) renamed(m mark) mark {
	if to, ok := c.moved[m.path]; ok {
		m.path = to
	}
	m.message, m.line = c.rename(m.message), c.rename(m.line)
	return m
}

func (c *comparison) rename(s string) string {
	for i, re := range c.words {
		if !strings.Contains(s, c.names[i].Old) {
			continue
		}
		to := "${1}" + strings.ReplaceAll(c.names[i].New, "$", "$$") + "${2}"
		// Twice, since neighbours share the character between them.
		s = re.ReplaceAllString(re.ReplaceAllString(s, to), to)
	}
	return s
}

// split divides the errors found after a change. Each error from before
// answers for one of them: first those that look the same, then those that look
// the same but for the new names and paths.
func (c *comparison) split(before, after []problem) (fresh, existing []problem) {
	left := make(map[mark]int, len(before))
	for _, p := range before {
		left[markOf(p)]++
	}
	var rest []problem
	for _, p := range after {
		if m := markOf(p); left[m] > 0 {
			left[m]--
			existing = append(existing, p)
		} else {
			rest = append(rest, p)
		}
	}
	mapped := make(map[mark]int, len(left))
	for m, n := range left {
		mapped[c.renamed(m)] += n
	}
	for _, p := range rest {
		if m := markOf(p); mapped[m] > 0 {
			mapped[m]--
			existing = append(existing, p)
		} else {
			fresh = append(fresh, p)
		}
	}
	return fresh, existing
}
