package index

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/auralsp/aura/graph/record"
)

// nearby holds the distinct names of symbols in a row, for questions that only
// looking at all of them answers. It is made when the first one comes, and then
// takes in the files that changed since.
type nearby struct {
	mu      sync.Mutex // guards what follows
	files   []*file    // of which the names are here, by number
	seen    map[uint32]bool
	names   []byte
	ends    []uint32 // of each name in names
	letters []uint64 // of each name
	changes int      // files that were taken in since all was made anew
}

// catchUp takes in the names of files that are new; those of files that are gone
// stay until there are many. mu is held.
func (n *nearby) catchUp(ctx context.Context, files []*file) error {
	if n.changes > 2*max(minFresh, len(files)) || n.seen == nil {
		n.files, n.seen, n.changes = nil, map[uint32]bool{}, 0
		n.names, n.ends, n.letters = nil, nil, nil
	}
	n.files = slices.Grow(n.files, max(len(files)-len(n.files), 0))
	for i, f := range files {
		if i < len(n.files) && n.files[i] == f {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == len(n.files) {
			n.files = append(n.files, nil)
		}
		n.files[i] = f
		if f == nil {
			continue
		}
		n.changes++
		f.record.Listed(func(name string) {
			if h := record.Hash(name); !n.seen[h] {
				n.seen[h] = true
				n.names = append(n.names, name...)
				n.ends = append(n.ends, uint32(len(n.names)))
				n.letters = append(n.letters, letters(name))
			}
		})
	}
	return nil
}

// name returns the bytes of a name.
func (n *nearby) name(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = n.ends[i-1]
	}
	return n.names[start:n.ends[i]]
}

// other is the bit of letters that are not ASCII.
const other = 1 << 63

// letters has a bit for each letter of a name, without regard to case. Names that
// differ in some of them are at least as far apart.
func letters(name string) (set uint64) {
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= utf8.RuneSelf {
			set |= other
			continue
		}
		set |= 1 << (c % 63)
	}
	return set
}

// Names implements graph.Reader: names of symbols that are not local, nearest
// first. A name further from name than half of its length is not near.
func (x *Index) Names(ctx context.Context, name string, limit int) ([]string, error) {
	if limit <= 0 {
		return []string{}, ctx.Err()
	}
	x.mu.RLock()
	files := slices.Clone(x.number)
	x.mu.RUnlock()
	n := &x.near
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.catchUp(ctx, files); err != nil {
		return nil, err
	}
	want := []rune(strings.ToLower(name))
	bound := max(2, len(want)/2)
	// The fewer edits a name can be away, the sooner it is measured: the nearest
	// ones are known before most were looked at.
	atLeast := make([][]int32, bound+1)
	mask := letters(name)
	for i, l := range n.letters {
		start := uint32(0)
		if i > 0 {
			start = n.ends[i-1]
		}
		size := int(n.ends[i] - start) // in bytes
		least := size
		if l&other != 0 {
			least = (size + utf8.UTFMax - 1) / utf8.UTFMax
		}
		apart := max(bits.OnesCount64(l&^mask), bits.OnesCount64(mask&^l), least-len(want), len(want)-size)
		if apart <= bound {
			atLeast[apart] = append(atLeast[apart], int32(i))
		}
	}
	var found []nearName
	m := newMeasure(want)
	for apart, list := range atLeast {
		if len(found) >= limit && found[limit-1].distance < apart {
			break
		}
		for k, i := range list {
			if k%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			candidate := n.name(int(i))
			d := m.distance(candidate, bound)
			if d > bound || len(found) >= limit && d == found[limit-1].distance && string(candidate) >= found[limit-1].name {
				continue
			}
			near := nearName{string(candidate), d}
			if !x.declares(near.name) {
				continue
			}
			at, _ := slices.BinarySearchFunc(found, near, compareNear)
			found = slices.Insert(found, at, near)
			if len(found) > limit {
				found = found[:limit]
			}
			if len(found) == limit {
				bound = min(bound, found[limit-1].distance)
			}
		}
	}
	out := make([]string, 0, len(found))
	for _, f := range found {
		out = append(out, f.name)
	}
	return out, nil
}

// nearName is a name with its distance from the one that is asked for.
type nearName struct {
	name     string
	distance int
}

func compareNear(a, b nearName) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
}

// declares reports whether a symbol that is not local has a name now.
func (x *Index) declares(name string) bool {
	x.lookup(&x.names)
	defer x.mu.RUnlock()
	found := false
	x.names.each(record.Hash(name), func(number uint32) {
		if f := x.number[number]; f != nil && !found {
			f.record.Listed(func(listed string) { found = found || listed == name })
		}
	})
	return found
}

// measure counts edits from one name in lower case to others.
type measure struct {
	want  []rune
	where [utf8.RuneSelf]uint64 // at which places of want an ASCII character stands; for the short way

	before, last, row []int
}

func newMeasure(want []rune) *measure {
	m := &measure{want: want}
	if !m.short() {
		return m
	}
	for i, r := range want {
		if r < utf8.RuneSelf {
			m.where[r] |= 1 << i
		}
	}
	return m
}

// short reports whether the places of want fit into a word.
func (m *measure) short() bool { return 0 < len(m.want) && len(m.want) <= 64 }

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn want into a name, whose case does not count; past bound it
// is only some number above it.
func (m *measure) distance(name []byte, bound int) int {
	if m.short() {
		if d, ok := m.bits(name); ok {
			return d
		}
	}
	return m.table([]rune(strings.ToLower(string(name))), bound)
}

// bits fills a column of the table at a time, as differences of neighbours in the
// bits of words (Hyyrö 2003). It returns false for a name that is not all ASCII.
func (m *measure) bits(name []byte) (d int, ok bool) {
	plus, minus, zero, before := ^uint64(0), uint64(0), uint64(0), uint64(0)
	d = len(m.want)
	last := uint64(1) << (len(m.want) - 1)
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return 0, false
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		equal := m.where[c]
		swapped := (^zero & equal) << 1 & before
		zero = ((equal&plus + plus) ^ plus) | equal | minus | swapped
		up, down := minus|^(zero|plus), zero&plus
		if up&last != 0 {
			d++
		}
		if down&last != 0 {
			d--
		}
		up, down = up<<1|1, down<<1
		plus, minus = down|^(zero|up), up&zero
		before = equal
	}
	return d, true
}

// table is the plain way, row by row.
func (m *measure) table(b []rune, bound int) int {
	a, n := m.want, len(b)
	if diff := len(a) - n; diff > bound || -diff > bound {
		return bound + 1
	}
	before, last, row := slices.Grow(m.before[:0], n+1)[:n+1], slices.Grow(m.last[:0], n+1)[:n+1], slices.Grow(m.row[:0], n+1)[:n+1]
	m.before, m.last, m.row = before, last, row
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= n; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > bound {
			return bound + 1
		}
		before, last, row = last, row, before
	}
	return last[n]
}
