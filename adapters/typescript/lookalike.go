package typescript

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

const (
	maxLookalikes = 8                // members that are tried
	maxTried      = 6                // files that are looked at besides those that change
	lookBytes     = 256 << 10        // of such a file: larger ones take the server seconds
	lookTime      = 20 * time.Second // for all of it
)

// lookalikes completes the family of a member by those that nobody wrote to
// belong to it: types of the same shape that are used for each other. The
// server is shown the plan, and when that does not fit, members of the same
// name are added that make it fit better.
func (r *renamer) lookalikes(ctx context.Context) error {
	trial, ok := r.Bench.(adapters.Trial)
	if !ok || !isMember(r.Symbol.Kind) || r.Symbol.Kind == graph.KindEnumMem || strings.HasPrefix(r.Symbol.Name, "#") {
		return nil
	}
	until := time.Now().Add(lookTime)
	candidates, also, err := r.sameName(ctx)
	if err != nil || len(candidates) == 0 {
		return err
	}
	wrong, ok, err := trial.Try(ctx, r.set(r.Edits), also, r.Symbol.Name, r.In.NewName)
	if err != nil || !ok || len(wrong) == 0 {
		return err
	}
	slices.SortStableFunc(candidates, func(a, b graph.Symbol) int { return distance(a, wrong) - distance(b, wrong) })
	edits, members, left := r.Edits, r.Members, wrong
	var tried []*recipe.Edits // of candidates that did not help, with all that each is renamed with
	for _, c := range candidates {
		if edits.Covers(c.Path, c.NameSpan) || slices.ContainsFunc(tried, func(e *recipe.Edits) bool { return e.Covers(c.Path, c.NameSpan) }) {
			continue
		}
		if len(tried) >= maxLookalikes || time.Now().After(until) {
			break
		}
		next, err := recipe.NewEdits(edits.Set(), r.Read(ctx))
		if err != nil {
			return err
		}
		set, err := recipe.Rename(ctx, r.srv, c, r.In.NewName)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			continue // it cannot be renamed, so that it does not help
		}
		if more, err := r.join(ctx, next, c, set); err != nil || len(more) > 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		now, ok, err := trial.Try(ctx, r.set(next), also, r.Symbol.Name, r.In.NewName)
		if err != nil || !ok {
			return err
		}
		if len(now) >= len(left) {
			tried = append(tried, next)
			continue
		}
		edits, members, left = next, append(slices.Clone(members), c), now
		if len(left) == 0 {
			r.Warn("%d members named %s fit each other by their shape only and are renamed together", len(members), r.Symbol.Name)
			r.Edits, r.Members = edits, members
			return nil
		}
	}
	return nil // the check of the plan says what does not fit
}

// distance orders members by how near they are to what is wrong.
func distance(s graph.Symbol, wrong []adapters.Problem) int {
	best := 1 << 20
	for _, p := range wrong {
		if p.Path == s.Path {
			return 0
		}
		rel, err := filepath.Rel(filepath.Dir(p.Path), s.Path)
		if err == nil {
			best = min(best, 1+strings.Count(rel, string(filepath.Separator)))
		}
	}
	return best
}

// sameName returns the members of the symbol's name that the plan leaves alone,
// and some of the files that hold them.
func (r *renamer) sameName(ctx context.Context) (out []graph.Symbol, files []string, err error) {
	holders, err := r.Bench.Snapshot().Grep(ctx, r.Symbol.Name)
	if err != nil {
		return nil, nil, err
	}
	near(r.Symbol.Path, holders)
	owner := last(r.Symbol.Container)
	uses := map[string]bool{} // files that say the name of the member's type: those use it
	for _, path := range holders {
		if src, err := r.source(ctx, path); err == nil && owner != "" {
			uses[path] = text.NextWord(src.Content, owner, 0) >= 0
		}
	}
	slices.SortStableFunc(holders, func(a, b string) int {
		if uses[a] == uses[b] {
			return 0
		}
		if uses[a] {
			return -1
		}
		return 1
	})
	for _, path := range holders {
		if !source(path) || isDeclaration(path) || installed(path) || !within(r.Bench.Project(), path) {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range src.Tree.Named(r.Symbol.Name) {
			if !r.Edits.Covers(path, id.Span) && src.member(id.Span) {
				if len(files) < maxTried && len(src.Content) <= lookBytes && !slices.Contains(files, path) && len(r.Edits.Of(path)) == 0 {
					files = append(files, path)
				}
				out = append(out, graph.Symbol{Language: r.Symbol.Language, Name: id.Name, Kind: graph.KindProperty, Path: path, NameSpan: id.Span})
			}
		}
	}
	return out, files, nil
}

// member reports whether a name gives a member to something: a declaration in
// a class or an interface, the key of an object, or an assignment.
func (p *page) member(at graph.Span) bool {
	if s, ok := p.Tree.Declared(at.Start); ok {
		return isMember(s.Kind)
	}
	before, after := p.Content[:at.Start], p.Content[at.End:]
	if at.Start > 0 && before[at.Start-1] == '.' {
		return assigned(after) && firstByte(after) == '='
	}
	switch lastToken(p.Content, at.Start) {
	case "{", ",":
		switch firstByte(after) {
		case ':', ',', '}', '(':
			return !passedOn(p.Content, at.Start)
		}
	}
	return false
}
