package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// rollback takes a transaction back. It decides for each path by what target
// and slot hold, never by what should have been done, so that it can be run at
// any point and as often as it takes.
type rollback struct {
	w         *workspace
	id        txID
	in        *intent
	stages    []Dir // nil where the folder is gone
	h         *handles
	rd        reader
	recovery  bool // after a crash: what was done is unknown
	conflicts []conflict
	touched   map[string]bool
	put       []string // files that were put back
	err       error    // the first failure; the others are tried all the same
}

func (t *Tx) rollback() ([]conflict, error) {
	if t.entry == nil { // there is no intent: nothing was applied
		return nil, t.discard()
	}
	r := &rollback{w: t.w, id: t.id, in: t.in, stages: t.stages}
	return r.run(t.entry)
}

// run takes everything back, closes the transaction in the journal and removes
// what it staged.
func (r *rollback) run(n *entry) ([]conflict, error) {
	r.h = newHandles(r.w)
	defer r.h.close()
	r.touched = map[string]bool{}
	r.each(opCreate, r.uncreate)
	r.each(opModify, r.unmodify)
	r.dirs()
	r.each(opRemove, r.unremove)
	if r.err != nil {
		return r.conflicts, r.err
	}
	if err := syncDirs(r.h, r.w, r.touched, r.stages, r.put); err != nil {
		return r.conflicts, err
	}
	keeps := !n.undoes.zero() // the slots are another transaction's undo store
	if !keeps {
		r.each(opCreate, r.checkSlot)
		r.each(opModify, r.checkSlot)
	}
	rec := &rawRecord{kind: recAborted, tx: r.id}
	if len(r.conflicts) > 0 {
		rec.kind, rec.payload = recConflict, encodeConflicts(r.conflicts)
	}
	if err := r.w.end(n, rec, r.conflicts); err != nil {
		return r.conflicts, err
	}
	if keeps || len(r.conflicts) > 0 {
		return r.conflicts, nil
	}
	return nil, r.w.removeStages(r.in.stages)
}

func (r *rollback) each(kind opKind, do func(*op) error) {
	for i := range slices.Backward(r.in.ops) {
		o := &r.in.ops[i]
		if o.kind != kind {
			continue
		}
		if err := do(o); err != nil && r.err == nil {
			r.err = fmt.Errorf("%s: %w", o.path, err)
		}
	}
}

// judge reads what target and slot of an op hold. dir is nil when the target's
// folder is gone, stage when the slot's is.
func (r *rollback) judge(o *op) (dir, stage Dir, target, slot found, err error) {
	dir, err = r.h.open(path.Dir(o.path))
	switch {
	case gone(err):
		dir = nil
	case err != nil:
		return
	default:
		if target, err = r.rd.read(dir, path.Base(o.path), 0); err != nil {
			return
		}
	}
	if r.recovery && dir != nil {
		// An earlier recovery may have done the work, but not flushed it.
		r.touched[path.Dir(o.path)] = true
	}
	if stage = r.stages[o.stage]; stage == nil {
		return dir, stage, target, slot, nil
	}
	if err = tidySlot(stage, slotName(o.slot)); err != nil {
		return
	}
	slot, err = r.rd.read(stage, slotName(o.slot), 0)
	return
}

func (r *rollback) conflict(o *op, kept bool, reason string) {
	c := conflict{path: o.path, reason: reason}
	if kept {
		c.kept = path.Join(r.in.stages[o.stage], slotName(o.slot))
	}
	r.conflicts = append(r.conflicts, c)
}

const (
	whyWritten = "another program wrote the file after the edit; kept is its content from before the edit"
	whyLost    = "the content from before the edit is gone with its staging folder"
	whyTaken   = "another program made a file of this name after the edit; kept is the file from before"
)

func (r *rollback) unmodify(o *op) error {
	dir, stage, target, slot, err := r.judge(o)
	if err != nil {
		return err
	}
	name := path.Base(o.path)
	switch {
	case target.is(o.base):
		if r.recovery { // it may have been put back just before the crash
			return r.restored(dir, o)
		}
		return nil
	case target.is(o.post) && slot.exists:
		// The slot holds what was there; if a program that had it open has
		// written since, that is what would be there without us.
		err := r.w.exchange(&r.rd, dir, name, stage, slotName(o.slot), o.post)
		if errors.Is(err, errSaved) || gone(err) {
			r.conflict(o, true, whyWritten)
			return nil
		}
		if err != nil {
			return err
		}
		out, err := r.rd.read(stage, slotName(o.slot), 0)
		if err != nil {
			return err
		}
		if !out.is(o.post) { // saved in the last moment: it goes back
			if err := r.w.exchange(&r.rd, dir, name, stage, slotName(o.slot), slot.hash); err != nil && !errors.Is(err, errSaved) {
				return err
			}
			r.conflict(o, true, whyWritten)
			return nil
		}
		return r.restored(dir, o)
	case target.is(o.post):
		r.conflict(o, false, whyLost)
	case slot.exists && !slot.is(o.post):
		r.conflict(o, true, whyWritten)
	}
	return nil // somebody else's file, and the slot holds what was never applied
}

// restored gives a file that was put back the time of now: build tools compare
// times, and the artefacts of the edit that is gone must look old.
func (r *rollback) restored(dir Dir, o *op) error {
	if err := touchOver(dir, path.Base(o.path), r.stages[o.stage], slotName(o.slot), r.w.e.now()); err != nil && !gone(err) {
		return err
	}
	r.touched[path.Dir(o.path)] = true
	r.put = append(r.put, o.path)
	return nil
}

func (r *rollback) uncreate(o *op) error {
	dir, stage, target, slot, err := r.judge(o)
	if err != nil || !target.exists {
		return err
	}
	name := path.Base(o.path)
	switch {
	case slot.exists:
		// The slot was never emptied: the file there is not ours, unless it is
		// the same one, by a move that was cut off between link and unlink.
		if !target.is(o.post) || target.info.Ino != slot.info.Ino || target.info.Dev != slot.info.Dev {
			return nil
		}
		r.touched[path.Dir(o.path)] = true
		if err := stage.Sync(); err != nil {
			return err
		}
		return dir.Remove(name)
	case !target.is(o.post):
		if stage != nil {
			r.conflict(o, false, "another program changed the file that the edit made; it was left in place")
		}
		return nil
	case stage == nil:
		r.conflict(o, false, "the staging folder is gone; the file that the edit made was left in place")
		return nil
	}
	if err := move(dir, name, stage, slotName(o.slot)); err != nil {
		if gone(err) {
			return nil
		}
		return err
	}
	r.touched[path.Dir(o.path)] = true
	out, err := r.rd.read(stage, slotName(o.slot), 0)
	if err != nil || out.is(o.post) {
		return err
	}
	err = move(stage, slotName(o.slot), dir, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	r.conflict(o, err != nil, "another program changed the file that the edit made; it was left in place")
	return nil
}

func (r *rollback) unremove(o *op) error {
	dir, stage, target, slot, err := r.judge(o)
	if err != nil {
		return err
	}
	switch {
	case !slot.exists:
		if stage == nil && !target.exists {
			r.conflict(o, false, whyLost)
		}
		if target.is(o.base) && r.recovery {
			return r.restored(dir, o)
		}
		return nil
	case target.exists && target.info.Ino == slot.info.Ino && target.info.Dev == slot.info.Dev:
		// A move that was cut off between link and unlink.
		if err := dir.Sync(); err != nil {
			return err
		}
		if err := stage.Remove(slotName(o.slot)); err != nil {
			return err
		}
		return errors.Join(stage.Sync(), r.restored(dir, o))
	case target.exists || dir == nil:
		r.conflict(o, true, whyTaken)
		return nil
	}
	if err := move(stage, slotName(o.slot), dir, path.Base(o.path)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			r.conflict(o, true, whyTaken)
			return nil
		}
		return err
	}
	return r.restored(dir, o)
}

// dirs takes the folders back.
func (r *rollback) dirs() {
	for _, rel := range slices.Backward(r.in.mkdirs) {
		err := r.h.removeDir(rel)
		r.dirDone(rel, err, notEmpty(err))
	}
	for _, rel := range slices.Backward(r.in.rmdirs) {
		r.dirDone(rel, r.h.makeDir(rel), false)
	}
}

func (r *rollback) dirDone(rel string, err error, fine bool) {
	if err != nil && !fine && !gone(err) && r.err == nil {
		r.err = fmt.Errorf("%s: %w", rel, err)
	}
	r.touched[path.Dir(rel)] = true
}

// checkSlot looks once more before the staged content is thrown away: a
// program may have opened the new file while it was in place and written it
// after it was taken back.
func (r *rollback) checkSlot(o *op) error {
	stage := r.stages[o.stage]
	if stage == nil || slices.ContainsFunc(r.conflicts, func(c conflict) bool { return c.path == o.path }) {
		return nil
	}
	slot, err := r.rd.read(stage, slotName(o.slot), 0)
	if err == nil && slot.exists && !slot.is(o.post) {
		r.conflict(o, true, "another program wrote the edited content in place; kept is what it wrote")
	}
	return err
}
