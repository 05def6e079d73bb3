package search

import (
	"encoding/binary"
	"slices"
)

// segment holds the postings of a number of files, packed. Only which of its
// files still count changes.
type segment struct {
	entries []*entry // nil for one that was replaced
	first   []uint32 // number of each file's first chunk
	lengths []uint16 // of all chunks
	terms   []uint32 // in order
	offsets []uint32 // where the postings of each begin in data
	data    []byte   // for each posting the distance to the chunk before it, as a varint, and its weight
	dead    int      // files that were replaced
	level   int      // how often it was merged of others
	last    uint32   // chunk of the latest posting, while it is made
}

// pack makes a segment of entries; they lose their postings to it.
func pack(entries []*entry) *segment {
	s := &segment{entries: entries}
	total := 0
	for _, e := range entries {
		total += len(e.postings)
	}
	all := make([]posting, 0, total)
	for _, e := range entries {
		base := s.grow(e.lengths)
		for _, p := range e.postings {
			all = append(all, newPosting(p.term(), p.chunk()+base, p.weight()))
		}
		e.postings = nil
	}
	slices.Sort(all)
	for i, p := range all {
		if i == 0 || all[i-1].term() != p.term() {
			s.begin(p.term())
		}
		s.put(p.chunk(), p.weight())
	}
	s.clip()
	return s
}

// grow adds the chunks of a file and returns the number of the first.
func (s *segment) grow(lengths []uint16) uint32 {
	base := uint32(len(s.lengths))
	s.first = append(s.first, base)
	s.lengths = append(s.lengths, lengths...)
	return base
}

// begin starts the postings of a term.
func (s *segment) begin(term uint32) {
	s.terms = append(s.terms, term)
	s.offsets = append(s.offsets, uint32(len(s.data)))
	s.last = 0
}

func (s *segment) put(chunk uint32, weight uint8) {
	s.data = append(binary.AppendUvarint(s.data, uint64(chunk-s.last)), weight)
	s.last = chunk
}

func (s *segment) clip() {
	s.first, s.lengths = slices.Clip(s.first), slices.Clip(s.lengths)
	s.terms, s.offsets, s.data = slices.Clip(s.terms), slices.Clip(s.offsets), slices.Clip(s.data)
}

// each calls yield with the postings of a term, in order of chunk, also those of
// files that were replaced.
func (s *segment) each(term uint32, yield func(chunk uint32, weight uint8)) {
	if i, found := slices.BinarySearch(s.terms, term); found {
		s.decode(i, yield)
	}
}

func (s *segment) decode(i int, yield func(chunk uint32, weight uint8)) {
	end := len(s.data)
	if i+1 < len(s.offsets) {
		end = int(s.offsets[i+1])
	}
	chunk := uint32(0)
	for at := int(s.offsets[i]); at < end; {
		d, n := uint32(s.data[at]), 1
		if d >= 0x80 {
			long, size := binary.Uvarint(s.data[at:end])
			d, n = uint32(long), size
		}
		chunk += d
		yield(chunk, s.data[at+n])
		at += n + 1
	}
}

// file returns the place in files of the one that holds a chunk.
func (s *segment) file(chunk uint32) int {
	i, found := slices.BinarySearch(s.first, chunk)
	if !found {
		return i - 1
	}
	for i+1 < len(s.first) && s.first[i+1] == chunk {
		i++ // a file without chunks stands where the next one begins
	}
	return i
}

// merge makes one segment of several, without the files that were replaced.
func merge(list []*segment) *segment {
	out := &segment{}
	moved := make([][]uint32, len(list)) // old number of a chunk to the new one
	const gone = ^uint32(0)
	for i, s := range list {
		out.level = max(out.level, s.level)
		moved[i] = make([]uint32, len(s.lengths))
		for n, e := range s.entries {
			from, to := s.first[n], uint32(len(s.lengths))
			if n+1 < len(s.first) {
				to = s.first[n+1]
			}
			base := gone
			if e != nil {
				out.entries = append(out.entries, e)
				base = out.grow(e.lengths)
			}
			for c := from; c < to; c++ {
				moved[i][c] = base
				if base != gone {
					base++
				}
			}
		}
	}
	next := make([]int, len(list))
	for {
		term, left := gone, false
		for i, s := range list {
			if next[i] < len(s.terms) {
				term, left = min(term, s.terms[next[i]]), true
			}
		}
		if !left {
			break
		}
		begun := false
		for i, s := range list {
			if next[i] == len(s.terms) || s.terms[next[i]] != term {
				continue
			}
			s.decode(next[i], func(chunk uint32, weight uint8) {
				to := moved[i][chunk]
				if to == gone {
					return
				}
				if !begun {
					out.begin(term)
					begun = true
				}
				out.put(to, weight)
			})
			next[i]++
		}
	}
	out.clip()
	return out
}
