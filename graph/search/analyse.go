package search

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// What a word counts for where it stands, in halves. Words of a chunk's text
// count once; these are added to that.
const (
	weightText  = 2
	weightName  = 10 // the name of the chunk's own declaration, or its heading
	weightInner = 4  // a name that is declared within it
	weightDoc   = 3
	weightOuter = 3 // what its declaration lies in
	weightBase  = 6 // the name of its file
	weightPath  = 2 // the folders above that
)

// maxTerms bounds how often a word counts in a chunk.
const maxTerms = 255

// posting says how much a term counts in a chunk. Postings are in order of term,
// then of chunk.
type posting uint64

// A posting holds the term in the upper half, then the number of the chunk in its
// file or pack, then the weight.
func newPosting(term, chunk uint32, weight uint8) posting {
	return posting(term)<<32 | posting(min(chunk, maxChunk))<<8 | posting(weight)
}

// maxChunk is far above what files within MaxFile have.
const maxChunk = 1<<24 - 1

func (p posting) term() uint32  { return uint32(p >> 32) }
func (p posting) chunk() uint32 { return uint32(p) >> 8 }
func (p posting) weight() uint8 { return uint8(p) }

// entry is what the index knows of one file.
type entry struct {
	path     string
	hash     Hash
	category Category
	minor    bool      // tests and the like, of which one seldom asks
	lengths  []uint16  // of each chunk, in words
	postings []posting // in order of term and chunk; nil when they are in a segment
}

// analyse makes the entry of a file.
func (a *analyzer) analyse(f File, hash Hash) *entry {
	e := &entry{path: f.Path, hash: hash, category: f.Category, minor: isMinor(f.Path)}
	weights := map[uint32]int{}
	dir, base := path.Split(f.Path)
	for n, ch := range Chunks(f) {
		clear(weights)
		length := 0
		a.text(f.Content[ch.Span.Start:ch.Span.End], func(t uint32) { weights[t] += weightText; length++ })
		more := func(text string, weight int) {
			a.text([]byte(text), func(t uint32) { weights[t] += weight })
		}
		more(ch.Name, weightName)
		for _, s := range ch.names {
			if s != ch.Owner {
				more(s.Name, weightInner)
			}
		}
		if ch.Owner != nil {
			more(ch.Owner.Doc, weightDoc)
			more(ch.Owner.Container, weightOuter)
		}
		more(base, weightBase)
		more(dir, weightPath)
		e.lengths = append(e.lengths, uint16(min(length, 1<<16-1)))
		for t, w := range weights {
			e.postings = append(e.postings, newPosting(t, uint32(n), uint8(min(w, maxTerms))))
		}
	}
	slices.Sort(e.postings)
	e.postings = slices.Clip(e.postings)
	return e
}

// isMinor reports whether a file is beside the program itself: it holds the words
// of what it tests or shows, and is seldom what a question is about.
func isMinor(path string) bool {
	lower := strings.ToLower(path)
	for part := range strings.SplitSeq(lower, "/") {
		stemmed, _, _ := strings.Cut(part, ".")
		switch stemmed {
		case "test", "tests", "testing", "testdata", "__tests__", "fixture", "fixtures", "mock", "mocks", "example", "examples", "sample", "samples", "spec", "specs",
			"benchmark", "benchmarks", "bench", "benches", "e2e", "demo", "demos", "changelog", "changes", "history", "license", "copying", "authors", "contributors", "third_party", "locale":
			return true
		}
		if strings.HasSuffix(stemmed, "_test") || strings.HasPrefix(stemmed, "test_") || strings.HasSuffix(stemmed, "tests") ||
			strings.Contains(part, ".test.") || strings.Contains(part, ".spec.") || strings.Contains(part, ".stories.") || strings.HasSuffix(stemmed, "_mock") {
			return true
		}
	}
	return false
}

// Sizes and shapes of what is left out.
const (
	// MaxFile is the largest file that is searched, in bytes.
	MaxFile = 1 << 20
	// maxLineMean is how long lines are on average, in bytes, where nobody wrote them.
	maxLineMean = 400
)

// Skipped says in words why a text is left out; empty for one that is searched.
func Skipped(content []byte) string {
	switch {
	case len(content) > MaxFile:
		return "too large"
	case bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0:
		return "binary"
	case len(content) > 4*maxLineMean && len(content)/(1+bytes.Count(content, []byte("\n"))) > maxLineMean:
		return "minified"
	}
	return ""
}
