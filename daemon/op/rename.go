package op

import (
	"context"
	"errors"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
)

// rename plans a rename by the language's recipe.
func rename(ctx context.Context, s *workbench.Session, input any) (*Draft, error) {
	in := input.(api.Rename)
	m, err := resolve.One(ctx, s, in.Address)
	if err != nil {
		return nil, err
	}
	sym := m.Symbol()
	if m.External {
		return nil, api.Errorf(api.OutsideWorkspace, "%s is declared in %s, outside the workspace; only its own module can rename it", sym.Name, sym.Path)
	}
	lang, ok := s.Workspace().ByID(sym.Language)
	if !ok {
		return nil, api.Errorf(api.UnsupportedOperation, "no adapter for %s", sym.Language)
	}
	cell := lang.Recipes().Rename
	if cell.Plan == nil {
		return nil, unsupported("rename", lang.Language().Name, cell.Note)
	}
	if in.NewName == sym.Name {
		return nil, api.Errorf(api.InvalidArgument, "%s has that name already", sym.Name)
	}
	if namer, ok := lang.(adapters.Namer); ok {
		if err := namer.CheckName(sym, in.NewName); err != nil {
			if declined := new(adapters.Refusal); errors.As(err, &declined) {
				return nil, err
			}
			return nil, api.Errorf(api.InvalidName, "%q cannot be a name: %v", in.NewName, err)
		}
	}
	bench, err := s.BenchFor(ctx, sym.Path)
	if err != nil {
		return nil, err
	}
	draft, err := cell.Plan(ctx, bench, adapters.Rename{
		Symbol:       sym,
		Declarations: m.Declarations,
		NewName:      in.NewName,
		Comments:     in.IncludeComments,
		Strings:      in.IncludeStrings,
		Overloads:    in.RenameOverloads,
		BackingField: in.RenameBackingField,
		File:         in.RenameFile,
	})
	if err != nil {
		return nil, err
	}
	for _, w := range draft.Warnings {
		s.Warn(w)
	}
	return &Draft{
		Change:      draft.Change,
		Reads:       draft.Reads,
		NewSymbolID: draft.NewID,
		Summary:     sym.Name + " → " + in.NewName,
		Old:         sym.Name,
		New:         in.NewName,
		Quick:       quick(bench, renaming(draft, sym.Name, in.NewName)),
	}, nil
}
