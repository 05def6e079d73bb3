package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/auralsp/aura/lspclient/text"
)

// unsupported reports whether a file system does not know a kind of rename or
// link.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOTSUP)
}

func notEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist)
}

// oldSuffix names the second link to the file that is being replaced, where
// two names cannot be exchanged.
const oldSuffix = ".old"

// exchange swaps a target with its slot in one step. The target is the first
// argument of the rename: watchers then see it moved away and moved in, as
// with any editor's save, and not the other way round.
//
// Where that is not possible the old file first gets a second name in the
// staging folder and must be as expected; a save between this check and the
// rename is then lost, which Apply says in a warning.
func (w *workspace) exchange(rd *reader, d Dir, name string, stage Dir, slot string, expect text.Hash) error {
	if !w.plain.Load() {
		err := d.Rename(name, stage, slot, Exchange)
		if !unsupported(err) {
			return err
		}
		w.plain.Store(true)
	}
	old := slot + oldSuffix
	if err := link(rd, d, name, stage, old); err != nil {
		return err
	}
	was, err := rd.read(stage, old, 0)
	if err == nil && !was.is(expect) {
		err = errSaved
	}
	if err == nil {
		// Durable, or the rename below could be all that outlives a power cut.
		err = stage.Sync()
	}
	if err == nil {
		err = stage.Rename(slot, d, name, Replace)
	}
	if err != nil {
		return errors.Join(err, stage.Remove(old))
	}
	return stage.Rename(old, stage, slot, Replace)
}

// link gives a file a second name, or copies it where there are no links.
func link(rd *reader, d Dir, name string, to Dir, toName string) error {
	err := d.Link(name, to, toName)
	if err == nil || !unsupported(err) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	f, err := rd.read(d, name, keepContent|keepAttrs)
	if err != nil {
		return err
	}
	if !f.exists || f.odd != nil {
		return errSaved
	}
	c, err := to.Create(toName, 0o600)
	if err != nil {
		return err
	}
	_, err = c.Write(f.content)
	if err == nil {
		err = dress(c, &metadata{info: f.info, attrs: f.attrs})
	}
	if err == nil {
		err = c.Sync()
	}
	c.Close()
	return err
}

// tidySlot completes an exchange without EXCHANGE that was cut off, durably:
// a second link that came back would have the file refused for it.
func tidySlot(stage Dir, slot string) error {
	old := slot + oldSuffix
	if _, err := stage.Lstat(old); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	_, err := stage.Lstat(slot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = stage.Rename(old, stage, slot, Replace)
	case err == nil:
		err = stage.Remove(old) // the target was not replaced yet
	}
	if err != nil {
		return err
	}
	return stage.Sync()
}

// move renames a file to a name that must be free.
func move(from Dir, name string, to Dir, toName string) error {
	err := from.Rename(name, to, toName, NoReplace)
	if !unsupported(err) {
		return err
	}
	// A link fails as well when the name is taken.
	err = from.Link(name, to, toName)
	if err == nil {
		// In order, and both: neither name must be lost, nor a second one stay.
		if err = to.Sync(); err == nil {
			err = from.Remove(name)
		}
		if err == nil {
			err = from.Sync()
		}
		return err
	}
	if !unsupported(err) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if _, err := to.Lstat(toName); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &fs.PathError{Op: "rename", Path: toName, Err: fs.ErrExist}
		}
		return err
	}
	return from.Rename(name, to, toName, Replace)
}

// touchOver gives a file the time of now, and where the file that it takes the
// place of, which the slot holds, has its size and that very second, the next
// second: Python goes by these two when it believes its compiled files
// (importlib, SourceLoader.path_stats).
func touchOver(dir Dir, name string, stage Dir, slot string, now time.Time) error {
	if stage != nil {
		placed, err := dir.Lstat(name)
		if err != nil {
			return err
		}
		if replaced, err := stage.Lstat(slot); err == nil && replaced.Size == placed.Size && now.Unix() <= replaced.Mtime.Unix() {
			now = time.Unix(replaced.Mtime.Unix()+1, 0)
		}
	}
	return dir.Touch(name, now)
}

// weaker is the warning for file systems without EXCHANGE.
const weaker = "this file system cannot exchange two files in one step: a save in the very moment of the edit could be lost"

func (t *Tx) noteWeaker() {
	if t.w.plain.Load() {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s (%s)", weaker, t.w.root))
	}
}
