package validate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/semaphore"

	"github.com/auralsp/aura/adapters"
)

// Bounds of the use of a kept folder.
const (
	refreshAfter = 8       // checks of planned text; what has changed since is built again each time
	exclusive    = 1 << 20 // weight of a check that writes the folder
)

// The entries of a kept folder.
const (
	keptBuilt = "built"   // what the check is given
	keptOf    = "project" // names the folder that was checked; its time is that of the last use
)

// kept are the folders in which checks keep what they built, one for each
// program and place. Checks of the real tree write them, one at a time. What
// checks of planned text write is dropped where a build goes by times, so that
// nothing of a plan is taken for built later: cargo compares times, and a plan
// that was never carried out leaves the files older than what was built from it.
//
// A use holds a shared lock of the folder, so that neither this process nor
// another one of the user removes it meanwhile.
type kept struct {
	dir string // absolute

	mu      sync.Mutex // guards folders
	folders map[string]*keptFolder
}

type keptFolder struct {
	use *semaphore.Weighted

	mu      sync.Mutex      // guards the rest
	filled  map[string]bool // commands that have filled it
	planned int             // checks of planned text since one did
}

func newKept(dir string) *kept { return &kept{dir: dir, folders: map[string]*keptFolder{}} }

// path returns what a check that keeps something is given; empty when it keeps
// nothing where it runs as argv.
func (k *kept) path(ck adapters.Check, argv []string) string {
	if len(ck.Kept) == 0 && !slices.ContainsFunc(argv, func(s string) bool { return strings.HasSuffix(s, adapters.KeptFolder) }) {
		return ""
	}
	sum := sha256.Sum256([]byte(ck.Dir + "\x00" + ck.Argv[0]))
	return filepath.Join(k.dir, hex.EncodeToString(sum[:8]), keptBuilt)
}

func (k *kept) of(path string) *keptFolder {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.folders[path]
	if f == nil {
		f = &keptFolder{use: semaphore.NewWeighted(exclusive), filled: map[string]bool{}}
		k.folders[path] = f
	}
	return f
}

// hold keeps the folder of a command for a use of it, and from being removed.
func (f *keptFolder) hold(ctx context.Context, c command, weight int64) (release func(), err error) {
	if err := f.use.Acquire(ctx, weight); err != nil {
		return nil, context.Cause(ctx)
	}
	lock, made, err := holdKept(filepath.Dir(c.kept), c.dir)
	if err != nil {
		f.use.Release(weight)
		return nil, err
	}
	if made {
		f.mu.Lock()
		f.filled, f.planned = map[string]bool{}, 0
		f.mu.Unlock()
	}
	return func() {
		lock.Close()
		f.use.Release(weight)
	}, nil
}

// holdKept takes the shared lock of a kept folder of a project, made when it is
// not there, and notes the use.
func holdKept(dir, project string) (lock *os.File, made bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("folder for what is built of %s: %w", project, err)
		}
	}()
	const tries = 100 // it may be removed again and again, in theory
	for range tries {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, false, err
		}
		lock, err := os.Open(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		// Whoever removes it holds the lock for one rename only.
		if err := errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_SH), sameFile(lock, dir)); err != nil {
			lock.Close()
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return nil, false, err
		}
		err = os.Mkdir(filepath.Join(dir, keptBuilt), 0o700)
		made = err == nil
		if errors.Is(err, os.ErrExist) {
			err = nil
		}
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, keptOf), []byte(project), 0o600)); err != nil {
			lock.Close()
			return nil, false, err
		}
		return lock, made, nil
	}
	return nil, false, errors.New("it is removed as often as it is made")
}

// sameFile returns an error like that of a missing file when path is not, or no
// longer, the file that is open.
func sameFile(f *os.File, path string) error {
	open, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(path)
	if err == nil && !os.SameFile(open, named) {
		err = os.ErrNotExist
	}
	return err
}

// real runs a check of the real tree.
func (k *kept) real(ctx context.Context, c command, run func(command) (result, error)) (result, error) {
	if c.kept == "" {
		return run(c)
	}
	f := k.of(c.kept)
	release, err := f.hold(ctx, c, exclusive)
	if err != nil {
		return result{}, err
	}
	defer release()
	r, err := run(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filled[c.line()], f.planned = true, 0
	return r, err
}

// plan runs a check of planned text; before it that of the real tree when what
// it writes is dropped, and the folder was not filled yet, or so long ago that
// too much is built again each time.
func (k *kept) plan(ctx context.Context, c command, run, real func(command) (result, error)) (result, error) {
	if c.kept == "" {
		return run(c)
	}
	f := k.of(c.kept)
	if c.drops {
		f.mu.Lock()
		due := !f.filled[c.line()] || f.planned >= refreshAfter
		f.mu.Unlock()
		if due {
			if r, err := k.real(ctx, c, real); err != nil || r.timedOut {
				return r, err
			}
		}
		f.mu.Lock()
		f.planned++
		f.mu.Unlock()
	}
	release, err := f.hold(ctx, c, 1)
	if err != nil {
		return result{}, err
	}
	defer release()
	return run(c)
}

// line is the command without its environment.
func (c command) line() string { return strings.Join(c.argv, "\x00") }
