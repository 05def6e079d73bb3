// Package workbench gives recipes their text, syntax and servers: it
// implements adapters.Bench and adapters.Server over a workspace's view, its
// symbol index and the supervisor's leases.
//
// It owns the open workspaces and writes no user file. Its goroutines are
// those of a workspace's view, index and store, ended by Close.
package workbench

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/ingest"
	"github.com/auralsp/aura/graph/search"
	"github.com/auralsp/aura/graph/store"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// Options is what a workspace is opened with.
type Options struct {
	Root       string // absolute and canonical
	Watcher    *watch.Watcher
	Supervisor *supervise.Supervisor
	Languages  []adapters.Adapter
	Log        *slog.Logger
	// Cache is the folder in which indexes are kept; empty keeps none.
	Cache string
	// Compile runs the checks of a project; nil runs none.
	Compile func(context.Context, Compilation) (Compiled, error)
	// Indexing hears from time to time how many files are still to be indexed. It
	// must not block; nil is told nothing.
	Indexing func(pending int)
	// Build tells apart programs that may read a file differently.
	Build string
	// Vectors ranks by meaning how many of the best results of a search; nil, or a
	// nil result, is by words alone.
	Vectors func() (v *search.Vectors, candidates int)
}

// Workspace is one open workspace: its text, its symbols, its languages.
type Workspace struct {
	root  string
	opts  Options
	view  *view.View
	langs []adapters.Adapter

	byExtension map[string]adapters.Adapter

	trees recent[parsed]
	lines recent[*text.File]

	index  *index.Index
	store  *store.Store // nil when none is kept
	ingest *ingest.Ingester
	search *searching

	samples samples

	mu       sync.Mutex                    // guards what follows
	cursor   uint64                        // of the view's log, as far as the index was told of it
	primed   bool                          // the index was told of every file once
	projects map[string][]adapters.Project // by language id; nil until asked, dropped when a marker changes
}

// Open opens the workspace at o.Root. Close ends what it started.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	w := &Workspace{opts: o, langs: o.Languages, index: index.New(), projects: map[string][]adapters.Project{}, byExtension: map[string]adapters.Adapter{}}
	for _, l := range slices.Backward(w.langs) { // the first of them that knows it
		for _, ext := range l.Language().Extensions {
			w.byExtension[ext] = l
		}
	}
	if o.Cache != "" {
		// It is read while the view lists the files.
		w.store = store.Open(store.Options{Dir: o.Cache, Root: o.Root, Log: o.Log})
	}
	v, err := view.Open(ctx, view.Options{Root: o.Root, Watcher: o.Watcher, Log: o.Log})
	if err != nil {
		if w.store != nil {
			w.store.Close()
		}
		return nil, fmt.Errorf("open %s: %w", o.Root, err)
	}
	w.root, w.view = v.Root(), v
	w.ingest = ingest.New(ingest.Options{
		Root: w.root, Index: w.index, Store: w.store, Build: o.Build, Read: w.readText, Look: w.looked, Tell: o.Indexing,
	})
	w.search = newSearching(w)
	return w, nil
}

// Close ends the workspace's watching and saves its index.
func (w *Workspace) Close() error {
	w.search.feeder.Close()
	w.ingest.Close()
	if w.store != nil {
		w.store.Close()
	}
	return w.view.Close()
}

// Root returns the workspace's absolute folder.
func (w *Workspace) Root() string { return w.root }

// View returns the workspace's log of text.
func (w *Workspace) View() *view.View { return w.view }

// Languages returns the languages that the workspace may hold.
func (w *Workspace) Languages() []adapters.Adapter { return w.langs }

// Language returns the language of a file by its extension.
func (w *Workspace) Language(path string) (adapters.Adapter, bool) {
	ext := filepath.Ext(path)
	l, ok := w.byExtension[ext]
	if !ok {
		l, ok = w.byExtension[strings.ToLower(ext)]
	}
	return l, ok
}

// ByID returns a language by its id.
func (w *Workspace) ByID(id string) (adapters.Adapter, bool) {
	for _, l := range w.langs {
		if l.Language().ID == id {
			return l, true
		}
	}
	return nil, false
}

// unsupported is the refusal for a file of no known language.
func unsupported(path string) error {
	return api.Errorf(api.UnsupportedOperation, "no language of Aura has files like %s", filepath.Base(path))
}
