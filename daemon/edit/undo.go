package edit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// UndoOptions say who asks for an undo.
type UndoOptions struct {
	Client, Session string
	// Operation is what the history calls it; the default is "undo" with the
	// name of what is undone.
	Operation string
}

// Result is what an undo did.
type Result struct {
	Operation string // of the transaction that was undone
	RedoToken string // undoes the undo
	// Files are the changes that the undo made, with contents unless they are
	// over 32 MiB together (then Contents is false).
	Files    []change.File
	Contents bool
	// Replayed says that the token was used before: nothing was done now, and
	// the result is that of then, without contents.
	Replayed bool
	Warnings []string
}

// UndoneError says that a token was used before, and what it did then.
type UndoneError struct{ Result Result }

func (e *UndoneError) Error() string {
	return "this was undone before; its redo token is " + e.Result.RedoToken
}

// Undo takes a committed transaction back, in a transaction of its own. It
// changes nothing when one of the files was changed since: UNDO_CONFLICT with
// Paths as details. UNDO_NOT_FOUND means that the token is unknown in this
// workspace, expired, or that its saved contents are gone. The same token
// twice gives the same result.
func (e *Engine) Undo(ctx context.Context, root, token string, o UndoOptions) (Result, error) {
	t, err := e.BeginUndo(ctx, root, token, o)
	var before *UndoneError
	if errors.As(err, &before) {
		return before.Result, nil
	}
	if err != nil {
		return Result{}, err
	}
	if err := t.Apply(ctx); err != nil {
		return Result{}, err
	}
	redo, err := t.Commit(ctx, CommitInfo{})
	if err != nil {
		return Result{}, err
	}
	return Result{
		Operation: t.undone.operation, RedoToken: redo, Files: t.files, Contents: t.contents, Warnings: t.Warnings,
	}, nil
}

// contentLimit bounds what an undo keeps in memory for its result.
const contentLimit = 32 << 20

// BeginUndo prepares the transaction of an undo, as Begin does for a plan. A
// token that was used before is *UndoneError.
func (e *Engine) BeginUndo(ctx context.Context, root, token string, o UndoOptions) (*Tx, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	t, err := e.beginUndo(ctx, root, token, o)
	if err != nil {
		e.leave()
		var before *UndoneError
		if errors.As(err, &before) {
			return nil, err
		}
		return nil, refuse(err, "undo")
	}
	return t, nil
}

func (e *Engine) beginUndo(ctx context.Context, root, token string, o UndoOptions) (*Tx, error) {
	w, err := e.workspace(ctx, root)
	if err != nil {
		return nil, err
	}
	if err := w.usable(); err != nil {
		return nil, err
	}
	w.retain()
	n, err := w.find(token)
	if err != nil {
		return nil, err
	}
	was, err := w.intent(n)
	if err != nil {
		return nil, err
	}
	if o.Operation == "" {
		o.Operation = undoName(n.operation)
	}
	t := &Tx{e: e, w: w, id: w.mint(), token: newToken(), in: &intent{
		time: e.now().UnixNano(), operation: o.Operation, client: o.Client, session: o.Session,
		summary: was.summary, undoes: n.id, stages: was.stages, files: inverseFiles(was.files), rmdirs: slices.Clone(was.mkdirs),
	}}
	slices.Reverse(t.in.rmdirs)
	h := newHandles(w)
	defer h.close()
	if err := t.inverse(h, was); err != nil {
		return nil, err
	}
	if t.release, err = e.locks.acquire(ctx, t.wants(nil)); err != nil {
		return nil, err
	}
	if err := w.claim(n); err != nil {
		t.release()
		return nil, err
	}
	t.undone = n
	h.close()
	if err := t.prepareUndo(ctx, h); err != nil {
		t.discard()
		w.mu.Lock()
		n.busy = false
		w.mu.Unlock()
		t.release()
		return nil, err
	}
	return t, nil
}

// undoName is what the history calls the undo of an operation.
func undoName(operation string) string {
	if name, ok := strings.CutPrefix(operation, "undo "); ok {
		return "redo " + name
	}
	name, _ := strings.CutPrefix(operation, "redo ")
	return "undo " + name
}

func undoNotFound(why string) *api.Error {
	return api.Errorf(api.UndoNotFound, "%s: `auractl history` lists what can be undone", why)
}

// find returns the entry of a token.
func (w *workspace) find(token string) (*entry, error) {
	id, ok := parseToken(token)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ok {
		for _, n := range w.entries {
			if n.state == stateCommitted && n.token == id {
				return n, nil
			}
		}
	}
	return nil, undoNotFound(fmt.Sprintf(
		"no transaction of %s has this token; it may have expired (kept are %d days, %d transactions, %d MB)",
		w.root, int(w.e.keep.Age.Hours()/24), w.e.keep.Count, w.e.keep.Bytes/1_000_000))
}

// claim makes sure that the entry is undone once.
func (w *workspace) claim(n *entry) error {
	w.mu.Lock()
	by, dropped := n.undoneBy, w.byID[n.id] != n
	if by == nil && !dropped {
		n.busy = true
	}
	w.mu.Unlock()
	switch {
	case dropped:
		return undoNotFound("the transaction has expired meanwhile")
	case by == nil:
		return nil
	}
	in, err := w.intent(by)
	if err != nil {
		return err
	}
	res := Result{Operation: n.operation, RedoToken: by.token.String(), Replayed: true}
	for _, f := range in.files {
		res.Files = append(res.Files, w.file(f))
	}
	return &UndoneError{Result: res}
}

// intent reads the recorded intent of a transaction.
func (w *workspace) intent(n *entry) (*intent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.intent != nil {
		return n.intent, nil
	}
	rec, err := w.log.read(n.intentOff, recIntent, n.id)
	if err != nil {
		return nil, fmt.Errorf("read of the journal: %w", err)
	}
	return decodeIntent(rec.payload)
}

// file returns a recorded change with absolute paths.
func (w *workspace) file(f fileRecord) change.File {
	out := change.File{Kind: f.kind, Path: path.Join(w.root, f.path)}
	if f.newPath != "" {
		out.NewPath = path.Join(w.root, f.newPath)
	}
	return out
}

func inverseFiles(files []fileRecord) []fileRecord {
	out := make([]fileRecord, 0, len(files))
	for _, f := range files {
		switch f.kind {
		case change.Create:
			f.kind = change.Delete
		case change.Delete:
			f.kind = change.Create
		case change.Rename:
			f.path, f.newPath = f.newPath, f.path
		}
		out = append(out, f)
	}
	return out
}

// inverse makes the steps that take the recorded ops back, with their slots.
func (t *Tx) inverse(h *handles, was *intent) error {
	for _, o := range was.ops {
		o.base, o.post = o.post, o.base
		o.baseSize, o.postSize = o.postSize, o.baseSize
		switch o.kind {
		case opCreate:
			o.kind = opRemove
		case opRemove:
			o.kind = opCreate
		}
		at, err := t.w.resolve(h, t.w.root, o.path)
		if err != nil && !gone(err) && api.CodeOf(err) != api.OutsideWorkspace {
			return err
		}
		if err != nil || at.path != o.path {
			return undoConflict([]string{o.path}, "is reached through a link or file that was not there before")
		}
		t.list = append(t.list, &step{op: o, place: at})
	}
	return nil
}

func undoConflict(paths []string, why string) *api.Error {
	err := api.Errorf(api.UndoConflict, "%s %s, nothing was undone: undo the later change first, or edit by hand",
		enumerate(paths), why)
	err.Details = Paths{Files: paths}
	return err
}

func (t *Tx) prepareUndo(ctx context.Context, h *handles) error {
	if err := t.openSlots(); err != nil {
		return err
	}
	contents, err := t.verifyUndo(ctx, h)
	if err != nil {
		return err
	}
	t.in.mkdirs = missingDirs(t.list)
	if err := t.fill(h, contents); err != nil {
		return err
	}
	return t.writeIntent()
}

// openSlots opens the staging folders of the transaction that is undone. One
// that held nothing, because everything in it was new, is made again.
func (t *Tx) openSlots() error {
	needed := make([]bool, len(t.in.stages))
	for _, st := range t.list {
		needed[st.stage] = needed[st.stage] || st.kind != opRemove
	}
	for i, rel := range t.in.stages {
		d, err := t.w.dir.Open(rel)
		if gone(err) && !needed[i] {
			d, err = t.remake(rel)
		}
		if gone(err) {
			return undoNotFound(fmt.Sprintf(
				"the saved contents of %s are gone (%s was removed, by `git clean` perhaps), nothing was undone",
				t.undone.operation, path.Join(t.w.root, rel)))
		}
		if err != nil {
			return err
		}
		t.stages = append(t.stages, d)
	}
	return nil
}

func (t *Tx) remake(rel string) (Dir, error) {
	t.w.staging.Lock()
	defer t.w.staging.Unlock()
	d, err := t.w.dir.Open(path.Dir(path.Dir(rel)))
	for _, name := range []string{path.Base(path.Dir(rel)), path.Base(rel)} {
		if err != nil {
			return nil, err
		}
		var next Dir
		next, err = ensureIn(d, name)
		d.Close()
		d = next
	}
	return d, err
}

// verifyUndo checks targets and slots before anything is written.
func (t *Tx) verifyUndo(ctx context.Context, h *handles) (map[string][]byte, error) {
	size := int64(0)
	for _, st := range t.list {
		size += st.baseSize + st.postSize
	}
	keep := what(0)
	var contents map[string][]byte
	if t.contents = size <= contentLimit; t.contents {
		keep, contents = keepContent, make(map[string][]byte, len(t.list))
	}
	var changed, lost, written []string
	folders := map[string]error{}
	removed := map[string]uint64{}
	for _, st := range t.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slot := found{}
		var err error
		if st.kind != opRemove {
			if slot, err = t.rd.read(t.stages[st.stage], slotName(st.slot), keep); err != nil {
				return nil, err
			}
			switch {
			case !slot.exists:
				lost = append(lost, st.path)
				continue
			case !slot.is(st.post):
				written = append(written, st.path)
				continue
			}
			if contents != nil {
				contents["+"+st.path] = slot.content
			}
		}
		if st.kind == opCreate {
			st.mode = slot.info.Mode
			continue
		}
		target, err := t.readTarget(h, st, keep)
		if err != nil {
			return nil, err
		}
		if !target.is(st.base) {
			changed = append(changed, st.path)
			continue
		}
		if contents != nil {
			contents["-"+st.path] = target.content
		}
		if err := t.mayReplace(h, st, &target, false, folders); err != nil {
			return nil, err
		}
		st.ino = target.info.Ino
		if st.kind == opRemove {
			removed[st.path] = target.info.Ino
			continue
		}
		if err := t.carryMode(st, slot.info, target.info); err != nil {
			return nil, err
		}
	}
	for _, st := range t.list {
		if st.kind != opCreate {
			continue
		}
		taken, err := t.taken(h, st, removed)
		if err != nil {
			return nil, err
		}
		if taken {
			changed = append(changed, st.path)
		} else if err := t.mayMake(h, st, folders); err != nil {
			return nil, err
		}
	}
	switch {
	case len(lost) > 0:
		return nil, undoNotFound(fmt.Sprintf("the saved contents of %s are gone, nothing was undone", enumerate(lost)))
	case len(changed) > 0:
		slices.Sort(changed)
		return nil, undoConflict(changed, "changed since"+t.w.changedBy(t.undone, changed))
	case len(written) > 0:
		return nil, undoConflict(written, "was written by a program that had it open during the edit")
	}
	return contents, nil
}

// carryMode keeps a mode that the user gave the file after the edit: the undo
// is about the content. (st.mode is still that of the edit.)
func (t *Tx) carryMode(st *step, slot, target Info) error {
	was := st.mode
	st.mode = slot.Mode
	if target.Mode == was || target.Mode == slot.Mode {
		return nil
	}
	f, err := t.stages[st.stage].OpenFile(slotName(st.slot))
	if err != nil {
		return err
	}
	defer f.Close()
	st.mode = target.Mode
	return f.Chmod(target.Mode)
}

// changedBy names the transactions that changed the paths later.
func (w *workspace) changedBy(n *entry, paths []string) string {
	w.mu.Lock()
	later := w.entries[slices.Index(w.entries, n)+1:]
	later = slices.Clone(later)
	w.mu.Unlock()
	for _, m := range slices.Backward(later) {
		if m.state != stateCommitted {
			continue
		}
		in, err := w.intent(m)
		if err != nil {
			continue
		}
		for i := range in.ops {
			if slices.Contains(paths, in.ops[i].path) {
				return fmt.Sprintf(", by %s (token %s)", m.operation, m.token)
			}
		}
	}
	return ""
}

// fill sets the changes of the transaction with their contents, which are
// known by real path while the changes have the names of the plan.
func (t *Tx) fill(h *handles, contents map[string][]byte) error {
	for _, f := range t.in.files {
		out := t.w.file(f)
		if contents != nil {
			at, err := t.w.resolve(h, t.w.root, f.path)
			if err != nil {
				return err
			}
			out.Before = contents["-"+at.path]
			if f.kind == change.Rename {
				if at, err = t.w.resolve(h, t.w.root, f.newPath); err != nil {
					return err
				}
			}
			out.After = contents["+"+at.path]
		}
		t.files = append(t.files, out)
	}
	return nil
}
