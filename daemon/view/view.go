package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// Options are the settings of a View.
type Options struct {
	// Root is the workspace's folder; symbolic links in it are resolved.
	Root string
	// Watcher tells of changes. Without one the View polls by itself at each Barrier.
	Watcher *watch.Watcher
	Log     *slog.Logger
	// MaxFile is the size in bytes above which a file is not read (default 16 MiB).
	MaxFile int64
	// CacheBytes bounds the contents that are kept in memory (default 64 MiB).
	CacheBytes int64
	// KeepEntries is how many entries of the log a cursor may lag (default 65536).
	KeepEntries int
}

// View is the current text of one workspace.
type View struct {
	opts    Options
	logger  *slog.Logger
	root    string
	id      watch.ID
	own     *watch.Watcher // made by Open, nil when it was given
	watched *watch.Root
	ctx     context.Context
	stop    context.CancelFunc
	wg      sync.WaitGroup
	wake    chan struct{} // one token: pending has grown
	rules   *rules

	applying sync.Mutex // held while pending is worked off; taken before mu

	mu      sync.Mutex // guards what follows; nothing slow is done under it
	log     journal
	files   map[string]*file
	below   map[string]int      // see count
	aliases map[string][]string // links that were read, by the path they lead to
	buffers map[string]*buffer
	cache   cache
	pending pending
	doubts  []string // see doubt
	list    []string // sorted paths of the listed files, nil when it is to be made
	gone    bool     // the root is gone
	relists int      // how often the watcher was asked to list everything anew
}

// Open lists the workspace and begins to follow it.
func Open(ctx context.Context, opts Options) (*View, error) {
	root, err := filepath.Abs(opts.Root)
	if err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	stamp, err := watch.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("view: %w", err)
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.MaxFile <= 0 {
		opts.MaxFile = 16 << 20
	}
	if opts.CacheBytes <= 0 {
		opts.CacheBytes = 64 << 20
	}
	if opts.KeepEntries <= 0 {
		opts.KeepEntries = 1 << 16
	}
	v := &View{
		opts: opts, logger: opts.Log, root: root, id: stamp.ID,
		wake: make(chan struct{}, 1), rules: newRules(root), log: newJournal(opts.KeepEntries),
		files: map[string]*file{}, below: map[string]int{}, aliases: map[string][]string{}, buffers: map[string]*buffer{},
		cache: cache{limit: opts.CacheBytes},
	}
	v.ctx, v.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := v.follow(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("view: %w", err), v.Close())
	}
	v.wg.Go(v.run)
	return v, nil
}

func (v *View) follow(ctx context.Context) error {
	w := v.opts.Watcher
	if w == nil {
		var err error
		if w, err = watch.Start(v.ctx, watch.Options{Log: v.logger, Poll: true}); err != nil {
			return err
		}
		v.own = w
	}
	r, err := w.Add(ctx, v.root, watch.Rules{Ignore: v.rules.skip, Busy: v.rules.busy, Deliver: v.deliver})
	if err != nil {
		return err
	}
	v.watched = r
	return v.begin(ctx)
}

// Close ends the View and waits for its goroutine.
func (v *View) Close() error {
	v.stop()
	var err error
	if v.watched != nil {
		err = v.watched.Close()
	}
	if v.own != nil {
		err = errors.Join(err, v.own.Close())
	}
	v.wg.Wait()
	return err
}

// Root returns the workspace's folder, without symbolic links.
func (v *View) Root() string { return v.root }

// Watching returns how well the workspace is followed.
func (v *View) Watching() watch.RootStatus { return v.watched.Status() }

// run applies what the watcher tells while nobody asks.
func (v *View) run() {
	for {
		select {
		case <-v.wake:
			if err := v.apply(v.ctx); err != nil && v.ctx.Err() == nil && !errors.Is(err, ErrRootGone) {
				v.logger.Warn("changed files", "root", v.root, "error", err)
			}
		case <-v.ctx.Done():
			return
		}
	}
}

// Barrier returns the number of an entry by which the log holds everything
// that was on disk before the call.
func (v *View) Barrier(ctx context.Context) (uint64, error) {
	// A changed ignore file makes the watcher look again, which may show more of them.
	for range 8 {
		// Taken first: what is doubted from here on waits for the next barrier.
		doubts, asked := v.takeDoubts()
		if v.rules.outdatedAbove() {
			v.refresh()
		}
		err := v.watched.Barrier(ctx)
		if len(doubts) > 0 {
			v.putBack(doubts, false)
		}
		switch {
		case errors.Is(err, watch.ErrRootLost):
			return 0, fmt.Errorf("%s: %w", v.root, ErrRootGone)
		case errors.Is(err, watch.ErrClosed):
			return 0, ErrClosed
		case err != nil:
			return 0, fmt.Errorf("view: %w", err)
		}
		if err := v.apply(ctx); err != nil {
			return 0, err
		}
		v.mu.Lock()
		seq, again := v.log.seq, v.relists != asked
		v.mu.Unlock()
		if !again {
			return seq, nil
		}
	}
	return 0, fmt.Errorf("%s: the ignore files keep changing: %w", v.root, ErrStale)
}

// Doc is the current text of one path.
type Doc struct {
	Path    string // as it was asked for
	Real    string // without symbolic links, empty for a buffer of no file
	Content []byte // must not be changed
	Hash    text.Hash
	Seq     uint64 // of the entry that brought the text, 0 when it is that of Open
	Owner   string // client whose buffer it is, empty for the disk
	Version int    // the owner's
	Dirty   bool   // the buffer differs from the disk
}

// Read returns the current text of an absolute clean path, also of one outside
// the workspace or ignored in it. It is never older than the call. Errors:
// ErrPath, ErrTooLarge, ErrNotRegular, ErrRootGone, or those of package fs.
func (v *View) Read(ctx context.Context, path string) (Doc, error) {
	if err := ctx.Err(); err != nil {
		return Doc{}, err
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return Doc{}, fmt.Errorf("%q: %w", path, ErrPath)
	}
	f := v.lock(path)
	defer v.unlock(f)
	if d, ok := v.unchanged(f); ok {
		return d, nil
	}
	if v.holds(path) {
		if err := v.checkRoot(); err != nil {
			return Doc{}, err
		}
	}
	for {
		v.mu.Lock()
		open := v.buffers[path] != nil
		v.mu.Unlock()
		seq := f.seq
		data := v.look(f, !open)
		v.mu.Lock()
		b := v.buffers[path]
		if f.seq != seq {
			v.doubt(path)
		}
		d, err := Doc{Path: path, Real: f.real, Content: data, Hash: f.hash, Seq: f.seq}, f.err
		if b != nil {
			d, err = v.doc(b, f), nil
		}
		v.mu.Unlock()
		if b != nil || !open { // else the buffer was closed meanwhile
			return d, err
		}
	}
}

// unchanged returns the text of a file that is the one it was at the last look;
// f.io is held. As it is the same file, so is the root above it.
func (v *View) unchanged(f *file) (Doc, bool) {
	v.mu.Lock()
	sure := f.exists && f.hashed && !f.racy && f.err == nil && f.content != nil && v.buffers[f.path] == nil
	v.mu.Unlock()
	if !sure {
		return Doc{}, false
	}
	if stamp, err := watch.Lstat(f.path); err != nil || stamp != f.stamp {
		return Doc{}, false // a link never equals what it leads to
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if f.content == nil || v.buffers[f.path] != nil {
		return Doc{}, false
	}
	v.cache.use(f)
	return Doc{Path: f.path, Real: f.real, Content: f.content, Hash: f.hash, Seq: f.seq}, true
}

// doubt has a path looked at again after the next barrier: a poller does not
// tell of a file that came and went between two rounds. mu is held.
func (v *View) doubt(path string) {
	v.doubts = append(v.doubts, path)
}

// takeDoubts returns the paths of doubt so far, and how often the watcher was
// asked to list everything anew.
func (v *View) takeDoubts() (doubts []string, relists int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	doubts, v.doubts = v.doubts, nil
	return doubts, v.relists
}

func (v *View) holds(path string) bool {
	return strings.HasPrefix(path, v.root) && (len(path) == len(v.root) || v.root == "/" || path[len(v.root)] == filepath.Separator)
}

// checkRoot makes sure that the root is the folder that was opened.
func (v *View) checkRoot() error {
	if there, err := watch.Lstat(v.root); err != nil || there.ID != v.id {
		return fmt.Errorf("%s: %w", v.root, ErrRootGone)
	}
	return nil
}

// missing is the error for a file that is not there.
func missing(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
}
