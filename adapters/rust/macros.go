package rust

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// use is an occurrence of a name in the body of a macro_rules!, of which no
// server can tell what it means before the macro is used.
type use struct {
	place adapters.Place
	macro graph.Symbol
	sure  bool // nothing else of the project can be meant
}

// references answers with rust-analyzer's places, those in arguments of macros
// that it left out, and those in macro bodies.
func references(ctx context.Context, b adapters.Bench, t adapters.Target) (adapters.Found, error) {
	found, err := recipe.References(usage)(ctx, b, t)
	if err != nil {
		return found, err
	}
	if !slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool {
		return h.Place.Path == t.Symbol.Path && h.Place.Span.Start <= t.Symbol.NameSpan.Start && t.Symbol.NameSpan.End <= h.Place.Span.End
	}) {
		// The server was asked for the declaration, too.
		hit, err := declaration(ctx, b, t.Symbol)
		if err != nil {
			return found, err
		}
		hit.Symbol, hit.Body = nil, graph.Span{}
		found.Hits = append(found.Hits, hit)
		unseenSymbol(b, t.Symbol)
	}
	listed := func(path string, at graph.Span) bool {
		return slices.ContainsFunc(found.Hits, func(h adapters.Hit) bool { return h.Place.Path == path && h.Place.Span == at })
	}
	arguments, err := inArguments(ctx, b, t.Symbol, listed)
	if err != nil {
		return found, err
	}
	for _, p := range arguments {
		found.Hits = append(found.Hits, adapters.Hit{Place: p, Usage: usage(t.Symbol, p)})
	}
	selves, err := bySelf(ctx, b, t.Symbol, listed)
	if err != nil {
		return found, err
	}
	for _, p := range selves {
		found.Hits = append(found.Hits, adapters.Hit{Place: p, Usage: usage(t.Symbol, p)})
	}
	if t.Symbol.Local {
		return found, nil
	}
	uses, err := inMacros(ctx, b, t.Symbol)
	if err != nil {
		return found, err
	}
	unsure := 0
	for _, u := range uses {
		switch {
		case listed(u.place.Path, u.place.Span):
		case u.sure:
			found.Hits = append(found.Hits, adapters.Hit{Place: u.place, Usage: usage(t.Symbol, u.place), Source: "syntax"})
		default:
			unsure++
		}
	}
	if unsure > 0 {
		b.Incomplete("bodies of macro_rules! hold " + count(unsure, "occurrence") + " of " + t.Symbol.Name + " that may mean this or another declaration of that name")
	}
	return found, nil
}

// inMacros returns the occurrences of a symbol's name in the bodies of the
// project's macros that can mean it by what stands around them.
func inMacros(ctx context.Context, b adapters.Bench, sym graph.Symbol) ([]use, error) {
	files, err := holders(ctx, b, sym.Name)
	if err != nil {
		return nil, err
	}
	var out []use
	unique := -1 // not known yet
	for _, path := range files {
		tree, content, err := source(ctx, b, path)
		if err != nil {
			return nil, err
		}
		if tree == nil || !bytes.Contains(content, []byte("macro_rules!")) {
			continue
		}
		var file *text.File
		for _, id := range tree.Named(sym.Name) {
			macro, ok := macroAround(tree, content, id.Span.Start)
			if !ok || !fits(sym, content, id.Span) {
				continue
			}
			if unique < 0 {
				if unique, err = homonyms(ctx, b, sym); err != nil {
					return nil, err
				}
			}
			if file == nil {
				file = text.NewFile(content)
			}
			out = append(out, use{place: adapters.Place{Path: path, Span: id.Span, File: file}, macro: macro, sure: unique == 0})
		}
	}
	return out, nil
}

// holders returns the Rust files of the project that hold a word.
func holders(ctx context.Context, b adapters.Bench, word string) ([]string, error) {
	all, err := b.Snapshot().Grep(ctx, word)
	if err != nil {
		return nil, err
	}
	p := b.Project()
	return slices.DeleteFunc(slices.Clone(all), func(path string) bool {
		return filepath.Ext(path) != ".rs" || !recipe.Inside(p.Root, path) && !slices.ContainsFunc(p.Members, func(m string) bool { return recipe.Inside(m, path) })
	}), nil
}

// source reads and parses a file; both are nil when it is gone or cannot be parsed.
func source(ctx context.Context, b adapters.Bench, path string) (*syntax.Tree, []byte, error) {
	content, _, err := b.Snapshot().Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	tree, err := b.Tree(ctx, path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, err
		}
		return nil, nil, nil //nolint:nilerr // a file that cannot be read holds no names
	}
	return tree, content, nil
}

// macroAround returns the macro_rules! whose body holds an offset.
func macroAround(t *syntax.Tree, content []byte, offset int) (graph.Symbol, bool) {
	for _, s := range t.Symbols {
		if s.Decl.Start > offset {
			break
		}
		if isMacro(s, content) && s.NameSpan.End <= offset && offset < s.Decl.End {
			return s, true
		}
	}
	return graph.Symbol{}, false
}

// isMacro reports whether a declaration is one of a macro_rules!.
func isMacro(s graph.Symbol, content []byte) bool {
	return s.Kind == graph.KindFunction && s.Decl.End <= len(content) && bytes.HasPrefix(content[s.Decl.Start:s.Decl.End], []byte("macro_rules!"))
}

// fits reports whether an occurrence of a symbol's name can mean it by the
// tokens around it.
func fits(sym graph.Symbol, content []byte, span graph.Span) bool {
	before, after := content[:span.Start], content[span.End:]
	last := previous(before)
	if last == '$' {
		return false // a variable of the macro
	}
	dotted := last == '.' && !bytes.HasSuffix(bytes.TrimRight(before, " \t\r\n"), []byte(".."))
	path := last == ':' && bytes.HasSuffix(bytes.TrimRight(before, " \t\r\n"), []byte("::"))
	bang := bytes.HasPrefix(after, []byte("!")) && !bytes.HasPrefix(after, []byte("!="))
	switch sym.Kind {
	case graph.KindMethod:
		return dotted || path || bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("fn"))
	case graph.KindField:
		return dotted && !called(after) || !path && !dotted && named(after)
	case graph.KindFunction:
		if strings.HasPrefix(sym.Signature, "macro_rules!") {
			return bang
		}
		declared := bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("fn"))
		return !dotted && !bang && (sym.Container == "" || path || declared || topLevel(sym))
	case graph.KindEnumMem:
		return path
	}
	return !dotted && !bang
}

// homonyms counts the other declarations of the project that an occurrence of
// the name could mean as well.
func homonyms(ctx context.Context, b adapters.Bench, sym graph.Symbol) (int, error) {
	same, err := b.Graph().ByName(ctx, sym.Name)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, s := range same {
		if s.Qualified != sym.Qualified && !s.Local && s.Language == sym.Language && sort(s.Kind) == sort(sym.Kind) && !kin(s, sym) {
			n++
		}
	}
	return n, nil
}

// kin reports whether two members of one name are a trait's and those of its implementations.
func kin(a, b graph.Symbol) bool {
	ta, tb := traitOf(a), traitOf(b)
	return ta != "" && ta == tb
}

// traitOf returns the last name of the trait that declares a member, or that
// its impl block implements; empty for other symbols.
func traitOf(s graph.Symbol) string {
	if _, trait, ok := implemented(s); ok {
		return lastName(trait)
	}
	switch s.Kind {
	case graph.KindMethod, graph.KindFunction, graph.KindConstant, graph.KindTypeAlias:
		return lastName(s.Container)
	}
	return ""
}

// implemented returns type and trait of the impl block that declares a member;
// false for what is not declared in an impl block for a trait.
func implemented(s graph.Symbol) (kind, trait string, ok bool) {
	block, ok := strings.CutSuffix(around(s), ">")
	if !ok {
		return "", "", false
	}
	depth := 1
	for i := len(block) - 1; i >= 0; i-- {
		switch {
		case block[i] == '>' && (i == 0 || block[i-1] != '-'):
			depth++
		case block[i] == '<':
			depth--
		}
		if depth == 0 {
			return strings.Cut(block[i+1:], " as ")
		}
	}
	return "", "", false
}

// around returns the qualified name of what declares a symbol: of a member of
// an impl block for a trait, "module::<Type as Trait>".
func around(s graph.Symbol) string { return strings.TrimSuffix(s.Qualified, "::"+s.Name) }

// lastName returns the last part of a path, without type arguments.
func lastName(path string) string {
	if i := strings.IndexByte(path, '<'); i > 0 {
		path = path[:i]
	}
	return path[strings.LastIndexByte(path, ':')+1:]
}

// sort puts kinds together that a name in code may mean alike.
func sort(k graph.Kind) string {
	switch k {
	case graph.KindMethod, graph.KindField:
		return "member"
	case graph.KindStruct, graph.KindEnum, graph.KindTrait, graph.KindTypeAlias, graph.KindModule:
		return "type"
	case graph.KindFunction, graph.KindConstant, graph.KindVariable, graph.KindEnumMem:
		return "value"
	}
	return string(k)
}
