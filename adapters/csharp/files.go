package csharp

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
)

// files plans the moves of files named after a type, "Order.cs" and "Order.Query.cs",
// with its name, when the rename asks for them.
func (r *renamer) files(ctx context.Context) error {
	if !r.In.File {
		return nil
	}
	if !isType(r.Symbol.Kind) || r.Symbol.Local || !r.topLevel(ctx) {
		r.Warn("only files named after a type that stands in no other are renamed with it")
		return nil
	}
	for _, d := range r.decls {
		dir, base := filepath.Split(d.Path)
		rest, ok := strings.CutPrefix(base, r.Symbol.Name)
		if !ok || !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "`") {
			r.Warn("%s is not named after %s and keeps its name", recipe.Relative(r.Bench, d.Path), r.Symbol.Name)
			continue
		}
		to := filepath.Join(dir, bare(r.In.NewName)+rest)
		if _, _, err := r.Bench.Snapshot().Read(ctx, to); err == nil {
			return recipe.Refuse(adapters.NameConflict, "%s exists already; rename without the file", recipe.Relative(r.Bench, to))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if project := r.named(ctx, base); project != "" {
			return recipe.Refuse(adapters.Unsupported, "%s names the file %s, which would move away from it; rename without the file", project, base)
		}
		r.Moves = append(r.Moves, change.Op{Kind: change.Rename, Path: d.Path, NewPath: to})
	}
	return nil
}

// topLevel reports whether the type stands in no other type.
func (r *renamer) topLevel(ctx context.Context) bool {
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return false
	}
	for _, s := range src.Tree.Symbols {
		if s.Qualified == r.Symbol.Container && s.Kind != graph.KindNamespace && s.Decl.Start < r.Symbol.Decl.Start && r.Symbol.Decl.End <= s.Decl.End {
			return false
		}
	}
	return true
}

// named returns a project file that names a source file; most take all.
func (r *renamer) named(ctx context.Context, base string) string {
	for _, path := range r.Holders {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csproj", ".props", ".targets":
		default:
			continue
		}
		content, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), path)
		if err == nil && strings.Contains(string(content), base) {
			return recipe.Relative(r.Bench, path)
		}
	}
	return ""
}
