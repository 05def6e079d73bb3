package rust

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// manifest is what a Cargo.toml says of packages and workspaces.
type manifest struct {
	Package *struct {
		Workspace string `toml:"workspace"`
	} `toml:"package"`
	Workspace *struct {
		Members []string `toml:"members"`
		Exclude []string `toml:"exclude"`
	} `toml:"workspace"`
	Dependencies map[string]any `toml:"dependencies"`
	Dev          map[string]any `toml:"dev-dependencies"`
	Build        map[string]any `toml:"build-dependencies"`
	Target       map[string]struct {
		Dependencies map[string]any `toml:"dependencies"`
		Dev          map[string]any `toml:"dev-dependencies"`
		Build        map[string]any `toml:"build-dependencies"`
	} `toml:"target"`
}

// Projects implements adapters.Adapter: a Cargo workspace with its members is
// one project, as is a crate of none and the folder of a rust-project.json.
func (*Adapter) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	found, err := recipe.Markers(ctx, s, dir, "Cargo.toml", "rust-project.json")
	if err != nil {
		return nil, err
	}
	files := map[string]*manifest{}
	var out []adapters.Project
	for _, path := range found {
		if filepath.Base(path) == "rust-project.json" {
			continue
		}
		content, err := recipe.ReadOptional(ctx, s, path)
		if err != nil {
			return nil, err
		}
		m := &manifest{}
		if toml.Unmarshal(content, m) != nil {
			m = &manifest{} // a broken one makes a crate all the same: server and build will say what is wrong
		}
		files[filepath.Dir(path)] = m
	}
	members := map[string][]string{}
	for d, m := range files {
		if m.Workspace != nil {
			members[d] = reach(files, d)
		}
	}
	taken := map[string]bool{}
	for d, list := range members {
		out = append(out, adapters.Project{Language: "rust", Root: d, Marker: filepath.Join(d, "Cargo.toml"), Members: list})
		for _, m := range list {
			taken[m] = true
		}
		taken[d] = true
	}
	for d := range files {
		if !taken[d] {
			out = append(out, adapters.Project{Language: "rust", Root: d, Marker: filepath.Join(d, "Cargo.toml")})
		}
	}
	for _, path := range found {
		if d := filepath.Dir(path); filepath.Base(path) == "rust-project.json" && files[d] == nil {
			out = append(out, adapters.Project{Language: "rust", Root: d, Marker: path})
		}
	}
	out = recipe.Order(out, dir, "target", "vendor", "node_modules")
	if len(out) > 0 {
		return out, nil
	}
	p, ok, err := recipe.Loose(ctx, s, dir, "rust", []string{".rs"})
	if err != nil || !ok {
		return nil, err
	}
	return []adapters.Project{p}, nil
}

// reach returns the folders of a workspace's members: its own package, those
// that it lists, those that name it as theirs, and below it the path
// dependencies of any of them.
func reach(files map[string]*manifest, top string) []string {
	ws := files[top].Workspace
	in := map[string]bool{}
	var add func(dir string)
	add = func(dir string) {
		m := files[dir]
		if m == nil || in[dir] || dir != top && m.Workspace != nil {
			return
		}
		in[dir] = true
		for _, dep := range m.paths(dir) {
			if recipe.Inside(top, dep) && !excluded(ws.Exclude, top, dep) {
				add(dep)
			}
		}
	}
	if files[top].Package != nil {
		add(top)
	}
	for dir, m := range files {
		switch {
		case dir == top || m.Package == nil:
		case m.Package.Workspace != "":
			if filepath.Join(dir, filepath.FromSlash(m.Package.Workspace)) == top {
				add(dir)
			}
		case listed(ws.Members, top, dir) && !excluded(ws.Exclude, top, dir):
			add(dir)
		}
	}
	out := make([]string, 0, len(in))
	for dir := range in {
		out = append(out, dir)
	}
	slices.Sort(out)
	return out
}

// paths returns the folders of a crate's path dependencies.
func (m *manifest) paths(dir string) []string {
	tables := []map[string]any{m.Dependencies, m.Dev, m.Build}
	for _, t := range m.Target {
		tables = append(tables, t.Dependencies, t.Dev, t.Build)
	}
	var out []string
	for _, t := range tables {
		out = append(out, local(t, dir)...)
	}
	return out
}

// local returns the folders that a table of dependencies names by path.
func local(table map[string]any, dir string) []string {
	var out []string
	for _, d := range table {
		if entry, ok := d.(map[string]any); ok {
			if path, ok := entry["path"].(string); ok && path != "" {
				out = append(out, filepath.Join(dir, filepath.FromSlash(path)))
			}
		}
	}
	return out
}

// listed reports whether a folder matches one of the patterns of a members list.
func listed(patterns []string, top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := doublestar.Match(filepath.ToSlash(filepath.Clean(p)), filepath.ToSlash(rel))
		return err == nil && ok
	})
}

// excluded reports whether a folder is or lies below one that the workspace excludes.
func excluded(list []string, top, dir string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return recipe.Inside(filepath.Join(top, filepath.FromSlash(e)), dir) })
}
