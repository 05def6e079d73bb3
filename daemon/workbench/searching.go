package workbench

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/search"
	"github.com/auralsp/aura/lspclient/text"
)

// searching is what a workspace's files are searched with. It holds nothing
// until somebody searches.
type searching struct {
	index  *search.Index
	feeder *search.Feeder

	mu     sync.Mutex // guards what follows
	cursor uint64     // of the view's log, as far as the feeder was told of it
	primed bool       // it was told of every file once
}

// searchWorkers read files at once.
const searchWorkers = 2

func newSearching(w *Workspace) *searching {
	s := &searching{index: search.New()}
	s.feeder = search.NewFeeder(s.index, searchWorkers, w.searched)
	return s
}

// searched reads a file for the search.
func (w *Workspace) searched(ctx context.Context, path string, have search.Hash) (search.File, search.Hash, error) {
	none := func(err error) (search.File, search.Hash, error) { return search.File{}, search.Hash{}, err }
	abs := w.Absolute(path)
	if !w.view.Listed(abs) || search.MachineMade(path) {
		return none(search.ErrLeftOut)
	}
	if look, ok := w.view.Looked(abs); ok && look.Stamp.Size > search.MaxFile {
		return none(search.ErrLeftOut)
	}
	content, hash, err := w.readText(ctx, abs)
	switch {
	case errors.Is(err, view.ErrTooLarge), errors.Is(err, view.ErrNotRegular):
		return none(search.ErrLeftOut)
	case err != nil:
		return none(err)
	case hash == have:
		return search.File{}, hash, nil
	case search.Skipped(content) != "", w.Generated(abs, content):
		return none(search.ErrLeftOut)
	}
	f, err := w.searchFile(ctx, path, content, hash)
	return f, hash, err
}

// searchFile is a content as it is cut into chunks.
func (w *Workspace) searchFile(ctx context.Context, path string, content []byte, hash index.Hash) (search.File, error) {
	f := search.File{Path: path, Category: search.CategoryOf(path), Content: content}
	abs := w.Absolute(path)
	if _, ok := w.Language(abs); !ok {
		return f, nil
	}
	f.Category = search.Code
	symbols, err := w.symbolsOf(ctx, abs, hash)
	f.Symbols = symbols
	return f, err
}

// symbolsOf returns the declarations of a content; nil for one that cannot be
// parsed. When the symbol index is of another moment it is search.ErrLater.
func (w *Workspace) symbolsOf(ctx context.Context, path string, hash index.Hash) ([]graph.Symbol, error) {
	if err := w.ingest.First(ctx, path); err != nil {
		return nil, err
	}
	r, have, ok := w.index.Record(path)
	switch lang, _ := w.Language(path); {
	case ok && have == hash:
		return r.Symbols(path)
	case !ok && (lang.Syntax().Missing != "" || w.index.Failed()[path] != nil):
		return nil, nil
	}
	return nil, search.ErrLater
}

// searchPatience is how long a search waits for files that are not read yet
// before it answers from the others.
const searchPatience = 20 * time.Second

// Searched is the answer of Session.Search.
type Searched struct {
	Hits  []search.Hit
	Total int
}

// Search asks the chunks of the workspace's files as the session sees them. What
// could not be read in time is noted as missing.
func (s *Session) Search(ctx context.Context, q search.Query) (Searched, error) {
	w := s.ws
	if err := w.tellSearch(ctx, s.snap); err != nil {
		return Searched{}, err
	}
	patience := searchPatience
	if until, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(until)*3/4)
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	left, err := w.search.feeder.Wait(wait, s.far("reading for the search:"))
	cancel()
	switch {
	case err != nil && ctx.Err() != nil:
		return Searched{}, ctx.Err()
	case errors.Is(err, search.ErrClosed):
		return Searched{}, err
	case left > 0:
		s.Incomplete(grouped(left) + " files are not read yet; ask again for an answer from all of them")
	}
	if n, err := w.search.feeder.Failed(); n > 0 {
		s.Incomplete("files that cannot be read are left out (" + grouped(n) + ": " + err.Error() + ")")
	}
	hits, total, err := w.search.index.Search(ctx, q)
	return Searched{Hits: hits, Total: total}, err
}

// Vectors is what ranks results by meaning, and how many of the best; nil when
// words alone do.
func (s *Session) Vectors() (*search.Vectors, int) {
	if s.ws.opts.Vectors == nil {
		return nil, 0
	}
	return s.ws.opts.Vectors()
}

// Chunks cuts the file of a hit as it was cut for the index; ok is false when it
// is another one by now.
func (s *Session) Chunks(ctx context.Context, h search.Hit) (chunks []search.Chunk, f *text.File, ok bool, err error) {
	abs := s.ws.Absolute(h.Path)
	f, hash, err := s.file(ctx, abs)
	if err != nil || search.Hash(hash) != h.Hash {
		return nil, nil, false, err
	}
	file, err := s.ws.searchFile(ctx, h.Path, f.Content(), index.Hash(hash))
	if errors.Is(err, search.ErrLater) {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, err
	}
	return search.Chunks(file), f, true, nil
}

// tellSearch tells the feeder what has to be read to be as new as the snapshot.
func (w *Workspace) tellSearch(ctx context.Context, snap *view.Snapshot) error {
	s := w.search
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, now, reset := w.view.Since(s.cursor)
	whole := !s.primed || reset
	var paths []string
	for _, e := range entries {
		if rel := w.inner(e.Path); rel != "" {
			paths = append(paths, rel)
		}
	}
	if whole {
		files, err := snap.Files(ctx)
		if err != nil {
			return err
		}
		for _, f := range files {
			if rel := w.inner(f); rel != "" {
				paths = append(paths, rel)
			}
		}
		paths = append(paths, s.index.Paths()...)
	}
	s.feeder.Add(paths...)
	s.cursor, s.primed = now, true
	return nil
}

// inner returns a path relative to the workspace with "/", empty for one outside.
func (w *Workspace) inner(path string) string {
	if !inside(w.root, path) || path == w.root {
		return ""
	}
	return filepath.ToSlash(strings.TrimPrefix(path[len(w.root):], string(filepath.Separator)))
}
