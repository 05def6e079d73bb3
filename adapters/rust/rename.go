package rust

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// renamer plans one rename: rust-analyzer's edits, which cover a trait and its
// implementations, then what it cannot see, then comments and strings.
type renamer struct {
	recipe.Plan
	a        *Adapter
	srv      adapters.Server
	twins    []graph.Symbol // declarations of the same qualified name
	kin      []graph.Symbol // members of the same trait and of its implementations
	module   [2]string      // name of the module whose file follows, and what it becomes
	lifetime bool           // of sym: the server wants its name with the apostrophe
}

// rename plans a rename.
func (a *Adapter) rename(ctx context.Context, b adapters.Bench, in adapters.Rename) (adapters.Draft, error) {
	r := &renamer{Plan: recipe.Plan{Bench: b, In: in, Symbol: in.Symbol}, a: a}
	for _, step := range []func(context.Context) error{r.prepare, r.allowed, r.outsiders, r.clashes, r.ask, r.audit, r.captures, r.missed, r.mentions} {
		if err := step(ctx); err != nil {
			return adapters.Draft{}, err
		}
	}
	return r.Draft(ctx, r.Edits.Set(), unraw)
}

// prepare reads what the rest needs to know.
func (r *renamer) prepare(ctx context.Context) error {
	var err error
	if r.srv, err = r.Bench.Server(ctx, adapters.RenameRole); err != nil {
		return err
	}
	src, err := r.Source(ctx, r.Symbol.Path)
	if err != nil {
		return err
	}
	at := r.Symbol.NameSpan.Start
	r.lifetime = r.Symbol.Kind == graph.KindTypeParam && at > 0 && src.Content[at-1] == '\''
	if r.lifetime {
		r.In.NewName = strings.TrimPrefix(r.In.NewName, "'")
		r.Behind = len("'") // the server replaces that, too
	}
	if r.Symbol.Local {
		r.Holders = []string{r.Symbol.Path}
		return nil
	}
	if r.Holders, err = holders(ctx, r.Bench, strings.TrimPrefix(r.Symbol.Name, "r#")); err != nil {
		return err
	}
	same, err := r.Bench.Graph().ByName(ctx, r.Symbol.Name)
	for _, s := range same {
		switch {
		case s.Local || s.Language != r.Symbol.Language || spotOf(s) == spotOf(r.Symbol):
		case s.Project == r.Symbol.Project && s.Qualified == r.Symbol.Qualified && s.Kind == r.Symbol.Kind:
			r.twins = append(r.twins, s)
		case kin(s, r.Symbol):
			r.kin = append(r.kin, s)
		}
	}
	return err
}

// allowed refuses what makes no sense, whatever the server would do.
func (r *renamer) allowed(ctx context.Context) error {
	s, name := r.Symbol, r.In.NewName
	if err := r.a.CheckName(s, name); err != nil {
		return err
	}
	src, err := r.Source(ctx, s.Path)
	if err != nil {
		return err
	}
	switch {
	case name == s.Name:
		return recipe.Refuse(adapters.InvalidArgument, "%s has that name already", s.Name)
	case s.Kind == graph.KindParameter && s.Name == "self":
		return recipe.Refuse(adapters.Unsupported, "self makes a function a method; it cannot have another name")
	case s.Kind == graph.KindFunction && s.Name == "main" && s.Container == "" && programRoot(s.Path):
		return recipe.Refuse(adapters.Unsupported, "a program starts at its function main; it cannot be renamed")
	case s.Kind == graph.KindFunction && slices.ContainsFunc(s.Attributes, exported):
		r.Warn("%s is exported under its name to code that is not Rust; whatever looks for it there must follow", s.Name)
	case s.Kind == graph.KindField || s.Kind == graph.KindEnumMem:
		r.named(src)
	}
	if r.a.Language().Generated(src.Content) {
		r.Warn("%s says that a tool writes it; the rename lasts until it is written again", recipe.Relative(r.Bench, s.Path))
	}
	return nil
}

// named warns when what is derived for a type takes the names of its parts to
// where no compiler looks.
func (r *renamer) named(src *recipe.Source) {
	speaking := []string{"Serialize", "Deserialize", "Parser", "Args", "Subcommand", "ValueEnum", "FromRow", "Queryable", "Insertable"}
	for _, owner := range src.Tree.Symbols {
		if owner.Local || owner.Qualified != r.Symbol.Container && !strings.HasPrefix(r.Symbol.Container, owner.Qualified+"::") {
			continue
		}
		for _, a := range owner.Attributes {
			i := slices.IndexFunc(speaking, func(d string) bool { return strings.HasPrefix(a, "#[derive(") && text.NextWord([]byte(a), d, 0) >= 0 })
			if i >= 0 {
				r.Warn("%s derives %s, which takes the names of its parts to files or users: they will see %s from now on, unless an attribute says otherwise",
					owner.Name, speaking[i], r.In.NewName)
				return
			}
		}
	}
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
	kind, trait, ok := implemented(r.Symbol)
	if !ok {
		return nil
	}
	list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, protocol.MethodTextDocumentDeclaration, r.Symbol, nil)
	if err != nil {
		return r.explain(err)
	}
	for _, p := range list {
		if !recipe.Inside(r.Bench.Root(), p.Path) {
			return recipe.Refuse(adapters.OutsideWorkspace, "%s implements %s by %s, and that trait is declared outside this workspace; it cannot have another name here",
				kind, trait, r.Symbol.Name)
		}
	}
	return nil
}

// ask takes rust-analyzer's edits at the declaration.
func (r *renamer) ask(ctx context.Context) error {
	name := r.In.NewName
	if r.lifetime {
		name = "'" + name
	}
	set, err := recipe.Rename(ctx, r.srv, r.Symbol, name)
	for _, twin := range r.twins {
		if err == nil || !unknown(err) {
			break
		}
		// The one that was chosen is left out of the build here; this one is in it.
		if set, err = recipe.Rename(ctx, r.srv, twin, name); err == nil {
			r.Symbol = twin
		}
	}
	if err != nil {
		return r.explain(err)
	}
	if set, err = r.follow(ctx, set); err != nil {
		return err
	}
	if r.Edits, err = recipe.NewEdits(set, r.Read(ctx)); err != nil {
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
	for _, twin := range append([]graph.Symbol{r.In.Symbol}, r.twins...) {
		if spotOf(twin) == spotOf(r.Symbol) || r.Edits.Covers(twin.Path, twin.NameSpan) {
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
		src, err := r.Source(ctx, twin.Path)
		if err != nil {
			return err
		}
		r.Edits.Add(twin.Path, twin.NameSpan, r.In.NewName)
		r.Warn("%s is declared at %s as well, in code that #[cfg] leaves out here; it is renamed with it, and no build here looks at that", r.Symbol.Name, r.Where(src, twin.NameSpan.Start))
	}
	return nil
}

// apart rewrites the edits by which the server writes a field and its value
// apart, "x" to "y: x" or "x: y": it only inserts, so that an edit does not tell
// which of the two is the symbol. Here it is the bytes that are replaced.
func (r *renamer) apart(ctx context.Context) error {
	var set change.Set
	for _, path := range r.Edits.Paths() {
		src, err := r.Source(ctx, path)
		if err != nil {
			return err
		}
		var list []text.Edit
		for _, e := range r.Edits.Of(path) {
			key, keyed := strings.CutSuffix(e.New, ": ")
			value, valued := strings.CutPrefix(e.New, ": ")
			switch {
			case e.Start == e.End && keyed && wordIn(key):
				word := src.Content[e.Start : e.Start+wordAfter(src.Content[e.Start:])]
				list = append(list, text.Edit{Start: e.Start, End: e.Start + len(word), New: e.New + string(word)})
			case e.Start == e.End && valued && wordIn(value):
				start := e.Start - wordBefore(src.Content[:e.Start])
				list = append(list, text.Edit{Start: start, End: start, New: string(src.Content[start:e.Start]) + ": "},
					text.Edit{Start: start, End: e.Start, New: value})
				if path == r.Symbol.Path && start == r.Symbol.NameSpan.Start {
					r.Behind = e.Start - start + len(": ")
				}
			case r.Symbol.Kind == graph.KindField && e.Start < e.End && previous(src.Content[:e.Start]) != '.':
				// Some versions rename the local by which a field is filled along with
				// it, to keep the two in one word. Only the field was asked for.
				meant, err := meaningOf(ctx, r.Bench, r.Symbol, path, graph.Span{Start: e.Start, End: e.End})
				if err != nil {
					return err
				}
				if meant == foreign {
					continue
				}
				e.New = r.written(src.Content, graph.Span{Start: e.Start, End: e.End})
				list = append(list, e)
			case e.New == r.In.NewName && r.Symbol.Local && shorthand(src.Content, graph.Span{Start: e.Start, End: e.End}) && e.Start != r.Symbol.NameSpan.Start:
				// Within arguments of macros the server does not write the two apart.
				e.New = r.written(src.Content, graph.Span{Start: e.Start, End: e.End})
				list = append(list, e)
			default:
				list = append(list, e)
			}
		}
		set = set.Append(change.FromEdits(path, list))
	}
	var err error
	r.Edits, err = recipe.NewEdits(set, r.Read(ctx))
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
		return recipe.Refuse(adapters.Unsupported, "rust-analyzer finds nothing to rename at the declaration of %s", r.Symbol.Qualified)
	}
	var server adapters.ServerRefusal
	if !errors.As(err, &server) {
		return err
	}
	code, message := server.Refusal()
	lower := strings.ToLower(message)
	switch {
	case code == invalidParams && strings.Contains(lower, "no references found"):
		return recipe.Refuse(adapters.Unsupported, "rust-analyzer does not know %s (%s): it may be left out of the build here by #[cfg], or its file belongs to no crate",
			r.Symbol.Qualified, recipe.Relative(r.Bench, r.Symbol.Path))
	case code == invalidParams && (strings.Contains(lower, "non-local") || strings.Contains(lower, "crate outside")):
		return recipe.Refuse(adapters.OutsideWorkspace, "%s is declared outside this workspace; rust-analyzer says: %s", r.Symbol.Name, message)
	case code == invalidParams && (strings.Contains(lower, "invalid name") || strings.Contains(lower, "not a valid")):
		return recipe.Refuse(adapters.InvalidName, "%q cannot be the name of a %s here; rust-analyzer says: %s", recipe.Printable(r.In.NewName), r.Symbol.Kind, message)
	}
	return declined(r.Bench, r.Symbol, server)
}

// audit checks each of the server's edits against the text: it must put the
// new name in place of the old one, or write a field and its value apart.
func (r *renamer) audit(ctx context.Context) error {
	old, name := strings.TrimPrefix(r.Symbol.Name, "r#"), strings.TrimPrefix(r.In.NewName, "r#")
	for _, path := range r.Edits.Paths() {
		src, err := r.Source(ctx, path)
		if err != nil {
			return err
		}
		if inside(path, "target") && !inside(r.Symbol.Path, "target") {
			return recipe.Refuse(adapters.Unsupported, "%s is used in %s, which a build writes", r.Symbol.Name, recipe.Relative(r.Bench, path))
		}
		for _, e := range r.Edits.Of(path) {
			was := strings.TrimPrefix(strings.TrimPrefix(string(src.Content[e.Start:e.End]), "'"), "r#")
			now := strings.TrimPrefix(strings.TrimPrefix(e.New, "'"), "r#")
			switch {
			case was == old && now == name, was != "" && was == r.module[0] && now == r.module[1]:
			case was == "" && now == old+": ", was == old && now == name+": "+old, was == old && now == name+": r#"+old:
			case strings.ReplaceAll(was, " ", "") == old+":"+old, strings.ReplaceAll(now, " ", "") == name, strings.HasPrefix(was, old) || strings.HasSuffix(was, old):
				// "x: x" becomes "x" where the new name is that of the field.
			default:
				at := src.File.PointOf(e.Start)
				return recipe.Refuse(adapters.Unsupported, "rust-analyzer would write %q in place of %q at %s:%d:%d, which is no rename of %s",
					recipe.Printable(e.New), recipe.Printable(string(src.Content[e.Start:e.End])), recipe.Relative(r.Bench, path), at.Line, at.Column, r.Symbol.Name)
			}
		}
	}
	return nil
}

// inside reports whether a folder of the name is above a file.
func inside(path, folder string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), folder)
}

func fileOf(content []byte) *text.File { return text.NewFile(content) }

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// unraw takes the mark off a name that is a keyword otherwise.
func unraw(name string) string { return strings.TrimPrefix(name, "r#") }
