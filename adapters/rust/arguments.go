package rust

import (
	"bytes"
	"context"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// maxArguments bounds how many names in arguments of macros are asked about for one answer.
const maxArguments = 400

// inArguments returns the occurrences of a symbol's name in arguments of macros
// of which the server says that they mean it, without those that are known. Its
// search for references may leave them out, by luck of the order in which it
// looks, while it knows what each of them is.
func inArguments(ctx context.Context, b adapters.Bench, sym graph.Symbol, known func(path string, at graph.Span) bool) ([]adapters.Place, error) {
	files := []string{sym.Path}
	if !sym.Local {
		var err error
		if files, err = holders(ctx, b, sym.Name); err != nil {
			return nil, err
		}
	}
	var out []adapters.Place
	asked, left := 0, 0
	for _, path := range files {
		tree, content, err := source(ctx, b, path)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			continue
		}
		var file *text.File
		for _, at := range unlisted(tree, content, sym, func(at graph.Span) bool { return known(path, at) }) {
			if asked++; asked > maxArguments {
				left++
				continue
			}
			meant, err := meaningOf(ctx, b, sym, path, at)
			if err != nil {
				return nil, err
			}
			if meant != ours {
				continue
			}
			if file == nil {
				file = fileOf(content)
			}
			out = append(out, adapters.Place{Path: path, Span: at, File: file})
		}
	}
	if left > 0 {
		b.Incomplete(count(left, "more occurrence") + " of " + sym.Name + " in arguments of macros were not looked at")
	}
	return out, nil
}

// unlisted returns the occurrences of a symbol's name in arguments of macros
// that can mean it by the tokens around them, and are not known.
func unlisted(tree *syntax.Tree, content []byte, sym graph.Symbol, known func(graph.Span) bool) []graph.Span {
	owner := graph.Span{End: len(content)}
	if sym.Local {
		if s, ok := tree.Enclosing(sym.NameSpan.Start); ok {
			owner = s.Decl
		}
	}
	var out, calls []graph.Span
	for _, id := range tree.Named(sym.Name) {
		if !owner.Contains(id.Span.Start) || known(id.Span) || !fits(sym, content, id.Span) {
			continue
		}
		if _, ok := macroAround(tree, content, id.Span.Start); ok {
			continue // nobody knows what it means before the macro is used
		}
		if calls == nil {
			if calls = invocations(tree, content); len(calls) == 0 {
				return nil
			}
		}
		if slices.ContainsFunc(calls, func(c graph.Span) bool { return c.Contains(id.Span.Start) }) {
			out = append(out, id.Span)
		}
	}
	return out
}

// invocations returns what stands in the brackets of macros that are used, of
// nested ones the outermost.
func invocations(tree *syntax.Tree, content []byte) []graph.Span {
	var out []graph.Span
	end := 0
	for _, id := range tree.Idents {
		rest := content[id.Span.End:]
		if id.Span.Start < end || !bytes.HasPrefix(rest, []byte("!")) || id.Name == "macro_rules" {
			continue
		}
		open := len(content) - len(bytes.TrimLeft(rest[1:], " \t\r\n"))
		if open >= len(content) || !bytes.ContainsRune([]byte("([{"), rune(content[open])) {
			continue
		}
		end = closed(tree, content, open)
		out = append(out, graph.Span{Start: open, End: end})
	}
	return out
}

// closed returns the end of the bracket that is opened at an offset.
func closed(tree *syntax.Tree, content []byte, open int) int {
	next, _ := slices.BinarySearchFunc(tree.Tokens, open, func(t syntax.Token, at int) int { return t.Span.Start - at })
	depth := 0
	for i := open; i < len(content); i++ {
		for next < len(tree.Tokens) && tree.Tokens[next].Span.Start < i {
			next++
		}
		if next < len(tree.Tokens) && tree.Tokens[next].Span.Start == i {
			i = max(i, tree.Tokens[next].Span.End-1)
			continue
		}
		switch content[i] {
		case '\'': // a character, else a lifetime
			if end := bytes.IndexByte(content[min(i+2, len(content)):], '\''); end == 0 || end > 0 && content[i+1] == '\\' {
				i += 2 + end
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(content)
}

// bySelf returns where a type is named Self in its impl blocks, without what is
// known: the server's search may leave those out as well.
func bySelf(ctx context.Context, b adapters.Bench, sym graph.Symbol, known func(path string, at graph.Span) bool) ([]adapters.Place, error) {
	if sym.Local || sym.Kind != graph.KindStruct && sym.Kind != graph.KindEnum {
		return nil, nil
	}
	files, err := holders(ctx, b, sym.Name)
	if err != nil {
		return nil, err
	}
	others, err := homonyms(ctx, b, sym)
	if err != nil {
		return nil, err
	}
	var out []adapters.Place
	for _, path := range files {
		tree, content, err := source(ctx, b, path)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			continue
		}
		for _, id := range tree.Named("Self") {
			member, ok := tree.Enclosing(id.Span.Start)
			if !ok || known(path, id.Span) {
				continue
			}
			of, _, trait := implemented(member)
			if around(member) == sym.Qualified && member.Kind != graph.KindField || trait && others == 0 && lastName(of) == sym.Name {
				out = append(out, adapters.Place{Path: path, Span: id.Span, File: fileOf(content)})
			}
		}
	}
	return out, nil
}
