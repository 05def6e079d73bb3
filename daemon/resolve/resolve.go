// Package resolve turns an address (a name, a position or a symbolId) into
// symbols: the one place that does so for every operation.
//
// It reads through a workbench session and starts no goroutines. It must not
// know operations.
package resolve

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/graph"
)

// maxCandidates bounds the candidates that a refusal lists.
const maxCandidates = 20

// maxSuggestions bounds the nearest names that a refusal lists.
const maxSuggestions = 5

// group is one symbol with all of its declarations.
type group []graph.Symbol

// collect groups declarations by id, in order of path and position.
func collect(symbols []graph.Symbol) []group {
	var order []graph.ID
	byID := map[graph.ID]group{}
	for _, s := range symbols {
		if byID[s.ID] == nil {
			order = append(order, s.ID)
		}
		byID[s.ID] = append(byID[s.ID], s)
	}
	groups := make([]group, 0, len(order))
	for _, id := range order {
		groups = append(groups, byID[id])
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		if c := cmp.Compare(a[0].Path, b[0].Path); c != 0 {
			return c
		}
		return cmp.Compare(a[0].NameSpan.Start, b[0].NameSpan.Start)
	})
	return groups
}

// query is a symbol name as a person wrote it, taken apart.
type query struct {
	full string   // separators made ".", pointers and parentheses dropped
	last string   // the symbol's own name
	path []string // what stands before it
}

// raw matches a name with a raw identifier in it: "r#type".
var raw = regexp.MustCompile(`(^|\.)r#\pL`)

// parse takes a name apart: "Save", "Order.Save", "(*Order).Save",
// "pkg/path.Type.Method", "crate::module::Type", "Type#method". A # that joins
// nothing belongs to the name: "Type.#secret".
func parse(name string) query {
	clean := strings.NewReplacer("::", ".", `\`, ".", "(*", "", "(", "", ")", "", "*", "", " ", "").Replace(name)
	if i := strings.IndexByte(clean, '#'); i > 0 && clean[i-1] != '.' && !raw.MatchString(clean) {
		clean = clean[:i] + "." + clean[i+1:]
	}
	clean = strings.Trim(clean, ".")
	q := query{full: clean}
	if i := strings.LastIndex(clean, "."); i >= 0 {
		q.last, q.path = clean[i+1:], strings.Split(clean[:i], ".")
	} else {
		q.last = clean
	}
	return q
}

// matches reports how well a qualified name answers the query: 0 for not at
// all, else the length of what they share.
func (q query) matches(qualified string) int {
	qualified = strings.NewReplacer("::", ".", `\`, ".").Replace(qualified)
	switch {
	case qualified == q.full:
		// The whole name of one symbol means it, not those that end like it.
		return len(q.full) + 1
	case hasTail(qualified, q.full):
		return len(q.full)
	case hasTail(q.full, qualified):
		// The query names more than the project knows of itself: an import path.
		return len(qualified)
	}
	return 0
}

// hasTail reports whether tail ends name at a separator.
func hasTail(name, tail string) bool {
	if !strings.HasSuffix(name, tail) || len(name) == len(tail) {
		return false
	}
	c := name[len(name)-len(tail)-1]
	return c == '.' || c == '/'
}

// best keeps the symbols that match the query longest. Every name that ends in
// the whole query is an equally good answer to it.
func best(q query, symbols []graph.Symbol) []graph.Symbol {
	if len(q.path) == 0 {
		return symbols
	}
	most, kept := 0, []graph.Symbol(nil)
	for _, s := range symbols {
		n := q.matches(s.Qualified)
		if s.Alias != "" {
			n = max(n, q.matches(s.Alias))
		}
		switch {
		case n == 0 || n < most:
		case n > most:
			most, kept = n, []graph.Symbol{s}
		default:
			kept = append(kept, s)
		}
	}
	// What a member implements explicitly stands in its name, and means the one
	// that it implements: "Saver.Save" is that of Saver, not of a type with a Saver.Save.
	own := slices.DeleteFunc(slices.Clone(kept), func(s graph.Symbol) bool { return q.matches(s.Container+"."+s.Name) < most })
	if len(own) > 0 {
		return own
	}
	return kept
}

// kinds maps the address's word to the answered kinds it stands for.
var kinds = map[string][]graph.Kind{
	"type": {graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindEnum, graph.KindTrait,
		graph.KindRecord, graph.KindTypeAlias, graph.KindTypeParam},
	"class":     {graph.KindClass, graph.KindStruct, graph.KindRecord},
	"method":    {graph.KindMethod, graph.KindConstruct, graph.KindOperator},
	"function":  {graph.KindFunction},
	"property":  {graph.KindProperty},
	"field":     {graph.KindField, graph.KindEnumMem},
	"parameter": {graph.KindParameter},
	"variable":  {graph.KindVariable},
	"constant":  {graph.KindConstant, graph.KindEnumMem},
	"namespace": {graph.KindNamespace, graph.KindPackage, graph.KindModule},
}

// Kind reports whether a symbol is what the word asks for.
func Kind(s graph.Symbol, word string) bool {
	if word == "" {
		return true
	}
	for k, list := range kinds {
		if strings.EqualFold(k, word) {
			return slices.Contains(list, s.Kind) || strings.EqualFold(string(s.Kind), word)
		}
	}
	return strings.EqualFold(string(s.Kind), word)
}

// InContainer reports whether a symbol is declared in the named type.
func InContainer(s graph.Symbol, container string) bool {
	if container == "" {
		return true
	}
	c := parse(container).full
	own := strings.ReplaceAll(s.Container, "::", ".")
	return own == c || hasTail(own, c) || hasTail(c, own)
}

// samePath reports whether a symbol's file is the one of the address.
func samePath(root, path, want string) bool {
	if want == "" {
		return true
	}
	if !filepath.IsAbs(want) {
		want = filepath.Join(root, filepath.FromSlash(want))
	}
	return path == filepath.Clean(want)
}

// notFound is the refusal for a name that no symbol has.
func notFound(ctx context.Context, r graph.Reader, what, name string) error {
	err := api.Errorf(api.SymbolNotFound, "no symbol %s in this workspace; check the spelling, or pass filePath and line", what)
	near, nerr := r.Names(ctx, name, maxSuggestions)
	if nerr == nil {
		near = slices.DeleteFunc(near, func(n string) bool { return n == name })
	}
	if len(near) > 0 {
		err.Suggestions = near
		err.Message = "no symbol " + what + " in this workspace; did you mean " + strings.Join(near, ", ") + "?"
	}
	return err
}
