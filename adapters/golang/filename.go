package golang

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/lspclient/change"
)

// files plans the moves of a file that is named after the symbol, and of the
// test file beside it, when the rename asks for them.
func (r *renamer) files(ctx context.Context) error {
	if !r.In.File {
		return nil
	}
	if r.Symbol.Container != "" || r.Symbol.Local {
		r.Warn("only files named after something at package level are renamed with it")
		return nil
	}
	dir, base := filepath.Dir(r.Symbol.Path), strings.TrimSuffix(filepath.Base(r.Symbol.Path), ".go")
	base = strings.TrimSuffix(base, "_test")
	style := recipe.NamedAfter(base, r.Symbol.Name)
	if style == nil {
		r.Warn("%s is not named after %s and keeps its name", recipe.Relative(r.Bench, r.Symbol.Path), r.Symbol.Name)
		return nil
	}
	fresh := style(r.In.NewName)
	if strings.HasPrefix(fresh, "_") || strings.HasPrefix(fresh, ".") {
		return recipe.Refuse(adapters.InvalidName, "a file named %s.go would be left out of the build; rename without the file", fresh)
	}
	for _, suffix := range []string{".go", "_test.go"} {
		from, to := filepath.Join(dir, base+suffix), filepath.Join(dir, fresh+suffix)
		if from == to {
			continue
		}
		content, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), from)
		if err != nil {
			return err
		}
		if content == nil {
			continue
		}
		if _, _, err := r.Bench.Snapshot().Read(ctx, to); err == nil {
			return recipe.Refuse(adapters.NameConflict, "%s exists already; rename without the file", recipe.Relative(r.Bench, to))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if matches(from, content) != matches(to, content) || isTest(from) != isTest(to) {
			return recipe.Refuse(adapters.NameConflict, "by its name %s would belong to another build than %s; rename without the file", recipe.Relative(r.Bench, to), recipe.Relative(r.Bench, from))
		}
		r.Moves = append(r.Moves, change.Op{Kind: change.Rename, Path: from, NewPath: to})
	}
	return nil
}
