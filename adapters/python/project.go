package python

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// root is a folder with a project's file.
type root struct {
	dir, marker string
	whole       bool     // its configuration covers everything below it
	members     []string // patterns of a workspace's members
}

// Projects implements adapters.Adapter. The nearest folder with a project's
// file is the project, since imports are looked for from there; but a folder
// that configures the type checker holds everything below it, and a workspace's
// members are one project.
func (*Adapter) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	found, err := recipe.Markers(ctx, s, dir, markers...)
	if err != nil {
		return nil, err
	}
	roots := map[string]*root{}
	for _, name := range markers { // the most telling first
		for _, path := range found {
			if filepath.Base(path) != name {
				continue
			}
			r := roots[filepath.Dir(path)]
			if r == nil {
				r = &root{dir: filepath.Dir(path), marker: path}
				roots[r.dir] = r
			}
			switch name {
			case "pyrightconfig.json":
				r.whole = true
			case "pyproject.toml":
				content, err := recipe.ReadOptional(ctx, s, path)
				if err != nil {
					return nil, err
				}
				r.configure(content)
			}
		}
	}
	projects := map[string]*adapters.Project{}
	for d, r := range roots {
		top := above(roots, d)
		p := projects[top.dir]
		if p == nil {
			p = &adapters.Project{Language: "python", Root: top.dir, Marker: top.marker}
			projects[top.dir] = p
		}
		if r != top && !top.whole {
			p.Members = append(p.Members, d)
		}
	}
	var all []adapters.Project
	for _, p := range projects {
		if p.Members != nil {
			p.Members = append(p.Members, p.Root)
			slices.Sort(p.Members)
		}
		all = append(all, *p)
	}
	all = recipe.Order(all, dir, "node_modules", "site-packages", ".venv", "venv", "__pycache__")
	if len(all) > 0 {
		return all, nil
	}
	p, ok, err := recipe.Loose(ctx, s, dir, "python", []string{".py", ".pyi"})
	if err != nil || !ok {
		return nil, err
	}
	return []adapters.Project{p}, nil
}

// configure reads what pyproject.toml says of the folder. A broken one makes a
// project all the same: server and build will say what is wrong with it.
func (r *root) configure(content []byte) {
	var file struct {
		Tool struct {
			Pyright any `toml:"pyright"`
			UV      struct {
				Workspace struct {
					Members []string `toml:"members"`
				} `toml:"workspace"`
			} `toml:"uv"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(content, &file) != nil {
		return
	}
	r.whole = r.whole || file.Tool.Pyright != nil
	r.members = file.Tool.UV.Workspace.Members
}

// above returns the root that the one at dir belongs to: itself, or the
// outermost that covers it.
func above(roots map[string]*root, dir string) *root {
	top := roots[dir]
	for d := dir; d != filepath.Dir(d); {
		d = filepath.Dir(d)
		if r := roots[d]; r != nil && (r.whole || r.has(dir)) {
			top = r
		}
	}
	return top
}

// has reports whether a folder is a member of the workspace.
func (r *root) has(dir string) bool {
	rel, err := filepath.Rel(r.dir, dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(r.members, func(pattern string) bool {
		ok, err := doublestar.Match(pattern, filepath.ToSlash(rel))
		return err == nil && ok
	})
}
