// Package text owns positions and edits within one file's bytes: the line
// index, conversion between byte offsets and positions counted in UTF-8,
// UTF-16 or UTF-32 units, and the application of byte edits.
//
// It is pure: no I/O, no goroutines, no knowledge of LSP messages or servers.
package text

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"
)

// BOM is the UTF-8 byte order mark. It belongs to the content (offsets count
// it) but not to a Point's column.
const BOM = "\xef\xbb\xbf"

// Hash identifies a file's content (SHA-256 of its bytes).
type Hash [sha256.Size]byte

// Sum returns the hash of content.
func Sum(content []byte) Hash { return sha256.Sum256(content) }

// String returns the hash in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String printed.
func ParseHash(s string) (Hash, error) {
	var h Hash
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, fmt.Errorf("text: %q is not a content hash", s)
	}
	copy(h[:], b)
	return h, nil
}

// Encoding is the unit in which a Position counts characters (LSP 3.17,
// PositionEncodingKind).
type Encoding uint8

// The encodings of the protocol. UTF16 is what a server means that announces none.
const (
	UTF16 Encoding = iota
	UTF8
	UTF32
)

// String returns the protocol's name of the encoding.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "utf-8"
	case UTF32:
		return "utf-32"
	default:
		return "utf-16"
	}
}

// ParseEncoding maps the protocol's name to an Encoding; the empty string is UTF16.
func ParseEncoding(s string) (Encoding, error) {
	switch s {
	case "", "utf-16":
		return UTF16, nil
	case "utf-8":
		return UTF8, nil
	case "utf-32":
		return UTF32, nil
	}
	return UTF16, fmt.Errorf("text: unknown position encoding %q", s)
}

// Position is a place as servers name it: 0-based line, 0-based character in
// the units of an Encoding.
type Position struct {
	Line      uint32
	Character uint32
}

// Range is a half-open range of Positions.
type Range struct {
	Start, End Position
}

// Point is a place as people name it: 1-based line, 1-based column counted in
// UTF-8 bytes. A byte order mark does not count.
type Point struct {
	Line   int
	Column int
}

// Errors that File's conversions return, wrapped with the place.
var (
	// ErrLine says that the line does not exist.
	ErrLine = errors.New("line is out of range")
	// ErrColumn says that the column lies beyond the end of its line.
	ErrColumn = errors.New("column is beyond the end of the line")
	// ErrInside says that the position falls inside a character (a surrogate
	// pair, a UTF-8 sequence) or between the two bytes of a CRLF.
	ErrInside = errors.New("position is inside a character")
	// ErrOffset says that a byte offset lies outside the content.
	ErrOffset = errors.New("offset is out of range")
)

// File is the line index of one content. It is immutable and safe for
// concurrent use; it keeps a reference to the content, which must not change.
type File struct {
	content []byte
	lines   []int // byte offset of the start of each line
}

// NewFile indexes content. Lines end at LF, CRLF or a lone CR, as LSP says.
func NewFile(content []byte) *File {
	lines := make([]int, 1, 1+len(content)/32)
	if bytes.IndexByte(content, '\r') < 0 {
		for i := 0; ; {
			n := bytes.IndexByte(content[i:], '\n')
			if n < 0 {
				return &File{content: content, lines: lines}
			}
			i += n + 1
			lines = append(lines, i)
		}
	}
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '\n':
			lines = append(lines, i+1)
		case '\r':
			if i+1 < len(content) && content[i+1] == '\n' {
				i++
			}
			lines = append(lines, i+1)
		}
	}
	return &File{content: content, lines: lines}
}

// Content returns the indexed bytes; callers must not change them.
func (f *File) Content() []byte { return f.content }

// LineCount returns the number of lines; a final newline starts an empty last line.
func (f *File) LineCount() int { return len(f.lines) }

// Line returns the bytes of 0-based line n without its line ending, or nil
// when there is no such line.
func (f *File) Line(n int) []byte {
	if n < 0 || n >= len(f.lines) {
		return nil
	}
	return f.content[f.lines[n]:f.lineEnd(n)]
}

// LineStart returns the byte offset at which 0-based line n starts.
func (f *File) LineStart(n int) (int, error) {
	if n < 0 || n >= len(f.lines) {
		return 0, fmt.Errorf("line %d of %d: %w", n+1, len(f.lines), ErrLine)
	}
	return f.lines[n], nil
}

// LineOf returns the 0-based line that holds the byte offset.
func (f *File) LineOf(offset int) int {
	lo, hi := 0, len(f.lines)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if f.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// lineEnd is the offset after the last byte of line n that is not its ending.
func (f *File) lineEnd(n int) int {
	if n+1 == len(f.lines) {
		return len(f.content)
	}
	end := f.lines[n+1]
	if f.content[end-1] == '\n' {
		end--
		if end > f.lines[n] && f.content[end-1] == '\r' {
			end--
		}
		return end
	}
	return end - 1
}

// Offset converts a Position to a byte offset. A character at or beyond the
// line's end is ErrColumn only when beyond; line == LineCount with character 0
// is the end of the content, as servers write it.
func (f *File) Offset(p Position, enc Encoding) (int, error) {
	line := int(p.Line)
	if line == len(f.lines) && p.Character == 0 {
		return len(f.content), nil
	}
	if line >= len(f.lines) {
		return 0, fmt.Errorf("line %d of %d: %w", line+1, len(f.lines), ErrLine)
	}
	start, end := f.lines[line], f.lineEnd(line)
	want := int(p.Character)
	if enc == UTF8 {
		switch {
		case start+want > end:
			return 0, fmt.Errorf("line %d, character %d: %w", line+1, want, ErrColumn)
		case start+want < end && !utf8.RuneStart(f.content[start+want]) && insideRune(f.content[start:end], want):
			return 0, fmt.Errorf("line %d, character %d: %w", line+1, want, ErrInside)
		}
		return start + want, nil
	}
	off, units := start, 0
	for units < want {
		if off >= end {
			return 0, fmt.Errorf("line %d, character %d: %w", line+1, want, ErrColumn)
		}
		n, size := width(f.content[off:end], enc)
		if units+n > want {
			return 0, fmt.Errorf("line %d, character %d: %w", line+1, want, ErrInside)
		}
		units += n
		off += size
	}
	return off, nil
}

// OffsetClamped is Offset for positions that a server may put past a line's
// end or past the last line, which then mean that end.
func (f *File) OffsetClamped(p Position, enc Encoding) (int, error) {
	off, err := f.Offset(p, enc)
	switch {
	case errors.Is(err, ErrColumn):
		return f.lineEnd(int(p.Line)), nil
	case errors.Is(err, ErrLine):
		return len(f.content), nil
	}
	return off, err
}

// Position converts a byte offset to a Position.
func (f *File) Position(offset int, enc Encoding) (Position, error) {
	if offset < 0 || offset > len(f.content) {
		return Position{}, fmt.Errorf("offset %d of %d: %w", offset, len(f.content), ErrOffset)
	}
	line := f.LineOf(offset)
	start := f.lines[line]
	if end := f.lineEnd(line); offset > end {
		return Position{}, fmt.Errorf("offset %d: %w", offset, ErrInside)
	}
	if enc == UTF8 {
		if insideRune(f.content[start:], offset-start) {
			return Position{}, fmt.Errorf("offset %d: %w", offset, ErrInside)
		}
		return Position{Line: uint32(line), Character: uint32(offset - start)}, nil
	}
	units := 0
	for off := start; off < offset; {
		n, size := width(f.content[off:], enc)
		units += n
		off += size
		if off > offset {
			return Position{}, fmt.Errorf("offset %d: %w", offset, ErrInside)
		}
	}
	return Position{Line: uint32(line), Character: uint32(units)}, nil
}

// OffsetOf converts a Point to a byte offset.
func (f *File) OffsetOf(p Point) (int, error) {
	if p.Line < 1 || p.Line > len(f.lines) {
		return 0, fmt.Errorf("line %d of %d: %w", p.Line, len(f.lines), ErrLine)
	}
	start, end := f.textStart(p.Line-1), f.lineEnd(p.Line-1)
	if p.Column < 1 || start+p.Column-1 > end {
		return 0, fmt.Errorf("line %d, column %d: %w", p.Line, p.Column, ErrColumn)
	}
	off := start + p.Column - 1
	if insideRune(f.content[start:end], p.Column-1) {
		return 0, fmt.Errorf("line %d, column %d: %w", p.Line, p.Column, ErrInside)
	}
	return off, nil
}

// PointOf converts a byte offset to a Point. An offset inside a line ending is
// the end of its line; one inside the byte order mark is column 1.
func (f *File) PointOf(offset int) Point {
	offset = min(max(offset, 0), len(f.content))
	line := f.LineOf(offset)
	offset = min(offset, f.lineEnd(line))
	return Point{Line: line + 1, Column: max(offset-f.textStart(line), 0) + 1}
}

func (f *File) textStart(line int) int {
	start := f.lines[line]
	if line == 0 && bytes.HasPrefix(f.content, []byte(BOM)) {
		start += len(BOM)
	}
	return start
}

// width returns how many units of enc, and how many bytes, the first character
// of b takes. An invalid byte counts as one unit, like the U+FFFD that servers
// decode it to.
func width(b []byte, enc Encoding) (units, size int) {
	if b[0] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRune(b)
	if enc == UTF16 && r >= 0x10000 {
		return 2, size
	}
	return 1, size
}

// insideRune reports whether byte offset n of b is within a valid UTF-8 sequence.
func insideRune(b []byte, n int) bool {
	if n <= 0 || n >= len(b) || utf8.RuneStart(b[n]) {
		return false
	}
	for back := 1; back < utf8.UTFMax && n-back >= 0; back++ {
		if utf8.RuneStart(b[n-back]) {
			_, size := utf8.DecodeRune(b[n-back:])
			return size > back
		}
	}
	return false
}
