package text_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient/text"
)

func at(line, start, end uint32, now string) text.RangeEdit {
	return text.RangeEdit{Range: text.Range{Start: text.Position{Line: line, Character: start}, End: text.Position{Line: line, Character: end}}, New: now}
}

func TestL17_EditsOfAServer(t *testing.T) {
	tests := []struct {
		name, content, want string
		enc                 text.Encoding
		clamp               bool
		edits               []text.RangeEdit
		err                 error
	}{
		{name: "in any order", content: "one two", want: "1 2", edits: []text.RangeEdit{at(0, 4, 7, "2"), at(0, 0, 3, "1")}},
		{name: "inserts at one place keep their order", content: "ab", want: "a12b", edits: []text.RangeEdit{at(0, 1, 1, "1"), at(0, 1, 1, "2")}},
		{name: "insert and replace at one place", content: "abc", want: "aXYc", edits: []text.RangeEdit{at(0, 1, 2, "Y"), at(0, 1, 1, "X")}},
		{name: "neighbours", content: "abcd", want: "12", edits: []text.RangeEdit{at(0, 0, 2, "1"), at(0, 2, 4, "2")}},
		{name: "overlap", content: "abcd", edits: []text.RangeEdit{at(0, 0, 3, "1"), at(0, 2, 4, "2")}, err: text.ErrOverlap},
		{name: "insert within a replaced range", content: "abcd", edits: []text.RangeEdit{at(0, 0, 3, "1"), at(0, 1, 1, "2")}, err: text.ErrOverlap},
		{name: "the same range twice", content: "abcd", edits: []text.RangeEdit{at(0, 0, 3, "1"), at(0, 0, 3, "1")}, err: text.ErrOverlap},
		{name: "reversed", content: "abcd", edits: []text.RangeEdit{at(0, 3, 1, "1")}, err: text.ErrBounds},
		{name: "behind the line", content: "ab\ncd", edits: []text.RangeEdit{at(0, 1, 9, "x")}, err: text.ErrColumn},
		{name: "behind the line, clamped", content: "ab\r\ncd", want: "ax\r\ncd", clamp: true, edits: []text.RangeEdit{at(0, 1, 9, "x")}},
		{name: "behind the file", content: "ab", edits: []text.RangeEdit{at(7, 0, 0, "x")}, err: text.ErrLine},
		{name: "behind the file, clamped", content: "ab", want: "abx", clamp: true, edits: []text.RangeEdit{at(7, 0, 0, "x")}},
		{name: "UTF-16 behind an emoji", content: "\U0001F600 a", want: "\U0001F600 b", enc: text.UTF16, edits: []text.RangeEdit{at(0, 3, 4, "b")}},
		{name: "UTF-8 behind an emoji", content: "\U0001F600 a", want: "\U0001F600 b", enc: text.UTF8, edits: []text.RangeEdit{at(0, 5, 6, "b")}},
		{name: "UTF-32 behind an emoji", content: "\U0001F600 a", want: "\U0001F600 b", enc: text.UTF32, edits: []text.RangeEdit{at(0, 2, 3, "b")}},
		{name: "within a surrogate pair", content: "\U0001F600", enc: text.UTF16, edits: []text.RangeEdit{at(0, 1, 2, "x")}, err: text.ErrInside},
		{name: "within a surrogate pair, clamped", content: "\U0001F600", enc: text.UTF16, clamp: true, edits: []text.RangeEdit{at(0, 1, 2, "x")}, err: text.ErrInside},
		{name: "within UTF-8", content: "é", enc: text.UTF8, edits: []text.RangeEdit{at(0, 1, 1, "x")}, err: text.ErrInside},
		{name: "over lines, CRLF kept", content: "a\r\nb\r\nc", want: "aX\r\nc", edits: []text.RangeEdit{
			{Range: text.Range{Start: text.Position{Character: 1}, End: text.Position{Line: 1, Character: 1}}, New: "X"}}},
		{name: "byte order mark counts", content: text.BOM + "a", want: text.BOM + "b", edits: []text.RangeEdit{at(0, 1, 2, "b")}},
		{name: "huge numbers", content: "ab", edits: []text.RangeEdit{at(1<<32-1, 1<<32-1, 1<<32-1, "x")}, err: text.ErrLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			edits, err := text.FromLSP(text.NewFile([]byte(tt.content)), tt.edits, tt.enc, tt.clamp)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error is %v, want %v", err, tt.err)
			}
			if tt.err != nil {
				if edits != nil {
					t.Errorf("edits besides an error: %v", edits)
				}
				return
			}
			got, err := text.Apply([]byte(tt.content), edits)
			if err != nil || string(got) != tt.want {
				t.Errorf("applied: %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// FuzzE18_ApplyEqualsNaive applies edits that do not overlap from the last to
// the first, which needs no arithmetic, and compares.
func FuzzE18_ApplyEqualsNaive(f *testing.F) {
	f.Add("a\r\nb\U0001F600\n", uint64(1))
	f.Add(text.BOM+"x\n", uint64(2))
	f.Fuzz(func(t *testing.T, content string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		var edits []text.Edit
		for pos := 0; len(edits) < 6 && pos <= len(content); {
			start := pos + r.IntN(len(content)-pos+1)
			end := start + r.IntN(min(4, len(content)-start+1))
			edits = append(edits, text.Edit{Start: start, End: end, New: strings.Repeat("n", r.IntN(3))})
			pos = max(end, start+1)
		}
		want := content
		for i := len(edits) - 1; i >= 0; i-- {
			want = want[:edits[i].Start] + edits[i].New + want[edits[i].End:]
		}
		r.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
		given := []byte(content)
		got, err := text.Apply(given, edits)
		if err != nil || string(got) != want {
			t.Fatalf("Apply(%q, %v) = %q, %v; want %q", content, edits, got, err, want)
		}
		if string(given) != content {
			t.Fatal("Apply changed the content given")
		}
	})
}

func FuzzL17_AnyEditsAreRefusedOrInBounds(f *testing.F) {
	f.Add("abc", 0, 2, 1, 3)
	f.Add("a\r\n", 2, 2, 0, 0)
	f.Fuzz(func(t *testing.T, content string, a, b, c, d int) {
		edits := []text.Edit{{Start: a, End: b, New: "x"}, {Start: c, End: d, New: "y"}}
		got, err := text.Apply([]byte(content), edits)
		legal := func(e text.Edit) bool { return 0 <= e.Start && e.Start <= e.End && e.End <= len(content) }
		overlap := a < d && c < b
		if want := legal(edits[0]) && legal(edits[1]) && !overlap; want != (err == nil) {
			t.Fatalf("Apply(%q, %v) = %q, %v", content, edits, got, err)
		}
	})
}

func TestWords(t *testing.T) {
	tests := []struct {
		content, word string
		want          []int
	}{
		{"Tag TagSet myTag Tag", "Tag", []int{0, 17}},
		{"a.Tag(Tag)", "Tag", []int{2, 6}},
		{"Tag2 _Tag Tag_ Tagé éTag", "Tag", nil},
		{"$Tag @Tag #Tag", "Tag", []int{1, 6, 11}},
		{"Tag\u0301 Tag\u200d", "Tag", nil},
		{"名前 名", "名", []int{7}},
		{"\xffTag\xff", "Tag", []int{1}},
		{"operator+ operator+=", "operator+", []int{0, 10}},
		{"aaaa", "aa", nil},
		{"aa.aa", "aa", []int{0, 3}},
		{"x", "", nil},
		{"", "x", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, text.Words([]byte(tt.content), tt.word)); diff != "" {
			t.Errorf("Words(%q, %q) (-want +got):\n%s", tt.content, tt.word, diff)
		}
	}
}

func TestHashRoundTrip(t *testing.T) {
	h := text.Sum([]byte("x"))
	if back, err := text.ParseHash(h.String()); err != nil || back != h {
		t.Errorf("ParseHash(%s) = %s, %v", h, back, err)
	}
	for _, s := range []string{"", "zz", h.String()[1:], h.String() + "00"} {
		if _, err := text.ParseHash(s); err == nil {
			t.Errorf("ParseHash(%q) gave no error", s)
		}
	}
}

func TestEncodingNames(t *testing.T) {
	for _, enc := range encodings {
		if back, err := text.ParseEncoding(enc.String()); err != nil || back != enc {
			t.Errorf("ParseEncoding(%s) = %v, %v", enc, back, err)
		}
	}
	if enc, err := text.ParseEncoding(""); enc != text.UTF16 || err != nil {
		t.Errorf("no encoding is %v, %v, want UTF-16", enc, err)
	}
	if _, err := text.ParseEncoding("latin-1"); err == nil {
		t.Error("an unknown encoding gave no error")
	}
}
