package transact

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// gates hold one gate for each project that changes were made in.
type gates struct {
	mu    sync.Mutex // guards the map; the gates guard themselves
	known map[string]*gate
}

// gate lets one change at a time into a project's tree, from Apply to Commit.
type gate struct {
	root  string
	enter chan struct{} // holds one token while nobody is inside
	// changes counts what was applied or taken back; read and written inside.
	changes uint64
}

func newGates() *gates { return &gates{known: make(map[string]*gate)} }

// of returns the gates of projects, in one order for everybody.
func (g *gates) of(roots []string) []*gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	out := make([]*gate, 0, len(roots))
	for _, root := range roots {
		if g.known[root] == nil {
			g.known[root] = &gate{root: root, enter: make(chan struct{}, 1)}
			g.known[root].enter <- struct{}{}
		}
		out = append(out, g.known[root])
	}
	return out
}

// below returns the gates of all projects that lie in a workspace or hold it.
func (g *gates) below(workspace string) []*gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*gate
	for root, gate := range g.known {
		if within(workspace, root) || within(root, workspace) {
			out = append(out, gate)
		}
	}
	slices.SortFunc(out, func(a, b *gate) int { return strings.Compare(a.root, b.root) })
	return out
}

// enter waits until all gates are free and returns how to leave them.
func enter(ctx context.Context, list []*gate) (leave func(), err error) {
	for i, g := range list {
		select {
		case <-g.enter:
		case <-ctx.Done():
			release(list[:i])
			return nil, ctx.Err()
		}
	}
	return sync.OnceFunc(func() { release(list) }), nil
}

func release(list []*gate) {
	for _, g := range list {
		g.enter <- struct{}{}
	}
}

// seen returns how many changes each project has had, once nobody is inside.
func seen(ctx context.Context, list []*gate) ([]uint64, error) {
	leave, err := enter(ctx, list)
	if err != nil {
		return nil, err
	}
	defer leave()
	return counts(list), nil
}

func counts(list []*gate) []uint64 {
	out := make([]uint64, len(list))
	for i, g := range list {
		out[i] = g.changes
	}
	return out
}

// touch counts a change; the caller is inside.
func touch(list []*gate) {
	for _, g := range list {
		g.changes++
	}
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
