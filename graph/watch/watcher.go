package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Options are the settings of a Watcher.
type Options struct {
	Log *slog.Logger
	// CookieDir is a private folder outside every root, made if it is missing,
	// for the file by which Barrier knows how far the notifications have come.
	CookieDir string
	// Settle is how long nothing must happen before a batch is delivered
	// (default 20 ms), MaxWait how long a batch may be held back (250 ms) and
	// BusyWait the same while Rules.Busy says so (5 s).
	Settle, MaxWait, BusyWait time.Duration
	// Poll compares by stat instead of listening to notifications.
	Poll bool
	// PollInterval is the shortest time between two rounds of polling
	// (default 2 s); rounds that take long are made less often, at least each minute.
	PollInterval time.Duration
	// MaxDirs bounds the folders of one root that are followed (default 200,000).
	MaxDirs int
}

// Errors of a Watcher and its Roots.
var (
	// ErrClosed says that the Watcher or the Root was closed.
	ErrClosed = errors.New("watcher is closed")
	// ErrRootLost says that the root folder is gone or is another one by now.
	ErrRootLost = errors.New("root folder is gone")
)

// Watcher follows several roots over one notification instance.
type Watcher struct {
	opts   Options
	log    *slog.Logger
	fs     *fsnotify.Watcher // nil when everything is polled
	cookie *cookie           // nil when everything is polled
	why    string            // why everything is polled
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup
	dirs   registry
	remote func(path string) string // see remote

	mu    sync.Mutex              // serialises changes of roots
	roots atomic.Pointer[[]*Root] // read by drain without a lock
	// overflows counts how often the kernel dropped notifications.
	overflows atomic.Int64
}

// Start starts a Watcher that runs until ctx ends or Close. A kernel that
// gives no notification instance is no error: everything is polled then, and
// Status says why.
func Start(ctx context.Context, opts Options) (*Watcher, error) {
	opts.Settle = defaultTo(opts.Settle, 20*time.Millisecond)
	opts.MaxWait = defaultTo(opts.MaxWait, 250*time.Millisecond)
	opts.BusyWait = defaultTo(opts.BusyWait, 5*time.Second)
	opts.PollInterval = defaultTo(opts.PollInterval, 2*time.Second)
	opts.MaxDirs = defaultTo(opts.MaxDirs, 200_000)
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{opts: opts, log: opts.Log, remote: remote}
	w.roots.Store(&[]*Root{})
	switch {
	case opts.Poll:
		w.why = "polling was asked for"
	case !canNotify:
		w.why = "this system is polled"
	default:
		if err := w.listen(); err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	if w.fs != nil {
		w.wg.Go(w.drain)
	}
	return w, nil
}

func defaultTo[T int | time.Duration](v, def T) T {
	if v > 0 {
		return v
	}
	return def
}

func (w *Watcher) listen() error {
	instance, err := fsnotify.NewWatcher()
	if err != nil {
		w.why = "there is no notification instance: " + err.Error()
		if exhausted(err) {
			w.why = scarce(err)
		}
		w.log.Warn("file system is polled", "reason", w.why)
		return nil
	}
	w.cookie, err = newCookie(w.opts.CookieDir, instance)
	if err != nil {
		return errors.Join(err, instance.Close())
	}
	w.fs = instance
	w.dirs.fs = instance
	return nil
}

// Close ends all roots and waits for every goroutine.
func (w *Watcher) Close() error {
	w.stop()
	w.mu.Lock()
	roots := *w.roots.Load()
	w.mu.Unlock()
	for _, r := range roots {
		r.end()
	}
	var err error
	if w.fs != nil {
		err = w.fs.Close()
	}
	w.wg.Wait()
	if w.cookie != nil {
		err = errors.Join(err, w.cookie.close())
	}
	return err
}

// drain takes notifications off the kernel's queue as fast as they come; it
// does no work that could block, since a full queue loses notifications.
func (w *Watcher) drain() {
	events, errs := w.fs.Events, w.fs.Errors
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			if w.cookie.isMine(ev.Name) {
				if ev.Has(fsnotify.Write) {
					w.cookie.seen(ev.Name)
				}
				continue
			}
			for _, r := range *w.roots.Load() {
				if r.holds(ev.Name) {
					r.push(ev)
				}
			}
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			w.fault(err)
		}
	}
}

// fault takes an error of the instance; all of them may mean lost notifications.
func (w *Watcher) fault(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.log.Warn("notifications of the file system", "error", err)
	}
	w.overflows.Add(1)
	w.dirs.doubt()
	for _, r := range *w.roots.Load() {
		r.mark(func() { r.rescan = true })
	}
	w.cookie.drop()
}

// Add follows the folder at root, an absolute clean path that is no symbolic
// link itself. It returns after the
// first batch, which is Full, was delivered.
func (w *Watcher) Add(ctx context.Context, root string, rules Rules) (*Root, error) {
	if !filepath.IsAbs(root) || filepath.Clean(root) != root {
		return nil, fmt.Errorf("watch: %q is not absolute and clean", root)
	}
	stamp, err := Lstat(root)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	if !stamp.Mode.IsDir() {
		return nil, fmt.Errorf("watch: %s is not a folder", root)
	}
	r := newRoot(w, root, stamp.ID, rules)
	w.mu.Lock()
	if w.ctx.Err() != nil {
		w.mu.Unlock()
		return nil, ErrClosed
	}
	list := append(slices.Clone(*w.roots.Load()), r)
	w.roots.Store(&list)
	w.wg.Go(r.run)
	w.mu.Unlock()
	if err := r.flush(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (w *Watcher) drop(r *Root) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(*w.roots.Load()), func(o *Root) bool { return o == r })
	w.roots.Store(&list)
}

// Status is what a Watcher can say about itself.
type Status struct {
	// Polling is why no notifications are used at all; empty when they are.
	Polling string
	// Overflows counts how often notifications were lost and everything was looked at again.
	Overflows int64
	Roots     []RootStatus
}

// RootStatus is the coverage of one root.
type RootStatus struct {
	Root    string
	Dirs    int  // folders that are followed
	Polled  int  // of them, those that are polled
	Skipped int  // folders that could not be read, or that are too many
	TooMany bool // folders beyond Options.MaxDirs were skipped
	Lost    bool // the root folder is gone
	// PolledFrom is one of the polled folders, an uppermost one, and Reason why
	// that is polled, and mostly what to do.
	PolledFrom, Reason string
}

// Degraded reports whether any folder is polled, skipped or lost.
func (s RootStatus) Degraded() bool { return s.Polled > 0 || s.Skipped > 0 || s.Lost }

// Status returns the present state.
func (w *Watcher) Status() Status {
	s := Status{Polling: w.why, Overflows: w.overflows.Load()}
	for _, r := range *w.roots.Load() {
		s.Roots = append(s.Roots, r.Status())
	}
	return s
}

func below(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == filepath.Separator && strings.HasPrefix(path, dir) || dir == "/" && len(path) > 1
}
