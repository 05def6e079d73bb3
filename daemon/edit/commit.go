package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"

	"github.com/auralsp/aura/daemon/api"
)

// CommitInfo is what the journal keeps of a committed transaction.
type CommitInfo struct {
	// Answer is what a retry with the plan's key shall be told. It may hold
	// the token, which Tx.Token knows before.
	Answer []byte
}

// Commit makes the transaction stay and returns the token that undoes it. When
// it returns without an error the new contents outlive a power cut; on any
// error everything is back as it was: STALE_CONTENT when a program that had
// one of the files open wrote into it.
func (t *Tx) Commit(ctx context.Context, info CommitInfo) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != txApplied {
		return "", api.Errorf(api.Internal, "commit of a transaction that is not applied")
	}
	if err := t.commit(ctx, info); err != nil {
		return "", t.takeBack(refuse(err, "commit %s", t.in.operation))
	}
	t.end()
	t.w.retain()
	return t.token.String(), nil
}

func (t *Tx) commit(ctx context.Context, info CommitInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var stale []string
	held := int64(0)
	for _, st := range t.list {
		if st.kind == opCreate {
			continue
		}
		slot, err := t.rd.read(t.stages[st.stage], slotName(st.slot), 0)
		if err != nil {
			return err
		}
		if !slot.is(st.base) && !t.e.seed.skipSlots {
			stale = append(stale, st.path)
		}
		held += st.held()
	}
	if len(stale) > 0 {
		return t.stale(stale)
	}
	c := &commitment{time: t.e.now().UnixNano(), token: t.token, bytes: held, answer: info.Answer}
	return t.w.commit(t.entry, c)
}

// usable refuses to write in a workspace whose journal cannot be trusted.
func (w *workspace) usable() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked == nil {
		return nil
	}
	return api.Errorf(api.PermissionDenied,
		"%s is read-only for Aura because its journal cannot be trusted (%v): `auractl doctor` tells what to do", w.root, w.locked)
}

// begin records the intent of a transaction, durably.
func (w *workspace) begin(t *Tx, rec *rawRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.heal(); err != nil {
		return err
	}
	w.log.open++
	if err := w.log.append(true, rec); err != nil {
		w.log.open--
		return err
	}
	t.entry = newEntry(rec, t.in)
	w.add(t.entry)
	return nil
}

// note appends a record that nothing depends on: it reaches the disk with the
// next one that does, and is missed by nobody if it cannot be written.
func (w *workspace) note(rec *rawRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.log.append(false, rec); err != nil {
		w.e.log.Warn("journal", slog.Any("err", err))
	}
}

func (w *workspace) commit(n *entry, c *commitment) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rec := &rawRecord{kind: recCommitted, tx: n.id, payload: c.encode()}
	if err := w.log.append(true, rec); err != nil {
		return err
	}
	w.log.open--
	w.committed(n, rec, c)
	return nil
}

// end records that a transaction was taken back.
func (w *workspace) end(n *entry, rec *rawRecord, conflicts []conflict) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.heal(); err != nil {
		return err
	}
	if err := w.log.append(true, rec); err != nil {
		return err
	}
	w.log.open--
	if len(conflicts) == 0 {
		w.forget(n)
		return nil
	}
	n.state, n.endOff, n.conflicts, n.intent = stateConflict, rec.off, conflicts, nil
	n.size += rec.size()
	n.time = w.e.now()
	return nil
}

// forget removes an entry from the index.
func (w *workspace) forget(n *entry) {
	delete(w.byID, n.id)
	w.entries = slices.DeleteFunc(w.entries, func(m *entry) bool { return m == n })
}

// heal replaces a journal whose flush failed by a copy of what was flushed
// before. A second flush of the same file could lie.
func (w *workspace) heal() error {
	if w.log.broken == nil {
		return nil
	}
	if err := w.rewrite(); err != nil {
		return fmt.Errorf("journal is broken (%w), and so is its copy: %w", w.log.broken, err)
	}
	return nil
}

// rewrite puts a journal in place that only holds what is still of use.
func (w *workspace) rewrite() error {
	type moved struct {
		n    *entry
		kind recordType
		off  int64
	}
	var places []moved
	live := func(yield func(*rawRecord, error) bool) {
		for rec, err := range w.log.records(w.log.durable) {
			if err != nil {
				yield(nil, err)
				return
			}
			if w.byID[rec.tx] != nil && rec.kind != recApplied && !yield(rec, nil) {
				return
			}
		}
	}
	next, err := createJournal(w.home, w.e.growth, live, func(rec *rawRecord, off int64) {
		places = append(places, moved{w.byID[rec.tx], rec.kind, off})
	})
	if err != nil {
		return err
	}
	for _, m := range places {
		if m.kind == recIntent {
			m.n.intentOff = m.off
		} else {
			m.n.endOff = m.off
		}
	}
	next.open = w.log.open
	w.log.close()
	w.log = next
	return nil
}

// retain drops what is too old, too many or too large to be kept for an undo,
// oldest first. What fails here is tried again after the next transaction.
func (w *workspace) retain() {
	if err := w.prune(); err != nil {
		w.e.log.Warn("retention", slog.String("root", w.root), slog.Any("err", err))
	}
}

func (w *workspace) prune() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locked != nil || w.log.broken != nil {
		return nil
	}
	count, bytes := 0, int64(0)
	for _, n := range w.entries {
		if n.state != stateOpen {
			count++
			if n.holds() {
				bytes += n.bytes
			}
		}
	}
	var dropped []*entry
	for _, n := range w.entries {
		if n.state == stateOpen {
			continue
		}
		expired := w.e.now().Sub(n.time) > w.e.keep.Age || count > w.e.keep.Count ||
			bytes > w.e.keep.Bytes && count > 1
		if n.busy || !expired {
			break
		}
		count--
		if n.holds() {
			bytes -= n.bytes
		}
		dropped = append(dropped, n)
	}
	for _, n := range dropped {
		if err := w.dropEntry(n); err != nil {
			return err
		}
	}
	used := int64(headerSize)
	for _, n := range w.entries {
		used += n.size
	}
	if w.log.end > 2*used+w.e.slack {
		return w.rewrite()
	}
	return nil
}

// dropEntry forgets a transaction and its slots. The order does not matter: an
// undo verifies all slots first, and folders without an entry are swept.
func (w *workspace) dropEntry(n *entry) error {
	if err := w.log.append(false, &rawRecord{kind: recDropped, tx: n.id}); err != nil {
		return err
	}
	w.forget(n)
	for _, m := range w.entries {
		if m.holds() && slices.ContainsFunc(m.stages, func(s string) bool { return slices.Contains(n.stages, s) }) {
			return nil // they are another's undo store by now
		}
	}
	if !n.holds() {
		return nil
	}
	return w.removeStages(n.stages)
}

// removeStages removes staging folders with what they hold.
func (w *workspace) removeStages(stages []string) error {
	w.staging.Lock()
	defer w.staging.Unlock()
	for _, rel := range stages {
		base, err := w.dir.Open(path.Dir(rel))
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		err = removeStage(base, path.Base(rel))
		base.Close()
		if err == nil {
			err = w.removeBase(path.Dir(rel))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeBase removes the folder of the staging folders once it is empty.
func (w *workspace) removeBase(rel string) error {
	above, err := w.dir.Open(path.Dir(rel))
	if err == nil {
		err = above.RemoveDir(path.Base(rel))
		above.Close()
	}
	if err == nil {
		delete(w.durable, rel)
	}
	if notEmpty(err) || gone(err) {
		return nil
	}
	return err
}

func removeStage(base Dir, name string) error {
	d, err := base.Open(name)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, slot := range names {
		if err := d.Remove(slot); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return base.RemoveDir(name)
}

// discard removes what a transaction without an intent has staged.
func (t *Tx) discard() error {
	for _, d := range t.stages {
		d.Close()
	}
	t.stages = nil
	if t.undone != nil {
		return nil
	}
	return t.w.removeStages(t.in.stages)
}
