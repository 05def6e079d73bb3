package op

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/search"
	"github.com/auralsp/aura/lspclient/text"
)

// Bounds of a snippet.
const (
	maxSnippetLines = 24
	maxSnippetBytes = 4000
)

// searchCode finds parts of files by a name, words or a question.
func searchCode(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.SearchQuery)
	paths, err := within(ctx, s, in.Request, "", in.FilePattern)
	if err != nil {
		return nil, err
	}
	return (&searcher{s: s, query: in.Query, keep: kept(s, paths, in.ContentType), limit: in.Limit}).answer(ctx, "search")
}

// kept says which files a search is about.
func kept(s *workbench.Session, paths func(string) bool, content string) func(string, search.Category) bool {
	want, some := map[string]search.Category{"code": search.Code, "docs": search.Docs, "config": search.Config}[content]
	return func(file string, c search.Category) bool {
		return (!some || c == want) && (paths == nil || paths(s.Absolute(file)))
	}
}

// searcher answers one search.
type searcher struct {
	s          *workbench.Session
	query      string
	keep       func(file string, c search.Category) bool
	conditions []declaredSet // a result satisfies all of them
	limit      int
}

func (q *searcher) answer(ctx context.Context, operation string) (*api.SearchResults, error) {
	if strings.TrimSpace(q.query) == "" {
		return nil, api.Errorf(api.InvalidArgument, "the query is empty; give a name, some words or a question")
	}
	out := &api.SearchResults{Operation: operation, Results: []api.SearchResult{}, Ranking: "lexical"}
	exact, err := q.exact(ctx)
	if err != nil {
		return nil, err
	}
	vectors, candidates := q.s.Vectors()
	if vectors == nil {
		candidates = 0
	}
	found, err := q.s.Search(ctx, search.Query{Text: q.query, Keep: q.keep, Limit: q.wanted(len(exact), candidates)})
	if err != nil {
		return nil, err
	}
	parts, err := q.parts(ctx, found.Hits, exact)
	if err != nil {
		return nil, err
	}
	if len(q.conditions) > 0 && found.Total > len(found.Hits) {
		q.s.Incomplete(fmt.Sprintf("the conditions were judged for the best %d of %d parts", len(found.Hits), found.Total))
		found.Total = len(found.Hits)
	}
	out.Total = len(exact) + found.Total - (len(found.Hits) - len(parts))
	if vectors != nil && len(parts) > 0 {
		if err := q.fuse(ctx, vectors, parts, candidates); err == nil {
			out.Ranking = "hybrid"
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		} else {
			q.s.Warn("words alone rank these results: " + err.Error())
		}
	}
	out.Results = append(out.Results, exact[:min(len(exact), q.limit)]...)
	for _, p := range parts[:min(len(parts), q.limit-len(out.Results))] {
		out.Results = append(out.Results, q.result(p))
	}
	out.Truncated = out.Total > len(out.Results)
	if out.Total == 0 && len(q.conditions) == 0 {
		q.suggest(ctx)
	}
	from := sources{"text": true}
	if len(exact) > 0 {
		from = sources{"graph": true}
	}
	out.Trust = from.trust(q.s)
	return out, nil
}

// part is a hit that counts.
type part struct {
	hit   search.Hit
	chunk search.Chunk
	file  *text.File
	score float64
}

// parts cuts the files of hits and keeps the hits that meet the conditions and
// show more than an exact match does.
func (q *searcher) parts(ctx context.Context, hits []search.Hit, exact []api.SearchResult) ([]part, error) {
	var out []part
	files := map[string]cutFile{}
	for _, h := range hits {
		cut, known := files[h.Path]
		if !known {
			var err error
			if cut, err = q.cut(ctx, h); err != nil {
				return nil, err
			}
			files[h.Path] = cut
		}
		if h.Chunk >= len(cut.chunks) {
			q.s.Incomplete(h.Path + " changed while it was searched; ask again")
			continue
		}
		p := part{hit: h, chunk: cut.chunks[h.Chunk], file: cut.file, score: h.Score}
		if q.satisfied(p.chunk.Declares()...) && !slices.ContainsFunc(exact, p.repeats) {
			out = append(out, p)
		}
	}
	return out, nil
}

// cutFile is a file as it is cut; without chunks it has changed meanwhile.
type cutFile struct {
	chunks []search.Chunk
	file   *text.File
}

func (q *searcher) cut(ctx context.Context, h search.Hit) (cutFile, error) {
	chunks, f, ok, err := q.s.Chunks(ctx, h)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !ok {
		return cutFile{}, nil
	}
	return cutFile{chunks, f}, err
}

// repeats reports whether a part shows nothing but an exact match.
func (p part) repeats(e api.SearchResult) bool {
	from, to := p.lines()
	return e.File == p.hit.Path && e.Name == p.chunk.Name && e.Line <= to+1 && from < e.EndLine
}

// lines returns the first and the last line, 0-based.
func (p part) lines() (from, to int) {
	return p.file.LineOf(p.chunk.Span.Start), p.file.LineOf(max(p.chunk.Span.End-1, p.chunk.Span.Start))
}

// fuse orders the best parts by their words and by their meaning together.
func (q *searcher) fuse(ctx context.Context, vectors *search.Vectors, parts []part, candidates int) error {
	best := parts[:min(len(parts), candidates)]
	texts := make([]string, len(best))
	for i, p := range best {
		texts[i] = p.hit.Path + "\n" + p.chunk.Name + "\n" + string(p.file.Content()[p.chunk.Span.Start:p.chunk.Span.End])
	}
	places, err := vectors.Rank(ctx, q.query, texts)
	if err != nil {
		return err
	}
	for i := range parts {
		place := -1
		if i < len(places) {
			place = places[i]
		}
		parts[i].score = search.Fused(i, place)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.score, a.score) })
	return nil
}

// maxJudged bounds the chunks of which the conditions are judged.
const maxJudged = 2000

// wanted is how many chunks are looked at for a limit: some are exact matches
// already, vectors order more, and conditions leave out others.
func (q *searcher) wanted(exact, candidates int) int {
	if len(q.conditions) > 0 {
		return max(maxJudged, q.limit)
	}
	return max(q.limit+exact, candidates)
}

// rank puts what people look for first: types, then what is called, then the rest.
func rank(k graph.Kind) int {
	switch {
	case isType(k) || k == graph.KindTypeAlias:
		return 0
	case isCallable(k):
		return 1
	}
	return 2
}

// exact returns the declarations that the query names.
func (q *searcher) exact(ctx context.Context) ([]api.SearchResult, error) {
	name := strings.TrimSpace(q.query)
	if strings.ContainsAny(name, " \t\n?!,;") {
		return nil, nil
	}
	syms, err := resolve.Named(ctx, q.s, name)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(syms, func(a, b graph.Symbol) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(search.Minor(q.s.Relative(a.Path)), search.Minor(q.s.Relative(b.Path))))
	})
	var out []api.SearchResult
	for _, sym := range syms {
		file := q.s.Relative(sym.Path)
		if !q.keep(file, search.Code) {
			continue
		}
		f, err := q.s.File(ctx, sym.Path)
		if err != nil {
			return nil, err
		}
		if !q.satisfied(sym) {
			continue
		}
		r := api.SearchResult{Type: "exact_match", Score: 1, Name: sym.Name, Kind: string(sym.Kind), SymbolID: string(sym.ID), File: file}
		from := f.LineOf(sym.Whole.Start)
		to := f.LineOf(max(sym.Whole.End-1, sym.Whole.Start))
		q.snippet(&r, f, from, to, f.LineOf(sym.NameSpan.Start))
		out = append(out, r)
	}
	return out, nil
}

// satisfied reports whether for each condition one of the declarations meets it,
// itself or by what it lies in.
func (q *searcher) satisfied(list ...graph.Symbol) bool {
	for _, c := range q.conditions {
		if !slices.ContainsFunc(list, c.holds) {
			return false
		}
	}
	return true
}

// result shows a part.
func (q *searcher) result(p part) api.SearchResult {
	r := api.SearchResult{Type: "chunk", Score: rounded(p.score), Name: p.chunk.Name, Kind: string(p.chunk.Kind), File: p.hit.Path}
	if p.chunk.Owner != nil {
		r.SymbolID = string(p.chunk.Owner.ID)
	}
	from, to := p.lines()
	best := from
	if to-from >= maxSnippetLines {
		best = search.Densest(q.query, p.file.Content()[p.chunk.Span.Start:p.chunk.Span.End], maxSnippetLines) + from
	}
	q.snippet(&r, p.file, from, to, best)
	return r
}

func rounded(score float64) float64 { return max(math.Round(score*1e4)/1e4, 1e-4) }

// snippet sets the lines that a result shows: all from the first to the last one,
// or as many as fit and hold the line of interest.
func (q *searcher) snippet(r *api.SearchResult, f *text.File, from, to, interest int) {
	if to-from >= maxSnippetLines && interest > from+maxSnippetLines-4 {
		from = min(interest, to-maxSnippetLines+1)
	}
	var b strings.Builder
	end := from
	for line := from; line <= to && line < from+maxSnippetLines; line++ {
		content := bytes.TrimPrefix(f.Line(line), []byte(text.BOM))
		if line > from && b.Len()+len(content) > maxSnippetBytes {
			break
		}
		if line > from {
			b.WriteByte('\n')
		}
		if len(content) > maxSnippetBytes {
			content = []byte(string(content[:maxSnippetBytes]))
		}
		b.Write(bytes.ToValidUTF8(content, []byte("�")))
		end = line
	}
	r.Line, r.EndLine, r.Snippet = from+1, end+1, b.String()
}

// minSuggested is how long a name is, in characters, that another one can be near to.
const minSuggested = 3

// suggest says what there is, when nothing was found.
func (q *searcher) suggest(ctx context.Context) {
	name := strings.TrimSpace(q.query)
	if strings.ContainsAny(name, " \t\n") || utf8.RuneCountInString(name) < minSuggested {
		return
	}
	if near, err := q.s.Reader().Names(ctx, name, 3); err == nil && len(near) > 0 {
		q.s.Warn("nothing holds " + name + "; the nearest names are " + strings.Join(near, ", "))
	}
}
