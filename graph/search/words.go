package search

import (
	"hash/crc32"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxWord is the longest word that is looked at, in bytes; what is longer is
// data that was written down as text.
const maxWord = 64

// maxKnown bounds the words of which an analyzer remembers the terms.
const maxKnown = 1 << 16

// analyzer turns words into terms. It is for one goroutine.
type analyzer struct {
	known map[string][]uint32
}

func newAnalyzer() *analyzer { return &analyzer{known: map[string][]uint32{}} }

// terms returns the hashes of what a word is found by: the stems of its parts
// and, where it has several, all of them joined. The result must not be changed.
func (a *analyzer) terms(word []byte) []uint32 {
	if t, ok := a.known[string(word)]; ok {
		return t
	}
	if len(a.known) >= maxKnown {
		clear(a.known)
	}
	w := string(word)
	var out []uint32
	put := func(term string) {
		if h := hash(term); !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	parts := split(w)
	for _, p := range parts {
		put(stem(p))
		if letters := strings.TrimRight(p, "0123456789"); len(letters) > 1 && len(letters) < len(p) {
			put(stem(letters)) // sha256 is a sha
		}
	}
	if len(parts) > 1 {
		put(strings.Join(parts, ""))
	}
	a.known[w] = out
	return out
}

// text calls yield with the terms of each word in text.
func (a *analyzer) text(text []byte, yield func(term uint32)) {
	eachWord(text, func(word []byte) {
		for _, t := range a.terms(word) {
			yield(t)
		}
	})
}

// castagnoli is in hardware where there is any.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func hash(term string) uint32 { return crc32.Update(0, castagnoli, []byte(term)) }

// eachWord calls yield with what may be an identifier or a word of prose; single
// letters say nothing and are left out.
func eachWord(text []byte, yield func(word []byte)) {
	for i := 0; i < len(text); {
		size, in := wordRune(text[i:])
		if !in {
			i += size
			continue
		}
		start := i
		for i < len(text) {
			if size, in = wordRune(text[i:]); !in {
				break
			}
			i += size
		}
		if n := i - start; n > 1 && n <= maxWord || n == 1 && '0' <= text[start] && text[start] <= '9' {
			yield(text[start:i])
		}
	}
}

// wordRune returns the size of the first character and whether words hold it.
func wordRune(text []byte) (size int, in bool) {
	if c := text[0]; c < utf8.RuneSelf {
		return 1, c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	r, size := utf8.DecodeRune(text)
	return size, r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// split returns the parts of an identifier in lower case: parseHTTPRequest2 is
// parse, http, request2; user_id is user, id. Characters of scripts that write no
// spaces between words come in pairs.
func split(word string) []string {
	var parts []string
	runes := []rune(word)
	start := 0
	put := func(end int) {
		if end > start {
			parts = appendPart(parts, runes[start:end])
		}
		start = end
	}
	for i, r := range runes {
		if r == '_' {
			put(i)
			start = i + 1
			continue
		}
		if i > start && boundary(runes, i) {
			put(i)
		}
	}
	put(len(runes))
	return parts
}

// boundary reports whether a part begins at runes[i], which no underscore precedes.
func boundary(runes []rune, i int) bool {
	last, r := runes[i-1], runes[i]
	switch {
	case spaceless(last) != spaceless(r):
		return true
	case unicode.IsDigit(last):
		return unicode.IsLetter(r) && (unicode.IsUpper(r) || i+1 < len(runes) && unicode.IsLetter(runes[i+1]))
	case unicode.IsUpper(r):
		if !unicode.IsUpper(last) {
			return unicode.IsLetter(last)
		}
		// The last capital of several begins the next part: HTTPServer. A small s
		// that ends the word is their plural: URLs.
		if i+1 >= len(runes) || !unicode.IsLower(runes[i+1]) {
			return false
		}
		return runes[i+1] != 's' || i+2 < len(runes) && unicode.IsLower(runes[i+2])
	}
	return false
}

// spaceless reports whether a script writes no spaces between words.
func spaceless(r rune) bool {
	const prolonged = 'ー' // belongs to no script of its own
	return r == prolonged || r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

func appendPart(parts []string, runes []rune) []string {
	if len(runes) > 2 && spaceless(runes[0]) {
		for i := range len(runes) - 1 {
			parts = append(parts, string(runes[i:i+2]))
		}
		return parts
	}
	return append(parts, strings.ToLower(string(runes)))
}

// stem returns the stem of a word in lower case, if it is written in letters of
// English.
func stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return agentless(english.Stem(word, true))
}

// agentless makes one of a parser and to parse, a matcher and to match, which
// programs name and questions ask for either way.
func agentless(stem string) string {
	root, ok := strings.CutSuffix(stem, "er")
	if n := len(root); ok && n >= 4 {
		if last := root[n-1]; last == root[n-2] && !strings.ContainsRune("aeiouslz", rune(last)) {
			root = root[:n-1] // scanner
		}
		return root
	}
	return stem
}

// stopWords say nothing in a question. They are words of prose that code has as
// well, or that ask for code as such.
var stopWords = set("a an and any are as at be been being but by can could did do does doing each for from had has have having here how i if in into is it its " +
	"me my no nor not of on or our out over own same should so some such than that the their them then there these they this those through to too under up " +
	"very was we were what when where which while who whom why will with would you your " +
	"code find finds finding show shows located implemented implement implementation implements defined happen happens handled handles work works logic place places piece part")

// short are what programs call things for short, either way.
var short = pairs("arg argument|args arguments|auth authentication|auth authorization|async asynchronous|attr attribute|buf buffer|calc calculate|cfg config|cmd command|" +
	"config configuration|conn connection|ctx context|db database|decl declaration|def definition|del delete|dest destination|dir directory|dirs directories|doc documentation|" +
	"elem element|env environment|err error|eval evaluate|exec execute|expr expression|ext extension|fmt format|fn function|func function|gen generate|hdr header|id identifier|" +
	"idx index|impl implementation|info information|init initialize|init initialization|iter iterate|iter iterator|len length|lib library|loc location|max maximum|mem memory|" +
	"min minimum|msg message|mut mutable|ns namespace|num number|obj object|op operation|opt option|opts options|param parameter|params parameters|pkg package|pos position|" +
	"prev previous|proc process|prop property|props properties|ptr pointer|ref reference|regex regexp|rel relative|repo repository|req request|res resource|res response|resp response|" +
	"spec specification|src source|stat status|stmt statement|str string|sync synchronize|sync synchronization|temp temporary|tmp temporary|txn transaction|tx transaction|util utility|" +
	"val value|var variable|ver version|vec vector")

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// pairs reads "a b|c d" into the stems that mean the same.
func pairs(list string) map[string][]string {
	out := map[string][]string{}
	for pair := range strings.SplitSeq(list, "|") {
		a, b, _ := strings.Cut(pair, " ")
		a, b = stem(a), stem(b)
		if a == b {
			continue
		}
		out[a] = append(out[a], b)
		out[b] = append(out[b], a)
	}
	return out
}
