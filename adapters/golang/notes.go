package golang

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// notes says what the rename does not do: generated files, names that
// reflection and C read, words that stay as they are.
func (r *renamer) notes(ctx context.Context) error {
	if err := r.generated(ctx); err != nil {
		return err
	}
	if err := r.reflected(ctx); err != nil {
		return err
	}
	if r.Symbol.Local {
		return nil
	}
	if err := r.tests(ctx); err != nil {
		return err
	}
	return r.leftovers(ctx)
}

func (r *renamer) generated(ctx context.Context) error {
	var files []string
	for _, path := range r.Edits.Paths() {
		content, _, err := r.Bench.Snapshot().Read(ctx, path)
		if err != nil {
			return err
		}
		if isGenerated(content) {
			files = append(files, recipe.Relative(r.Bench, path))
		}
	}
	if len(files) > 0 {
		r.Warn("generated files change as well, and their generator would write the old name again: %s", recipe.Listed(files, 5))
	}
	return nil
}

// reflected warns of names that are read at run time or by other languages.
func (r *renamer) reflected(ctx context.Context) error {
	src, err := r.source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	for _, a := range r.Symbol.Attributes {
		if strings.HasPrefix(a, "//export ") || strings.HasPrefix(a, "//go:linkname ") || strings.HasPrefix(a, "//go:wasmexport ") {
			r.Warn("%s is bound outside Go by %q: what calls it there must change as well", r.Symbol.Name, a)
		}
	}
	if strings.Contains(r.Symbol.Doc, "export "+r.Symbol.Name) || bytes.Contains(src.Content, []byte("\n//export "+r.Symbol.Name+"\n")) {
		r.Warn("%s is exported to C: what calls it there must change as well", r.Symbol.Name)
	}
	if r.Symbol.Kind != graph.KindField || startsLower(r.Symbol.Name) || r.Symbol.Local {
		return nil
	}
	keys := map[string]bool{}
	for _, f := range src.Tree.Symbols {
		if f.Container == r.Symbol.Container && f.Kind == graph.KindField {
			for _, key := range tagKeys(f) {
				keys[key] = true
			}
		}
	}
	for _, key := range tagKeys(r.Symbol) {
		delete(keys, key)
	}
	for _, key := range []string{"json", "xml", "yaml", "toml"} {
		if keys[key] {
			r.Warn("other fields of %s have a %s tag and %s has none: its name is part of the encoding, which changes with it", typeName(r.Symbol), key, r.Symbol.Name)
		}
	}
	return nil
}

// tagKeys returns the keys of a field's tag that it may have.
func tagKeys(f graph.Symbol) []string {
	var out []string
	for _, a := range f.Attributes {
		tag, err := strconv.Unquote(a)
		if err != nil {
			continue
		}
		for _, key := range []string{"json", "xml", "yaml", "toml"} {
			if v, ok := reflect.StructTag(tag).Lookup(key); ok && v != "" && v[0] != ',' {
				out = append(out, key)
			}
		}
	}
	return out
}

// tests names the test functions that are called after the symbol and stay.
func (r *renamer) tests(ctx context.Context) error {
	files, err := packageFiles(ctx, r.Bench.Snapshot(), filepath.Dir(r.Symbol.Path))
	if err != nil {
		return err
	}
	var names []string
	for _, path := range files {
		if !isTest(path) {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, f := range src.Tree.Symbols {
			kind := testKind(f)
			if f.Local || kind == "" || f.NameSpan == r.Symbol.NameSpan && f.Path == r.Symbol.Path {
				continue
			}
			word := r.Symbol.Name
			if c := typeName(r.Symbol); c != "" {
				word = c + "_" + word
			}
			rest := strings.TrimPrefix(strings.TrimPrefix(f.Name, kind), "_")
			if tail, ok := strings.CutPrefix(rest, word); ok && !startsLower(tail) {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		r.Warn("test functions keep their names: %s", recipe.Listed(slices.Compact(names), 5))
	}
	return nil
}

// leftovers counts where the old name still stands in text.
func (r *renamer) leftovers(ctx context.Context) error {
	inComments, inStrings := 0, 0
	var where, elsewhere []string
	for _, path := range r.Holders {
		if filepath.Ext(path) != ".go" {
			content, _, err := r.Bench.Snapshot().Read(ctx, path)
			if err != nil || len(r.Edits.Of(path)) > 0 {
				continue
			}
			if n := len(text.Words(content, r.Symbol.Name)); n > 0 && bytes.IndexByte(content, 0) < 0 {
				elsewhere = append(elsewhere, fmt.Sprintf("%s (%d)", recipe.Relative(r.Bench, path), n))
			}
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil || len(r.Edits.Of(path)) == 0 && !r.knows(src) {
			continue
		}
		before := inComments + inStrings
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if r.Edits.Covers(path, m.Span) || src.quotedPath(m) {
				continue
			}
			if m.Token.Kind == syntax.Comment {
				inComments++
			} else {
				inStrings++
			}
		}
		if inComments+inStrings > before {
			where = append(where, recipe.Relative(r.Bench, path))
		}
	}
	if len(where) > 0 {
		r.Warn("%q still stands in %s of files that know the symbol: %s", r.Symbol.Name, recipe.CountMentions(inComments, inStrings), recipe.Listed(where, 5))
	}
	if len(elsewhere) > 0 {
		r.Warn("%q also stands in files that are not Go and were left as they are: %s", r.Symbol.Name, recipe.Listed(elsewhere, 5))
	}
	return nil
}
