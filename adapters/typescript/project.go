package typescript

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// markers are the files that make a folder a project, the most telling first.
var markers = []string{"tsconfig.json", "jsconfig.json", "package.json", "pnpm-workspace.yaml"}

// folder is what the markers in one folder say.
type folder struct {
	marker   string
	packaged bool     // it has a package.json
	members  []string // patterns of the packages of a workspace
	refers   []string // folders of the projects that its configuration references
}

// Projects implements adapters.Adapter. A package is a project, as is a folder
// with a configuration that lies in none; a configuration within a package is
// part of it. The packages of a workspace, and those that reference each other,
// are one project, or a rename in the one would leave the other behind.
func (*Adapter) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	folders, err := readFolders(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	roots := map[string]bool{}
	for d, f := range folders {
		if f.packaged || holder(folders, filepath.Dir(d)) == "" {
			roots[d] = true
		}
	}
	group := map[string]string{}
	for d := range roots {
		group[d] = d
	}
	find := func(d string) string {
		for group[d] != d {
			d = group[d]
		}
		return d
	}
	join := func(a, b string) {
		if roots[a] && roots[b] {
			a, b = find(a), find(b)
			group[max(a, b)] = min(a, b)
		}
	}
	for d, f := range folders {
		for other := range roots {
			if other != d && f.has(d, other) {
				join(d, other)
			}
		}
		for _, r := range f.refers {
			join(root(roots, d), root(roots, r))
		}
	}
	members := map[string][]string{}
	for d := range roots {
		members[find(d)] = append(members[find(d)], d)
	}
	var all []adapters.Project
	for _, list := range members {
		slices.Sort(list)
		top := list[0]
		for _, d := range list {
			for !recipe.Inside(top, d) {
				top = filepath.Dir(top)
			}
		}
		p := adapters.Project{Language: "typescript", Root: top}
		if f := folders[top]; f != nil {
			p.Marker = f.marker
		}
		if len(list) > 1 {
			p.Members = list
		}
		all = append(all, p)
	}
	all = recipe.Order(all, dir, "node_modules", "bower_components")
	if len(all) > 0 {
		return all, nil
	}
	p, ok, err := recipe.Loose(ctx, s, dir, "typescript", extensions)
	if err != nil || !ok {
		return nil, err
	}
	return []adapters.Project{p}, nil
}

// readFolders reads the markers of the workspace.
func readFolders(ctx context.Context, s adapters.Snapshot, dir string) (map[string]*folder, error) {
	found, err := recipe.Markers(ctx, s, dir, markers...)
	if err != nil {
		return nil, err
	}
	folders := map[string]*folder{}
	for _, name := range markers { // the most telling first
		for _, path := range found {
			if filepath.Base(path) != name || installed(path) {
				continue
			}
			d := filepath.Dir(path)
			if folders[d] == nil {
				folders[d] = &folder{marker: path}
			}
			content, err := recipe.ReadOptional(ctx, s, path)
			if err != nil {
				return nil, err
			}
			folders[d].read(name, d, content)
		}
	}
	return folders, nil
}

// installed reports whether a file belongs to an installed package.
func installed(path string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "node_modules")
}

// read takes what one marker says. A broken one marks the folder all the same:
// server and build will say what is wrong with it.
func (f *folder) read(name, dir string, content []byte) {
	switch name {
	case "package.json":
		f.packaged = true
		var file struct {
			Workspaces json.RawMessage `json:"workspaces"`
		}
		if json.Unmarshal(content, &file) != nil {
			return
		}
		var object struct {
			Packages []string `json:"packages"`
		}
		if json.Unmarshal(file.Workspaces, &f.members) != nil && json.Unmarshal(file.Workspaces, &object) == nil {
			f.members = object.Packages
		}
	case "pnpm-workspace.yaml":
		f.members = append(f.members, listOf(string(content), "packages")...)
	default:
		var file struct {
			References []struct {
				Path string `json:"path"`
			} `json:"references"`
		}
		if json.Unmarshal(plainJSON(content), &file) != nil {
			return
		}
		for _, r := range file.References {
			to := filepath.Join(dir, filepath.FromSlash(r.Path))
			if filepath.Ext(to) == ".json" {
				to = filepath.Dir(to)
			}
			f.refers = append(f.refers, to)
		}
	}
}

// has reports whether a folder is one of the packages of the workspace at dir.
func (f *folder) has(dir, other string) bool {
	rel, err := filepath.Rel(dir, other)
	if err != nil || strings.HasPrefix(rel, "..") {
		return false
	}
	in := false
	for _, pattern := range f.members {
		wanted, out := strings.CutPrefix(pattern, "!")
		ok, err := doublestar.Match(strings.TrimSuffix(strings.TrimPrefix(wanted, "./"), "/"), filepath.ToSlash(rel))
		if err == nil && ok {
			in = !out
		}
	}
	return in
}

// holder returns the nearest folder with a marker at or above dir, "" when there is none.
func holder(folders map[string]*folder, dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if folders[d] != nil {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// root returns the nearest root at or above dir, "" when there is none.
func root(roots map[string]bool, dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if roots[d] {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// listOf returns the items of a list at the top of a YAML file. It reads lists
// of one item a line, as tools write them, and no more of YAML.
func listOf(content, key string) []string {
	var out []string
	within := false
	for _, line := range strings.Split(content, "\n") {
		trimmed := strings.TrimSpace(line)
		item, isItem := strings.CutPrefix(trimmed, "- ")
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case within && isItem:
			item, _, _ = strings.Cut(item, " #")
			out = append(out, strings.Trim(strings.TrimSpace(item), "'\""))
		default:
			within = strings.TrimRight(line, " \r") == key+":"
		}
	}
	return out
}

// plainJSON takes the comments and trailing commas out of a configuration, with
// which TypeScript reads JSON. Offsets stay the same.
func plainJSON(content []byte) []byte {
	out := slices.Clone(content)
	if len(out) >= 3 && string(out[:3]) == "\uFEFF" {
		copy(out, "   ")
	}
	comma := -1 // of the last value, while only space follows it
	blank := func(from, to int) {
		for i := from; i < min(to, len(out)); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"' && out[i] != '\n'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			end := i
			for end < len(out) && out[end] != '\n' {
				end++
			}
			blank(i, end)
		case c == '/' && i+1 < len(out) && out[i+1] == '*':
			end := strings.Index(string(out[i+2:]), "*/")
			if end < 0 {
				end = len(out)
			} else {
				end += i + 4
			}
			blank(i, end)
			i = end - 1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}
