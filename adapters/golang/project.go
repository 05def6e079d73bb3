package golang

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// Projects implements adapters.Adapter: the module or workspace that holds dir
// comes first, then those below it, nearest first. A go.work that lists a
// module beats its go.mod, as in the go command. Modules that name each other
// by a replace directive and no go.work are one project, or a rename in the
// one would leave the other behind.
func (a *Adapter) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	m, err := readModules(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	var out []adapters.Project
	add := func(p adapters.Project) {
		if !slices.ContainsFunc(out, func(q adapters.Project) bool { return q.Root == p.Root && q.Marker == p.Marker }) {
			out = append(out, p)
		}
	}
	if p, ok := m.holding(dir); ok {
		add(p)
	}
	var below []adapters.Project
	for root := range m.files {
		if root != dir && within(dir, root) && !hidden(dir, root) {
			below = append(below, m.project(root))
		}
	}
	slices.SortFunc(below, func(p, q adapters.Project) int {
		return cmp.Or(cmp.Compare(strings.Count(p.Root, "/"), strings.Count(q.Root, "/")), cmp.Compare(p.Root, q.Root))
	})
	for _, p := range below {
		add(p)
	}
	if len(out) > 0 {
		return out, nil
	}
	loose, err := s.Glob(ctx, "**/*.go")
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(loose, func(p string) bool { return within(dir, p) }) {
		root := dir
		if m.top != "" {
			root = m.top
		}
		add(adapters.Project{Language: "go", Root: root})
	}
	return out, nil
}

// hidden reports whether the go command passes over a folder below dir.
func hidden(dir, below string) bool {
	rel, err := filepath.Rel(dir, below)
	if err != nil {
		return true
	}
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		if part == "testdata" || part == "vendor" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") {
			return true
		}
	}
	return false
}

// modules is what the go.mod and go.work files of a workspace say.
type modules struct {
	top   string                   // the workspace's folder, above which nothing is looked for; empty when not known
	files map[string]*modfile.File // by the folder of the go.mod
	works map[string][]string      // members by the folder of the go.work
	group map[string]string        // folder of a module to that of the first of its group
}

// readModules reads the module files of the workspace and those above dir: a
// go.work is often ignored by git, so that looking for it by pattern misses it.
func readModules(ctx context.Context, s adapters.Snapshot, dir string) (*modules, error) {
	m := &modules{files: map[string]*modfile.File{}, works: map[string][]string{}, group: map[string]string{}}
	mods, err := s.Glob(ctx, "**/go.mod")
	if err != nil {
		return nil, err
	}
	works, err := s.Glob(ctx, "**/go.work")
	if err != nil {
		return nil, err
	}
	if r, ok := s.(interface{ Root() string }); ok && within(r.Root(), dir) {
		m.top = r.Root()
	}
	above := map[string]bool{}
	for _, start := range append([]string{dir}, dirs(mods)...) {
		for d := start; !above[d]; d = filepath.Dir(d) {
			above[d] = true
			mods, works = append(mods, filepath.Join(d, "go.mod")), append(works, filepath.Join(d, "go.work"))
			if d == m.top {
				break
			}
		}
	}
	slices.Sort(mods)
	for _, path := range slices.Compact(mods) {
		content, err := recipe.ReadOptional(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if content == nil {
			continue
		}
		m.files[filepath.Dir(path)] = parseModule(path, content)
	}
	slices.Sort(works)
	for _, path := range slices.Compact(works) {
		content, err := recipe.ReadOptional(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if content != nil {
			m.works[filepath.Dir(path)] = members(path, content)
		}
	}
	m.join()
	return m, nil
}

// parseModule reads a go.mod. A broken one makes a module all the same: the
// server and the build say what is wrong with it.
func parseModule(path string, content []byte) *modfile.File {
	if f, err := modfile.Parse(path, content, nil); err == nil {
		return f
	}
	if f, err := modfile.ParseLax(path, content, nil); err == nil { // without replace directives
		return f
	}
	return &modfile.File{}
}

func dirs(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = filepath.Dir(p)
	}
	return out
}

// members returns the folders that a go.work uses.
func members(path string, content []byte) []string {
	w, err := modfile.ParseWork(path, content, nil)
	if err != nil {
		return nil
	}
	var out []string
	for _, u := range w.Use {
		dir := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(path), dir)
		}
		out = append(out, filepath.Clean(dir))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// join groups the modules that replace each other by folders of the workspace.
func (m *modules) join() {
	roots := make([]string, 0, len(m.files))
	for dir := range m.files {
		roots = append(roots, dir)
		m.group[dir] = dir
	}
	slices.Sort(roots)
	find := func(dir string) string {
		for m.group[dir] != dir {
			dir = m.group[dir]
		}
		return dir
	}
	for _, dir := range roots {
		for _, r := range m.files[dir].Replace {
			if r.New.Version != "" {
				continue
			}
			target := filepath.FromSlash(r.New.Path)
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			if _, ours := m.files[filepath.Clean(target)]; !ours {
				continue
			}
			a, b := find(dir), find(filepath.Clean(target))
			m.group[max(a, b)] = min(a, b)
		}
	}
	for _, dir := range roots {
		m.group[dir] = find(dir)
	}
}

// holding returns the project of the nearest module at or above dir.
func (m *modules) holding(dir string) (adapters.Project, bool) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, ok := m.files[d]; ok {
			return m.project(d), true
		}
		if use, ok := m.works[d]; ok && d == dir {
			return adapters.Project{Language: "go", Root: d, Marker: filepath.Join(d, "go.work"), Members: use}, true
		}
		if d == filepath.Dir(d) {
			return adapters.Project{}, false
		}
	}
}

// project returns the build unit of a module.
func (m *modules) project(root string) adapters.Project {
	for d := root; ; d = filepath.Dir(d) {
		if use, ok := m.works[d]; ok {
			if slices.Contains(use, root) {
				return adapters.Project{Language: "go", Root: d, Marker: filepath.Join(d, "go.work"), Members: use}
			}
			break // the go command takes the nearest go.work, whether it lists the module or not
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	var group []string
	for dir, first := range m.group {
		if first == m.group[root] {
			group = append(group, dir)
		}
	}
	if len(group) < 2 {
		return adapters.Project{Language: "go", Root: root, Marker: filepath.Join(root, "go.mod")}
	}
	slices.Sort(group)
	top := group[0]
	for _, dir := range group {
		for !within(top, dir) {
			top = filepath.Dir(top)
		}
	}
	p := adapters.Project{Language: "go", Root: top, Members: group}
	if _, ok := m.files[top]; ok {
		p.Marker = filepath.Join(top, "go.mod")
	}
	return p
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
