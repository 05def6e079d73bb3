package text

import "fmt"

// RangeEdit is an edit as LSP writes it: a range in the units of some
// Encoding, and the text that comes in its place.
type RangeEdit struct {
	Range Range
	New   string
}

// FromLSP converts edits of one text document, all of whose ranges count in f,
// to sorted byte edits. With clamp, a position past the end of its line or of
// the file means that end, as LSP allows for characters; without, it is
// ErrColumn or ErrLine. A range that ends before it begins is ErrBounds, one that
// cuts a character ErrInside, two that touch the same bytes ErrOverlap.
func FromLSP(f *File, edits []RangeEdit, enc Encoding, clamp bool) ([]Edit, error) {
	offset := f.Offset
	if clamp {
		offset = f.OffsetClamped
	}
	out := make([]Edit, 0, len(edits))
	for i, e := range edits {
		start, err := offset(e.Range.Start, enc)
		if err != nil {
			return nil, fmt.Errorf("edit %d, start: %w", i+1, err)
		}
		end, err := offset(e.Range.End, enc)
		if err != nil {
			return nil, fmt.Errorf("edit %d, end: %w", i+1, err)
		}
		out = append(out, Edit{Start: start, End: end, New: e.New})
	}
	sorted, err := Sort(out, len(f.content))
	if err != nil {
		return nil, err
	}
	if err := CheckEdits(f.content, sorted); err != nil {
		return nil, err
	}
	return sorted, nil
}

// RangeOf converts the bytes [start, end) to a Range.
func (f *File) RangeOf(start, end int, enc Encoding) (Range, error) {
	from, err := f.Position(start, enc)
	if err != nil {
		return Range{}, err
	}
	to, err := f.Position(end, enc)
	return Range{Start: from, End: to}, err
}

// Slice converts a Range to the byte offsets of its start and end, clamped to
// the ends of lines and of the content.
func (f *File) Slice(r Range, enc Encoding) (start, end int, err error) {
	if start, err = f.OffsetClamped(r.Start, enc); err != nil {
		return 0, 0, err
	}
	if end, err = f.OffsetClamped(r.End, enc); err != nil {
		return 0, 0, err
	}
	if end < start {
		return 0, 0, fmt.Errorf("bytes %d to %d: %w", start, end, ErrBounds)
	}
	return start, end, nil
}
