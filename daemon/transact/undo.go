package transact

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/view"
)

// replay returns the recorded answer of a change that carried the same key.
func (r *run) replay(ctx context.Context) (*api.EditResult, error) {
	if r.req.Mutation.IdempotencyKey == "" || r.req.Mutation.Preview {
		return nil, nil
	}
	rec, found, err := r.edit.Lookup(ctx, r.root, r.req.Mutation.IdempotencyKey)
	if err != nil || !found {
		return nil, err
	}
	return recorded(rec)
}

// recorded is the answer that a committed change gave.
func recorded(rec edit.Record) (*api.EditResult, error) {
	var res api.EditResult
	if err := json.Unmarshal(rec.Answer, &res); err != nil {
		return nil, api.Errorf(api.Internal, "the change with this key was made as %s, its answer cannot be read: %v", rec.Token, err)
	}
	return &res, nil
}

// UndoRequest is a change to be taken back.
type UndoRequest struct {
	View    *view.View
	Token   string
	Client  string
	Session string
}

// Undo takes a change back, all of it or nothing. The answer's token is that
// of the undo itself: it makes the change again. A token that was used before
// gives the answer of then.
func (p *Pipeline) Undo(ctx context.Context, req UndoRequest) (*api.EditResult, error) {
	root := req.View.Root()
	leave, err := enter(ctx, p.gates.below(root))
	if err != nil {
		return nil, cancelled(ctx)
	}
	defer leave()
	if err := p.unsavedByToken(ctx, req); err != nil {
		return nil, err
	}
	done, err := p.edit.Undo(ctx, root, req.Token, edit.UndoOptions{Client: req.Client, Session: req.Session})
	if err != nil {
		return nil, err
	}
	touch(p.gates.below(root))
	res := result("undo", root, done.Files)
	res.UndoToken, res.Source = done.RedoToken, "text"
	res.Warnings = append(res.Warnings, done.Warnings...)
	switch {
	case done.Replayed:
		res.Warnings = append(res.Warnings, "this was undone before: nothing was done now")
		return res, nil
	case !done.Contents: // too much to hold: the view finds it on the disk
		res.Warnings = append(res.Warnings, "the change is too large to list its lines")
		_, err := req.View.Barrier(context.WithoutCancel(ctx))
		if err != nil {
			p.log.Warn("the view did not follow an undo", "error", err)
		}
		return res, nil
	}
	req.View.Wrote(context.WithoutCancel(ctx), done.Files)
	var cut int
	if res.Details, cut = details(root, done.Files); cut > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("details lists the first %d changed lines, %d more are left out", maxDetails, cut))
	}
	return res, nil
}

// unsavedByToken refuses an undo of a file that has unsaved changes.
func (p *Pipeline) unsavedByToken(ctx context.Context, req UndoRequest) error {
	root := req.View.Root()
	list, err := p.edit.History(ctx, root, 0)
	if err != nil {
		return err
	}
	for _, rec := range list {
		if rec.Token != req.Token {
			continue
		}
		touched := make(map[string]bool)
		for _, f := range rec.Files {
			touched[filepath.Join(root, f.Path)] = true
			if f.NewPath != "" {
				touched[filepath.Join(root, f.NewPath)] = true
			}
		}
		return p.unsavedIn(req.View, touched)
	}
	return nil // the journal says why there is no such change
}

// History lists the changes of a workspace, newest first, at most limit.
func (p *Pipeline) History(ctx context.Context, v *view.View, limit int) (*api.Transactions, error) {
	list, err := p.edit.History(ctx, v.Root(), 0)
	if err != nil {
		return nil, err
	}
	out := &api.Transactions{Operation: "history", Transactions: []api.Transaction{}, Total: len(list),
		Trust: api.Trust{Source: "text", Complete: true, Warnings: []string{}}}
	for _, rec := range list {
		if limit > 0 && len(out.Transactions) == limit {
			out.Truncated = true
			break
		}
		tr := api.Transaction{
			UndoToken: rec.Token, Operation: rec.Operation, Summary: rec.Summary, Time: rec.Time.UTC().Format(time.RFC3339),
			Client: rec.Client, Session: rec.Session, State: "committed", Undoes: rec.Undoes, Files: []string{},
		}
		if rec.Undone {
			tr.State, tr.UndoToken = "undone", ""
		}
		for _, f := range rec.Files {
			tr.Files = append(tr.Files, f.Path)
			if f.NewPath != "" {
				tr.Files = append(tr.Files, f.NewPath)
			}
		}
		out.Transactions = append(out.Transactions, tr)
	}
	return out, nil
}
