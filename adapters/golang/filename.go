package golang

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

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
	style := nameStyle(base, r.Symbol.Name)
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

// nameStyle returns how a file is named after a symbol: order_service.go,
// orderservice.go, orderService.go or order-service.go; nil when it is not.
func nameStyle(base, name string) func(string) string {
	for _, style := range []func(string) string{
		func(s string) string { return joinWords(s, "_") },
		strings.ToLower,
		func(s string) string { return joinWords(s, "-") },
		func(s string) string { return s },
	} {
		if style(name) == base {
			return style
		}
	}
	return nil
}

// joinWords writes a name in camel case as lower-case words.
func joinWords(name, separator string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, c := range runes {
		if unicode.IsUpper(c) && i > 0 && runes[i-1] != '_' {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(runes[i-1]) || after {
				b.WriteString(separator)
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
