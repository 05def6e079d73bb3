package rust

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: rust-analyzer's edits, which cover a trait and its
// implementations, then what it cannot see, then comments and strings.
type renamer struct {
	a        *Adapter
	b        adapters.Bench
	srv      adapters.Server
	in       adapters.Rename
	sym      graph.Symbol   // where the server is asked
	twins    []graph.Symbol // declarations of the same qualified name
	kin      []graph.Symbol // members of the same trait and of its implementations
	module   [2]string      // name of the module whose file follows, and what it becomes
	lifetime bool           // of sym: the server wants its name with the apostrophe
	edits    *recipe.Edits
	moves    []change.Op // files that follow the name of a module
	sources  map[string]*file
	holders  []string // Rust files of the project that hold the name
	// declaredAt is how far behind the edit of the declaration the new name is:
	// a binding that stood for its field as well.
	declaredAt int
	warnings   []string
}

// file is a file that may mention the symbol.
type file struct {
	path    string
	content []byte
	tree    *syntax.Tree
	index   *text.File
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{a: a, b: b, in: in, sym: in.Symbol, sources: map[string]*file{}}
	for _, step := range []func(context.Context) error{r.prepare, r.allowed, r.outsiders, r.clashes, r.ask, r.audit, r.captures, r.missed, r.mentions} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return r.draft(ctx)
}

// prepare reads what the rest needs to know.
func (r *renamer) prepare(ctx context.Context) error {
	var err error
	if r.srv, err = r.b.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	src, err := r.source(ctx, r.sym.Path)
	if err != nil {
		return err
	}
	at := r.sym.NameSpan.Start
	r.lifetime = r.sym.Kind == graph.KindTypeParam && at > 0 && src.content[at-1] == '\''
	if r.lifetime {
		r.in.NewName = strings.TrimPrefix(r.in.NewName, "'")
		r.declaredAt = len("'") // the server replaces that, too
	}
	if r.sym.Local {
		r.holders = []string{r.sym.Path}
		return nil
	}
	if r.holders, err = holders(ctx, r.b, strings.TrimPrefix(r.sym.Name, "r#")); err != nil {
		return err
	}
	same, err := r.b.Graph().ByName(ctx, r.sym.Name)
	for _, s := range same {
		switch {
		case s.Local || s.Language != r.sym.Language || spotOf(s) == spotOf(r.sym):
		case s.Project == r.sym.Project && s.Qualified == r.sym.Qualified && s.Kind == r.sym.Kind:
			r.twins = append(r.twins, s)
		case kin(s, r.sym):
			r.kin = append(r.kin, s)
		}
	}
	return err
}

// allowed refuses what makes no sense, whatever the server would do.
func (r *renamer) allowed(context.Context) error {
	s, name := r.sym, r.in.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	src := r.sources[s.Path]
	switch {
	case name == s.Name:
		return refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindParameter && s.Name == "self":
		return refuse(adapters.Unsupported, "self makes a function a method; it cannot have another name")
	case s.Kind == graph.KindFunction && s.Name == "main" && s.Container == "" && programRoot(s.Path):
		return refuse(adapters.Unsupported, "a program starts at its function main; it cannot be renamed")
	case s.Kind == graph.KindFunction && slices.ContainsFunc(s.Attributes, exported):
		r.warn("%s is exported under its name to code that is not Rust; whatever looks for it there must follow", s.Name)
	case r.a.Language().Generated(src.content):
		r.warn("%s says that a tool writes it; the rename lasts until it is written again", r.relative(s.Path))
	}
	return nil
}

// exported reports whether an attribute gives a function a name for the linker
// or for a host.
func exported(attribute string) bool {
	for _, word := range []string{"no_mangle", "export_name", "wasm_bindgen", "pyfunction", "pymethods"} {
		if strings.Contains(attribute, word) {
			return true
		}
	}
	return false
}

// programRoot reports whether cargo makes a program of a file.
func programRoot(path string) bool {
	dir := filepath.Base(filepath.Dir(path))
	return filepath.Base(path) == "main.rs" || filepath.Base(path) == "build.rs" || dir == "bin" || dir == "examples"
}

// outsiders refuses a member by which a type implements a trait that is
// declared outside the workspace.
func (r *renamer) outsiders(ctx context.Context) error {
	kind, trait, ok := strings.Cut(around(r.sym), " as ")
	if !ok || r.sym.Local {
		return nil
	}
	list, err := recipe.Locate(ctx, r.b, adapters.Navigate, protocol.MethodTextDocumentDeclaration, r.sym, nil)
	if err != nil {
		return r.explain(err)
	}
	for _, p := range list {
		if !recipe.Inside(r.b.Root(), p.Path) {
			return refuse(adapters.OutsideWorkspace, "%s implements %s by %s, and that trait is declared outside this workspace; it cannot have another name here",
				kind[strings.LastIndexByte(kind, '<')+1:], strings.TrimSuffix(trait, ">"), r.sym.Name)
		}
	}
	return nil
}

// ask takes rust-analyzer's edits at the declaration.
func (r *renamer) ask(ctx context.Context) error {
	name := r.in.NewName
	if r.lifetime {
		name = "'" + name
	}
	set, err := recipe.Rename(ctx, r.srv, r.sym, name)
	for _, twin := range r.twins {
		if err == nil || !unknown(err) {
			break
		}
		// The one that was chosen is left out of the build here; this one is in it.
		if set, err = recipe.Rename(ctx, r.srv, twin, name); err == nil {
			r.sym = twin
		}
	}
	if err != nil {
		return r.explain(err)
	}
	if set, err = r.follow(ctx, set); err != nil {
		return err
	}
	if r.edits, err = recipe.NewEdits(set, r.read(ctx)); err != nil {
		return err
	}
	if err := r.apart(ctx); err != nil {
		return err
	}
	return r.others(ctx)
}

// unknown reports whether the server knows no symbol where it was asked.
func unknown(err error) bool {
	var server adapters.ServerRefusal
	if !errors.As(err, &server) {
		return errors.Is(err, recipe.ErrNoRename)
	}
	code, message := server.Refusal()
	return code == invalidParams && strings.Contains(strings.ToLower(message), "no references found")
}

// others renames the declarations of the same name in the same place of which
// #[cfg] lets one be built at a time: those that the server does not know.
func (r *renamer) others(ctx context.Context) error {
	for _, twin := range append([]graph.Symbol{r.in.Symbol}, r.twins...) {
		if spotOf(twin) == spotOf(r.sym) || r.edits.Covers(twin.Path, twin.NameSpan) {
			continue
		}
		pos, err := r.srv.Position(ctx, twin.Path, twin.NameSpan.Start)
		if err != nil {
			return err
		}
		var prepared protocol.PrepareRenameResult
		err = r.srv.Call(ctx, protocol.MethodTextDocumentPrepareRename, &protocol.PrepareRenameParams{TextDocumentPositionParams: pos}, &prepared)
		switch {
		case err != nil && unknown(err), err == nil && prepared == nil:
		case err != nil:
			return r.explain(err)
		default:
			continue // another symbol, of an impl block for other type arguments
		}
		src, err := r.source(ctx, twin.Path)
		if err != nil {
			return err
		}
		r.edits.Add(twin.Path, twin.NameSpan, r.in.NewName)
		r.warn("%s is declared at %s as well, in code that #[cfg] leaves out here; it is renamed with it, and no build here looks at that", r.sym.Name, r.where(src, twin.NameSpan.Start))
	}
	return nil
}

// apart rewrites the edits by which the server writes a field and its value
// apart, "x" to "y: x" or "x: y": it only inserts, so that an edit does not tell
// which of the two is the symbol. Here it is the bytes that are replaced.
func (r *renamer) apart(ctx context.Context) error {
	var set change.Set
	for _, path := range r.edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		var list []text.Edit
		for _, e := range r.edits.Of(path) {
			key, keyed := strings.CutSuffix(e.New, ": ")
			value, valued := strings.CutPrefix(e.New, ": ")
			switch {
			case e.Start == e.End && keyed && wordIn(key):
				word := src.content[e.Start : e.Start+wordAfter(src.content[e.Start:])]
				list = append(list, text.Edit{Start: e.Start, End: e.Start + len(word), New: e.New + string(word)})
			case e.Start == e.End && valued && wordIn(value):
				start := e.Start - wordBefore(src.content[:e.Start])
				list = append(list, text.Edit{Start: start, End: start, New: string(src.content[start:e.Start]) + ": "},
					text.Edit{Start: start, End: e.Start, New: value})
				if path == r.sym.Path && start == r.sym.NameSpan.Start {
					r.declaredAt = e.Start - start + len(": ")
				}
			default:
				list = append(list, e)
			}
		}
		set = set.Append(change.FromEdits(path, list))
	}
	var err error
	r.edits, err = recipe.NewEdits(set, r.read(ctx))
	return err
}

func wordIn(s string) bool { return s != "" && wordAfter([]byte(s)) == len(s) }

// wordAfter returns the length of the identifier at the start of code, a raw one included.
func wordAfter(code []byte) int {
	n := 0
	if strings.HasPrefix(string(code[:min(2, len(code))]), "r#") {
		n = 2
	}
	for n < len(code) && wordByte(code[n]) {
		n++
	}
	return n
}

// wordBefore returns the length of the identifier at the end of code.
func wordBefore(code []byte) int {
	n := 0
	for n < len(code) && wordByte(code[len(code)-1-n]) {
		n++
	}
	if strings.HasSuffix(string(code[:len(code)-n]), "r#") {
		n += 2
	}
	return n
}

// explain turns an error of rust-analyzer's into a refusal.
func (r *renamer) explain(err error) error {
	if errors.Is(err, recipe.ErrNoRename) {
		return refuse(adapters.Unsupported, "rust-analyzer finds nothing to rename at the declaration of %s", r.sym.Qualified)
	}
	var server adapters.ServerRefusal
	if !errors.As(err, &server) {
		return err
	}
	code, message := server.Refusal()
	lower := strings.ToLower(message)
	switch {
	case code == invalidParams && strings.Contains(lower, "no references found"):
		return refuse(adapters.Unsupported, "rust-analyzer does not know %s (%s): it may be left out of the build here by #[cfg], or its file belongs to no crate",
			r.sym.Qualified, r.relative(r.sym.Path))
	case code == invalidParams && (strings.Contains(lower, "non-local") || strings.Contains(lower, "crate outside")):
		return refuse(adapters.OutsideWorkspace, "%s is declared outside this workspace; rust-analyzer says: %s", r.sym.Name, message)
	case code == invalidParams && (strings.Contains(lower, "invalid name") || strings.Contains(lower, "not a valid")):
		return refuse(adapters.InvalidName, "%q cannot be the name of a %s here; rust-analyzer says: %s", recipe.Printable(r.in.NewName), r.sym.Kind, message)
	}
	return declined(r.b, r.sym, server)
}

// audit checks each of the server's edits against the text: it must put the
// new name in place of the old one, or write a field and its value apart.
func (r *renamer) audit(ctx context.Context) error {
	old, name := strings.TrimPrefix(r.sym.Name, "r#"), strings.TrimPrefix(r.in.NewName, "r#")
	for _, path := range r.edits.Paths() {
		src, err := r.source(ctx, path)
		if err != nil {
			return err
		}
		if inside(path, "target") && !inside(r.sym.Path, "target") {
			return refuse(adapters.Unsupported, "%s is used in %s, which a build writes", r.sym.Name, r.relative(path))
		}
		for _, e := range r.edits.Of(path) {
			was := strings.TrimPrefix(strings.TrimPrefix(string(src.content[e.Start:e.End]), "'"), "r#")
			now := strings.TrimPrefix(strings.TrimPrefix(e.New, "'"), "r#")
			switch {
			case was == old && now == name, was != "" && was == r.module[0] && now == r.module[1]:
			case was == "" && now == old+": ", was == old && now == name+": "+old, was == old && now == name+": r#"+old:
			case strings.ReplaceAll(was, " ", "") == old+":"+old, strings.ReplaceAll(now, " ", "") == name, strings.HasPrefix(was, old) || strings.HasSuffix(was, old):
				// "x: x" becomes "x" where the new name is that of the field.
			default:
				at := src.index.PointOf(e.Start)
				return refuse(adapters.Unsupported, "rust-analyzer would write %q in place of %q at %s:%d:%d, which is no rename of %s",
					recipe.Printable(e.New), recipe.Printable(string(src.content[e.Start:e.End])), r.relative(path), at.Line, at.Column, r.sym.Name)
			}
		}
	}
	return nil
}

// inside reports whether a folder of the name is above a file.
func inside(path, folder string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), folder)
}

// draft makes the plan of the edits.
func (r *renamer) draft(ctx context.Context) (adapters.Draft, error) {
	set := r.edits.Set()
	set.Ops = append(set.Ops, r.moves...)
	target := r.sym.Path
	for _, m := range r.moves {
		if m.Path == target {
			target = m.NewPath
		}
	}
	offset := r.edits.Moved(r.sym.Path, r.sym.NameSpan.Start) + r.declaredAt
	d := adapters.Draft{
		Change:   set,
		Reads:    slices.DeleteFunc(slices.Clone(r.holders), func(p string) bool { return len(r.edits.Of(p)) > 0 }),
		Old:      adapters.Marks{Path: r.sym.Path, Offset: r.sym.NameSpan.Start},
		New:      adapters.Marks{Path: target, Offset: offset},
		Warnings: r.warnings,
	}
	after, err := r.b.With(set)
	if err != nil {
		return d, fmt.Errorf("the planned change does not fit the text: %w", err)
	}
	tree, err := after.Tree(ctx, target)
	if err != nil {
		return d, err
	}
	renamed, ok := tree.Declared(offset)
	if !ok || strings.TrimPrefix(renamed.Name, "r#") != strings.TrimPrefix(r.in.NewName, "r#") {
		return d, fmt.Errorf("the planned change does not declare %s at %s", r.in.NewName, r.relative(target))
	}
	d.NewID = renamed.ID
	return d, nil
}

// source reads and parses a file once.
func (r *renamer) source(ctx context.Context, path string) (*file, error) {
	if f, ok := r.sources[path]; ok {
		return f, nil
	}
	content, _, err := r.b.Snapshot().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	tree, err := r.b.Tree(ctx, path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, content: content, tree: tree, index: text.NewFile(content)}
	r.sources[path] = f
	return f, nil
}

// read reads files for change sets.
func (r *renamer) read(ctx context.Context) change.ReadFunc {
	return func(path string) ([]byte, error) {
		content, _, err := r.b.Snapshot().Read(ctx, path)
		return content, err
	}
}

func (r *renamer) relative(path string) string {
	rel, err := filepath.Rel(r.b.Root(), path)
	if err != nil || !recipe.Inside(r.b.Root(), path) {
		return path
	}
	return filepath.ToSlash(rel)
}

func (r *renamer) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// where names a place for people.
func (r *renamer) where(f *file, offset int) string {
	at := f.index.PointOf(offset)
	return r.relative(f.path) + ":" + strconv.Itoa(at.Line) + ":" + strconv.Itoa(at.Column)
}

func fileOf(content []byte) *text.File { return text.NewFile(content) }

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
