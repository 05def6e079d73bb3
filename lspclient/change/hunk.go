package change

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/auralsp/aura/lspclient/text"
)

// Hunk is one changed part of a file, in whole lines. Lines are what stands
// between line feeds: a carriage return is part of its line, and a content that
// ends with a line feed has an empty last line, so that hunks are exact. A file
// that is not there counts as an empty one.
type Hunk struct {
	// StartLine is the 1-based line of the content before at which Old begins.
	// When Old is empty, New comes before that line.
	StartLine int
	Old, New  []string
}

// Hunks returns what f changes, in order. A Create has every line as new, a
// Delete every line as old; a Rename has those of its edits only.
func (f File) Hunks() []Hunk {
	switch {
	case f.Kind == Create, f.Kind == Delete:
		return Hunks(f.Before, f.After)
	case len(f.Edits) > 0:
		return hunksOf(string(f.Before), f.Edits)
	}
	return nil
}

// Hunks compares two contents by lines.
func Hunks(before, after []byte) []Hunk {
	old, now := string(before), string(after)
	if old == now {
		return nil
	}
	diff := udiff.Lines(old, now)
	edits := make([]text.Edit, len(diff))
	for i, e := range diff {
		edits[i] = text.Edit{Start: e.Start, End: e.End, New: e.New}
	}
	found := hunksOf(old, edits)
	// The library gives up on files with very many changes and calls all of it
	// one; a rename leaves the lines where they are, so they can be compared one by one.
	if inPlace, ok := lineByLine(old, now); ok && size(inPlace) < size(found) {
		return inPlace
	}
	return found
}

// lineByLine compares contents of equally many lines, each with its own.
func lineByLine(old, now string) (out []Hunk, ok bool) {
	before, after := strings.Split(old, "\n"), strings.Split(now, "\n")
	if len(before) != len(after) {
		return nil, false
	}
	for i := 0; i < len(before); i++ {
		if before[i] == after[i] {
			continue
		}
		j := i
		for j < len(before) && before[j] != after[j] {
			j++
		}
		out = append(out, Hunk{StartLine: i + 1, Old: before[i:j], New: after[i:j]})
		i = j
	}
	return out, true
}

// size is how many lines the hunks show.
func size(hunks []Hunk) int {
	n := 0
	for _, h := range hunks {
		n += len(h.Old) + len(h.New)
	}
	return n
}

// hunksOf widens sorted edits of a content to whole lines and joins those that
// share or touch a line.
func hunksOf(content string, edits []text.Edit) []Hunk {
	var out []Hunk
	line, at := 1, 0 // at is where line starts
	for i := 0; i < len(edits); {
		start := strings.LastIndexByte(content[:edits[i].Start], '\n') + 1
		end := lineEnd(content, edits[i].End)
		j := i + 1
		for j < len(edits) && edits[j].Start <= end+1 {
			end = lineEnd(content, edits[j].End)
			j++
		}
		line += strings.Count(content[at:start], "\n")
		at = start
		var after strings.Builder
		done := start
		for _, e := range edits[i:j] {
			after.WriteString(content[done:e.Start])
			after.WriteString(e.New)
			done = e.End
		}
		after.WriteString(content[done:end])
		out = append(out, trim(line, strings.Split(content[start:end], "\n"), strings.Split(after.String(), "\n"))...)
		i = j
	}
	return out
}

// lineEnd is the offset of the line feed that ends the line of offset.
func lineEnd(content string, offset int) int {
	if n := strings.IndexByte(content[offset:], '\n'); n >= 0 {
		return offset + n
	}
	return len(content)
}

// trim takes the lines off that both sides begin and end with.
func trim(line int, old, now []string) []Hunk {
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now, line = old[1:], now[1:], line+1
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	if len(old)+len(now) == 0 {
		return nil
	}
	return []Hunk{{StartLine: line, Old: slices.Clip(old), New: slices.Clip(now)}}
}
