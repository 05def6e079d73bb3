package recipe

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
)

// Grammar is a language that is read and has no server: what syntax and the
// symbol graph tell of it can be asked for, and nothing changes its code.
type Grammar struct {
	language adapters.Language
	spec     *syntax.Spec
}

var _ adapters.Adapter = (*Grammar)(nil)

// NewGrammar returns a language by its grammar. What the language leaves out is
// made of the rest.
func NewGrammar(language adapters.Language, how syntax.TreeSitter) *Grammar {
	language.Separator = how.Separator
	if language.TestFile == nil {
		language.TestFile = func(path string) bool {
			return slices.ContainsFunc(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), func(dir string) bool { return dir == "test" || dir == "tests" })
		}
	}
	if language.Generated == nil {
		language.Generated = func(content []byte) bool { return Generated(content, "//", "/*", "*", "#") }
	}
	return &Grammar{language: language, spec: how.Spec()}
}

// Language implements adapters.Adapter.
func (g *Grammar) Language() adapters.Language { return g.language }

// Syntax implements adapters.Adapter.
func (g *Grammar) Syntax() *syntax.Spec { return g.spec }

// Engines implements adapters.Adapter: there are none.
func (*Grammar) Engines() []adapters.Engine { return nil }

// Projects implements adapters.Adapter: the outermost folders with a file that
// marks one, else the workspace's. Builds nest in these languages, and what they
// declare is used across them.
func (g *Grammar) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	found, err := Markers(ctx, s, dir, g.language.Markers...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b string) int {
		return g.language.Marks(filepath.Base(a)) - g.language.Marks(filepath.Base(b))
	})
	var all []adapters.Project
	for _, path := range found {
		root := filepath.Dir(path)
		if !slices.ContainsFunc(all, func(p adapters.Project) bool { return p.Root == root }) {
			all = append(all, adapters.Project{Language: g.language.ID, Root: root, Marker: path})
		}
	}
	loose, ok, err := Loose(ctx, s, dir, g.language.ID, g.language.Extensions)
	if err != nil || !ok {
		return nil, err // a marker without a file of the language is another's
	}
	nested := func(p adapters.Project) bool {
		return slices.ContainsFunc(all, func(q adapters.Project) bool { return q.Root != p.Root && Inside(q.Root, p.Root) })
	}
	if all = Order(slices.DeleteFunc(slices.Clone(all), nested), dir); len(all) == 0 {
		all = append(all, loose)
	}
	return all, nil
}

// Recipes implements adapters.Adapter: what the symbol graph tells of names.
func (g *Grammar) Recipes() adapters.Recipes {
	r := ByGraph(LexiconOf(g))
	for _, cell := range []*adapters.Find[adapters.Target]{&r.Definition, &r.References, &r.Implementations, &r.Derived, &r.Supertypes, &r.Callers} {
		cell.Note = "from the graph, by name, scope and imports: Aura knows no server of " + g.language.Name
	}
	none := adapters.Find[adapters.Target]{
		How:  adapters.Refused,
		Note: "no server of " + g.language.Name + " is known to Aura, which reads its files by their grammar: ask for definition, usages or code.search",
	}
	r.TypeDefinition, r.Callees = none, none
	r.Rename = adapters.Cell[adapters.Rename]{How: adapters.Refused, Note: "no server of " + g.language.Name + " is known to Aura, and names are never replaced blindly: search for the name and edit the places"}
	return r
}

// Last gives each import without names the last part of its path as one, as
// languages do that import a type by all of its name.
func Last(imports []syntax.Import, separator string) {
	for i := range imports {
		im := &imports[i]
		last := im.Path[strings.LastIndex(im.Path, separator)+1:]
		if len(im.Names) == 0 && last != "" {
			im.Names = []syntax.Binding{{As: last}}
		}
	}
}

// Sections gives members the visibility that a line before them gives to all
// that follow in their type ("private:"): its first group in the pattern. Those
// whose own modifiers say one keep it.
func Sections(t *syntax.Tree, content []byte, line *regexp.Regexp) {
	type open struct {
		symbol int
		at     int // end of the member before
		says   string
	}
	var stack []open
	for i := range t.Symbols {
		s := &t.Symbols[i]
		for len(stack) > 0 && t.Symbols[stack[len(stack)-1].symbol].Body.End <= s.Decl.Start {
			stack = stack[:len(stack)-1]
		}
		if n := len(stack); n > 0 && !s.Local && s.Container == t.Symbols[stack[n-1].symbol].Qualified {
			o := &stack[n-1]
			if o.at < s.Whole.Start {
				if all := line.FindAllSubmatch(content[o.at:s.Whole.Start], -1); len(all) > 0 {
					o.says = string(all[len(all)-1][1])
				}
			}
			o.at = max(o.at, s.Whole.End)
			if o.says != "" && !slices.ContainsFunc(s.Modifiers, func(m string) bool { return m == "public" || m == "protected" || m == "private" }) {
				s.Visibility = o.says
			}
		}
		if s.Body.End > 0 && (isType(s.Kind) || s.Kind == graph.KindModule) {
			stack = append(stack, open{symbol: i, at: s.Body.Start})
		}
	}
}
