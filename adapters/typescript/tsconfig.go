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

// config is what a tsconfig.json or jsconfig.json says of the files that are
// its program's, with what it extends.
type config struct {
	path    string
	files   []string // absolute
	include []string // absolute patterns; nil means the default
	exclude []string
	refers  []string // the configurations that it references
	allowJS bool
	checkJS bool
	listed  bool // files or include are given
	broken  bool // it cannot be read as JSON
}

// configs reads the configurations of a workspace, each once.
type configs struct {
	s    adapters.Snapshot
	top  string // nothing is looked for above it
	read map[string]*config
}

func newConfigs(s adapters.Snapshot, top string) *configs {
	return &configs{s: s, top: top, read: map[string]*config{}}
}

// at reads a configuration; nil when there is none.
func (c *configs) at(ctx context.Context, path string) (*config, error) {
	if have, ok := c.read[path]; ok {
		return have, nil
	}
	out, err := c.load(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	if out != nil && !out.listed {
		out.include = []string{filepath.Join(filepath.Dir(path), "**", "*")}
	}
	c.read[path] = out
	return out, nil
}

// maxExtends bounds how many configurations extend each other.
const maxExtends = 8

func (c *configs) load(ctx context.Context, path string, depth int) (*config, error) {
	content, err := recipe.ReadOptional(ctx, c.s, path)
	if err != nil || content == nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	out := &config{path: path, allowJS: filepath.Base(path) == "jsconfig.json"}
	var file struct {
		Extends         json.RawMessage `json:"extends"`
		Files           *[]string       `json:"files"`
		Include         *[]string       `json:"include"`
		Exclude         *[]string       `json:"exclude"`
		CompilerOptions struct {
			AllowJS *bool  `json:"allowJs"`
			CheckJS *bool  `json:"checkJs"`
			OutDir  string `json:"outDir"`
		} `json:"compilerOptions"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
	}
	if json.Unmarshal(plainJSON(content), &file) != nil {
		out.broken = true
		return out, nil
	}
	if depth < maxExtends {
		for _, from := range extended(file.Extends) {
			base, err := c.extends(ctx, dir, from, depth)
			if err != nil {
				return nil, err
			}
			if base != nil {
				out.files, out.include, out.exclude, out.listed = base.files, base.include, base.exclude, base.listed
				out.allowJS, out.checkJS = out.allowJS || base.allowJS, base.checkJS
			}
		}
	}
	if file.Files != nil {
		out.files, out.listed = absolute(dir, *file.Files), true
		if file.Include == nil {
			out.include = nil
		}
	}
	if file.Include != nil {
		out.include, out.listed = patterns(dir, *file.Include), true
		if file.Files == nil {
			out.files = nil
		}
	}
	switch {
	case file.Exclude != nil:
		out.exclude = patterns(dir, *file.Exclude)
	case len(out.exclude) == 0 && file.CompilerOptions.OutDir != "":
		out.exclude = patterns(dir, []string{file.CompilerOptions.OutDir})
	}
	if v := file.CompilerOptions.CheckJS; v != nil {
		out.checkJS = *v
		out.allowJS = out.allowJS || *v
	}
	if v := file.CompilerOptions.AllowJS; v != nil {
		out.allowJS = *v
	}
	for _, r := range file.References {
		to := filepath.Join(dir, filepath.FromSlash(r.Path))
		if filepath.Ext(to) != ".json" {
			to = filepath.Join(to, "tsconfig.json")
		}
		out.refers = append(out.refers, to)
	}
	return out, nil
}

// extended decodes a name or a list of names.
func extended(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var many []string
	if json.Unmarshal(raw, &many) != nil {
		return nil
	}
	return many
}

// extends reads what a configuration extends by a path. What a package offers
// to extend seldom says which files it is about, and is left out.
func (c *configs) extends(ctx context.Context, dir, from string, depth int) (*config, error) {
	if !strings.HasPrefix(from, ".") && !filepath.IsAbs(from) {
		return nil, nil
	}
	path := filepath.FromSlash(from)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	base, err := c.load(ctx, path, depth+1)
	if err != nil || base != nil || filepath.Ext(path) == ".json" {
		return base, err
	}
	return c.load(ctx, path+".json", depth+1)
}

func absolute(dir string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(n, "${configDir}", "."))))
	}
	return out
}

// patterns makes globs of TypeScript absolute: a name without an extension or
// a star stands for all that is below the folder.
func patterns(dir string, globs []string) []string {
	out := absolute(dir, globs)
	for i, p := range out {
		if last := filepath.Base(p); !strings.ContainsAny(last, "*?") && filepath.Ext(last) == "" {
			out[i] = filepath.Join(p, "**", "*")
		}
	}
	return out
}

// has reports whether a file is one that the configuration names; others may be
// part of its program by an import.
func (c *config) has(path string) bool {
	if slices.Contains(c.files, path) {
		return true
	}
	if !c.allowJS && isJavaScript(path) {
		return false
	}
	matches := func(globs []string) bool {
		return slices.ContainsFunc(globs, func(g string) bool {
			ok, err := doublestar.PathMatch(g, path)
			return err == nil && ok
		})
	}
	return !installed(path) && matches(c.include) && !matches(c.exclude)
}

func isJavaScript(path string) bool {
	switch filepath.Ext(path) {
	case ".js", ".jsx", ".mjs", ".cjs":
		return true
	}
	return false
}

// owner returns the configuration whose program a file is in, as tsserver
// chooses it: the nearest one upwards that names the file itself or references
// one that does. It is nil for a file that belongs to none.
func (c *configs) owner(ctx context.Context, file string) (*config, error) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		for _, name := range []string{"tsconfig.json", "jsconfig.json"} {
			at, err := c.at(ctx, filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			if at == nil {
				continue
			}
			if own, err := c.within(ctx, at, file, map[string]bool{}); err != nil || own != nil {
				return own, err
			}
			break // a jsconfig.json beside a tsconfig.json is not read
		}
		if dir == c.top || dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
}

// within returns the configuration among at and those that it references which
// names the file.
func (c *configs) within(ctx context.Context, at *config, file string, seen map[string]bool) (*config, error) {
	if seen[at.path] {
		return nil, nil
	}
	seen[at.path] = true
	if at.has(file) {
		return at, nil
	}
	for _, r := range at.refers {
		next, err := c.at(ctx, r)
		if err != nil {
			return nil, err
		}
		if next == nil {
			continue
		}
		if own, err := c.within(ctx, next, file, seen); err != nil || own != nil {
			return own, err
		}
	}
	return nil, nil
}
