package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"

	"github.com/auralsp/aura/daemon/api"
)

// errSaved says that a file was saved by someone else in the last moment.
var errSaved = errors.New("changed at the last moment")

// Apply puts the new contents in place. On any error everything is back as it
// was and the transaction has ended: STALE_CONTENT when somebody saved one of
// the files meanwhile, CANCELLED when ctx ended, and what the system refused.
func (t *Tx) Apply(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != txPrepared {
		return api.Errorf(api.Internal, "apply of a transaction that was applied or has ended")
	}
	err := error(nil)
	if !t.e.seed.applyBeforeIntent {
		err = t.apply(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return t.takeBack(refuse(err, "apply %s", t.in.operation))
	}
	t.w.note(&rawRecord{kind: recApplied, tx: t.id})
	t.noteWeaker()
	t.state = txApplied
	return nil
}

// apply runs the ops: what leaves a name first, so that another can take it.
func (t *Tx) apply(ctx context.Context) error {
	h := newHandles(t.w)
	defer h.close()
	touched := map[string]bool{}
	run := func(kind opKind, do func(*handles, *step) error) error {
		for _, st := range t.list {
			if st.kind != kind {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(h, st); err != nil {
				if errors.Is(err, errSaved) || gone(err) || errors.Is(err, fs.ErrExist) {
					return t.stale([]string{st.path})
				}
				return fmt.Errorf("%s: %w", st.path, err)
			}
			touched[path.Dir(st.path)] = true
		}
		return nil
	}
	if err := run(opRemove, t.applyRemove); err != nil {
		return err
	}
	if err := t.applyDirs(h, touched); err != nil {
		return err
	}
	if err := run(opModify, t.applyModify); err != nil {
		return err
	}
	if err := run(opCreate, t.applyCreate); err != nil {
		return err
	}
	if rel, err := h.moved(); err != nil || rel != "" {
		if err == nil {
			err = api.Errorf(api.StaleContent, "folder %s was replaced while the edit was applied: run the operation again", rel)
		}
		return err
	}
	return syncDirs(h, t.w, touched, t.stages, t.restored())
}

// stale refuses because somebody else wrote files of the transaction.
func (t *Tx) stale(paths []string) *api.Error {
	if t.undone != nil {
		return undoConflict(paths, "changed meanwhile")
	}
	return staleError(paths)
}

// restored lists the paths whose files were there before the transaction that
// this one undoes: their new times must be durable too.
func (t *Tx) restored() []string {
	if t.undone == nil {
		return nil
	}
	var list []string
	for _, st := range t.list {
		if st.kind != opRemove {
			list = append(list, st.path)
		}
	}
	return list
}

func (t *Tx) applyModify(h *handles, st *step) error {
	d, err := h.open(path.Dir(st.path))
	if err != nil {
		return err
	}
	name, stage, slot := path.Base(st.path), t.stages[st.stage], slotName(st.slot)
	if err := t.w.exchange(&t.rd, d, name, stage, slot, st.base); err != nil {
		return err
	}
	st.applied = true
	if !t.e.seed.skipVerify {
		// The slot holds the very file that was replaced: nobody can have saved
		// between this proof and the exchange.
		out, err := t.rd.read(stage, slot, 0)
		if err != nil {
			return err
		}
		if !out.is(st.base) || st.meta != nil && !sameAccess(out.info, st.meta.info) {
			if err := t.giveBack(d, name, stage, slot, st); err != nil {
				return err
			}
			return errSaved
		}
	}
	return touchOver(d, name, stage, slot, t.e.now())
}

// sameAccess reports whether nobody changed mode or owner.
func sameAccess(a, b Info) bool { return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID }

// giveBack exchanges again, because what came out of the target is not what
// the plan was made for. It may happen that they save once more in between:
// then what comes out now is newer than what was put back, and belongs there.
func (t *Tx) giveBack(d Dir, name string, stage Dir, slot string, st *step) error {
	ours := found{exists: true, hash: st.post}
	for range 100 {
		theirs, err := t.rd.read(stage, slot, 0)
		if err != nil {
			return err
		}
		if err := t.w.exchange(&t.rd, d, name, stage, slot, ours.hash); err != nil {
			return err
		}
		out, err := t.rd.read(stage, slot, 0)
		if err != nil {
			return err
		}
		if out.odd == nil && out.hash == ours.hash || out.odd != nil && ours.odd != nil {
			st.applied = false
			return nil
		}
		ours = theirs
	}
	return fmt.Errorf("%w: it is saved faster than it can be put back", errSaved)
}

func (t *Tx) applyCreate(h *handles, st *step) error {
	d, err := h.open(path.Dir(st.path))
	if err != nil {
		return err
	}
	if err := move(t.stages[st.stage], slotName(st.slot), d, path.Base(st.path)); err != nil {
		return err
	}
	st.applied = true
	return d.Touch(path.Base(st.path), t.e.now())
}

func (t *Tx) applyRemove(h *handles, st *step) error {
	d, err := h.open(path.Dir(st.path))
	if err != nil {
		return err
	}
	stage, slot := t.stages[st.stage], slotName(st.slot)
	if err := move(d, path.Base(st.path), stage, slot); err != nil {
		return err
	}
	st.applied = true
	out, err := t.rd.read(stage, slot, 0)
	if err != nil {
		return err
	}
	if !out.is(st.base) && !t.e.seed.skipVerify {
		// If they have saved once more meanwhile, theirs stays and the rollback
		// finds that both versions are to be kept.
		if err := move(stage, slot, d, path.Base(st.path)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return errSaved
	}
	return nil
}

func (t *Tx) applyDirs(h *handles, touched map[string]bool) error {
	for _, rel := range t.in.rmdirs {
		err := h.removeDir(rel)
		if err != nil && !notEmpty(err) && !gone(err) {
			return err
		}
		if err != nil {
			t.Warnings = append(t.Warnings, "folder "+rel+" is kept: it is not empty")
		}
		touched[path.Dir(rel)] = true
	}
	for _, rel := range t.in.mkdirs {
		if err := h.makeDir(rel); err != nil {
			return err
		}
		touched[rel] = true
	}
	return nil
}

// syncDirs makes renames durable: each folder is flushed once, or the file
// systems when there are many. restored are files whose times must last.
func syncDirs(h *handles, w *workspace, touched map[string]bool, stages []Dir, restored []string) error {
	if w.plain.Load() { // the slots got their names one by one
		for _, d := range stages {
			if d == nil {
				continue
			}
			if err := d.Sync(); err != nil {
				return err
			}
		}
	}
	many := len(touched) >= syncFSFrom || len(restored) >= syncFSFrom
	if many && !slices.Contains(stages, nil) {
		err := error(nil)
		for _, d := range stages {
			if err == nil {
				err = d.SyncFS()
			}
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	for _, rel := range restored {
		d, err := h.open(path.Dir(rel))
		if err != nil {
			return err
		}
		f, err := d.OpenFile(path.Base(rel))
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(touched)) {
		d, err := h.open(rel)
		if gone(err) {
			continue // a folder that was removed again
		}
		if err != nil {
			return err
		}
		if err := d.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Abort takes everything back. It may be called at any time and does nothing
// once the transaction has ended. It goes on when ctx has ended.
func (t *Tx) Abort(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == txEnded {
		return nil
	}
	return t.takeBack(nil)
}

// takeBack ends the transaction without it, and returns reason; when paths had
// to be left as they are it returns an error that names them.
func (t *Tx) takeBack(reason error) error {
	conflicts, err := t.rollback()
	t.end()
	switch {
	case err != nil:
		t.e.log.Error("rollback", slog.String("tx", t.id.String()), slog.Any("err", err))
		return api.Errorf(api.Internal,
			"%s could not be taken back completely and will be at the next start of the daemon: %v", t.in.operation, err)
	case len(conflicts) > 0:
		return conflictError(t.w, t.in.operation, conflicts)
	}
	return reason
}

// end lets go of everything.
func (t *Tx) end() {
	t.state = txEnded
	for _, d := range t.stages {
		if d != nil {
			d.Close()
		}
	}
	if t.undone != nil {
		t.w.mu.Lock()
		t.undone.busy = false
		t.w.mu.Unlock()
	}
	t.release()
	t.e.leave()
}

func conflictError(w *workspace, operation string, list []conflict) *api.Error {
	var paths []string
	for _, c := range list {
		paths = append(paths, c.path)
	}
	err := api.Errorf(api.StaleContent,
		"%s was taken back, but for %s, which another program wrote meanwhile: both versions are kept, `auractl doctor` shows where",
		operation, enumerate(paths))
	err.Details = Paths{Files: paths}
	return err
}
