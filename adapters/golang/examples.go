package golang

import (
	"context"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
)

// shown is a name under which Example functions show the symbol: of a member,
// the type before it.
type shown struct{ dir, container string }

// examples lets Example functions follow what they show: ExampleF, ExampleT,
// ExampleT_M, each with or without a suffix (go doc testing). gopls leaves
// them, the build passes, and go vet and go test fail.
func (r *renamer) examples(ctx context.Context) error {
	if r.Symbol.Local {
		return nil
	}
	shownAs, err := r.shownAs(ctx)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, s := range shownAs {
		if done[s.dir] {
			continue
		}
		done[s.dir] = true
		if err := r.examplesIn(ctx, s.dir, shownAs); err != nil {
			return err
		}
	}
	return nil
}

// shownAs returns the family's containers, and the types that embed them,
// since a promoted method is shown as theirs.
func (r *renamer) shownAs(ctx context.Context) ([]shown, error) {
	var out []shown
	add := func(s shown) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, m := range r.Members {
		add(shown{filepath.Dir(m.Path), typeName(m)})
	}
	if r.Symbol.Container == "" {
		return out, nil
	}
	for i := 0; i < len(out); i++ {
		fields, err := r.Bench.Graph().ByName(ctx, out[i].container)
		if err != nil {
			return nil, err
		}
		for _, f := range fields {
			if slices.Contains(f.Modifiers, "embedded") && !f.Local {
				add(shown{filepath.Dir(f.Path), typeName(f)})
			}
		}
	}
	return out, nil
}

// typeName returns the bare name of the type that declares a member, empty for
// what stands at package level.
func typeName(s graph.Symbol) string {
	return s.Container[strings.LastIndexByte(s.Container, '.')+1:]
}

func (r *renamer) examplesIn(ctx context.Context, dir string, shownAs []shown) error {
	files, err := packageFiles(ctx, r.Bench.Snapshot(), dir)
	if err != nil {
		return err
	}
	for _, path := range files {
		if !isTest(path) {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, f := range src.Tree.Symbols {
			if f.Kind != graph.KindFunction || f.Local || !strings.HasPrefix(f.Name, "Example") {
				continue
			}
			name, ok := r.exampleName(f.Name, dir, shownAs)
			if !ok {
				continue
			}
			if err := r.renameExample(ctx, src, f, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// exampleName returns what an Example function is called after the rename.
func (r *renamer) exampleName(name, dir string, shownAs []shown) (string, bool) {
	rest := strings.TrimPrefix(name, "Example")
	old, fresh := r.Symbol.Name, r.In.NewName
	if r.Symbol.Container == "" {
		if tail, ok := cutWord(rest, old); ok {
			return "Example" + fresh + tail, true
		}
		return "", false
	}
	if startsLower(old) {
		return "", false // a lower-case part is a suffix, not a method
	}
	for _, s := range shownAs {
		if s.dir != dir {
			continue
		}
		if tail, ok := cutWord(rest, s.container+"_"+old); ok {
			return "Example" + s.container + "_" + fresh + tail, true
		}
	}
	return "", false
}

// cutWord takes a word off the front of a name whose parts are joined by underscores.
func cutWord(s, word string) (tail string, ok bool) {
	tail, ok = strings.CutPrefix(s, word)
	return tail, ok && (tail == "" || tail[0] == '_')
}

func (r *renamer) renameExample(ctx context.Context, src *source, f graph.Symbol, name string) error {
	if r.Symbol.Container == "" && !token.IsExported(r.In.NewName) && token.IsExported(r.Symbol.Name) {
		return recipe.Refuse(adapters.NameConflict, "%s in %s shows %s, and an example cannot show the unexported name %s; remove or rename the example first",
			f.Name, recipe.Relative(r.Bench, src.Path), r.Symbol.Name, r.In.NewName)
	}
	same, err := r.Bench.Graph().ByName(ctx, name)
	if err != nil {
		return err
	}
	for _, s := range same {
		if s.Kind == graph.KindFunction && filepath.Dir(s.Path) == filepath.Dir(src.Path) {
			return recipe.Refuse(adapters.NameConflict, "%s in %s would become %s, which %s declares already",
				f.Name, recipe.Relative(r.Bench, src.Path), name, recipe.Relative(r.Bench, s.Path))
		}
	}
	r.Edits.Add(src.Path, f.NameSpan, name)
	for _, m := range recipe.Mentions(src.Tree, src.Content, f.Name) {
		if !src.verbatim(m) {
			r.Edits.Add(src.Path, m.Span, name)
		}
	}
	return nil
}

func startsLower(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(first)
}
