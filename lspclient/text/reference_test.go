package text_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/auralsp/aura/lspclient/text"
)

// place is one position of a content as the slow reference sees it.
type place struct {
	offset int
	pos    text.Position
}

// places lists every position of a content by walking it character by
// character, as the protocol's text says: lines end at \n, \r\n or \r, and
// characters count code units of the encoding.
func places(content string, enc text.Encoding) []place {
	var out []place
	var line, char uint32
	for i := 0; i < len(content); {
		out = append(out, place{i, text.Position{Line: line, Character: char}})
		switch {
		case strings.HasPrefix(content[i:], "\r\n"):
			i, line, char = i+2, line+1, 0
			continue
		case content[i] == '\n' || content[i] == '\r':
			i, line, char = i+1, line+1, 0
			continue
		}
		r, size := utf8.DecodeRuneInString(content[i:])
		switch enc {
		case text.UTF8:
			char += uint32(size)
		case text.UTF16:
			char += uint32(len(utf16.Encode([]rune{r})))
		default:
			char++
		}
		i += size
	}
	return append(out, place{len(content), text.Position{Line: line, Character: char}})
}

var encodings = []text.Encoding{text.UTF8, text.UTF16, text.UTF32}

func checkPositions(t *testing.T, content string) {
	t.Helper()
	f := text.NewFile([]byte(content))
	for _, enc := range encodings {
		byOffset := map[int]text.Position{}
		ends := map[uint32]uint32{} // last character of each line
		byPos := map[text.Position]int{}
		for _, p := range places(content, enc) {
			byOffset[p.offset] = p.pos
			byPos[p.pos] = p.offset
			ends[p.pos.Line] = p.pos.Character
		}
		for offset := -1; offset <= len(content)+1; offset++ {
			got, err := f.Position(offset, enc)
			want, ok := byOffset[offset]
			switch {
			case offset < 0 || offset > len(content):
				if !errors.Is(err, text.ErrOffset) {
					t.Fatalf("%q: Position(%d, %s): %v, want ErrOffset", content, offset, enc, err)
				}
			case !ok:
				if !errors.Is(err, text.ErrInside) {
					t.Fatalf("%q: Position(%d, %s) = %v, %v, want ErrInside", content, offset, enc, got, err)
				}
			case err != nil || got != want:
				t.Fatalf("%q: Position(%d, %s) = %v, %v, want %v", content, offset, enc, got, err, want)
			}
			if text.SplitsCharacter([]byte(content), offset) == ok && offset >= 0 && offset <= len(content) {
				t.Fatalf("%q: SplitsCharacter(%d) = %v", content, offset, ok)
			}
		}
		if want := len(ends); f.LineCount() != want {
			t.Fatalf("%q: LineCount %d, want %d", content, f.LineCount(), want)
		}
		for line := uint32(0); int(line) <= len(ends)+1; line++ {
			for char := uint32(0); char <= ends[line]+2; char++ {
				pos := text.Position{Line: line, Character: char}
				got, err := f.Offset(pos, enc)
				want, ok := byPos[pos]
				switch end, exists := ends[line]; {
				case !exists && int(line) == len(ends) && char == 0:
					if got != len(content) || err != nil {
						t.Fatalf("%q: Offset of the line after the last: %d, %v", content, got, err)
					}
				case !exists:
					if !errors.Is(err, text.ErrLine) {
						t.Fatalf("%q: Offset(%v, %s): %v, want ErrLine", content, pos, enc, err)
					}
				case char > end:
					if !errors.Is(err, text.ErrColumn) {
						t.Fatalf("%q: Offset(%v, %s) = %d, %v, want ErrColumn", content, pos, enc, got, err)
					}
					if clamped, err := f.OffsetClamped(pos, enc); err != nil || clamped != byPos[text.Position{Line: line, Character: end}] {
						t.Fatalf("%q: OffsetClamped(%v, %s) = %d, %v", content, pos, enc, clamped, err)
					}
				case !ok:
					if !errors.Is(err, text.ErrInside) {
						t.Fatalf("%q: Offset(%v, %s) = %d, %v, want ErrInside", content, pos, enc, got, err)
					}
				case err != nil || got != want:
					t.Fatalf("%q: Offset(%v, %s) = %d, %v, want %d", content, pos, enc, got, err, want)
				}
			}
		}
	}
}

// samples hold what has gone wrong in servers and editors.
var samples = []string{
	"", "a", "\n", "\r", "\r\n", "\n\r", "\r\r\n", "a\r\nb\rc\nd", "ab\r", "ab\r\n",
	text.BOM + "a\n", "a" + text.BOM, "\U0001F600", "a\U0001F600b\n\U0001F468\u200D\U0001F469", "e\u0301\u200d", "名字\r\n",
	"\u2028a\u2029b\u0085c\x0bd\x0ce", "\t\tx", "\xff", "a\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80x", "\x80\x80\x80\x80\x80",
	"\xc0\xaf", "\x00", "a\xf0\x9f\n", "é\r\n\xe9",
}

func TestL16_PositionsEqualASlowReference(t *testing.T) {
	for _, s := range samples {
		checkPositions(t, s)
	}
}

func FuzzL16_Positions(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if len(content) < 200 {
			checkPositions(t, content)
		}
	})
}

func FuzzPoints(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		file := text.NewFile([]byte(content))
		for _, p := range places(content, text.UTF8) {
			point := file.PointOf(p.offset)
			back, err := file.OffsetOf(point)
			inBOM := strings.HasPrefix(content, text.BOM) && p.offset < len(text.BOM)
			if err != nil || back != p.offset && !inBOM {
				t.Fatalf("%q: offset %d is %+v, which is %d, %v", content, p.offset, point, back, err)
			}
		}
		for n := range file.LineCount() {
			if line := file.Line(n); strings.ContainsAny(string(line), "\r\n") {
				t.Fatalf("%q: line %d is %q", content, n, line)
			}
		}
	})
}
