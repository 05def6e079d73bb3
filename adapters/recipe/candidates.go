package recipe

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
)

// Question is what a Find runs.
type Question = func(context.Context, adapters.Bench, adapters.Target) (adapters.Found, error)

// Candidates opens the files of the symbol's language and project that hold
// one of the words as an identifier, so that a server that answers only from
// files it has seen answers whole. Without words it is the symbol's name. The
// files nearest to the symbol come first; of more than limit the rest stays
// closed, and the answer is marked as incomplete. It returns what it opened.
func Candidates(ctx context.Context, b adapters.Bench, srv adapters.Server, sym graph.Symbol, limit int, words ...string) ([]string, error) {
	if sym.Local {
		return []string{sym.Path}, srv.Open(ctx, []string{sym.Path})
	}
	if len(words) == 0 {
		words = []string{sym.Name}
	}
	sure, unsure, err := holders(ctx, b, sym, words)
	if err != nil {
		return nil, err
	}
	if n := len(sure); n > limit {
		b.Incomplete(fmt.Sprintf("%d files hold the word %s, and %s was shown the %d nearest only", n, strings.Join(words, " or "), srv.Engine(), limit))
	}
	list := append(sure, unsure...)
	list = list[:min(len(list), limit)]
	if len(list) == 0 {
		return nil, nil
	}
	return list, srv.Open(ctx, list)
}

// holders returns the files of the project that hold one of the words, nearest
// to the symbol first: those that are of the symbol's language, and those that
// declare nothing, of which only the server's owner can tell.
func holders(ctx context.Context, b adapters.Bench, sym graph.Symbol, words []string) (sure, unsure []string, err error) {
	var all []string
	for _, w := range words {
		found, err := b.Snapshot().Grep(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	extensions := map[string]bool{filepath.Ext(sym.Path): true}
	for _, path := range slices.Compact(all) {
		if !ofProject(b, path) {
			continue
		}
		symbols, err := b.Graph().InFile(ctx, path)
		switch {
		case err != nil:
			return nil, nil, err
		case len(symbols) > 0 && symbols[0].Language != sym.Language:
		case len(symbols) > 0:
			extensions[filepath.Ext(path)] = true
			sure = append(sure, path)
		default:
			unsure = append(unsure, path)
		}
	}
	unsure = slices.DeleteFunc(unsure, func(path string) bool {
		known := extensions[filepath.Ext(path)]
		if known {
			sure = append(sure, path)
		}
		return known
	})
	nearest(sym.Path, sure)
	nearest(sym.Path, unsure)
	return sure, unsure, nil
}

// ofProject reports whether a file lies in a folder of the bench's project.
func ofProject(b adapters.Bench, path string) bool {
	p := b.Project()
	return Inside(p.Root, path) || slices.ContainsFunc(p.Members, func(m string) bool { return Inside(m, path) })
}

// nearest orders files by the number of folders between them and a path.
func nearest(to string, paths []string) {
	from := strings.Split(filepath.Dir(to), string(filepath.Separator))
	steps := func(path string) int {
		if path == to {
			return -1
		}
		dir := strings.Split(filepath.Dir(path), string(filepath.Separator))
		same := 0
		for same < min(len(from), len(dir)) && from[same] == dir[same] {
			same++
		}
		return len(from) + len(dir) - 2*same
	}
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(steps(a), steps(b)), cmp.Compare(a, b)) })
}
