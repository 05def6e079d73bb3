package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// removing begins the names of folders that are on their way out.
const removing = "removing-"

// Retention bounds what checks have built and kept.
type Retention struct {
	Age   time.Duration // since the last use
	Bytes int64         // of all together
}

// Built says what checks have built and kept.
type Built struct {
	Dir     string // absolute folder that holds it
	Folders int
	Bytes   int64 // on disk
}

// builtFolder is one kept folder.
type builtFolder struct {
	path  string
	of    string // absolute folder that was checked; empty when that is not known
	used  time.Time
	bytes int64
}

// Built measures what checks have built and kept.
func (v *Validator) Built(ctx context.Context) (Built, error) {
	all, err := v.folders.list(ctx)
	out := Built{Dir: v.folders.dir, Folders: len(all)}
	for _, f := range all {
		out.Bytes += f.bytes
	}
	return out, err
}

// Tidy removes what checks have built of folders that are gone, what was not
// used for too long, and then the least recently used while there is more than
// the bound; the latest one stays. What a check uses stays as well. It returns
// what is left.
func (v *Validator) Tidy(ctx context.Context, r Retention) (Built, error) {
	k := v.folders
	all, err := k.list(ctx)
	if err != nil {
		return Built{}, err
	}
	slices.SortFunc(all, func(a, b builtFolder) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	left := Built{Dir: k.dir, Folders: len(all)}
	for _, f := range all {
		left.Bytes += f.bytes
	}
	var failed []error
	for i, f := range all {
		if ctx.Err() != nil {
			return left, context.Cause(ctx)
		}
		old := time.Since(f.used) > r.Age
		over := left.Bytes > r.Bytes && i < len(all)-1
		if !old && !over && f.of != "" && !gone(f.of) {
			continue
		}
		removed, err := k.remove(f)
		if removed {
			left.Bytes -= f.bytes
			left.Folders--
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return left, errors.Join(failed...)
}

// gone reports whether a folder is known not to be there.
func gone(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// list returns the kept folders, and removes what an earlier removal has left.
func (k *kept) list(ctx context.Context) ([]builtFolder, error) {
	entries, err := os.ReadDir(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what checks have built: %w", err)
	}
	var out []builtFolder
	for _, e := range entries {
		path := filepath.Join(k.dir, e.Name())
		if strings.HasPrefix(e.Name(), removing) {
			if err := os.RemoveAll(path); err != nil {
				return nil, fmt.Errorf("what checks have built: %w", err)
			}
			continue
		}
		f := builtFolder{path: path}
		if of, err := os.ReadFile(filepath.Join(path, keptOf)); err == nil {
			f.of = string(of)
		}
		if info, err := os.Stat(filepath.Join(path, keptOf)); err == nil {
			f.used = info.ModTime()
		}
		if f.bytes, err = diskUse(ctx, path); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// remove removes a kept folder, unless it is in use or was used since it was listed.
func (k *kept) remove(f builtFolder) (removed bool, err error) {
	lock, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove what checks have built: %w", err)
	}
	defer lock.Close()
	switch err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove what checks have built: lock %s: %w", f.path, err)
	}
	if info, err := os.Stat(filepath.Join(f.path, keptOf)); err == nil && !info.ModTime().Equal(f.used) {
		return false, nil
	}
	// Out of the way in one step: who waits for the lock makes it anew.
	aside := filepath.Join(k.dir, removing+filepath.Base(f.path))
	if err := errors.Join(os.RemoveAll(aside), os.Rename(f.path, aside)); err != nil {
		return false, fmt.Errorf("remove what checks have built: %w", err)
	}
	lock.Close()
	if err := os.RemoveAll(aside); err != nil {
		return true, fmt.Errorf("remove what checks have built: %w", err)
	}
	return true, nil
}

// diskUse returns what the files below a folder take on disk, in bytes. Files
// that go meanwhile count nothing; one with several names counts once.
func diskUse(ctx context.Context, dir string) (int64, error) {
	type file struct{ dev, ino uint64 }
	linked := map[file]bool{}
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		if st.Nlink > 1 && !e.IsDir() {
			id := file{uint64(st.Dev), st.Ino}
			if linked[id] {
				return nil
			}
			linked[id] = true
		}
		sum += st.Blocks * 512
		return nil
	})
	return sum, err
}
