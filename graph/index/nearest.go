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
	seen := map[string]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		closest := map[string]int{}
		f.record.Names(func(candidate string) {
			// A letter has at most four bytes: most names are too long or too short to be near.
			if len(candidate) > 4*(len(want)+bound) || 4*len(candidate) < len(want)-bound || seen[candidate] {
				return
			}
			if d := distance(want, []rune(strings.ToLower(candidate)), bound); d <= bound {
				closest[candidate] = d
			}
		})
		if len(closest) == 0 {
			continue
		}
		f.record.Listed(func(candidate string) {
			if d, ok := closest[candidate]; ok && !seen[candidate] {
				seen[candidate] = true
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

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b; past bound it is only some number above it.
func distance(a, b []rune, bound int) int {
	if diff := len(a) - len(b); diff > bound || -diff > bound {
		return bound + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
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
	return last[len(b)]
}
