package search

import "sync"

// Hash identifies a file's content.
type Hash = [32]byte

// Index knows which words stand in which chunk of which file. It is safe for
// concurrent use.
type Index struct {
	analyzers sync.Pool

	mu       sync.RWMutex // guards what follows
	where    map[string]place
	fresh    []*entry // not packed yet; nil for one that was replaced
	segments []*segment
	live     int // fresh entries that count
	unpacked int // chunks of fresh entries, also of those that were replaced
	chunks   int // of all files that count
	words    int // in them
}

// place is where an entry stands: in a segment, or among the fresh ones.
type place struct {
	in *segment // nil: fresh
	at int
}

// How segments come to be: a number of files makes one, and a number of those of
// one level makes one of the next.
const (
	packFiles  = 512
	packChunks = 1 << 22
	fanIn      = 8
)

// New returns an empty index.
func New() *Index {
	return &Index{where: map[string]place{}, analyzers: sync.Pool{New: func() any { return newAnalyzer() }}}
}

// Put takes a file in place of what was known of its path. The hash is that of
// its content.
func (x *Index) Put(f File, hash Hash) {
	a := x.analyzers.Get().(*analyzer)
	e := a.analyse(f, hash)
	x.analyzers.Put(a)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(e.path)
	x.where[e.path] = place{at: len(x.fresh)}
	x.fresh = append(x.fresh, e)
	x.live++
	x.count(e, 1)
	x.unpacked += len(e.lengths)
	if len(x.fresh) >= packFiles || x.unpacked > packChunks {
		x.pack()
	}
}

// Drop forgets files.
func (x *Index) Drop(paths ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range paths {
		x.remove(p)
	}
}

// Hash returns the hash of the content that is known of a file.
func (x *Index) Hash(path string) (Hash, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.where[path]
	if !ok {
		return Hash{}, false
	}
	return x.entry(at).hash, true
}

// Paths returns the files, in no order.
func (x *Index) Paths() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]string, 0, len(x.where))
	for p := range x.where {
		out = append(out, p)
	}
	return out
}

// Len returns how many files and chunks there are.
func (x *Index) Len() (files, chunks int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.where), x.chunks
}

func (x *Index) entry(p place) *entry {
	if p.in == nil {
		return x.fresh[p.at]
	}
	return p.in.entries[p.at]
}

func (x *Index) count(e *entry, sign int) {
	x.chunks += sign * len(e.lengths)
	for _, n := range e.lengths {
		x.words += sign * int(n)
	}
}

// remove forgets a file; mu is held.
func (x *Index) remove(path string) {
	at, ok := x.where[path]
	if !ok {
		return
	}
	delete(x.where, path)
	x.count(x.entry(at), -1)
	if at.in == nil {
		x.fresh[at.at] = nil
		x.live--
		return
	}
	s := at.in
	s.entries[at.at] = nil
	s.dead++
	if s.dead > len(s.entries)/3 {
		x.replace([]*segment{s})
	}
}

// pack makes a segment of the fresh entries; mu is held.
func (x *Index) pack() {
	kept := make([]*entry, 0, x.live)
	for _, e := range x.fresh {
		if e != nil {
			kept = append(kept, e)
		}
	}
	few := len(kept) < packFiles/2 && x.unpacked <= packChunks // the others were replaced since
	x.fresh, x.live, x.unpacked = nil, 0, 0
	if few {
		x.fresh, x.live = kept, len(kept)
		for i, e := range kept {
			x.where[e.path] = place{at: i}
			x.unpacked += len(e.lengths)
		}
		return
	}
	x.add(pack(kept))
}

// add takes a segment, and merges those of its level when they are many; mu is held.
func (x *Index) add(s *segment) {
	x.segments = append(x.segments, s)
	for i, e := range s.entries {
		x.where[e.path] = place{in: s, at: i}
	}
	var same []*segment
	for _, other := range x.segments {
		if other.level == s.level {
			same = append(same, other)
		}
	}
	if len(same) >= fanIn {
		for _, s := range same {
			s.level++
		}
		x.replace(same)
	}
}

// replace puts one segment in place of several; mu is held.
func (x *Index) replace(list []*segment) {
	kept := x.segments[:0:0]
	for _, s := range x.segments {
		drop := false
		for _, l := range list {
			drop = drop || l == s
		}
		if !drop {
			kept = append(kept, s)
		}
	}
	x.segments = kept
	if s := merge(list); len(s.entries) > 0 {
		x.add(s)
	}
}
