package golang

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/auralsp/aura/adapters"
)

// move is a file that follows a name.
type move struct{ from, to string }

// files returns the moves of a file that is named after the symbol, and of the
// test file beside it, when the rename asks for them.
func (r *renamer) files(ctx context.Context) ([]move, error) {
	if !r.in.File {
		return nil, nil
	}
	if r.sym.Container != "" || r.sym.Local {
		r.warn("only files named after something at package level are renamed with it")
		return nil, nil
	}
	dir, base := filepath.Dir(r.sym.Path), strings.TrimSuffix(filepath.Base(r.sym.Path), ".go")
	base = strings.TrimSuffix(base, "_test")
	style := nameStyle(base, r.sym.Name)
	if style == nil {
		r.warn("%s is not named after %s and keeps its name", r.relative(r.sym.Path), r.sym.Name)
		return nil, nil
	}
	fresh := style(r.in.NewName)
	if strings.HasPrefix(fresh, "_") || strings.HasPrefix(fresh, ".") {
		return nil, refuse(adapters.InvalidName, "a file named %s.go would be left out of the build; rename without the file", fresh)
	}
	var out []move
	for _, suffix := range []string{".go", "_test.go"} {
		m := move{filepath.Join(dir, base+suffix), filepath.Join(dir, fresh+suffix)}
		if m.from == m.to {
			continue
		}
		content, err := readOptional(ctx, r.b.Snapshot(), m.from)
		if err != nil {
			return nil, err
		}
		if content == nil {
			continue
		}
		if _, _, err := r.b.Snapshot().Read(ctx, m.to); err == nil {
			return nil, refuse(adapters.NameConflict, "%s exists already; rename without the file", r.relative(m.to))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if matches(m.from, content) != matches(m.to, content) || isTest(m.from) != isTest(m.to) {
			return nil, refuse(adapters.NameConflict, "by its name %s would belong to another build than %s; rename without the file", r.relative(m.to), r.relative(m.from))
		}
		out = append(out, m)
	}
	return out, nil
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
