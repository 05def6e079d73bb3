package daemon

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph/search"
	"github.com/auralsp/aura/graph/watch"
)

// workspaces owns the open workspaces, by canonical root.
type workspaces struct {
	watcher    *watch.Watcher
	supervisor *supervise.Supervisor
	engine     *edit.Engine
	languages  []adapters.Adapter
	log        *slog.Logger
	indexing   func(root string, pending int) // is told how far indexes are
	cache      string                         // folder of saved indexes
	build      string                         // tells this program from others that may read files differently
	vectors    func() (*search.Vectors, int)
	compile    func(context.Context, workbench.Compilation) (workbench.Compiled, error)

	mu    sync.Mutex // guards what follows; not held while a workspace opens
	open  map[string]*opening
	asked map[string]folder // by what requests call them

	closing sync.WaitGroup // of workspaces that were lost
}

// folder is an existing folder that lies in an open workspace.
type folder struct {
	id watch.ID
	in *opening
}

// maxAsked bounds the names of folders that are remembered.
const maxAsked = 1024

// lookup returns the open workspace of a folder that was asked for before: it
// is the same while its name leads to the same folder.
func (w *workspaces) lookup(dir string) *workbench.Workspace {
	w.mu.Lock()
	f, ok := w.asked[dir]
	w.mu.Unlock()
	if !ok {
		return nil
	}
	if there, err := watch.Stat(dir); err != nil || there.ID != f.id || f.in.ws.Lost() {
		return nil
	}
	return f.in.ws
}

// remember takes down that a folder lies in an open workspace.
func (w *workspaces) remember(dir string, o *opening) {
	there, err := watch.Stat(dir)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[o.ws.Root()] != o {
		return // closed meanwhile
	}
	if w.asked == nil || len(w.asked) >= maxAsked {
		w.asked = map[string]folder{}
	}
	w.asked[dir] = folder{there.ID, o}
}

// drop closes a workspace to further requests; mu is held.
func (w *workspaces) drop(root string) {
	o := w.open[root]
	delete(w.open, root)
	maps.DeleteFunc(w.asked, func(_ string, f folder) bool { return f.in == o })
}

// opening is a workspace that is open or being opened.
type opening struct {
	done chan struct{} // closed when ws or err is set
	ws   *workbench.Workspace
	err  error
}

// canonical returns the real folder that a request names.
func canonical(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", api.Errorf(api.InvalidArgument, "workspace %q is not an absolute path", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", api.Errorf(api.FileNotFound, "there is no folder %s", dir)
	case errors.Is(err, fs.ErrPermission):
		return "", api.Errorf(api.PermissionDenied, "the folder %s may not be read", dir)
	case err != nil:
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", api.Errorf(api.InvalidArgument, "workspace %s is not a folder", dir)
	}
	return real, nil
}

// tooWide refuses the root of the file system, and a home folder that is no
// project itself: following and reading all of it is never what was meant.
func (w *workspaces) tooWide(real string) error {
	if real == "/" {
		return api.Errorf(api.InvalidArgument, "/ is the whole file system; name the folder of a project with -C")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	if home, err = filepath.EvalSymlinks(home); err != nil || home != real {
		return nil
	}
	markers := []string{".git"}
	for _, l := range w.languages {
		markers = append(markers, l.Language().Markers...)
	}
	for _, m := range markers {
		if _, err := os.Lstat(filepath.Join(real, m)); err == nil {
			return nil
		}
	}
	return api.Errorf(api.InvalidArgument, "%s is your home folder and no project; name the folder of a project with -C", real)
}

// get opens the workspace of a folder, once for all who ask. A folder inside a
// known workspace is a scope of that one.
func (w *workspaces) get(ctx context.Context, dir string) (*workbench.Workspace, error) {
	if ws := w.lookup(dir); ws != nil {
		return ws, nil
	}
	real, err := canonical(dir)
	if err != nil {
		return nil, err
	}
	if err := w.tooWide(real); err != nil {
		return nil, err
	}
	w.mu.Lock()
	root := w.holding(real)
	w.dropLost()
	o := w.open[root]
	if o != nil {
		w.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if o.err == nil && !o.ws.Lost() {
			w.remember(dir, o)
			return o.ws, nil
		}
		w.forget(ctx, root, o)
		if o.err != nil {
			return nil, o.err
		}
		return w.get(ctx, dir)
	}
	o = &opening{done: make(chan struct{})}
	w.open[root] = o
	w.asked = nil // folders may lie in this one now
	w.mu.Unlock()
	o.ws, o.err = w.start(ctx, root)
	close(o.done)
	if o.err != nil {
		w.forget(ctx, root, o)
	}
	return o.ws, o.err
}

// holding returns the root of the open workspace that a folder lies in, the
// nearest; the folder itself when there is none, or when a work tree of its own
// begins in between. mu is held.
func (w *workspaces) holding(real string) string {
	root := ""
	for known := range w.open {
		if strings.HasPrefix(real+"/", strings.TrimSuffix(known, "/")+"/") && len(known) > len(root) {
			root = known
		}
	}
	if root == "" {
		return real
	}
	for dir := real; len(dir) > len(root); dir = filepath.Dir(dir) {
		if view.Worktree(dir) {
			return real
		}
	}
	return root
}

// dropLost closes the workspaces whose folder was moved or removed, so that
// their servers do not outlive them. mu is held.
func (w *workspaces) dropLost() {
	for root, o := range w.open {
		select {
		case <-o.done:
		default:
			continue
		}
		if o.ws == nil || !o.ws.Lost() {
			continue
		}
		w.drop(root)
		w.log.Info("workspace is closed: its folder is gone", "workspace", root)
		w.closing.Go(func() {
			if err := w.shut(context.Background(), o.ws); err != nil {
				w.log.Warn("close workspace", "workspace", root, "error", err)
			}
		})
	}
}

// start recovers what a crash left of changes before anything is read.
func (w *workspaces) start(ctx context.Context, root string) (*workbench.Workspace, error) {
	if err := w.engine.Recover(ctx, root); err != nil {
		var e *api.Error
		if !errors.As(err, &e) {
			return nil, err
		}
		// Reading goes on; a change is refused with the same reason.
		w.log.Warn("recovery", "workspace", root, "error", err)
	}
	return workbench.Open(ctx, workbench.Options{
		Root: root, Watcher: w.watcher, Supervisor: w.supervisor, Languages: w.languages, Log: w.log,
		Indexing: func(pending int) { w.indexing(root, pending) },
		Cache:    w.cache, Build: w.build, Compile: w.compile, Vectors: w.vectors,
	})
}

// forget drops a workspace that failed to open or lost its folder.
func (w *workspaces) forget(ctx context.Context, root string, o *opening) {
	w.mu.Lock()
	mine := w.open[root] == o
	if mine {
		w.drop(root)
	}
	w.mu.Unlock()
	if mine && o.ws != nil {
		if err := w.shut(ctx, o.ws); err != nil {
			w.log.Warn("close workspace", "workspace", root, "error", err)
		}
	}
}

func (w *workspaces) shut(ctx context.Context, ws *workbench.Workspace) error {
	return errors.Join(w.supervisor.Forget(ctx, ws.View()), ws.Close())
}

// close ends one workspace; it reports whether it was open.
func (w *workspaces) close(ctx context.Context, dir string) (bool, error) {
	real, err := canonical(dir)
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	o := w.open[real]
	w.drop(real)
	w.mu.Unlock()
	if o == nil {
		return false, nil
	}
	<-o.done
	if o.ws == nil {
		return false, nil
	}
	return true, w.shut(ctx, o.ws)
}

// list returns the open workspaces by root.
func (w *workspaces) list() []*workbench.Workspace {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*workbench.Workspace
	for _, o := range w.open {
		select {
		case <-o.done:
			if o.ws != nil {
				out = append(out, o.ws)
			}
		default:
		}
	}
	slices.SortFunc(out, func(a, b *workbench.Workspace) int { return strings.Compare(a.Root(), b.Root()) })
	return out
}

// closeAll ends all of them; the servers are stopped by the supervisor before.
func (w *workspaces) closeAll() error {
	w.closing.Wait()
	var errs []error
	for _, ws := range w.list() {
		errs = append(errs, ws.Close())
	}
	return errors.Join(errs...)
}
