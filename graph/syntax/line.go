package syntax

import (
	"bytes"
	"sort"

	"github.com/auralsp/aura/graph"
)

// line returns code on one line: comments dropped, runs of space made one, and
// the space and comma that a list over several lines leaves taken away.
// Strings stay as they are.
func (x *extraction) line(s graph.Span) string {
	code := x.src[s.Start:s.End]
	if !bytes.ContainsAny(code, "\n\t\r\f") && !bytes.Contains(code, []byte("  ")) && !x.commented(s) {
		return x.intern(s)
	}
	out := make([]byte, 0, len(code))
	gap := false
	tokens := x.tree.Tokens
	next := x.firstToken(s.Start)
	for i := s.Start; i < s.End; {
		for next < len(tokens) && tokens[next].Span.End <= i {
			next++
		}
		if next < len(tokens) && tokens[next].Span.Start <= i {
			end := min(tokens[next].Span.End, s.End)
			if tokens[next].Kind == Comment {
				gap = true
			} else {
				out = spaced(out, x.src[i], gap)
				out = append(out, x.src[i:end]...)
				gap = false
			}
			i = end
			continue
		}
		c := x.src[i]
		i++
		if space(c) {
			gap = true
			continue
		}
		out = append(spaced(out, c, gap), c)
		gap = false
	}
	// A string over several lines is cut at the first one.
	if n := bytes.IndexAny(out, "\r\n"); n >= 0 {
		out = append(out[:n], "…"...)
	}
	return string(out)
}

// spaced appends what a run of space before c leaves of it.
func spaced(out []byte, c byte, gap bool) []byte {
	if !gap || len(out) == 0 {
		return out
	}
	last := out[len(out)-1]
	switch {
	case c == ')' || c == ']':
		if last == ',' {
			out = out[:len(out)-1]
		}
		return out
	case last == '(' || last == '[':
		return out
	}
	return append(out, ' ')
}

// firstToken returns the place of the first token that ends behind an offset.
func (x *extraction) firstToken(at int) int {
	return sort.Search(len(x.tree.Tokens), func(i int) bool { return x.tree.Tokens[i].Span.End > at })
}

// commented reports whether a comment lies within a span.
func (x *extraction) commented(s graph.Span) bool {
	for i := x.firstToken(s.Start); i < len(x.tree.Tokens) && x.tree.Tokens[i].Span.Start < s.End; i++ {
		if x.tree.Tokens[i].Kind == Comment {
			return true
		}
	}
	return false
}
