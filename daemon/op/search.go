package op

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

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
	keep, err := kept(in.FilePattern, in.ContentType)
	if err != nil {
		return nil, err
	}
	return (&searcher{s: s, query: in.Query, keep: keep, limit: in.Limit}).answer(ctx, "search")
}

// kept says which files a search is about.
func kept(pattern, content string) (func(string, search.Category) bool, error) {
	if pattern != "" && !doublestar.ValidatePattern(pattern) {
		return nil, api.Errorf(api.InvalidArgument, "filePattern %q is no glob; write src/**/*.x or *_test.*", pattern)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	categories := map[string]search.Category{"code": search.Code, "docs": search.Docs, "config": search.Config}
	want, some := categories[content]
	return func(file string, c search.Category) bool {
		if some && c != want {
			return false
		}
		switch {
		case pattern == "":
			return true
		case !strings.Contains(pattern, "/"):
			return doublestar.MatchUnvalidated(pattern, path.Base(file))
		case strings.HasSuffix(pattern, "/"):
			return strings.HasPrefix(file, pattern)
		}
		return doublestar.MatchUnvalidated(pattern, file)
	}, nil
}

// searcher answers one search.
type searcher struct {
	s          *workbench.Session
	query      string
	keep       func(file string, c search.Category) bool
	conditions []declaredSet // a result satisfies all of them
	limit      int
	files      map[string]cutFile // those of hits
}

// cutFile is a file as it is cut; without chunks it has changed meanwhile.
type cutFile struct {
	chunks []search.Chunk
	file   *text.File
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
	out.Results, out.Total = append(out.Results, exact[:min(len(exact), q.limit)]...), len(exact)
	found, err := q.s.Search(ctx, search.Query{Text: q.query, Keep: q.keep, Limit: q.wanted(len(exact))})
	if err != nil {
		return nil, err
	}
	out.Total += found.Total
	if len(q.conditions) > 0 && found.Total > len(found.Hits) {
		out.Total -= found.Total - len(found.Hits)
		q.s.Incomplete(fmt.Sprintf("the conditions were judged for the best %d of %d parts", len(found.Hits), found.Total))
	}
	for _, h := range found.Hits {
		r, ok, err := q.chunk(ctx, h)
		if err != nil {
			return nil, err
		}
		if !ok || slices.ContainsFunc(exact, func(e api.SearchResult) bool { return covers(e, r) }) {
			out.Total--
			continue
		}
		if len(out.Results) < q.limit {
			out.Results = append(out.Results, r)
		}
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

// maxJudged bounds the chunks of which the conditions are judged.
const maxJudged = 2000

// wanted is how many chunks are looked at for a limit: some are exact matches
// already, and a condition leaves out others.
func (q *searcher) wanted(exact int) int {
	if len(q.conditions) > 0 {
		return maxJudged
	}
	return q.limit + exact
}

// covers reports whether a chunk shows nothing but an exact match.
func covers(e, r api.SearchResult) bool {
	return e.File == r.File && e.Name == r.Name && e.Line <= r.EndLine && r.Line <= e.EndLine
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
		if q.keep != nil && !q.keep(file, search.Code) {
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

// chunk makes the result of a hit; ok is false for one that does not count.
func (q *searcher) chunk(ctx context.Context, h search.Hit) (r api.SearchResult, ok bool, err error) {
	cut, known := q.files[h.Path]
	if !known {
		cut.chunks, cut.file, ok, err = q.s.Chunks(ctx, h)
		if errors.Is(err, fs.ErrNotExist) {
			ok, err = false, nil
		}
		if err != nil {
			return r, false, err
		}
		if !ok {
			cut.chunks = nil
		}
		if q.files == nil {
			q.files = map[string]cutFile{}
		}
		q.files[h.Path] = cut
	}
	if h.Chunk >= len(cut.chunks) {
		q.s.Incomplete(h.Path + " changed while it was searched; ask again")
		return r, false, nil
	}
	c, f := cut.chunks[h.Chunk], cut.file
	if !q.satisfied(c.Declares()...) {
		return r, false, nil
	}
	r = api.SearchResult{Type: "chunk", Score: rounded(h.Score), Name: c.Name, Kind: string(c.Kind), File: h.Path}
	if c.Owner != nil {
		r.SymbolID = string(c.Owner.ID)
	}
	from, to := f.LineOf(c.Span.Start), f.LineOf(max(c.Span.End-1, c.Span.Start))
	best := from
	if to-from >= maxSnippetLines {
		best = search.Densest(q.query, f.Content()[c.Span.Start:c.Span.End], maxSnippetLines) + from
	}
	q.snippet(&r, f, from, to, best)
	return r, true, nil
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

// suggest says what there is, when nothing was found.
func (q *searcher) suggest(ctx context.Context) {
	name := strings.TrimSpace(q.query)
	if strings.ContainsAny(name, " \t\n") {
		return
	}
	if near, err := q.s.Reader().Names(ctx, name, 3); err == nil && len(near) > 0 {
		q.s.Warn("nothing holds " + name + "; the nearest names are " + strings.Join(near, ", "))
	}
}
