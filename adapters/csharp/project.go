package csharp

import (
	"context"
	"encoding/xml"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// markers are the files that make a folder a project, the most telling first.
var markers = []string{"*.slnx", "*.sln", "*.csproj"}

// solution is a file that lists projects.
type solution struct {
	path  string
	lists []string // absolute paths of project files that exist
}

// Projects implements adapters.Adapter: a solution with the projects that it
// lists is one project, as are those of none that reference each other.
func (*Adapter) Projects(ctx context.Context, s adapters.Snapshot, dir string) ([]adapters.Project, error) {
	found, err := recipe.Markers(ctx, s, dir, markers...)
	if err != nil {
		return nil, err
	}
	refers := map[string][]string{} // project files to those that they reference
	var solutions []solution
	for _, path := range found {
		content, err := recipe.ReadOptional(ctx, s, path)
		if err != nil {
			return nil, err
		}
		switch filepath.Ext(path) {
		case ".csproj":
			refers[path] = references(path, content)
		case ".sln":
			solutions = append(solutions, solution{path, listedInSln(path, content)})
		case ".slnx":
			solutions = append(solutions, solution{path, listedInSlnx(path, content)})
		}
	}
	for i := range solutions {
		solutions[i].lists = slices.DeleteFunc(solutions[i].lists, func(p string) bool { _, ok := refers[p]; return !ok })
	}
	// The one that lists most comes first; the format that is newer wins between equals.
	slices.SortStableFunc(solutions, func(a, b solution) int {
		if d := len(b.lists) - len(a.lists); d != 0 {
			return d
		}
		return strings.Compare(filepath.Ext(b.path), filepath.Ext(a.path))
	})
	taken := map[string]bool{}
	var all []adapters.Project
	for _, sol := range solutions {
		var own []string
		for _, p := range sol.lists {
			if !taken[p] {
				taken[p] = true
				own = append(own, p)
			}
		}
		if len(own) > 0 {
			all = append(all, unit(filepath.Dir(sol.path), sol.path, own))
		}
	}
	for _, group := range joined(refers, taken) {
		all = append(all, unit("", group[0], group))
	}
	all = recipe.Order(all, dir, "bin", "obj", "node_modules")
	if len(all) > 0 {
		return all, nil
	}
	p, ok, err := recipe.Loose(ctx, s, dir, "csharp", []string{".cs"})
	if err != nil || !ok {
		return nil, err
	}
	return []adapters.Project{p}, nil
}

// unit makes one project of project files; without a root it is what holds them all.
func unit(root, marker string, files []string) adapters.Project {
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, filepath.Dir(f))
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if root == "" {
		root = dirs[0]
		for _, d := range dirs {
			for !recipe.Inside(root, d) {
				root = filepath.Dir(root)
			}
		}
	}
	p := adapters.Project{Language: "csharp", Root: root, Marker: marker}
	if len(dirs) > 1 || dirs[0] != root {
		p.Members = dirs
	}
	return p
}

// joined groups the project files that are not taken by their references.
func joined(refers map[string][]string, taken map[string]bool) [][]string {
	group := map[string]string{}
	for p := range refers {
		if !taken[p] {
			group[p] = p
		}
	}
	find := func(p string) string {
		for group[p] != p {
			p = group[p]
		}
		return p
	}
	for p, list := range refers {
		for _, to := range list {
			if group[p] == "" || group[to] == "" {
				continue
			}
			a, b := find(p), find(to)
			group[max(a, b)] = min(a, b)
		}
	}
	lists := map[string][]string{}
	for p := range group {
		lists[find(p)] = append(lists[find(p)], p)
	}
	var out [][]string
	for _, list := range lists {
		slices.Sort(list)
		out = append(out, list)
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// beside returns the absolute path of a file that another names, with the
// separators of Windows as well.
func beside(file, name string) string {
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
}

var slnProject = regexp.MustCompile(`(?m)^\s*Project\("[^"]*"\)\s*=\s*"[^"]*"\s*,\s*"([^"]+\.csproj)"`)

// listedInSln returns the C# projects of a solution in the old format.
func listedInSln(path string, content []byte) []string {
	var out []string
	for _, m := range slnProject.FindAllSubmatch(content, -1) {
		out = append(out, beside(path, string(m[1])))
	}
	return out
}

// listedInSlnx returns the C# projects of a solution in the XML format. A
// broken one lists what stands before the mistake.
func listedInSlnx(path string, content []byte) []string {
	return attributes(content, "Project", "Path", func(name string) (string, bool) {
		return beside(path, name), strings.HasSuffix(strings.ToLower(name), ".csproj")
	})
}

// references returns the project files that one references.
func references(path string, content []byte) []string {
	return attributes(content, "ProjectReference", "Include", func(name string) (string, bool) {
		return beside(path, name), true
	})
}

// attributes returns what take makes of an attribute of every element of a name.
func attributes(content []byte, element, attribute string, take func(string) (string, bool)) []string {
	var out []string
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(string(content), "\uFEFF")))
	d.Strict = false
	for {
		tok, err := d.Token()
		if err != nil {
			return out
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != element {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local != attribute {
				continue
			}
			if v, ok := take(a.Value); ok {
				out = append(out, v)
			}
		}
	}
}
