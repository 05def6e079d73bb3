package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/auralsp/aura/daemon/api"
)

// syncFSFrom is from how many files or folders on one flush of the whole file
// system is cheaper than one for each.
const syncFSFrom = 8

// foldEqual compares paths as a file system does that ignores case.
func foldEqual(a, b string) bool { return strings.EqualFold(a, b) }

// mayReplace refuses files that could be replaced by a rename although their
// owner meant them not to change, or that would lose something by it.
func (t *Tx) mayReplace(h *handles, st *step, f *found, readOnly bool, folders map[string]error) error {
	dir, name := path.Dir(st.path), path.Base(st.path)
	switch {
	case f.info.Pinned:
		return denied(st.path, "is immutable or append-only: run `chattr -i -a` on it first")
	case f.info.Links > 1:
		return denied(st.path, fmt.Sprintf(
			"has %d hard links: an edit would part it from the others; edit it yourself or break the link first", f.info.Links))
	}
	d, err := h.open(dir)
	if err != nil {
		return err
	}
	if !readOnly {
		err := d.Writable(name)
		if err == nil && f.info.Mode&0o222 == 0 {
			err = syscall.EACCES // root may write it all the same
		}
		if err != nil {
			return denied(st.path, fmt.Sprintf("is not writable (mode %04o, %v): run `chmod u+w` on it first", f.info.Mode, cause(err)))
		}
	}
	return t.mayChange(h, dir, folders)
}

// mayMake refuses new files in folders that take none.
func (t *Tx) mayMake(h *handles, st *step, folders map[string]error) error {
	return t.mayChange(h, st.place.standing(), folders)
}

// mayChange checks once for each folder that entries of it can be replaced.
func (t *Tx) mayChange(h *handles, dir string, folders map[string]error) error {
	if err, ok := folders[dir]; ok {
		return err
	}
	check := func() error {
		d, err := h.open(dir)
		if err != nil {
			return err
		}
		info, err := d.Stat()
		if err != nil {
			return err
		}
		if info.Pinned {
			return denied(dir, "is an immutable or append-only folder: run `chattr -i -a` on it first")
		}
		if err := d.Writable("."); err != nil {
			return denied(dir, fmt.Sprintf("is a folder that cannot be written (mode %04o, %v): run `chmod u+w` on it first", info.Mode, cause(err)))
		}
		return nil
	}
	err := check()
	folders[dir] = err
	return err
}

func denied(rel, why string) *api.Error {
	err := api.Errorf(api.PermissionDenied, "%s %s; nothing was changed", rel, why)
	err.Details = Paths{Files: []string{rel}}
	return err
}

// cause leaves the path out of an error that stands beside it.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// mount is a file system as renames see it.
type mount struct{ dev, id uint64 }

// chooseStages finds a folder for the slots on each file system that the plan
// touches, since a rename cannot leave one.
func (t *Tx) chooseStages(h *handles) error {
	byMount := map[mount]uint32{}
	byDir := map[string]uint32{}
	for _, st := range t.list {
		dir := st.place.standing()
		if i, ok := byDir[dir]; ok {
			st.stage = i
			continue
		}
		m, err := mountOf(h, dir)
		if err != nil {
			return err
		}
		i, ok := byMount[m]
		if !ok {
			base, d, err := t.makeStage(h, dir, m)
			if err != nil {
				return err
			}
			i = uint32(len(t.stages))
			byMount[m] = i
			t.stages = append(t.stages, d)
			t.in.stages = append(t.in.stages, base)
		}
		byDir[dir] = i
		st.stage = i
	}
	return nil
}

func mountOf(h *handles, dir string) (mount, error) {
	d, err := h.open(dir)
	if err != nil {
		return mount{}, err
	}
	info, err := d.Stat()
	return mount{info.Dev, info.Mount}, err
}

// makeStage makes the transaction's folder on the mount that dir lies on: in
// the repository's .git, where no tool looks, else in a folder that ignores
// itself at the top of the mount.
func (t *Tx) makeStage(h *handles, dir string, m mount) (string, Dir, error) {
	if m == (mount{t.w.id.Dev, t.w.id.Mount}) {
		if info, err := t.w.dir.Lstat(".git"); err == nil && info.Type == Directory && info.Dev == m.dev && info.Mount == m.id {
			rel, d, err := t.stageIn(".git", "aura", false)
			if err == nil || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
				return rel, d, err
			}
		}
		return t.stageIn(".", stagingFallback, true)
	}
	top := dir
	for top != "." {
		above, err := mountOf(h, path.Dir(top))
		if err != nil {
			return "", nil, err
		}
		if above != m {
			break
		}
		top = path.Dir(top)
	}
	return t.stageIn(top, stagingFallback, true)
}

// stageIn makes parent/base/ID.
func (t *Tx) stageIn(parent, base string, ignore bool) (string, Dir, error) {
	p, err := t.w.dir.Open(parent)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	t.w.staging.Lock()
	defer t.w.staging.Unlock()
	made := p.Mkdir(base, 0o777)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return "", nil, made
	}
	if made == nil {
		delete(t.w.durable, path.Join(parent, base))
	}
	b, err := p.Open(base)
	if err != nil {
		return "", nil, err
	}
	defer b.Close()
	if err := b.Mkdir(t.id.String(), 0o700); err != nil {
		if made == nil {
			p.RemoveDir(base)
		}
		return "", nil, err
	}
	rel := path.Join(parent, base, t.id.String())
	d, err := b.Open(t.id.String())
	if err == nil && ignore {
		err = ignoreAll(d)
	}
	if err != nil {
		if d != nil {
			d.Close()
		}
		t.in.stages = append(t.in.stages, rel) // for discard
		return "", nil, err
	}
	return rel, d, nil
}

// syncStage makes a staging folder durable, with the names on the way to it:
// else the files that are moved into it could be gone with it.
func (t *Tx) syncStage(i int) error {
	if err := t.stages[i].Sync(); err != nil {
		return err
	}
	base := path.Dir(t.in.stages[i])
	t.w.staging.Lock()
	defer t.w.staging.Unlock()
	for _, rel := range []string{base, path.Dir(base)} {
		if rel != base && t.w.durable[base] {
			break
		}
		d, err := t.w.dir.Open(rel)
		if err != nil {
			return err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return err
		}
	}
	t.w.durable[base] = true
	return nil
}

// ignoreAll keeps git and search tools out of a staging folder.
func ignoreAll(d Dir) error {
	f, err := d.Create(".gitignore", 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("*\n"))
	f.Close()
	return err
}

func slotName(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// stage writes the new contents into their slots and makes them durable.
func (t *Tx) stage(ctx context.Context) error {
	count := make([]int, len(t.stages))
	for _, st := range t.list {
		if st.kind != opRemove {
			count[st.stage]++
		}
	}
	for _, st := range t.list {
		if st.kind == opRemove {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.stageFile(st, count[st.stage] < syncFSFrom); err != nil {
			return fmt.Errorf("stage %s: %w", st.path, err)
		}
	}
	for i, d := range t.stages {
		if t.e.seed.skipStageSync {
			continue
		}
		if count[i] >= syncFSFrom {
			err := d.SyncFS()
			if err == nil {
				continue // it covers the folder as well
			}
			if !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			if err := t.syncSlots(uint32(i)); err != nil {
				return err
			}
		}
		if err := t.syncStage(i); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) stageFile(st *step, sync bool) error {
	mode := uint32(0o600)
	if st.meta == nil {
		mode = 0o666 // less what the process's umask takes away; see inherit
	}
	f, err := t.stages[st.stage].Create(slotName(st.slot), mode)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(st.content); err != nil {
		return err
	}
	if st.meta != nil {
		if err := dress(f, st.meta); err != nil {
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
				return denied(st.path, fmt.Sprintf("has an owner or attributes that Aura may not give to its new content (%v)", err))
			}
			return err
		}
		st.mode = st.meta.info.Mode
	} else {
		if err := t.inherit(f, st); err != nil {
			return err
		}
	}
	if sync && !t.e.seed.skipStageSync {
		return f.Sync()
	}
	return nil
}

// open gives what was made in the user's tree the mode that the user would
// have given it, whatever the daemon's own umask; a folder's default ACL has
// decided already.
func (e *Engine) open(made interface {
	Attrs() (map[string][]byte, error)
	Chmod(mode uint32) error
}, mode uint32) error {
	if e.umask == nil {
		return nil
	}
	if attrs, err := made.Attrs(); err == nil && attrs["system.posix_acl_access"] != nil {
		return nil
	}
	return made.Chmod(mode &^ *e.umask)
}

func (t *Tx) inherit(f File, st *step) error {
	d, err := t.w.dir.Open(st.place.standing())
	if err != nil {
		return err
	}
	defer d.Close()
	folder, err := d.Stat()
	if err != nil {
		return err
	}
	if err := inherit(f, folder); err != nil {
		return err
	}
	if err := t.e.open(f, 0o666); err != nil {
		return err
	}
	info, err := f.Stat()
	st.mode = info.Mode
	return err
}

// syncSlots flushes each slot of a stage where there is no flush for all.
func (t *Tx) syncSlots(stage uint32) error {
	for _, st := range t.list {
		if st.stage != stage || st.kind == opRemove {
			continue
		}
		f, err := t.stages[stage].OpenFile(slotName(st.slot))
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeIntent records what is about to happen: from here on recovery knows
// what to take back.
func (t *Tx) writeIntent() error {
	for _, st := range t.list {
		t.in.ops = append(t.in.ops, st.op)
	}
	rec := &rawRecord{kind: recIntent, tx: t.id, payload: t.in.encode()}
	return t.w.begin(t, rec)
}
