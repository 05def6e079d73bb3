package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// pick is one symbol to rename.
type pick struct {
	kind   string
	name   string
	owner  string // the type of a member, the function of a local
	file   string // relative to the module
	line   int
	column int
}

func (p pick) String() string {
	name := p.name
	if p.owner != "" {
		name = p.owner + "." + p.name
	}
	return fmt.Sprintf("%s %s (%s:%d)", p.kind, name, p.file, p.line)
}

// newName keeps the name's visibility and is used by nobody.
func (p pick) newName() string {
	if first, _ := utf8.DecodeRuneInString(p.name); unicode.IsUpper(first) {
		return p.name + "Anew"
	}
	return "anew" + strings.ToUpper(p.name[:1]) + p.name[1:]
}

// kinds in the order in which picks are taken.
var kinds = []string{"type", "interface method", "method", "field", "function", "constant", "variable", "local", "parameter"}

// choose picks n symbols, of all kinds in turn, by the seed.
func choose(t testing.TB, from []pick, n int, seed uint64) []pick {
	t.Helper()
	byKind := map[string][]pick{}
	for _, p := range from {
		byKind[p.kind] = append(byKind[p.kind], p)
	}
	random := rand.New(rand.NewPCG(seed, seed))
	for _, kind := range kinds {
		list := byKind[kind]
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var chosen []pick
	for round := 0; len(chosen) < n; round++ {
		before := len(chosen)
		for _, kind := range kinds {
			if round < len(byKind[kind]) && len(chosen) < n {
				chosen = append(chosen, byKind[kind][round])
			}
		}
		if len(chosen) == before {
			t.Fatalf("there are only %d symbols to pick from", before)
		}
	}
	return chosen
}
