package validate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/auralsp/aura/adapters"
)

// Bounds of the use of a kept folder.
const (
	refreshAfter = 8       // checks of planned text; what has changed since is built again each time
	exclusive    = 1 << 20 // weight of a check that writes the folder
)

// kept are the folders in which checks keep what they built, one for each
// program and place. Checks of the real tree write them, one at a time; what
// checks of planned text write is dropped, so that nothing of a plan is taken
// for built later: cargo compares times, and a plan that was never carried out
// leaves the files older than what was built from it.
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

// folder returns the folder of a check, made.
func (k *kept) folder(ck adapters.Check) (string, error) {
	sum := sha256.Sum256([]byte(ck.Dir + "\x00" + ck.Argv[0]))
	path := filepath.Join(k.dir, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("folder for what %s builds: %w", ck.Name, err)
	}
	return path, nil
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

// real runs a check of the real tree.
func (k *kept) real(ctx context.Context, c command, run func(command) (result, error)) (result, error) {
	if c.kept == "" {
		return run(c)
	}
	f := k.of(c.kept)
	if err := f.use.Acquire(ctx, exclusive); err != nil {
		return result{}, context.Cause(ctx)
	}
	defer f.use.Release(exclusive)
	r, err := run(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filled[c.line()], f.planned = true, 0
	return r, err
}

// plan runs a check of planned text; before it that of the real tree when it has
// not filled the folder yet, or so long ago that too much is built again each time.
func (k *kept) plan(ctx context.Context, c command, run, real func(command) (result, error)) (result, error) {
	if c.kept == "" {
		return run(c)
	}
	f := k.of(c.kept)
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
	if err := f.use.Acquire(ctx, 1); err != nil {
		return result{}, context.Cause(ctx)
	}
	defer f.use.Release(1)
	return run(c)
}

// line is the command without its environment.
func (c command) line() string { return strings.Join(c.argv, "\x00") }
