package golang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
)

// relatives finds the methods that must keep one name with the symbol. gopls
// renames those that it sees assigned to the interface; a type that meets it
// only in a type assertion, or in another package, would silently stop to.
func (r *renamer) relatives(ctx context.Context) error {
	r.Members = []graph.Symbol{r.Symbol}
	if r.Symbol.Kind == graph.KindMethod && !r.Symbol.Local {
		f, err := recipe.FamilyOf(ctx, r.Bench, r.Symbol)
		switch {
		case errors.Is(err, recipe.ErrFamily):
			return recipe.Refuse(adapters.Unsupported, "more than %d methods named %s implement one another; rename a smaller interface", len(f.Members)-1, r.Symbol.Name)
		case err != nil:
			return r.explain(ctx, err)
		}
		r.Members = f.Members
		if err := r.outsiders(ctx, f.Outside); err != nil {
			return err
		}
		if len(r.Members) > 1 {
			r.Warn("%d methods named %s belong together by the interfaces they meet and are renamed together", len(r.Members), r.Symbol.Name)
		}
	}
	for _, m := range r.Members {
		if _, err := r.source(ctx, m.Path); err != nil {
			return err
		}
	}
	same, err := r.Bench.Graph().ByName(ctx, r.Symbol.Name)
	if err != nil {
		return err
	}
	for _, s := range same {
		if !slices.ContainsFunc(r.Members, func(m graph.Symbol) bool { return m.ID == s.ID }) {
			r.others = append(r.others, s)
		}
	}
	return nil
}

// contracts are methods that package errors looks for by name on any error
// (go doc errors); they stand in interfaces without a name, which no server lists.
var contracts = []string{"Error", "Unwrap", "Is", "As"}

// outsiders refuses the rename of a method by which a type meets an interface
// that cannot be renamed with it.
func (r *renamer) outsiders(ctx context.Context, list []recipe.Outsider) error {
	var concrete []string
	for _, o := range list {
		word := string(o.Place.File.Content()[o.Place.Span.Start:o.Place.Span.End])
		abstract := slices.Contains(o.Of.Modifiers, "abstract")
		if word == "error" && filepath.Base(o.Place.Path) == "builtin.go" {
			if slices.Contains(contracts, r.Symbol.Name) && !abstract {
				return recipe.Refuse(adapters.OutsideWorkspace, "%s is an error, and Go's errors package finds the method %s by its name; it cannot be renamed",
					typeOf(o.Of), r.Symbol.Name)
			}
			continue
		}
		if word != r.Symbol.Name {
			continue
		}
		their, ok := recipe.SymbolAt(ctx, r.Bench, o.Place)
		if !ok {
			continue
		}
		switch iface := their.Container; {
		case abstract:
			if !slices.Contains(their.Modifiers, "abstract") && !copied(o.Place.Path) {
				concrete = append(concrete, iface)
			}
		case !slices.Contains(their.Modifiers, "abstract") || !reachable(o.Place.Path, iface):
		default:
			return recipe.Refuse(adapters.OutsideWorkspace, "%s implements %s by its method %s, and that interface is declared outside this workspace (%s); under another name it would not any more",
				typeOf(o.Of), iface, r.Symbol.Name, o.Place.Path)
		}
	}
	if len(concrete) == 0 {
		return nil
	}
	slices.Sort(concrete)
	concrete = slices.Compact(concrete)
	asked, err := r.askedAtRunTime(ctx)
	if err != nil {
		return err
	}
	if asked != "" {
		return recipe.Refuse(adapters.OutsideWorkspace, "types outside this workspace have the method %s (%s), and %s looks for it at run time; under another name they would silently not be found",
			r.Symbol.Name, recipe.Listed(concrete, 3), asked)
	}
	r.Warn("types outside this workspace have the method %s and keep it: %s", r.Symbol.Name, recipe.Listed(concrete, 3))
	return nil
}

// askedAtRunTime returns a place where a value is asked whether it meets one
// of the family's interfaces: x.(I), or a case of a type switch.
func (r *renamer) askedAtRunTime(ctx context.Context) (string, error) {
	for _, m := range r.Members {
		if !slices.Contains(m.Modifiers, "abstract") {
			continue
		}
		src, err := r.source(ctx, m.Path)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(src.Tree.Symbols, func(s graph.Symbol) bool { return s.Qualified == m.Container && s.Kind == graph.KindInterface })
		if i < 0 {
			continue
		}
		list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/references", src.Tree.Symbols[i],
			map[string]any{"context": map[string]any{"includeDeclaration": false}})
		if err != nil {
			return "", r.explain(ctx, err)
		}
		for _, p := range list {
			content := p.File.Content()
			_, _, start := qualifier(content, p.Span.Start)
			before := bytes.TrimRight(content[:start], " \t\r\n")
			line := bytes.TrimSpace(p.File.Line(p.File.LineOf(start)))
			if bytes.HasSuffix(before, []byte(".(")) || bytes.HasPrefix(line, []byte("case ")) && bytes.Contains(content, []byte(".(type)")) {
				return fmt.Sprintf("%s:%d", recipe.Relative(r.Bench, p.Path), p.File.PointOf(p.Span.Start).Line), nil
			}
		}
	}
	return "", nil
}

// reachable reports whether other packages can name an interface: one that is
// unexported or internal to a dependency is met by chance.
func reachable(path, qualified string) bool {
	name := qualified[strings.LastIndexByte(qualified, '.')+1:]
	return !strings.Contains(filepath.ToSlash(path), "/internal/") && !copied(path) && token.IsExported(name)
}

// copied reports whether a file belongs to the modules that Go's distribution
// carries for itself (GOROOT/src/vendor, GOROOT/src/cmd/vendor): nobody else can
// import them, and x/text's own types meet every interface of its copy.
func copied(path string) bool {
	slash := filepath.ToSlash(path)
	return strings.Contains(slash, "/src/vendor/golang.org/x/") || strings.Contains(slash, "/src/cmd/vendor/")
}

// typeOf returns the type that declares a method, as people write it.
func typeOf(s graph.Symbol) string {
	if s.Container == "" {
		return s.Name
	}
	return s.Container
}

// assignability is what gopls says when a concrete method is asked for alone.
var assignability = regexp.MustCompile(`no longer assignable to interface`)

// byReferences makes the edits of a member that gopls declines to rename
// because its interface would not follow: it does follow, in this plan.
func (r *renamer) byReferences(ctx context.Context, s graph.Symbol, refusal error) (change.Set, error) {
	var server adapters.ServerRefusal
	if !errors.As(refusal, &server) || len(r.Members) == 1 || !assignability.MatchString(refusal.Error()) {
		return change.Set{}, r.explain(ctx, refusal)
	}
	list, err := recipe.Locate(ctx, r.Bench, adapters.Navigate, "textDocument/references", s,
		map[string]any{"context": map[string]any{"includeDeclaration": true}})
	if err != nil {
		return change.Set{}, r.explain(ctx, err)
	}
	edits, err := recipe.NewEdits(change.Set{}, nil)
	if err != nil {
		return change.Set{}, err
	}
	for _, p := range list {
		if string(p.File.Content()[p.Span.Start:p.Span.End]) != r.Symbol.Name {
			continue
		}
		if !recipe.Inside(r.Bench.Root(), p.Path) {
			return change.Set{}, recipe.Refuse(adapters.OutsideWorkspace, "%s is used in %s, outside this workspace", s.Qualified, p.Path)
		}
		edits.Add(p.Path, p.Span, r.In.NewName)
	}
	return edits.Set(), nil
}

// Of what gopls says (gopls/internal/golang/rename_check.go), what is a clash
// of names.
var (
	clash    = regexp.MustCompile(`conflict|shadow|no longer assignable|unexported|breaking references|would (?:make|change|be|cause)`)
	badName  = regexp.MustCompile(`invalid identifier`)
	unloaded = regexp.MustCompile(`no package metadata|no metadata for|no views`)
	position = regexp.MustCompile(`^(.+\.go):(\d+:\d+):\s*(.*)$`)
)

// explain turns a refusal of gopls into one of ours; other errors are returned as they are.
func (r *renamer) explain(ctx context.Context, err error) error {
	var server adapters.ServerRefusal
	if !errors.As(err, &server) {
		return err
	}
	code, message := server.Refusal()
	if code != 0 {
		return err // gopls refuses with code 0; the others are about the protocol
	}
	said := r.readable(ctx, message)
	switch {
	case badName.MatchString(message):
		return recipe.Refuse(adapters.InvalidName, "%q is not a Go identifier", recipe.Printable(r.In.NewName))
	case unloaded.MatchString(message) && !r.sources[r.Symbol.Path].built:
		return r.leftOut()
	case unloaded.MatchString(message):
		return recipe.Refuse(adapters.Unsupported, "gopls has not loaded the package of %s: %s; `auractl diagnostics` and `go list ./...` say why",
			recipe.Relative(r.Bench, r.Symbol.Path), said)
	case clash.MatchString(message):
		return recipe.Refuse(adapters.NameConflict, "%s", said)
	}
	return recipe.Refuse(adapters.Unsupported, "gopls declines: %s", said)
}

// leftOut refuses a symbol that gopls cannot see.
func (r *renamer) leftOut() error {
	return recipe.Refuse(adapters.Unsupported, "%s is declared in %s, which is not part of the build here (%s); set GOOS, GOARCH or GOFLAGS=-tags so that it is, and rename again",
		r.Symbol.Name, recipe.Relative(r.Bench, r.Symbol.Path), condition(r.sources[r.Symbol.Path]))
}

// readable puts gopls's lines "place: text" into one sentence with the places
// behind it, relative to the workspace.
func (r *renamer) readable(ctx context.Context, message string) string {
	var parts []string
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if m := position.FindStringSubmatch(line); m != nil {
			line = m[3] + " (" + r.written(ctx, m[1]) + ":" + m[2] + ")"
		}
		if line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}

// written finds the file that gopls means, which it names by its folder and
// its own name only.
func (r *renamer) written(ctx context.Context, name string) string {
	if filepath.IsAbs(name) {
		return recipe.Relative(r.Bench, name)
	}
	files, err := r.Bench.Snapshot().Glob(ctx, "**/*.go")
	if err != nil {
		return name
	}
	var found []string
	for _, f := range files {
		if strings.HasSuffix(f, string(filepath.Separator)+filepath.FromSlash(name)) {
			found = append(found, recipe.Relative(r.Bench, f))
		}
	}
	if len(found) != 1 {
		return name
	}
	return found[0]
}
