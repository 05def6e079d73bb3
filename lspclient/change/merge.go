package change

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/auralsp/aura/lspclient/text"
)

// Merge joins two sets that were planned on the same text, that of read, into
// one with the effect of both. What both ask for alike is done once; everything
// else that they ask of one path is ErrConflict: edits of the same bytes,
// different inserts at one position, an edit of a file that the other deletes,
// two moves of one file, two files for one place.
func Merge(a, b Set, read ReadFunc) (Set, error) {
	left, err := a.Resolve(read)
	if err != nil {
		return Set{}, err
	}
	right, err := b.Resolve(read)
	if err != nil {
		return Set{}, err
	}
	byPath := map[string]File{}
	for _, f := range left {
		byPath[f.Path] = f
	}
	for _, f := range right {
		if other, ok := byPath[f.Path]; ok {
			if f, err = merge(other, f); err != nil {
				return Set{}, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		byPath[f.Path] = f
	}
	targets := map[string]bool{}
	var files []File
	for _, f := range byPath {
		if f.Kind == Rename {
			if _, ok := byPath[f.NewPath]; ok || targets[f.NewPath] {
				return Set{}, fmt.Errorf("%s: %w", f.NewPath, ErrConflict)
			}
			targets[f.NewPath] = true
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	merged := FromFiles(files)
	// A file of one set may have become a folder in the other.
	if _, err := merged.Resolve(read); err != nil {
		return Set{}, err
	}
	return merged, nil
}

// merge joins what two sets do to one file.
func merge(a, b File) (File, error) {
	if b.Kind == Rename {
		a, b = b, a // a Rename takes up the other's edits
	}
	switch {
	case a.Kind == Rename && (b.Kind == Edit || b.Kind == Rename && a.NewPath == b.NewPath),
		a.Kind == Edit && b.Kind == Edit:
		edits, err := mergeEdits(a.Edits, b.Edits)
		a.Edits = edits
		return a, err
	case a.Kind == Create && b.Kind == Create && bytes.Equal(a.After, b.After),
		a.Kind == Delete && b.Kind == Delete:
		return a, nil
	}
	return a, ErrConflict
}

// mergeEdits joins two sorted lists of edits of one content.
func mergeEdits(a, b []text.Edit) ([]text.Edit, error) {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y text.Edit) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End), cmp.Compare(x.New, y.New))
	})
	all = slices.Compact(all)
	for i := 1; i < len(all); i++ {
		last, e := all[i-1], all[i]
		inserts := last.Start == e.Start && (last.End == last.Start || e.End == e.Start)
		if e.Start < last.End || inserts {
			return nil, fmt.Errorf("bytes %d to %d: %w", e.Start, e.End, ErrConflict)
		}
	}
	return all, nil
}
