package op

import (
	"context"
	"fmt"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/lspclient/change"
)

// quick checks a rename's planned text in the server's memory: no new errors,
// and the references of the new name are those of the old one.
func quick(b *workbench.Bench, r workbench.Renaming) func(context.Context, []change.File) (Quick, error) {
	return func(ctx context.Context, files []change.File) (Quick, error) {
		c, err := b.Check(ctx, files, r)
		if err != nil {
			return Quick{}, err
		}
		q := Quick{Problems: c.Problems, Lost: c.Lost, Skipped: c.Skipped}
		for _, g := range c.Gained {
			q.Problems = append(q.Problems, api.Problem{
				File: g.File, Line: g.Line, Column: g.Column, Severity: "error",
				Message: fmt.Sprintf("%s here would come to mean the renamed symbol", r.NewName),
			})
		}
		return q, nil
	}
}

func renaming(d adapters.Draft, from, to string) workbench.Renaming {
	return workbench.Renaming{From: d.Old, To: d.New, OldName: from, NewName: to}
}
