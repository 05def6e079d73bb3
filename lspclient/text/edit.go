package text

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Edit replaces the bytes [Start, End) of a content by New.
type Edit struct {
	Start, End int // byte offsets into the content before any edit
	New        string
}

// Errors that Apply and Sort return, wrapped with the place.
var (
	// ErrOverlap says that two edits touch the same bytes.
	ErrOverlap = errors.New("edits overlap")
	// ErrBounds says that an edit is reversed or outside the content.
	ErrBounds = errors.New("edit is out of bounds")
)

// Sort returns the edits in order of position, inserts at one position in the
// order given, as LSP defines for an array of text edits. It returns ErrBounds
// for edits outside size bytes and ErrOverlap for edits that touch the same bytes.
func Sort(edits []Edit, size int) ([]Edit, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		// An insert comes before a replacement that starts at the same byte.
		return cmp.Compare(boolInt(a.End > a.Start), boolInt(b.End > b.Start))
	})
	last := 0
	for i, e := range sorted {
		if e.Start < 0 || e.End < e.Start || e.End > size {
			return nil, fmt.Errorf("bytes %d to %d of %d: %w", e.Start, e.End, size, ErrBounds)
		}
		if i > 0 && e.Start < last {
			return nil, fmt.Errorf("bytes %d to %d: %w", e.Start, e.End, ErrOverlap)
		}
		last = max(last, e.End)
	}
	return sorted, nil
}

// Apply returns content after the edits, which may come in any order; the
// given content is not changed. Errors are those of Sort.
func Apply(content []byte, edits []Edit) ([]byte, error) {
	sorted, err := Sort(edits, len(content))
	if err != nil {
		return nil, err
	}
	size := len(content)
	for _, e := range sorted {
		size += len(e.New) - (e.End - e.Start)
	}
	out := make([]byte, 0, max(size, 0))
	at := 0
	for _, e := range sorted {
		out = append(out, content[at:e.Start]...)
		out = append(out, e.New...)
		at = e.End
	}
	return append(out, content[at:]...), nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// SplitsCharacter reports whether a cut at the byte offset would fall inside a
// valid UTF-8 sequence or between the two bytes of a CRLF.
func SplitsCharacter(content []byte, offset int) bool {
	if offset <= 0 || offset >= len(content) {
		return false
	}
	return content[offset] == '\n' && content[offset-1] == '\r' || insideRune(content, offset)
}

// CheckEdits returns ErrInside, with the place, when an edit begins or ends
// inside a character of content; the edits must lie within it.
func CheckEdits(content []byte, edits []Edit) error {
	for _, e := range edits {
		if SplitsCharacter(content, e.Start) || SplitsCharacter(content, e.End) {
			return fmt.Errorf("bytes %d to %d: %w", e.Start, e.End, ErrInside)
		}
	}
	return nil
}
