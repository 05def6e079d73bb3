package recipe

import (
	"context"
	"errors"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
)

// Rename asks a server to rename a symbol at its declaration. prepareRename is
// asked first and believed: servers answer a rename that they have just
// declined. A refusal of the server is an adapters.ServerRefusal.
func Rename(ctx context.Context, srv adapters.Server, sym graph.Symbol, name string) (change.Set, error) {
	pos, err := srv.Position(ctx, sym.Path, sym.NameSpan.Start)
	if err != nil {
		return change.Set{}, err
	}
	var prepared protocol.PrepareRenameResult
	if err := srv.Call(ctx, protocol.MethodTextDocumentPrepareRename, &protocol.PrepareRenameParams{TextDocumentPositionParams: pos}, &prepared); err != nil {
		return change.Set{}, err
	}
	if prepared == nil {
		return change.Set{}, ErrNoRename
	}
	var edit *protocol.WorkspaceEdit
	err = srv.Call(ctx, protocol.MethodTextDocumentRename, &protocol.RenameParams{
		TextDocumentPositionParams: pos, NewName: name,
	}, &edit)
	if err != nil {
		return change.Set{}, err
	}
	if edit == nil {
		return change.Set{}, ErrNoRename
	}
	return srv.Normalise(*edit)
}

// ErrNoRename says that the server knows nothing to rename at a declaration.
var ErrNoRename = errors.New("the server finds nothing to rename there")

// Family is a method with all that must keep its name: the methods of
// interfaces that it implements, and theirs that implement them.
type Family struct {
	Members []graph.Symbol // in the workspace; the one asked about is first
	// Outside are declarations of the same name beyond the workspace that a
	// member implements or that implement one; Of is that member.
	Outside []Outsider
	Unknown []string // bases that nobody can resolve, with their files
}

// Outsider is a relative that cannot be renamed.
type Outsider struct {
	Place  adapters.Place
	Of     graph.Symbol
	Symbol graph.Symbol // what is declared there, when that is known
}

// maxFamily bounds how many methods are followed.
const maxFamily = 500

// ErrFamily says that a family has more than maxFamily members.
var ErrFamily = errors.New("too many methods belong together")

// FamilyOf follows a server's implementations up and down until no relative is new.
func FamilyOf(ctx context.Context, b adapters.Bench, sym graph.Symbol) (Family, error) {
	f := Family{Members: []graph.Symbol{sym}}
	seen := map[mark]bool{{sym.Path, sym.NameSpan.Start}: true}
	for i := 0; i < len(f.Members); i++ {
		member := f.Members[i]
		list, err := Locate(ctx, b, adapters.Navigate, protocol.MethodTextDocumentImplementation, member, nil)
		if err != nil {
			return f, err
		}
		for _, p := range list {
			m := mark{p.Path, p.Span.Start}
			if !Inside(b.Root(), p.Path) {
				f.Outside = append(f.Outside, Outsider{Place: p, Of: member})
				continue
			}
			if seen[m] {
				continue
			}
			seen[m] = true
			if s, ok := SymbolAt(ctx, b, p); ok && s.Name == sym.Name && s.Kind == sym.Kind {
				f.Members = append(f.Members, s)
			}
		}
		if len(f.Members) > maxFamily {
			return f, ErrFamily
		}
	}
	return f, nil
}

// RenameFamily renames each member at its declaration, unless the edits so far
// have done so, and joins the answers. first says which members are asked
// first; fallback is asked for the edits of a member that the server declines.
func RenameFamily(ctx context.Context, b adapters.Bench, srv adapters.Server, members []graph.Symbol, name string, read change.ReadFunc,
	first func(graph.Symbol) bool, fallback func(graph.Symbol, error) (change.Set, error)) (*Edits, error) {
	ordered := slices.Clone(members)
	slices.SortStableFunc(ordered, func(a, b graph.Symbol) int { return order(first(a)) - order(first(b)) })
	var set change.Set
	edits := &Edits{}
	for _, m := range ordered {
		if edits.Covers(m.Path, m.NameSpan) {
			continue
		}
		next, err := Rename(ctx, srv, m, name)
		if err != nil {
			if next, err = fallback(m, err); err != nil {
				return nil, err
			}
		}
		if set, err = change.Merge(set, next, read); err != nil {
			return nil, err
		}
		if edits, err = NewEdits(set, read); err != nil {
			return nil, err
		}
	}
	return edits, nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}
