package transact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/lspclient/text"
)

// write builds and commits; in the shadow first where that is possible.
func (r *run) write(ctx context.Context) (token string, err error) {
	if !r.req.Mutation.ValidateCompilation || r.draft.Build == nil {
		if r.check.Skipped == "" {
			r.check.Skipped = "nothing of this language can be built"
		}
		return r.commit(ctx, r.gates.of([]string{r.root}), nil)
	}
	build, err := r.draft.Build(ctx, r.files)
	if err != nil {
		return "", broken(ctx, err)
	}
	build.Root, build.Files, build.Timeout = r.root, r.files, r.timeout
	projects := []string{}
	for _, u := range build.Units {
		projects = append(projects, u.Project.Root)
	}
	if len(projects) == 0 {
		projects = append(projects, r.root)
	}
	gates := r.gates.of(projects)
	before, err := seen(ctx, gates)
	if err != nil {
		return "", cancelled(ctx)
	}
	r.progress("building the planned tree")
	refused := new(validate.NoShadowError)
	switch out, err := r.validate.Shadow(ctx, build); {
	case errors.As(err, &refused):
		r.log.Info("the build runs in the real tree", "root", r.root, "reason", refused.Reason)
		return r.inPlace(ctx, gates, build)
	case err != nil:
		return "", broken(ctx, err)
	case !r.accept(out):
		return "", r.rejected(ctx)
	}
	// What was checked must be what the tree becomes: a change that came in
	// between is checked together with this one.
	return r.commit(ctx, gates, func() error {
		if slices.Equal(before, counts(gates)) {
			return nil
		}
		out, err := r.validate.Shadow(ctx, build)
		if err != nil {
			return broken(ctx, err)
		}
		if !r.accept(out) {
			return r.rejected(ctx)
		}
		return nil
	})
}

// rejected is the error of a plan that does not build in the shadow: a build of
// it over text that is not what it was planned on says nothing of the plan.
func (r *run) rejected(ctx context.Context) error {
	if _, err := r.req.View.Barrier(ctx); err != nil {
		return cancelled(ctx)
	}
	for path, hash := range r.draft.Snapshot.ReadSet() {
		doc, err := r.req.View.Read(ctx, path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if doc.Hash != hash {
			return api.Errorf(api.StaleContent, "%s changed while the plan was checked: run the operation again", relative(r.root, path))
		}
	}
	return r.failed(false)
}

// accept takes an outcome into the answer and reports whether to go on.
func (r *run) accept(out validate.Outcome) bool {
	quick, found := r.check.Quick, r.check.NewErrors
	r.check = out.Validation(r.root)
	r.check.Quick = quick
	if quick == "failed" { // and the caller wants the change all the same
		r.check.Success = false
		r.check.NewErrors = append(found, r.check.NewErrors...)
		r.check.ErrorCount += len(found)
	}
	r.notes = append(r.notes, out.Notes...)
	if len(out.New) == 0 && !out.TimedOut {
		return true
	}
	return !r.req.Mutation.RollbackOnError
}

// commit writes the files. last is asked once nobody else changes the projects.
func (r *run) commit(ctx context.Context, gates []*gate, last func() error) (string, error) {
	leave, err := enter(ctx, gates)
	if err != nil {
		return "", cancelled(ctx)
	}
	defer leave()
	if last != nil {
		if err := last(); err != nil {
			return "", err
		}
	}
	tx, err := r.begin(ctx)
	if err != nil {
		return "", err
	}
	touch(gates)
	if err := tx.Apply(ctx); err != nil {
		return "", err // it has taken everything back
	}
	return r.end(ctx, tx)
}

// inPlace writes the files, builds the real tree, and takes them back when
// there are new errors. The gates stay shut all the while: a neighbour must not
// be judged against a tree that is taken back.
func (r *run) inPlace(ctx context.Context, gates []*gate, build validate.Request) (string, error) {
	leave, err := enter(ctx, gates)
	if err != nil {
		return "", cancelled(ctx)
	}
	defer leave()
	r.progress("building the tree as it is")
	base, err := r.validate.Baseline(ctx, build)
	if err != nil {
		return "", broken(ctx, err)
	}
	if base.TimedOut && !r.accept(validate.Outcome{Where: validate.InPlace, TimedOut: true, Took: base.Took}) {
		return "", r.failed(false)
	}
	tx, err := r.begin(ctx)
	if err != nil {
		return "", err
	}
	touch(gates)
	if err := tx.Apply(ctx); err != nil {
		return "", err // it has taken everything back
	}
	if !base.TimedOut {
		r.progress("building the changed tree")
		out, err := r.validate.Place(ctx, build, base)
		if err != nil {
			touch(gates)
			return "", r.abort(ctx, tx, broken(ctx, err))
		}
		if !r.accept(out) {
			touch(gates)
			return "", r.abort(ctx, tx, r.failed(true))
		}
	}
	return r.end(ctx, tx)
}

// begin starts the transaction on exactly the text that was planned on.
func (r *run) begin(ctx context.Context) (*edit.Tx, error) {
	base, err := r.readSet(ctx)
	if err != nil {
		return nil, err
	}
	return r.edit.Begin(ctx, edit.Plan{
		Root: r.root, Files: r.files, Base: base,
		Operation: r.req.Operation, Summary: r.draft.Summary, Client: r.req.Client, Session: r.req.Session, Key: r.req.Mutation.IdempotencyKey,
	})
}

// readSet returns the hashes of what the plan rests on as the disk must hold
// it. Text of unsaved buffers is not on the disk: it is compared here.
func (r *run) readSet(ctx context.Context) (map[string]text.Hash, error) {
	base := maps.Clone(r.draft.Snapshot.ReadSet())
	for _, f := range r.files {
		delete(base, f.Path)
		delete(base, f.Target())
	}
	for _, doc := range r.req.View.Buffers() {
		read, ok := base[doc.Path]
		if !ok || !doc.Dirty {
			continue
		}
		if read != doc.Hash {
			return nil, api.Errorf(api.StaleContent, "%s was edited in %s while the change was planned: run the operation again",
				relative(r.root, doc.Path), r.owner(doc.Owner))
		}
		delete(base, doc.Path)
	}
	maps.DeleteFunc(base, func(path string, _ text.Hash) bool { return !within(r.root, path) })
	return base, nil
}

// end commits, unless the caller is gone.
func (r *run) end(ctx context.Context, tx *edit.Tx) (string, error) {
	if ctx.Err() != nil {
		return "", r.abort(ctx, tx, cancelled(ctx))
	}
	r.notes = append(r.notes, tx.Warnings...)
	res := r.answer()
	res.UndoToken = tx.Token()
	record, err := json.Marshal(res)
	if err != nil {
		return "", r.abort(ctx, tx, fmt.Errorf("record the answer: %w", err))
	}
	return tx.Commit(context.WithoutCancel(ctx), edit.CommitInfo{Answer: record})
}

// abort puts everything back because of err, whatever became of the caller.
// What another program has written over meanwhile stays: then nothing is
// planned again on top of it.
func (r *run) abort(ctx context.Context, tx *edit.Tx, err error) error {
	failed := tx.Abort(context.WithoutCancel(ctx))
	if failed == nil {
		return err
	}
	r.final = true
	r.log.Error("a change could not be taken back whole", "operation", r.req.Operation, "error", failed, "after", err)
	if known := new(api.Error); errors.As(failed, &known) {
		return &api.Error{Code: known.Code, Message: fmt.Sprintf("%s (it was to be taken back because %v)", known.Message, err), Details: known.Details}
	}
	return failed
}
