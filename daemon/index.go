package daemon

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/workbench"
)

// maxProblems bounds how many files an answer of index lists.
const maxProblems = 100

// index tells of the index of a workspace, makes it anew or checks it.
func (d *Daemon) index(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.IndexQuery)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := ws.Begin(ctx, workbench.Caller{Name: c.Client.ID, Waiting: func(reason string) { c.Progress(reason, 0) }})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	began := time.Now()
	out := api.IndexReport{Success: true, Action: in.Action, Root: ws.Root(), Failed: []api.IndexProblem{}, Differences: []api.IndexProblem{}, Warnings: []string{}}
	switch in.Action {
	case "rebuild":
		if err := s.Reindex(ctx); err != nil {
			return nil, err
		}
	case "verify":
		found, err := s.VerifyIndex(ctx)
		if err != nil {
			return nil, err
		}
		out.Success, out.Total = len(found) == 0, len(found)
		for _, f := range found[:min(len(found), maxProblems)] {
			out.Differences = append(out.Differences, api.IndexProblem{File: s.Relative(f.Path), Detail: f.Detail})
		}
	}
	if in.Action != "status" {
		out.Milliseconds = time.Since(began).Milliseconds()
	}
	have := ws.Indexed()
	out.Files, out.Symbols, out.Pending = have.Files, have.Symbols, have.Pending
	for _, p := range slices.Sorted(maps.Keys(have.Failed)) {
		if len(out.Failed) < maxProblems {
			out.Failed = append(out.Failed, api.IndexProblem{File: s.Relative(p), Detail: have.Failed[p].Error()})
		}
	}
	if saved := have.Saved; saved != nil {
		out.Saved = &api.SavedIndex{File: saved.File, Saving: saved.Saving, Bytes: saved.Bytes, Loaded: saved.Loaded, Waiting: saved.Pending}
		out.Warnings = append(out.Warnings, saved.Notes...)
	}
	return out, nil
}
