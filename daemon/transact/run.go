package transact

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient/change"
)

// Run makes a change, or says why not: an error means that the files are as
// they were, but for those that it names because another program wrote them
// meanwhile. A plan that another writer outran is made once more.
func (p *Pipeline) Run(ctx context.Context, req Request) (*api.EditResult, error) {
	r := &run{Pipeline: p, req: req, root: req.View.Root()}
	if done, err := r.replay(ctx); done != nil || err != nil {
		return done, err
	}
	res, err := r.once(ctx)
	if again := new(edit.CommittedError); errors.As(err, &again) { // a retry that came while the first was under way
		return recorded(again.Record)
	}
	if errors.Is(err, &api.Error{Code: api.StaleContent}) && !r.final {
		p.log.Info("a file moved under the plan, planning once more", "operation", req.Operation, "reason", err)
		res, err = r.once(ctx)
	}
	return res, err
}

// run is one change under way.
type run struct {
	*Pipeline
	req  Request
	root string
	// final says that the files are not as they were, and not ours to change.
	final bool

	// of the current attempt:
	draft *Draft
	files []change.File
	check *api.Validation
	notes []string // for the answer's warnings
}

// progress tells who waits what for.
func (r *run) progress(what string) {
	if r.req.Progress != nil {
		r.req.Progress(what)
	}
}

// once takes a plan through all steps.
func (r *run) once(ctx context.Context) (*api.EditResult, error) {
	r.notes = nil
	r.check = &api.Validation{NewErrors: []api.Problem{}}
	if err := r.plan(ctx); err != nil {
		return nil, err
	}
	if err := r.admit(ctx); err != nil {
		return nil, err
	}
	if len(r.files) == 0 {
		r.check.Skipped = "nothing changes"
		return r.answer(), nil
	}
	ok, err := r.quick(ctx)
	if err != nil {
		return nil, err
	}
	if r.req.Mutation.Preview {
		r.check.Success = ok && r.check.Quick == quickPassed
		res := r.answer()
		res.Preview = true
		res.Changes = preview(r.root, r.files)
		return res, nil
	}
	if !ok && r.req.Mutation.RollbackOnError {
		return nil, r.failed(false)
	}
	token, err := r.write(ctx)
	if err != nil {
		return nil, err
	}
	r.req.View.Wrote(context.WithoutCancel(ctx), r.files)
	res := r.answer()
	res.UndoToken = token
	return res, nil
}

// plan asks for the plan and carries it out on its snapshot.
func (r *run) plan(ctx context.Context) error {
	draft, err := r.req.Plan(ctx)
	if errors.Is(err, view.ErrStale) {
		return api.Errorf(api.StaleContent, "a file changed while the change was planned: run the operation again (%v)", err)
	}
	if err != nil {
		return err
	}
	// Offsets into one text must never meet another one.
	planned := maps.Clone(draft.Snapshot.ReadSet())
	files, err := draft.Change.Resolve(func(path string) ([]byte, error) {
		content, hash, err := draft.Snapshot.Read(ctx, path)
		if was, ok := planned[path]; ok && was != hash {
			return nil, api.Errorf(api.StaleContent, "%s changed while the change was planned: run the operation again", relative(r.root, path))
		}
		return content, err
	})
	known := new(api.Error)
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, view.ErrStale):
		return api.Errorf(api.StaleContent, "a file changed while the change was planned: run the operation again (%v)", err)
	case errors.Is(err, change.ErrExists):
		return api.Errorf(api.NameConflict, "the change would replace a file: %v", err)
	case errors.Is(err, change.ErrMissing):
		return api.Errorf(api.StaleContent, "a file that the change needs is gone: %v", err)
	case err != nil:
		return api.Errorf(api.Internal, "the plan cannot be carried out, nothing was changed: %v", err)
	}
	r.draft, r.files = draft, files
	return nil
}

// unsaved is a file whose text in an editor is not what the disk holds.
type unsaved struct {
	File   string `json:"file"`
	Client string `json:"client"`
}

// admit refuses what must not be written whatever the checks say.
func (r *run) admit(ctx context.Context) error {
	touched := make(map[string]bool)
	for _, f := range r.files {
		for _, path := range []string{f.Path, f.Target()} {
			if !within(r.root, path) {
				return api.Errorf(api.OutsideWorkspace, "the change touches %s, outside the workspace %s: open the workspace that holds both", path, r.root)
			}
			touched[path] = true
		}
	}
	if err := r.unsavedIn(r.req.View, touched); err != nil {
		return err
	}
	notes, err := repository(ctx, r.root, r.files, r.draft.Generated)
	r.notes = append(r.notes, notes...)
	return err
}

// unsavedIn refuses to change files whose latest text is only in an editor.
func (p *Pipeline) unsavedIn(v *view.View, touched map[string]bool) error {
	var open []unsaved
	for _, doc := range v.Buffers() {
		if doc.Dirty && (touched[doc.Path] || touched[doc.Real]) {
			open = append(open, unsaved{relative(v.Root(), doc.Path), p.owner(doc.Owner)})
		}
	}
	if len(open) == 0 {
		return nil
	}
	err := api.Errorf(api.UnsavedBuffer, "%s has unsaved changes in %s: save or discard them and run the operation again", open[0].File, open[0].Client)
	if len(open) > 1 {
		err.Message = fmt.Sprintf("%s and %d more files have unsaved changes in editors: save or discard them and run the operation again", open[0].File, len(open)-1)
	}
	err.Details = open
	return err
}

// quickPassed is what the answer says of a quick check without findings.
const quickPassed = "passed"

// lostCode marks the places of references that a change would lose.
const lostCode = "LOST_REFERENCE"

// quick checks the planned text in a server's memory. It reports whether it
// found nothing; a check that cannot be made leaves the verdict to the build.
func (r *run) quick(ctx context.Context) (ok bool, err error) {
	switch {
	case !r.req.Mutation.ValidateCompilation:
		r.check.Skipped = "validateCompilation is false"
		return true, nil
	case r.draft.Quick == nil:
		r.check.Quick = "skipped: the language has no server for it"
		return true, nil
	}
	r.progress("checking the planned text")
	q, err := r.draft.Quick(ctx, r.files)
	switch {
	case ctx.Err() != nil:
		return false, cancelled(ctx)
	case errors.Is(err, &api.Error{Code: api.StaleContent}), errors.Is(err, view.ErrStale):
		return false, api.Errorf(api.StaleContent, "a file changed while the plan was checked: run the operation again (%v)", err)
	case err != nil:
		r.check.Quick = "skipped: " + err.Error()
		return true, nil
	case q.Skipped != "":
		r.check.Quick = "skipped: " + q.Skipped
		return true, nil
	}
	r.check.NewErrors = append(r.check.NewErrors, q.Problems...)
	for _, l := range q.Lost {
		r.check.NewErrors = append(r.check.NewErrors, api.Problem{File: l.File, Line: l.Line, Column: l.Column,
			Code: lostCode, Message: "this place would no longer refer to the symbol: " + l.Context})
	}
	r.check.ErrorCount = len(r.check.NewErrors)
	if r.check.ErrorCount > 0 {
		r.check.Quick = "failed"
		return false, nil
	}
	r.check.Quick = quickPassed
	return true, nil
}

// answer describes the change as planned.
func (r *run) answer() *api.EditResult {
	res := result(r.req.Operation, r.root, r.files)
	res.NewSymbolID, res.Complete, res.Source = r.draft.NewSymbolID, r.draft.Complete, r.draft.Source
	res.Warnings = append(res.Warnings, r.draft.Warnings...)
	res.Warnings = append(res.Warnings, r.notes...)
	res.Validation = r.check
	if !r.req.Mutation.Preview {
		var cut int
		if res.Details, cut = details(r.root, r.files); cut > 0 {
			res.Warnings = append(res.Warnings, fmt.Sprintf("details lists the first %d changed lines, %d more are left out", maxDetails, cut))
		}
	}
	return res
}
