package change

import (
	"strings"

	"github.com/auralsp/aura/lspclient/text"
)

// piece is a part of an edited content: bytes [start, end) of the content
// before the first edit, or text that an edit put in.
type piece struct {
	start, end int
	lit        string
	isLit      bool
}

func (p piece) size() int {
	if p.isLit {
		return len(p.lit)
	}
	return p.end - p.start
}

// cut returns bytes [from, to) of the piece.
func (p piece) cut(from, to int) piece {
	if p.isLit {
		return piece{lit: p.lit[from:to], isLit: true}
	}
	return piece{start: p.start + from, end: p.start + to}
}

func (f *file) edit(edits []text.Edit) (*file, error) {
	sorted, err := text.Sort(edits, len(f.content))
	if err != nil {
		return nil, err
	}
	if err := text.CheckEdits(f.content, sorted); err != nil {
		return nil, err
	}
	content, err := text.Apply(f.content, sorted)
	if err != nil {
		return nil, err
	}
	next := &file{origin: f.origin, first: f.first, content: content, once: sorted}
	old := f.pieces
	if old == nil {
		next.first, old = f.content, []piece{{end: len(f.content)}}
	} else {
		next.once = nil
	}
	next.pieces = splice(old, sorted)
	return next, nil
}

// splice applies sorted edits, whose offsets count the pieces' bytes.
func splice(old []piece, sorted []text.Edit) []piece {
	out := make([]piece, 0, len(old)+2*len(sorted))
	i, at := 0, 0 // piece, bytes of it that are used up
	take := func(n int, keep bool) {
		for n > 0 {
			m := min(old[i].size()-at, n)
			if keep && m > 0 {
				out = append(out, old[i].cut(at, at+m))
			}
			n -= m
			if at += m; at == old[i].size() {
				i, at = i+1, 0
			}
		}
	}
	done := 0
	for _, e := range sorted {
		take(e.Start-done, true)
		if e.New != "" {
			out = append(out, piece{lit: e.New, isLit: true})
		}
		take(e.End-e.Start, false)
		done = e.End
	}
	for ; i < len(old); i, at = i+1, 0 {
		if at < old[i].size() {
			out = append(out, old[i].cut(at, old[i].size()))
		}
	}
	return out
}

// edits returns the edits from the content before the first edit to the one
// now, sorted. Edits that put back what they took are left out.
func (f *file) edits() []text.Edit {
	if f.pieces == nil {
		return nil
	}
	all := f.once
	if all == nil {
		var lit strings.Builder
		at := 0
		gap := func(end int) {
			if end > at || lit.Len() > 0 {
				all = append(all, text.Edit{Start: at, End: end, New: lit.String()})
			}
			lit.Reset()
		}
		for _, p := range f.pieces {
			if p.isLit {
				lit.WriteString(p.lit)
				continue
			}
			gap(p.start)
			at = p.end
		}
		gap(len(f.first))
	}
	var out []text.Edit
	for _, e := range all {
		if string(f.first[e.Start:e.End]) != e.New {
			out = append(out, e)
		}
	}
	return out
}

// replaced returns the one edit from before to after, without what both begin
// and end with; it splits no character of either.
func replaced(before, after []byte) []text.Edit {
	start, most := 0, min(len(before), len(after))
	for start < most && before[start] == after[start] {
		start++
	}
	for text.SplitsCharacter(before, start) || text.SplitsCharacter(after, start) {
		start--
	}
	end := 0
	for end < most-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	for text.SplitsCharacter(before, len(before)-end) || text.SplitsCharacter(after, len(after)-end) {
		end--
	}
	return []text.Edit{{Start: start, End: len(before) - end, New: string(after[start : len(after)-end])}}
}
