package index

import (
	"cmp"
	"slices"
)

// postings lists the files in which a hash occurs: most of them sorted, the
// latest ones not yet. A file that was replaced stays listed until the next
// merge; who asks knows which files are alive.
//
// Eight bytes an entry is what lets a million symbols be kept.
type postings struct {
	sorted []uint64 // hash, then file; in order of hash
	fresh  []uint64
	dead   int // entries of files that are gone
}

// minFresh is how many entries are looked through one by one.
const minFresh = 4096

func (p *postings) add(hash, file uint32) {
	p.fresh = append(p.fresh, entry(hash, file))
}

func entry(hash, file uint32) uint64 { return uint64(hash)<<32 | uint64(file) }

// settled reports whether a question is answered fast: many files that come
// without one in between are sorted once, when it is asked.
func (p *postings) settled() bool {
	return len(p.fresh) <= minFresh && p.dead <= max(minFresh, len(p.sorted)/4)
}

// merge sorts everything and forgets files that are gone.
func (p *postings) merge(alive func(file uint32) bool) {
	p.fresh = byHash(p.fresh)
	out := make([]uint64, 0, max(len(p.sorted)+len(p.fresh)-p.dead, 0))
	put := func(e uint64) {
		if alive(uint32(e)) {
			out = append(out, e)
		}
	}
	i, j := 0, 0
	for i < len(p.sorted) && j < len(p.fresh) {
		if p.sorted[i]>>32 <= p.fresh[j]>>32 {
			put(p.sorted[i])
			i++
		} else {
			put(p.fresh[j])
			j++
		}
	}
	for ; i < len(p.sorted); i++ {
		put(p.sorted[i])
	}
	for ; j < len(p.fresh); j++ {
		put(p.fresh[j])
	}
	p.sorted, p.fresh, p.dead = slices.Clip(out), nil, 0
}

// byHash sorts entries by hash in three rounds of eleven bits, several times as
// fast as by comparing. It may use the list that it is given.
func byHash(list []uint64) []uint64 {
	if len(list) < 256 {
		slices.Sort(list)
		return list
	}
	const digit = 11
	to := make([]uint64, len(list))
	for shift := 32; shift < 64; shift += digit {
		var from [1 << digit]int
		for _, e := range list {
			from[e>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range from {
			from[i] = sum
			sum += n
		}
		for _, e := range list {
			d := e >> shift & (1<<digit - 1)
			to[from[d]] = e
			from[d]++
		}
		list, to = to, list
	}
	return list
}

// each calls yield with the files of a hash; one may come twice.
func (p *postings) each(hash uint32, yield func(file uint32)) {
	from, _ := slices.BinarySearchFunc(p.sorted, hash, func(e uint64, h uint32) int { return cmp.Compare(uint32(e>>32), h) })
	for _, e := range p.sorted[from:] {
		if uint32(e>>32) != hash {
			break
		}
		yield(uint32(e))
	}
	for _, e := range p.fresh {
		if uint32(e>>32) == hash {
			yield(uint32(e))
		}
	}
}

// all calls yield with every file; one may come often.
func (p *postings) all(yield func(file uint32)) {
	for _, e := range p.sorted {
		yield(uint32(e))
	}
	for _, e := range p.fresh {
		yield(uint32(e))
	}
}
