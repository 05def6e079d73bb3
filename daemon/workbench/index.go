package workbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/ingest"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// catchUp tells the index of what it has to look at to be as new as the
// snapshot: every file the first time, then those that the view's log names.
// What is returned is done then.
func (w *Workspace) catchUp(ctx context.Context, snap *view.Snapshot) (ingest.Mark, error) {
	if err := w.tell(ctx, snap); err != nil {
		return ingest.Mark{}, err
	}
	return w.ingest.Mark(), nil
}

func (w *Workspace) tell(ctx context.Context, snap *view.Snapshot) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var paths []string
	entries, now, reset := w.view.Since(w.cursor)
	marked, dropped := false, false
	last := make(map[string]view.Entry, len(entries)) // what came before does not count
	for _, e := range entries {
		marked = marked || w.marks(e.Path)
		last[e.Path] = e
	}
	for path, e := range last {
		if _, code := w.Language(path); code && e.Kind != view.Deleted && e.Owner == "" && !snap.Listed(path) {
			dropped = true // it is there, and is to be left out from now on
			continue
		}
		paths = append(paths, path)
	}
	if marked || reset {
		clear(w.projects)
		if err := w.retainLocked(ctx, snap); err != nil {
			return err
		}
	}
	whole := !w.primed || reset || marked || dropped
	if whole {
		files, err := snap.Files(ctx)
		if err != nil {
			return err
		}
		paths = append(paths, files...)
	}
	sources, err := w.sourcesLocked(ctx, snap, paths)
	if err != nil {
		return err
	}
	w.ingest.Add(sources, whole)
	w.cursor, w.primed = now, true
	return nil
}

// sourcesLocked returns those of the paths that a language reads, with their places.
func (w *Workspace) sourcesLocked(ctx context.Context, snap *view.Snapshot, paths []string) ([]index.Source, error) {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	sources := make([]index.Source, 0, len(paths))
	// Neighbours of one language stand in the same place, and share its strings.
	type neighbours struct {
		lang adapters.Adapter
		dir  string
	}
	var last neighbours
	var shared index.Source
	for _, p := range paths {
		lang, ok := w.Language(p)
		if !ok {
			continue
		}
		if at := (neighbours{lang, filepath.Dir(p)}); at != last {
			spec := lang.Syntax()
			place, err := w.placeLocked(ctx, snap, lang, p)
			if err != nil {
				return nil, err
			}
			last, shared = at, index.Source{Spec: spec, Place: place}
		}
		if shared.Spec.Missing != "" {
			continue
		}
		shared.Path = p
		sources = append(sources, shared)
	}
	return sources, nil
}

// readText reads a file for the index.
func (w *Workspace) readText(ctx context.Context, path string) ([]byte, index.Hash, error) {
	d, err := w.view.Read(ctx, path)
	return d.Content, index.Hash(d.Hash), err
}

// looked tells the index what is known of a file without reading it.
func (w *Workspace) looked(path string) (ingest.Look, bool) {
	l, ok := w.view.Looked(path)
	if !ok {
		return ingest.Look{}, false
	}
	out := ingest.Look{Hash: index.Hash(l.Hash), Read: l.Hashed}
	if s := l.Stamp; s != (watch.Stamp{}) {
		b := make([]byte, 0, 48)
		for _, n := range [...]uint64{s.ID.Dev, s.ID.Ino, uint64(s.Mode), uint64(s.Size), uint64(s.Mtime), uint64(s.Ctime)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		out.Stamp = string(b)
	}
	return out, true
}

// retainLocked gives up the servers of projects that are no more. One of the
// workspace's own folder stays: files that no project holds are served there.
func (w *Workspace) retainLocked(ctx context.Context, snap *view.Snapshot) error {
	var failed error
	w.opts.Supervisor.Retain(w.view, func(language, root string) bool {
		lang, known := w.ByID(language)
		if !known || root == w.root {
			return true
		}
		all, err := w.projectsLocked(ctx, snap, lang)
		if err != nil {
			failed = err
			return true
		}
		return slices.ContainsFunc(all, func(p adapters.Project) bool { return p.Root == root })
	})
	return failed
}

// marks reports whether a file is one by which projects are found.
func (w *Workspace) marks(path string) bool {
	base := filepath.Base(path)
	return slices.ContainsFunc(w.langs, func(l adapters.Adapter) bool { return l.Language().Marks(base) >= 0 })
}

// projectsLocked returns a language's build units in the workspace.
func (w *Workspace) projectsLocked(ctx context.Context, snap adapters.Snapshot, lang adapters.Adapter) ([]adapters.Project, error) {
	id := lang.Language().ID
	if have, ok := w.projects[id]; ok {
		return have, nil
	}
	found, err := lang.Projects(ctx, snap, w.root)
	if err != nil {
		return nil, fmt.Errorf("find the projects of %s: %w", lang.Language().Name, err)
	}
	w.projects[id] = found
	return found, nil
}

// Projects returns the build units of a language in the workspace.
func (w *Workspace) Projects(ctx context.Context, snap adapters.Snapshot, lang adapters.Adapter) ([]adapters.Project, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.projectsLocked(ctx, snap, lang)
}

// project returns the build unit that holds a file, the innermost first; a
// file of none belongs to a loose folder, the workspace.
func (w *Workspace) project(ctx context.Context, snap adapters.Snapshot, lang adapters.Adapter, path string) (adapters.Project, error) {
	all, err := w.Projects(ctx, snap, lang)
	if err != nil {
		return adapters.Project{}, err
	}
	p, _ := holder(all, path)
	if p.Root == "" {
		p = adapters.Project{Language: lang.Language().ID, Root: w.root}
	}
	return p, nil
}

// holder returns the project whose root or member lies nearest above path,
// and that root.
func holder(all []adapters.Project, path string) (p adapters.Project, root string) {
	for _, c := range all {
		roots := c.Members
		if len(roots) == 0 {
			roots = []string{c.Root}
		}
		for _, r := range roots {
			if inside(r, path) && len(r) > len(root) {
				p, root = c, r
			}
		}
	}
	return p, root
}

// placeLocked says where a file stands, for the ids of its symbols.
func (w *Workspace) placeLocked(ctx context.Context, snap adapters.Snapshot, lang adapters.Adapter, path string) (syntax.Place, error) {
	all, err := w.projectsLocked(ctx, snap, lang)
	if err != nil {
		return syntax.Place{}, err
	}
	_, root := holder(all, path)
	if root == "" {
		root = w.root
	}
	rel, err := filepath.Rel(w.root, root)
	if err != nil {
		return syntax.Place{}, err
	}
	return syntax.Place{Language: lang.Language().ID, Root: root, Project: filepath.ToSlash(rel)}, nil
}

// parse reads a content of a file; its symbols carry their ids.
func (w *Workspace) parse(ctx context.Context, snap adapters.Snapshot, path string, content []byte, hash text.Hash) (*syntax.Tree, error) {
	lang, ok := w.Language(path)
	if !ok {
		return nil, unsupported(path)
	}
	w.mu.Lock()
	place, err := w.placeLocked(ctx, snap, lang, path)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if t := w.tree(path, hash, place); t != nil {
		return t, nil
	}
	t, err := lang.Syntax().Read(path, content, place)
	switch {
	case errors.Is(err, syntax.ErrNotBuilt):
		return nil, api.Errorf(api.UnsupportedOperation, "this build of Aura cannot read %s: %s; install one that was built with a C compiler", lang.Language().Name, lang.Syntax().Missing)
	case err != nil:
		return nil, api.Errorf(api.FileTooLarge, "%v", err)
	}
	w.trees.put(path, parsed{hash: hash, place: place, tree: t}, len(content))
	return t, nil
}
