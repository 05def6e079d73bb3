package rust

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
)

// follow takes the moves of files out of the server's edit: a module's file, or
// its folder, follows its name. And it adds those of the module that is named
// after the symbol, when the rename asks for them.
func (r *renamer) follow(ctx context.Context, set change.Set) (change.Set, error) {
	set, err := r.split(ctx, set)
	if err == nil && r.Symbol.Kind == graph.KindModule && len(r.Moves) > 0 {
		set, err = r.sharers(ctx, set)
	}
	if err != nil || !r.In.File || r.Symbol.Local || r.Symbol.Kind == graph.KindModule {
		return set, err
	}
	module, name, ok, err := r.home(ctx)
	if err != nil || !ok {
		return set, err
	}
	if err := r.a.CheckName(module, name); err != nil {
		return set, err
	}
	next, err := recipe.Rename(ctx, r.srv, module, name)
	if err != nil {
		return set, r.explain(err)
	}
	r.module = [2]string{module.Name, name}
	if next, err = r.split(ctx, next); err != nil {
		return set, err
	}
	return change.Merge(set, next, r.Read(ctx))
}

// split puts moves into r.Moves, those of folders file by file.
func (r *renamer) split(ctx context.Context, set change.Set) (change.Set, error) {
	var edits change.Set
	for _, op := range set.Ops {
		if op.Kind != change.Rename {
			edits.Ops = append(edits.Ops, op)
			continue
		}
		if filepath.Ext(op.Path) == ".rs" {
			if err := r.move(ctx, op.Path, op.NewPath); err != nil {
				return set, err
			}
			continue
		}
		all, err := r.Bench.Snapshot().Glob(ctx, "**/*")
		if err != nil {
			return set, err
		}
		for _, path := range all {
			if rest, ok := strings.CutPrefix(path, op.Path+string(filepath.Separator)); ok {
				if err := r.move(ctx, path, filepath.Join(op.NewPath, rest)); err != nil {
					return set, err
				}
			}
		}
	}
	return edits, nil
}

// sharers adds the renames of the other declarations of a module whose file
// moves: the tests of a crate are crates of their own and often share one.
func (r *renamer) sharers(ctx context.Context, set change.Set) (change.Set, error) {
	name, dir := strings.TrimPrefix(r.Symbol.Name, "r#"), ""
	for _, m := range r.Moves {
		switch parent := filepath.Dir(m.Path); {
		case filepath.Base(m.Path) == name+".rs":
			dir = parent
		case filepath.Base(m.Path) == "mod.rs" && filepath.Base(parent) == name && dir == "":
			dir = filepath.Dir(parent)
		}
	}
	same, err := r.Bench.Graph().ByName(ctx, r.Symbol.Name)
	if err != nil {
		return set, err
	}
	for _, s := range same {
		if s.Kind != graph.KindModule || s.Body != (graph.Span{}) || spotOf(s) == spotOf(r.Symbol) ||
			filepath.Dir(s.Path) != dir && strings.TrimSuffix(s.Path, ".rs") != dir {
			continue
		}
		next, err := recipe.Rename(ctx, r.srv, s, r.In.NewName)
		if err != nil {
			if unknown(err) {
				continue // another way to the same file that #[cfg] leaves out here
			}
			return set, r.explain(err)
		}
		next.Ops = slices.DeleteFunc(next.Ops, func(op change.Op) bool { return op.Kind == change.Rename })
		if set, err = change.Merge(set, next, r.Read(ctx)); err != nil {
			return set, err
		}
	}
	return set, nil
}

// move plans to move a file to where none is.
func (r *renamer) move(ctx context.Context, from, to string) error {
	there, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), to)
	if err != nil {
		return err
	}
	if there != nil {
		return recipe.Refuse(adapters.NameConflict, "%s exists already, and the file of the module would have to be named so", recipe.Relative(r.Bench, to))
	}
	r.Moves = append(r.Moves, change.Op{Kind: change.Rename, Path: from, NewPath: to})
	return nil
}

// home returns the module that the symbol's file is named by, and its name
// after the rename, when it is named after the symbol.
func (r *renamer) home(ctx context.Context) (module graph.Symbol, name string, ok bool, err error) {
	dir, base := filepath.Dir(r.Symbol.Path), strings.TrimSuffix(filepath.Base(r.Symbol.Path), ".rs")
	if base == "mod" {
		dir, base = filepath.Dir(dir), filepath.Base(dir)
	}
	if base != recipe.Snake(strings.TrimPrefix(r.Symbol.Name, "r#")) {
		r.Warn("%s is not named after %s and keeps its name", recipe.Relative(r.Bench, r.Symbol.Path), r.Symbol.Name)
		return module, "", false, nil
	}
	same, err := r.Bench.Graph().ByName(ctx, base)
	if err != nil {
		return module, "", false, err
	}
	for _, s := range same {
		if s.Kind == graph.KindModule && s.Body == (graph.Span{}) && (filepath.Dir(s.Path) == dir || strings.TrimSuffix(s.Path, ".rs") == dir) {
			return s, recipe.Snake(strings.TrimPrefix(r.In.NewName, "r#")), true, nil
		}
	}
	r.Warn("no mod declaration names %s, so the file keeps its name", recipe.Relative(r.Bench, r.Symbol.Path))
	return module, "", false, nil
}
