package op

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
)

// typeKinds are the kinds that list_types lists.
var typeKinds = []graph.Kind{
	graph.KindClass, graph.KindStruct, graph.KindInterface, graph.KindEnum,
	graph.KindTrait, graph.KindRecord, graph.KindTypeAlias,
}

// callableKinds are the kinds that have parameters and results.
var callableKinds = []graph.Kind{graph.KindMethod, graph.KindFunction, graph.KindConstruct, graph.KindOperator}

// listed is one symbol of a listing, with its further declarations.
type listed struct {
	graph.Symbol
	more      []graph.Symbol
	inherited bool
	static    bool
	via       string
}

// listing gathers symbols of the graph, each once however often it is declared.
type listing struct {
	list  []listed
	known map[graph.ID]int
}

// add takes a declaration; one of a symbol that is there adds to it.
func (l *listing) add(x listed) {
	if l.known == nil {
		l.known = map[graph.ID]int{}
	}
	if i, ok := l.known[x.ID]; ok && x.ID != "" {
		if have := &l.list[i]; have.Path != x.Path || have.NameSpan != x.NameSpan {
			have.more = append(have.more, x.Symbol)
			have.Attributes = union(have.Attributes, x.Attributes)
		}
		return
	}
	l.known[x.ID] = len(l.list)
	l.list = append(l.list, x)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// answer makes entries of the first symbols and counts all of them.
func (l *listing) answer(ctx context.Context, s *workbench.Session, operation string, limit int) (*api.Listing, error) {
	out := &api.Listing{Operation: operation, Symbols: []api.ListedSymbol{}, Total: len(l.list)}
	for _, x := range l.list[:min(len(l.list), limit)] {
		f, err := s.File(ctx, x.Path)
		if err != nil {
			return nil, err
		}
		e := api.ListedSymbol{SymbolEntry: entry(s.Root(), x.Symbol, f), Inherited: x.inherited, Via: x.via, Static: x.static || static(x.Symbol)}
		whole := span(f, x.Decl)
		e.BodyRange = &whole
		for _, d := range x.more {
			f, err := s.File(ctx, d.Path)
			if err != nil {
				return nil, err
			}
			e.Declarations = append(e.Declarations, location(s.Root(), adapters.Place{Path: d.Path, Span: d.NameSpan, File: f}, true))
		}
		out.Symbols = append(out.Symbols, e)
	}
	out.Truncated = out.Total > len(out.Symbols)
	unread(s)
	out.Trust = sources{"graph": true}.trust(s)
	return out, nil
}

// static reports whether a member is one of its type rather than of the type's values.
func static(s graph.Symbol) bool {
	return slices.Contains(s.Modifiers, "static") || slices.Contains(s.Modifiers, "classmethod")
}

// maxUnread bounds the unread files that a warning names.
const maxUnread = 3

// unread notes the files that the index could not read or parse.
func unread(s *workbench.Session) {
	failed := s.Workspace().Indexed().Failed
	if len(failed) == 0 {
		return
	}
	paths := slices.Sorted(maps.Keys(failed))
	var named []string
	for _, p := range paths[:min(len(paths), maxUnread)] {
		named = append(named, s.Relative(p)+": "+strings.TrimPrefix(failed[p].Error(), p+": "))
	}
	if len(paths) > maxUnread {
		named = append(named, "…")
	}
	s.Incomplete("files that cannot be read are left out (" + strings.Join(named, "; ") + ")")
}

// within returns which files a question is about, nil for all.
func within(ctx context.Context, s *workbench.Session, r api.Request, filePath, filePattern string) (func(string) bool, error) {
	var tests []func(string) bool
	if filePath != "" {
		if _, err := resolve.File(ctx, s, filePath); err != nil {
			return nil, err
		}
		want := s.Absolute(filePath)
		tests = append(tests, func(p string) bool { return p == want })
	}
	if r.ProjectPath != "" {
		dir := s.Absolute(r.ProjectPath)
		if !s.Inside(dir) {
			return nil, api.Errorf(api.OutsideWorkspace, "%s is outside the workspace %s; ask with -C in the one that holds it", r.ProjectPath, s.Root())
		}
		if s.Snapshot().Listed(dir) {
			dir = filepath.Dir(dir) // the file that makes it a project
		}
		below := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
		tests = append(tests, func(p string) bool { return strings.HasPrefix(p, below) })
	}
	if filePattern != "" {
		pattern := filepath.ToSlash(filePattern)
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern // a name, wherever it is
		} else if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		files, err := s.Snapshot().Glob(ctx, strings.TrimPrefix(pattern, "./"))
		if errors.Is(err, path.ErrBadPattern) {
			return nil, api.Errorf(api.InvalidArgument, "filePattern %q is no glob: a bracket is open or a backslash stands last", filePattern)
		}
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			s.Warn("no file of the workspace is like " + filePattern + "; a glob with a / counts from the workspace's folder, ** stands for any folders")
		}
		set := make(map[string]bool, len(files))
		for _, f := range files {
			set[f] = true
		}
		tests = append(tests, func(p string) bool { return set[p] })
	}
	if tests == nil {
		return nil, nil
	}
	return func(p string) bool {
		return !slices.ContainsFunc(tests, func(ok func(string) bool) bool { return !ok(p) })
	}, nil
}

// kindOf refuses a word for a kind that none of the kinds asked about has.
func kindOf(word string, of []graph.Kind, what string) error {
	if word == "" || slices.ContainsFunc(of, func(k graph.Kind) bool { return resolve.Kind(graph.Symbol{Kind: k}, word) }) {
		return nil
	}
	var names []string
	for _, k := range of {
		names = append(names, string(k))
	}
	e := api.Errorf(api.InvalidArgument, "symbolKind must be a kind of %s: %s, not %q", what, strings.Join(names, ", "), word)
	e.Suggestions = api.Nearest(word, names, 1)
	return e
}

// listTypes lists the types of the workspace.
func listTypes(ctx context.Context, s *workbench.Session, input any) (any, error) {
	in := input.(api.ListTypes)
	if err := kindOf(in.SymbolKind, typeKinds, "type"); err != nil {
		return nil, err
	}
	like, err := nameGlob(in.NamePattern)
	if err != nil {
		return nil, err
	}
	paths, err := within(ctx, s, in.Request, in.FilePath, in.FilePattern)
	if err != nil {
		return nil, err
	}
	fold, err := nameGlob(strings.ToLower(in.NamePattern))
	if err != nil {
		return nil, err
	}
	var all listing
	nearly := 0
	err = s.Reader().Each(ctx, graph.Keep{Kinds: typeKinds, Path: paths, Locals: true}, func(x graph.Symbol) bool {
		switch {
		case !resolve.Kind(x, in.SymbolKind) || !resolve.InContainer(x, in.ContainingType):
		case x.Kind == graph.KindTypeAlias && slices.Contains(x.Modifiers, graph.Associated):
		case like(x.Name, x.Qualified):
			all.add(listed{Symbol: x})
		case fold(strings.ToLower(x.Name), strings.ToLower(x.Qualified)):
			nearly++
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(all.list) == 0 && nearly > 0 {
		s.Warn("no type is named like " + in.NamePattern + ", but without regard to case " + matching(nearly))
	}
	return all.answer(ctx, s, "list_types", in.Limit)
}

func matching(n int) string {
	if n == 1 {
		return "1 is"
	}
	return strconv.Itoa(n) + " are"
}

// nameGlob returns what tells whether a symbol's name is like a glob; one with
// separators is compared with the end of the qualified name.
func nameGlob(pattern string) (func(name, qualified string) bool, error) {
	if pattern == "" {
		return func(string, string) bool { return true }, nil
	}
	parts := segments(pattern)
	for _, p := range parts {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return nil, api.Errorf(api.InvalidArgument, "namePattern %q is no glob of names: *, ? and [a-z] stand for characters", pattern)
		}
	}
	match := func(glob, name string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil
	}
	return func(name, qualified string) bool {
		if len(parts) == 1 {
			return match(pattern, name)
		}
		have := segments(qualified)
		if len(have) < len(parts) {
			return false
		}
		for i, glob := range parts {
			part := have[len(have)-len(parts)+i]
			if !match(glob, part) && (i > 0 || !match(glob, path.Base(part))) {
				return false
			}
		}
		return true
	}, nil
}

// segments takes a qualified name apart.
func segments(name string) []string {
	return strings.Split(strings.ReplaceAll(name, "::", "."), ".")
}
