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
)

// move is a file that follows a name.
type move struct{ from, to string }

// moves returns the files named after a type, "Order.cs" and "Order.Query.cs",
// that follow its name when the rename asks for them.
func (r *renamer) moves(ctx context.Context) ([]move, error) {
	if !r.in.File {
		return nil, nil
	}
	if !isType(r.sym.Kind) || r.sym.Local || !r.topLevel(ctx) {
		r.warn("only files named after a type that stands in no other are renamed with it")
		return nil, nil
	}
	var out []move
	for _, d := range r.decls {
		dir, base := filepath.Split(d.Path)
		rest, ok := strings.CutPrefix(base, r.sym.Name)
		if !ok || !strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "`") {
			r.warn("%s is not named after %s and keeps its name", r.relative(d.Path), r.sym.Name)
			continue
		}
		m := move{d.Path, filepath.Join(dir, bare(r.in.NewName)+rest)}
		if _, _, err := r.b.Snapshot().Read(ctx, m.to); err == nil {
			return nil, refuse(adapters.NameConflict, "%s exists already; rename without the file", r.relative(m.to))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if project := r.named(ctx, base); project != "" {
			return nil, refuse(adapters.Unsupported, "%s names the file %s, which would move away from it; rename without the file", project, base)
		}
		out = append(out, m)
	}
	return out, nil
}

// topLevel reports whether the type stands in no other type.
func (r *renamer) topLevel(ctx context.Context) bool {
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return false
	}
	for _, s := range src.tree.Symbols {
		if s.Qualified == r.sym.Container && s.Kind != graph.KindNamespace && s.Decl.Start < r.sym.Decl.Start && r.sym.Decl.End <= s.Decl.End {
			return false
		}
	}
	return true
}

// named returns a project file that names a source file; most take all.
func (r *renamer) named(ctx context.Context, base string) string {
	for _, path := range r.holders {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csproj", ".props", ".targets":
		default:
			continue
		}
		content, err := recipe.ReadOptional(ctx, r.b.Snapshot(), path)
		if err == nil && strings.Contains(string(content), base) {
			return r.relative(path)
		}
	}
	return ""
}
