package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// Query is a question.
type Query struct {
	Text  string
	Limit int // most hits wanted
	// Keep says which files may answer; nil is all.
	Keep func(path string, c Category) bool
}

// Hit is one chunk that answers.
type Hit struct {
	Path  string
	Hash  Hash    // of the content in which the chunk is
	Chunk int     // number in what Chunks returns
	Score float64 // above 0, below 1
}

// term is what is looked for, and how much finding it says.
type term struct {
	hash   uint32
	weight float64
	group  int // the word of the question that it stands for
}

// How BM25 counts: a word that is there often soon says no more, and a long chunk
// that holds it says less. Short chunks are about as good as those of some words.
const (
	saturation = 1.6
	lengthPart = 0.5
	typical    = 8 // words
)

// What else a score is made of.
const (
	joined       = 0.9  // two words of the question as one word of a program
	alike        = 0.6  // an abbreviation, or what one stands for
	minorPart    = 0.7  // is left to a file that is beside the program
	filePart     = 0.35 // of what its whole file scores is added to a chunk
	repeated     = 0.88 // is left to each further chunk of a file
	mostRepeated = 12
	floor        = 0.25 // of the best score is the least that is an answer
	steep        = 1.6  // of the curve that brings scores below 1
)

// maxQuestion bounds the words of a question that are looked for.
const maxQuestion = 64

// parse takes a question apart. Words that say nothing are left out unless there
// are no others.
func (a *analyzer) parse(question string) (terms []term, groups int, minorWanted bool) {
	var words []string
	collect := func(stop bool) {
		words = words[:0]
		eachWord([]byte(question), func(w []byte) {
			if len(words) < maxQuestion && (!stop || !stopWords[strings.ToLower(string(w))]) {
				words = append(words, string(w))
			}
		})
	}
	if collect(true); len(words) == 0 {
		collect(false)
	}
	seen := map[uint32]int{}
	put := func(h uint32, weight float64, group int) {
		if at, ok := seen[h]; ok {
			terms[at].weight = max(terms[at].weight, weight)
			return
		}
		seen[h] = len(terms)
		terms = append(terms, term{h, weight, group})
	}
	var parts []string // of all words, in order
	for _, w := range words {
		own := split(w)
		for _, p := range own {
			st := stem(p)
			put(hash(st), 1, groups)
			for _, s := range short[st] {
				put(hash(s), alike, groups)
			}
			groups++
			minorWanted = minorWanted || minorWords[st]
		}
		if len(own) > 1 {
			put(hash(strings.Join(own, "")), joined, groups)
			groups++
		}
		parts = append(parts, own...)
	}
	for size := 2; size <= 3; size++ {
		for i := 0; i+size <= len(parts); i++ {
			// A word of its own group: it is an extra where a program has it.
			put(hash(strings.Join(parts[i:i+size], "")), joined, -1)
		}
	}
	return terms, groups, minorWanted
}

// minorWords, as stems, ask for files beside the program.
var minorWords = set("test exampl sampl mock fixtur benchmark bench demo spec changelog licens")

// Search returns the hits of a question, the best first, and how many chunks
// answer it in all. The same question on the same files has the same answer.
func (x *Index) Search(ctx context.Context, q Query) (hits []Hit, total int, err error) {
	a := x.analyzers.Get().(*analyzer)
	terms, groups, minorWanted := a.parse(q.Text)
	x.analyzers.Put(a)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(terms) == 0 || x.chunks == 0 {
		return nil, 0, ctx.Err()
	}
	r := &ranker{
		terms: terms, groups: groups, minor: minorWanted, keep: q.Keep,
		mean: max(float64(x.words)/float64(x.chunks), 1),
	}
	if err := r.weigh(ctx, x); err != nil {
		return nil, 0, err
	}
	var found []Hit
	for _, s := range x.sources() {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		found = r.rank(s, found)
	}
	best := 0.0
	for _, h := range found {
		best = max(best, h.Score)
	}
	found = slices.DeleteFunc(found, func(h Hit) bool { return h.Score < floor*best })
	slices.SortFunc(found, better)
	spread(found)
	total = len(found)
	for i := range found {
		// Words that stand together can bring more than each of them: 1 is never reached.
		found[i].Score = 1 - math.Exp(-steep*found[i].Score)
	}
	return slices.Clone(found[:min(max(q.Limit, 0), total)]), total, nil
}

// source is a segment, or a fresh entry that stands for one.
type source interface {
	each(term uint32, yield func(chunk uint32, weight uint8))
	size() int
	length(chunk uint32) uint16
	files() int
	file(chunk uint32) int                   // which one holds a chunk
	entry(file int) (e *entry, first uint32) // nil for one that was replaced
}

func (s *segment) size() int              { return len(s.lengths) }
func (s *segment) length(c uint32) uint16 { return s.lengths[c] }
func (s *segment) files() int             { return len(s.entries) }
func (s *segment) entry(n int) (*entry, uint32) {
	return s.entries[n], s.first[n]
}

func (e *entry) size() int                  { return len(e.lengths) }
func (e *entry) length(c uint32) uint16     { return e.lengths[c] }
func (e *entry) files() int                 { return 1 }
func (e *entry) file(uint32) int            { return 0 }
func (e *entry) entry(int) (*entry, uint32) { return e, 0 }

func (e *entry) each(term uint32, yield func(chunk uint32, weight uint8)) {
	i, _ := slices.BinarySearch(e.postings, newPosting(term, 0, 0))
	for ; i < len(e.postings) && e.postings[i].term() == term; i++ {
		yield(e.postings[i].chunk(), e.postings[i].weight())
	}
}

// sources returns all that holds postings; mu is held.
func (x *Index) sources() []source {
	out := make([]source, 0, len(x.segments)+x.live)
	for _, s := range x.segments {
		out = append(out, s)
	}
	for _, e := range x.fresh {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// ranker scores chunks for one question.
type ranker struct {
	terms  []term
	groups int
	minor  bool
	keep   func(string, Category) bool
	mean   float64
	rarity []float64 // of each term
	most   float64   // what a chunk could reach that holds every word often
}

// weigh finds out how rare the terms are.
func (r *ranker) weigh(ctx context.Context, x *Index) error {
	r.rarity = make([]float64, len(r.terms))
	counts := make([]int, len(r.terms))
	for _, s := range x.sources() {
		if err := ctx.Err(); err != nil {
			return err
		}
		seg, packed := s.(*segment)
		for i, t := range r.terms {
			s.each(t.hash, func(chunk uint32, _ uint8) {
				if !packed || seg.dead == 0 || seg.entries[seg.file(chunk)] != nil {
					counts[i]++
				}
			})
		}
	}
	best := make([]float64, r.groups)
	for i, t := range r.terms {
		n := float64(counts[i])
		r.rarity[i] = t.weight * math.Log(1+(float64(x.chunks)-n+0.5)/(n+0.5))
		if t.group >= 0 {
			best[t.group] = max(best[t.group], r.rarity[i])
		}
	}
	for _, b := range best {
		r.most += b
	}
	return nil
}

// rank appends the hits of one source.
func (r *ranker) rank(s source, out []Hit) []Hit {
	scores := make([]float64, s.size())
	files := make([]float64, s.files()) // what the best chunks for each word make together
	group := struct {
		chunks, files   []float64 // the best of the word at hand
		touched, inFile []uint32
	}{chunks: make([]float64, len(scores)), files: make([]float64, len(files))}
	for i := 0; i < len(r.terms); {
		j := i + 1
		for j < len(r.terms) && r.terms[j].group == r.terms[i].group && r.terms[i].group >= 0 {
			j++
		}
		group.touched, group.inFile = group.touched[:0], group.inFile[:0]
		for ; i < j; i++ {
			s.each(r.terms[i].hash, func(chunk uint32, weight uint8) {
				tf := float64(weight) / weightText
				norm := saturation * (1 - lengthPart + lengthPart*(float64(s.length(chunk))+typical)/(r.mean+typical))
				score := r.rarity[i] * tf / (tf + norm)
				if group.chunks[chunk] == 0 {
					group.touched = append(group.touched, chunk)
				}
				group.chunks[chunk] = max(group.chunks[chunk], score)
			})
		}
		for _, c := range group.touched {
			score := group.chunks[c]
			scores[c] += score
			group.chunks[c] = 0
			f := s.file(c)
			if group.files[f] == 0 {
				group.inFile = append(group.inFile, uint32(f))
			}
			group.files[f] = max(group.files[f], score)
		}
		for _, f := range group.inFile {
			files[f] += group.files[f]
			group.files[f] = 0
		}
	}
	for c, score := range scores {
		if score <= 0 {
			continue
		}
		f := s.file(uint32(c))
		e, first := s.entry(f)
		if e == nil || r.keep != nil && !r.keep(e.path, e.category) {
			continue
		}
		score += filePart * files[f]
		if e.minor && !r.minor {
			score *= minorPart
		}
		out = append(out, Hit{Path: e.path, Hash: e.hash, Chunk: c - int(first), Score: score / r.most})
	}
	return out
}

// spread lets further chunks of a file stand behind as good ones of others; hits
// are in order before and after.
func spread(hits []Hit) {
	seen := map[string]int{}
	for i := range hits {
		n := seen[hits[i].Path]
		hits[i].Score *= math.Pow(repeated, float64(min(n, mostRepeated)))
		seen[hits[i].Path] = n + 1
	}
	slices.SortFunc(hits, better)
}

func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Chunk, b.Chunk))
}

// Densest returns at which line of a text the part of that many lines begins that
// holds most of the words of a question, each counted once.
func Densest(question string, part []byte, size int) int {
	a := newAnalyzer()
	terms, _, _ := a.parse(question)
	wanted := map[uint32]float64{}
	for _, t := range terms {
		wanted[t.hash] = t.weight
	}
	type found struct {
		line int
		term uint32
	}
	var all []found
	lines := 0
	for line := range strings.Lines(string(part)) {
		a.text([]byte(line), func(t uint32) {
			if wanted[t] > 0 {
				all = append(all, found{lines, t})
			}
		})
		lines++
	}
	best, most := 0, 0.0
	for from := 0; from+size <= lines; from++ {
		sum := 0.0
		seen := map[uint32]bool{}
		for _, f := range all {
			if from <= f.line && f.line < from+size && !seen[f.term] {
				seen[f.term] = true
				sum += wanted[f.term]
			}
		}
		if sum > most {
			best, most = from, sum
		}
	}
	return best
}
