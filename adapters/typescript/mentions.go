package typescript

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
)

// mentions adds the whole words in comments and strings that the options ask for.
func (r *renamer) mentions(ctx context.Context) error {
	return r.Mention(ctx, func(s *recipe.Source, m recipe.Mention) bool {
		if !r.reaches(&page{s}, m.Span.Start) {
			return false
		}
		if m.Token.Kind == syntax.Comment {
			return r.In.Comments && means(s.Content, m, r.Symbol)
		}
		return r.In.Strings && !imported(s.Tree, m.Span.Start)
	})
}

// reaches reports whether a local symbol can be meant at an offset.
func (r *renamer) reaches(src *page, at int) bool {
	if !r.Symbol.Local {
		return true
	}
	owner, ok := src.Tree.Enclosing(r.Symbol.NameSpan.Start)
	return !ok || owner.Whole.Contains(at)
}

// imported reports whether an offset lies in an import: the string names a file.
func imported(t *syntax.Tree, at int) bool {
	return slices.ContainsFunc(t.Imports, func(im syntax.Import) bool { return im.Span.Start <= at && at < im.Span.End })
}

// means reports whether a word of prose stands for the symbol: it is marked as
// code, belongs to a tag of JSDoc, or is no word of any language.
func means(content []byte, m recipe.Mention, sym graph.Symbol) bool {
	before, after := content[m.Token.Span.Start:m.Span.Start], content[m.Span.End:m.Token.Span.End]
	if n := len(before); n > 0 && (before[n-1] == '-' || before[n-1] == '/' || before[n-1] == '\\' || before[n-1] == '@') || len(after) > 0 && (after[0] == '-' || after[0] == '/') {
		return false // part of a path, of a compound, or a tag
	}
	if n := len(before); n > 0 && (before[n-1] == '.' || before[n-1] == '#') {
		chain := word(before[:n-1])
		return chain == "this" || sym.Container != "" && (chain == last(sym.Container))
	}
	switch {
	case len(before) > 0 && before[len(before)-1] == '`', len(after) > 0 && after[0] == '`':
		return true
	case bytes.HasPrefix(after, []byte("(")):
		return true
	case bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("@param")), bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("@link")), bytes.HasSuffix(bytes.TrimRight(before, " "), []byte("@see")):
		return true
	}
	return unmistakable(sym.Name) || isType(sym.Kind) && capital(sym.Name) && !begins(before)
}

// capital reports whether a name begins like that of a type.
func capital(name string) bool {
	r, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(r)
}

// begins reports whether a word that follows text begins a sentence, where any
// word has a capital. What a doc comment begins with is what it documents.
func begins(before []byte) bool {
	head := bytes.TrimRight(before, " \t\r\n*")
	if bytes.HasSuffix(head, []byte("/")) || len(head) == 0 {
		return !bytes.HasPrefix(bytes.TrimSpace(before), []byte("/**"))
	}
	return bytes.IndexByte([]byte(".!?:"), head[len(head)-1]) >= 0
}

func last(qualified string) string {
	return qualified[strings.LastIndexAny(qualified, "./")+1:]
}

// unmistakable reports whether a name is no word of prose: it has a capital
// within, a digit, an underscore or a dollar sign.
func unmistakable(name string) bool {
	return strings.IndexFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) >= 0 || strings.ContainsAny(name, "_$#")
}

// leftovers says where the old name still stands as a word in files that the
// change touches, and in code that nobody types.
func (r *renamer) leftovers(ctx context.Context) error {
	if r.Symbol.Local {
		return nil
	}
	prose := 0
	for _, path := range r.Edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if src.Tree == nil {
			continue
		}
		for _, m := range recipe.Mentions(src.Tree, src.Content, r.Symbol.Name) {
			if !r.Edits.Covers(path, m.Span) {
				prose++
			}
		}
	}
	if prose > 0 {
		hint := " (--comments and --strings rename them)"
		if r.In.Comments && r.In.Strings {
			hint = ""
		}
		r.Warn("%s still stands %d times in comments and strings%s", r.Symbol.Name, prose, hint)
	}
	member := r.Symbol.Kind == graph.KindMethod || r.Symbol.Kind == graph.KindProperty
	holders, err := r.Bench.Snapshot().Grep(ctx, r.Symbol.Name)
	if err != nil {
		return err
	}
	var untyped []string
	for _, path := range holders {
		if !isJavaScript(path) || installed(path) || !within(r.Bench.Project(), path) {
			continue
		}
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		for _, id := range src.Tree.Named(r.Symbol.Name) {
			dotted := id.Span.Start > 0 && src.Content[id.Span.Start-1] == '.'
			if (member && dotted || !member && taken(src, id.Span)) && !r.Edits.Covers(path, id.Span) {
				untyped = append(untyped, recipe.Relative(r.Bench, path))
				break
			}
		}
	}
	if len(untyped) > 0 {
		r.Warn("JavaScript that nobody types uses something named %s, which stays as it is: %s", r.Symbol.Name, strings.Join(untyped[:min(len(untyped), 5)], ", "))
	}
	return nil
}

// taken reports whether a name is taken out of what a require answers.
func taken(src *page, at graph.Span) bool {
	s, ok := src.Tree.Declared(at.Start)
	return ok && s.Local && strings.Contains(s.Signature, "require(")
}

// file moves the file that is named after a type along with it, and corrects
// the imports of it.
func (r *renamer) file(ctx context.Context) error {
	to := r.renamedFile()
	if to == "" {
		if r.In.File {
			r.Warn("%s is not named after %s and keeps its name", recipe.Relative(r.Bench, r.Symbol.Path), r.Symbol.Name)
		}
		return nil
	}
	if !r.In.File {
		return nil
	}
	have, err := recipe.ReadOptional(ctx, r.Bench.Snapshot(), to)
	if err != nil {
		return err
	}
	if have != nil {
		return recipe.Refuse(adapters.NameConflict, "%s exists already; rename without the file, or move that one first", recipe.Relative(r.Bench, to))
	}
	if _, err := r.position(ctx, r.Symbol.Path, r.Symbol.NameSpan.Start); err != nil {
		return err
	}
	var edit *protocol.WorkspaceEdit
	if err := r.srv.Call(ctx, protocol.MethodWorkspaceWillRenameFiles, &protocol.RenameFilesParams{
		Files: []protocol.FileRename{{OldURI: recipe.FileURI(r.Symbol.Path), NewURI: recipe.FileURI(to)}},
	}, &edit); err != nil {
		return r.explain(err)
	}
	if edit != nil {
		set, err := r.srv.Normalise(*edit)
		if err != nil {
			return err
		}
		imports, err := recipe.NewEdits(set, r.Read(ctx))
		if err != nil {
			return err
		}
		for _, path := range imports.Paths() {
			src, err := r.source(ctx, path)
			if err != nil {
				return err
			}
			for _, e := range imports.Of(path) {
				if same, ok := restemmed(string(src.Content[e.Start:e.End]), r.Symbol.Path, to); ok {
					e.New = same
				} else {
					r.Warn("%s imports %s by another name than its file's; it says %s now", recipe.Relative(r.Bench, path), r.Symbol.Name, e.New)
				}
				if !r.Edits.Add(path, graph.Span{Start: e.Start, End: e.End}, e.New) {
					return recipe.Refuse(adapters.NameConflict, "the imports of %s in %s would change twice; rename without the file", recipe.Relative(r.Bench, r.Symbol.Path), recipe.Relative(r.Bench, path))
				}
			}
		}
	}
	r.Moves = append(r.Moves, change.Op{Kind: change.Rename, Path: r.Symbol.Path, NewPath: to})
	return nil
}

// restemmed writes the import of a file that gets another name in its folder
// as it was written, with the new name. The server would rather write some
// imports in another style.
func restemmed(specifier, from, to string) (string, bool) {
	stem := func(path string) string {
		base := filepath.Base(path)
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	slash := strings.LastIndexByte(specifier, '/') + 1
	rest, ok := strings.CutPrefix(specifier[slash:], stem(from))
	if !ok || slash == 0 {
		return "", false
	}
	switch strings.TrimRight(rest, "\"'") {
	case "", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts":
		return specifier[:slash] + stem(to) + rest, true
	}
	return "", false
}

// renamedFile returns where the file of a type would move, empty when it is
// not named after the type.
func (r *renamer) renamedFile() string {
	s := r.Symbol
	if s.Local || isMember(s.Kind) {
		return ""
	}
	base := filepath.Base(s.Path)
	stem, rest := base, ""
	if i := strings.IndexByte(base, '.'); i > 0 {
		stem, rest = base[:i], base[i:]
	}
	style := recipe.NamedAfter(stem, s.Name)
	if style == nil || style(r.In.NewName) == stem {
		return ""
	}
	return filepath.Join(filepath.Dir(s.Path), style(r.In.NewName)+rest)
}

func isMember(k graph.Kind) bool {
	switch k {
	case graph.KindMethod, graph.KindProperty, graph.KindEnumMem, graph.KindConstruct:
		return true
	}
	return false
}
