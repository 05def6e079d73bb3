package validate

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
)

// Units returns the projects that a change touches, each once, with the
// changed files that it holds. Files that no language builds are in none.
// Planned is the tree with the change.
func Units(ctx context.Context, languages []adapters.Adapter, current, planned adapters.Snapshot, files []change.File) ([]Unit, error) {
	var units []Unit
	add := func(s adapters.Snapshot, path string) error {
		for _, a := range languages {
			b, ok := a.(adapters.Builder)
			if !ok || !speaks(a.Language(), path) {
				continue
			}
			projects, err := a.Projects(ctx, s, filepath.Dir(path))
			if err != nil {
				return fmt.Errorf("find the project of %s: %w", path, err)
			}
			i := slices.IndexFunc(projects, func(p adapters.Project) bool { return holds(p, path) })
			if i < 0 {
				continue
			}
			p := projects[i]
			n := slices.IndexFunc(units, func(u Unit) bool {
				return u.Project.Language == p.Language && u.Project.Root == p.Root && u.Project.Marker == p.Marker
			})
			if n < 0 {
				n = len(units)
				units = append(units, Unit{Project: p, Builder: b})
			}
			if !slices.Contains(units[n].Changed, path) {
				units[n].Changed = append(units[n].Changed, path)
			}
		}
		return nil
	}
	for _, f := range files {
		if f.Kind != change.Create {
			if err := add(current, f.Path); err != nil {
				return nil, err
			}
		}
		if f.Kind != change.Delete {
			if err := add(planned, f.Target()); err != nil {
				return nil, err
			}
		}
	}
	return units, nil
}

// speaks reports whether a file decides how code of the language compiles.
func speaks(l adapters.Language, path string) bool {
	return slices.Contains(l.Extensions, filepath.Ext(path)) || l.Marks(filepath.Base(path)) >= 0
}

func holds(p adapters.Project, path string) bool {
	if len(p.Members) == 0 {
		return within(p.Root, path)
	}
	return path == p.Marker || slices.ContainsFunc(p.Members, func(dir string) bool { return within(dir, path) })
}

// Validation returns the outcome as answers show it, with paths relative to root.
func (o Outcome) Validation(root string) *api.Validation {
	v := &api.Validation{
		Success:     o.Success,
		Where:       o.Where,
		ErrorCount:  len(o.New) + len(o.Existing),
		NewErrors:   []api.Problem{},
		Skipped:     o.Skipped,
		TimedOut:    o.TimedOut,
		Command:     strings.Join(o.Commands, " && "),
		DurationMs:  o.Took.Milliseconds(),
		PreExisting: len(o.Existing),
	}
	for _, p := range o.New {
		v.NewErrors = append(v.NewErrors, Problem(root, p))
	}
	return v
}

// Problem returns a problem as answers show it.
func Problem(root string, p adapters.Problem) api.Problem {
	path := p.Path
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		path = filepath.ToSlash(rel)
	}
	return api.Problem{File: path, Line: p.Line, Column: p.Column, Code: p.Code, Message: p.Message}
}
