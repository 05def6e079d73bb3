package api

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxName bounds what Nearest looks at, in bytes: its cost grows with the square.
const maxName = 256

// Nearest returns at most n of the names that a person who wrote name may have
// meant, the nearest first: by edit distance without regard to case, at most a
// third of the length away, or one a prefix of the other.
func Nearest(name string, names []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	var out []scored
	folded := foldName(name)
	if folded == "" || len(folded) > maxName {
		return nil
	}
	limit := max(1, utf8.RuneCountInString(folded)/3)
	for _, candidate := range names {
		c := foldName(candidate)
		if len(c) > maxName {
			continue
		}
		d := distance(folded, c)
		if strings.HasPrefix(c, folded) || strings.HasPrefix(folded, c) && len(c) > 3 {
			d = min(d, limit)
		}
		if d <= limit && !slices.ContainsFunc(out, func(s scored) bool { return s.name == candidate }) {
			out = append(out, scored{candidate, d})
		}
	}
	slices.SortStableFunc(out, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var result []string
	for _, s := range out[:min(n, len(out))] {
		result = append(result, s.name)
	}
	return result
}

// distance is the number of runes to insert, delete, replace or swap with
// their neighbour to turn a into b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, previous, current := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(x); i++ {
		current[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(y)]
}
