package edit

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Tx is a transaction that Begin or BeginUndo has prepared: everything is
// staged and the intent is on the disk, the user's files are untouched. It
// ends with Commit or Abort, of which one must be called; a failing Apply or
// Commit has taken everything back itself.
type Tx struct {
	// Warnings are notes for the answer. They are complete after Apply.
	Warnings []string

	e      *Engine
	w      *workspace
	id     txID
	token  Token
	in     *intent
	list   []*step
	stages []Dir
	files  []change.File
	// contents says that an undo's files carry their contents.
	contents bool
	entry    *entry
	undone   *entry // the transaction that this one takes back
	release  func()
	rd       reader

	mu    sync.Mutex // guards state
	state txState
}

type txState uint8

const (
	txPrepared txState = iota
	txApplied
	txEnded
)

// Token returns what will undo the transaction once it is committed, so that
// the recorded answer can hold it.
func (t *Tx) Token() string { return t.token.String() }

// ID names the transaction in logs and in the history.
func (t *Tx) ID() string { return t.id.String() }

// Files returns the changes of the transaction.
func (t *Tx) Files() []change.File { return t.files }

// Begin checks the plan against the disk and prepares a transaction: locks
// taken, contents staged, intent recorded. No file of the user has changed
// when it returns.
//
// Its refusals are *api.Error: STALE_CONTENT with Paths as details,
// OUTSIDE_WORKSPACE, PERMISSION_DENIED, BINARY_FILE, FILE_TOO_LARGE,
// FILE_NOT_FOUND, UNSUPPORTED_OPERATION, INVALID_ARGUMENT, OVERLOADED,
// CANCELLED, TIMEOUT, INTERNAL; or a *CommittedError.
func (e *Engine) Begin(ctx context.Context, p Plan) (*Tx, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	t, err := e.begin(ctx, &p)
	if err != nil {
		e.leave()
		return nil, refuse(err, "begin %s", p.Operation)
	}
	return t, nil
}

func (e *Engine) begin(ctx context.Context, p *Plan) (*Tx, error) {
	w, err := e.workspace(ctx, p.Root)
	if err != nil {
		return nil, err
	}
	if err := w.usable(); err != nil {
		return nil, err
	}
	t := &Tx{e: e, w: w, id: w.mint(), token: newToken(), files: p.Files, in: &intent{
		time: e.now().UnixNano(), operation: p.Operation, client: p.Client, session: p.Session, key: p.Key, summary: p.Summary,
	}}
	h := newHandles(w)
	defer h.close()
	if t.list, err = t.steps(h, p); err != nil {
		return nil, err
	}
	reads, err := t.readSet(h, p)
	if err != nil {
		return nil, err
	}
	if t.release, err = e.locks.acquire(ctx, t.wants(reads)); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, h, p, reads); err != nil {
		t.discard()
		t.release()
		return nil, err
	}
	return t, nil
}

func (t *Tx) prepare(ctx context.Context, h *handles, p *Plan, reads map[string]text.Hash) error {
	if n, ok := t.w.byKey(p.Key); ok {
		rec, err := t.w.record(n, true)
		if err != nil {
			return err
		}
		return &CommittedError{Record: rec}
	}
	// Handles from before the locks may belong to folders that are gone.
	h.close()
	if err := t.verify(ctx, h, p.AllowReadOnly, reads); err != nil {
		return err
	}
	t.warn(h, p)
	t.in.mkdirs = missingDirs(t.list)
	if err := t.chooseStages(h); err != nil {
		return err
	}
	if err := t.stage(ctx); err != nil {
		return err
	}
	if t.e.seed.applyBeforeIntent {
		if err := t.apply(ctx); err != nil {
			return err
		}
	}
	return t.writeIntent()
}

// readSet resolves the files that the plan depends on but does not change.
func (t *Tx) readSet(h *handles, p *Plan) (map[string]text.Hash, error) {
	written := make(map[string]bool, len(t.list))
	for _, st := range t.list {
		written[st.path] = true
	}
	reads := make(map[string]text.Hash, len(p.Base))
	for abs, hash := range p.Base {
		rel, ok := t.w.relative(abs, filepath.Clean(p.Root))
		if !ok {
			continue // a dependency's source: it is not ours to lock
		}
		at, err := t.w.resolve(h, filepath.Clean(p.Root), rel)
		if err != nil {
			if api.CodeOf(err) == api.OutsideWorkspace {
				continue
			}
			return nil, err
		}
		if !written[at.path] {
			reads[at.path] = hash
		}
	}
	return reads, nil
}

// wants lists the locks: what is written and made exclusively, what was read
// shared, and the key.
func (t *Tx) wants(reads map[string]text.Hash) []want {
	wants := make([]want, 0, len(t.list)+len(reads)+1)
	for _, st := range t.list {
		wants = append(wants, want{name: filepath.Join(t.w.root, st.path), exclusive: true})
		for _, d := range st.place.missing {
			wants = append(wants, want{name: filepath.Join(t.w.root, d), exclusive: true})
		}
	}
	for rel := range reads {
		wants = append(wants, want{name: filepath.Join(t.w.root, rel)})
	}
	if t.in.key != "" {
		wants = append(wants, want{name: "key\x00" + t.w.root + "\x00" + t.in.key, exclusive: true})
	}
	return wants
}

// verify reads every file again, under the locks, and refuses the plan when
// one is not as it was or must not be written.
func (t *Tx) verify(ctx context.Context, h *handles, readOnly bool, reads map[string]text.Hash) error {
	var stale []string
	likes := map[string]*metadata{}
	folders := map[string]error{}
	removed := map[string]uint64{} // inodes that the plan takes away
	for _, st := range t.list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if st.kind == opCreate {
			continue
		}
		f, err := t.readTarget(h, st, keepAttrs)
		if err != nil {
			return err
		}
		if !f.is(st.base) {
			if f.odd != nil && !errors.Is(f.odd, errTooLarge) {
				return api.Errorf(api.UnsupportedOperation, "%s is not a regular file: Aura edits files only", st.path)
			}
			stale = append(stale, st.path)
			continue
		}
		if err := t.mayReplace(h, st, &f, readOnly, folders); err != nil {
			return err
		}
		st.ino, st.mode = f.info.Ino, f.info.Mode
		likes[st.path] = &metadata{info: f.info, attrs: f.attrs}
		if st.kind == opRemove {
			removed[st.path] = f.info.Ino
		}
	}
	for _, st := range t.list {
		if st.kind != opCreate {
			st.meta = likes[st.like]
			continue
		}
		taken, err := t.taken(h, st, removed)
		if err != nil {
			return err
		}
		if taken {
			stale = append(stale, st.path)
			continue
		}
		if err := t.mayMake(h, st, folders); err != nil {
			return err
		}
		st.meta = likes[st.like]
	}
	for rel, hash := range reads {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := t.readTarget(h, &step{op: op{path: rel}}, 0)
		if err != nil {
			return err
		}
		if f.exists != (hash != text.Hash{}) || f.exists && !f.is(hash) {
			stale = append(stale, rel)
		}
	}
	if len(stale) > 0 {
		return staleError(stale)
	}
	return nil
}

// readTarget reads the file of a step. A folder that is not there any more, or
// is a link now, means that the file is not there.
func (t *Tx) readTarget(h *handles, st *step, keep what) (found, error) {
	d, err := h.open(path.Dir(st.path))
	if err == nil {
		var f found
		if f, err = t.rd.read(d, path.Base(st.path), keep); err == nil {
			return f, nil
		}
	}
	if gone(err) {
		return found{}, nil
	}
	return found{}, refuse(err, "read %s", st.path)
}

// gone reports whether an error means that a path no longer leads to a file.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// taken reports whether something has the name of a new file. A file system
// that does not tell cases apart shows the file itself for a new spelling.
func (t *Tx) taken(h *handles, st *step, removed map[string]uint64) (bool, error) {
	d, err := h.open(path.Dir(st.path))
	if gone(err) {
		// A folder that is to be made: nothing may have taken its name.
		at, err := t.w.resolve(h, t.w.root, st.path)
		if err != nil {
			return false, err
		}
		st.place = at
		_, goes := removed[at.under]
		return at.path != st.path || at.exists || at.under != "" && !goes, nil
	}
	if err != nil {
		return false, err
	}
	info, err := d.Lstat(path.Base(st.path))
	if errors.Is(err, fs.ErrNotExist) {
		st.place.missing = nil
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Type == Directory && slices.Contains(t.in.rmdirs, st.path) {
		return false, nil // it goes first
	}
	for other, ino := range removed {
		if ino == info.Ino && foldEqual(other, st.path) {
			return false, nil
		}
	}
	return true, nil
}
