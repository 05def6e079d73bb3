package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Names implements graph.Reader: names of symbols that are not local, nearest
// first. A name further from name than half of its length is not near.
func (x *Index) Names(ctx context.Context, name string, limit int) ([]string, error) {
	type near struct {
		name     string
		distance int
	}
	var found []near
	want := []rune(strings.ToLower(name))
	bound := max(2, len(want)/2)
	x.mu.RLock()
	files := slices.DeleteFunc(slices.Clone(x.number), func(f *file) bool { return f == nil })
	x.mu.RUnlock()
	judged := map[string]int{} // distances of names that were met
	listed := map[string]bool{}
	var m measure
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := false
		f.record.Names(func(candidate string) {
			// A letter has at most four bytes: most names are too long or too short to be near.
			if len(candidate) > 4*(len(want)+bound) || 4*len(candidate) < len(want)-bound {
				return
			}
			d, known := judged[candidate]
			if !known {
				d = m.distance(want, strings.ToLower(candidate), bound)
				judged[candidate] = d
			}
			some = some || d <= bound && !listed[candidate]
		})
		if !some {
			continue
		}
		f.record.Listed(func(candidate string) {
			if d, ok := judged[candidate]; ok && d <= bound && !listed[candidate] {
				listed[candidate] = true
				found = append(found, near{candidate, d})
			}
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	out := make([]string, 0, min(limit, len(found)))
	for _, f := range found[:min(max(limit, 0), len(found))] {
		out = append(out, f.name)
	}
	return out, nil
}

// measure keeps what distance works with between calls.
type measure struct {
	runes             []rune
	before, last, row []int
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b; past bound it is only some number above it.
func (m *measure) distance(a []rune, b string, bound int) int {
	m.runes = m.runes[:0]
	for _, r := range b {
		m.runes = append(m.runes, r)
	}
	n := len(m.runes)
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
			if a[i-1] == m.runes[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == m.runes[j-2] && a[i-2] == m.runes[j-1] {
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
