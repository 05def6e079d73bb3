package record

import (
	"math/bits"
	"unicode/utf8"
)

// A record tells which words its file may hold, comments and strings included,
// so that a search reads only those files: a Bloom filter, about a byte and a
// half for each word that the file has.

const (
	wordProbes = 6   // bits that a word sets
	wordFill   = 0.5 // of the filter at most; with the probes, one file in 64 is read in vain at worst
)

// Words are the parts of something that is searched for which any content that
// holds it must hold as well.
type Words []uint64

// WordsOf returns the parts of a word as text.NextWord finds it. There may be
// none: then nothing can be told without reading.
func WordsOf(word string) Words {
	var out Words
	eachWord([]byte(word), func(hash uint64) { out = append(out, hash) })
	return out
}

// Lacks reports that the content certainly does not hold the words; false
// proves nothing.
func (r Record) Lacks(w Words) bool {
	if r.data == "" {
		return false
	}
	filter := r.data[r.words : r.words+r.wordBytes]
	for _, hash := range w {
		if filter == "" {
			return true
		}
		mask := uint32(len(filter)*8 - 1)
		at, step := probes(hash)
		for range wordProbes {
			if bit := at & mask; filter[bit>>3]&(1<<(bit&7)) == 0 {
				return true
			}
			at += step
		}
	}
	return false
}

// probes returns where the bits of a word begin, and the step between them.
func probes(hash uint64) (at, step uint32) { return uint32(hash), uint32(hash>>32) | 1 }

// packWords makes the filter of a content; its length is a power of two, or zero.
func packWords(content []byte) []byte {
	// There are more bits than words at first. Halves are laid on each other,
	// which keeps what was set, while the result is not too full.
	filter := make([]byte, max(8, 1<<bits.Len(uint(len(content)/8))))
	mask := uint32(len(filter)*8 - 1)
	set := 0
	eachWord(content, func(hash uint64) {
		at, step := probes(hash)
		for range wordProbes {
			bit := at & mask
			if b := &filter[bit>>3]; *b&(1<<(bit&7)) == 0 {
				*b |= 1 << (bit & 7)
				set++
			}
			at += step
		}
	})
	if set == 0 {
		return nil
	}
	for half := len(filter) / 2; half > 0; half /= 2 {
		ones := 0
		for i, b := range filter[:half] {
			ones += bits.OnesCount8(b | filter[half+i])
		}
		if float64(ones) > wordFill*float64(half*8) {
			break
		}
		for i, b := range filter[half : 2*half] {
			filter[i] |= b
		}
		filter = filter[:half]
	}
	return filter
}

// eachWord calls yield with a hash of each run of ASCII letters, digits and
// underscores, and of each other character. An identifier that stands whole in
// a content has its runs whole there, whatever its language takes for a letter.
func eachWord(content []byte, yield func(hash uint64)) {
	for i := 0; i < len(content); {
		c := content[i]
		switch {
		case wordByte(c):
			h := uint64(14695981039346656037)
			for ; i < len(content) && wordByte(content[i]); i++ {
				h = (h ^ uint64(content[i])) * 1099511628211
			}
			yield(mixed(h))
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(content[i:])
			if r != utf8.RuneError {
				yield(mixed(uint64(r)))
			}
			i += size
		}
	}
}

func wordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// mixed spreads what differs over all bits.
func mixed(h uint64) uint64 {
	h = (h ^ h>>32) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}
