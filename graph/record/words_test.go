package record_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/auralsp/aura/graph/record"
	"github.com/auralsp/aura/lspclient/text"
)

func packText(t testing.TB, content string) record.Record {
	t.Helper()
	r, err := record.Make(nil, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := record.Of(r.Data()); err != nil || again != r {
		t.Fatalf("the same bytes make another record: %v", err)
	}
	return r
}

// What a search finds in a content, the content's record never lacks.
func TestNoWordThatIsThereIsLacked(t *testing.T) {
	pieces := []string{"Order", "order", "x", "_", "9", " ", "\n", "\r\n", ".", "größe", "名前", "→", "\u200d", "é", "e\u0301", "\xff", "\xe5\x90", "$", "@", "operator+", "\x00", "~"}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		some := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			return b.String()
		}
		content := some(r.IntN(40))
		rec := packText(t, content)
		for range 20 {
			word := some(1 + r.IntN(3))
			if n := len(content); n > 0 && r.IntN(2) == 0 {
				from := r.IntN(n)
				word = content[from:min(n, from+1+r.IntN(9))] // may begin and end within a character
			}
			if text.NextWord([]byte(content), word, 0) >= 0 && rec.Lacks(record.WordsOf(word)) {
				t.Fatalf("seed %d: %q is in %q, and its record lacks it", seed, word, content)
			}
		}
	}
}

func FuzzLacks(f *testing.F) {
	f.Add("func Größe() {}", "Größe")
	f.Add("a\xe5\x90\r\nb", "\xe5\x90")
	f.Fuzz(func(t *testing.T, content, word string) {
		if text.NextWord([]byte(content), word, 0) >= 0 && packText(t, content).Lacks(record.WordsOf(word)) {
			t.Fatalf("%q is in %q, and its record lacks it", word, content)
		}
	})
}

// Few files are read in vain, and the filter takes little room.
func TestWordsThatAreNotThereAreMostlyLacked(t *testing.T) {
	for _, words := range []int{1, 10, 100, 1000, 20000} {
		var b strings.Builder
		for i := range words {
			fmt.Fprintf(&b, "name%d = name%d + name%d\n", i, i, i/2)
		}
		rec := packText(t, b.String())
		vain := 0
		const asked = 20000
		for i := range asked {
			if !rec.Lacks(record.WordsOf(fmt.Sprintf("other%d", i))) {
				vain++
			}
		}
		if vain > asked/40 {
			t.Errorf("%d of %d words that are not there are taken to be in a file of %d words", vain, asked, words)
		}
		if size := len(rec.Data()); size > 16+3*words {
			t.Errorf("%d words take %d bytes", words, size)
		}
	}
	if !packText(t, "+ - *").Lacks(record.WordsOf("x")) || packText(t, "a").Lacks(record.WordsOf("+")) {
		t.Error("a content without words holds one, or a sign is told from words")
	}
}

func BenchmarkMakeWords(b *testing.B) {
	var src strings.Builder
	for i := range 200 {
		fmt.Fprintf(&src, "\tif value%d, err := compute(ctx, input%d); err != nil {\n\t\treturn nil, err\n\t}\n", i, i)
	}
	content := []byte(src.String())
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := record.Make(nil, content); err != nil {
			b.Fatal(err)
		}
	}
}
