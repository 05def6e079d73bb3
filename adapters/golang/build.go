package golang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/recipe"
)

// Checks implements adapters.Builder: "go build" of every package that the
// project holds, since any may depend on a changed one, then "go vet" of the
// packages that changed or import one that did, since only vet compiles test
// files and holds Example functions to the names they show.
func (a *Adapter) Checks(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]adapters.Check, error) {
	groups := units(p)
	vet, err := vetted(ctx, s, p, changed)
	if err != nil {
		return nil, err
	}
	var out []adapters.Check
	for _, u := range groups {
		c := check("go build", u, append([]string{"go", "build", "-o", "/dev/null"}, u.patterns...))
		c.All = append([]string{"go", "build", "-gcflags=-e", "-o", "/dev/null"}, u.patterns...)
		out = append(out, c)
	}
	for _, u := range groups {
		var dirs []string
		for _, dir := range vet {
			if u.holds(dir) {
				rel, err := filepath.Rel(u.dir, dir)
				if err != nil {
					return nil, fmt.Errorf("vet %s: %w", dir, err)
				}
				dirs = append(dirs, relativeFolder(filepath.ToSlash(rel)))
			}
		}
		if len(dirs) > 0 {
			out = append(out, check("go vet", u, append([]string{"go", "vet"}, dirs...)))
		}
	}
	return out, nil
}

// unit is where one go command runs.
type unit struct {
	dir      string
	members  []string // modules it covers
	others   []string // modules below them that it does not
	patterns []string
	env      []string
}

// units returns where go commands run to cover the project: once in a
// go.work, else in each module.
func units(p adapters.Project) []unit {
	switch {
	case filepath.Base(p.Marker) == "go.work":
		u := unit{dir: p.Root, members: p.Members}
		for _, m := range p.Members {
			rel, err := filepath.Rel(p.Root, m)
			if err != nil {
				continue
			}
			u.patterns = append(u.patterns, relativeFolder(filepath.ToSlash(rel))+"/...")
		}
		if len(u.patterns) == 0 {
			u.patterns = []string{"./..."}
		}
		return []unit{u}
	case len(p.Members) > 0:
		var out []unit
		for _, m := range p.Members {
			u := unit{dir: m, members: []string{m}, patterns: []string{"./..."}}
			for _, o := range p.Members {
				if o != m && within(m, o) {
					u.others = append(u.others, o)
				}
			}
			out = append(out, u)
		}
		return out
	case p.Marker == "":
		// The go command builds what is in no module as it did before there were any.
		return []unit{{dir: p.Root, members: []string{p.Root}, patterns: []string{"./..."}, env: []string{"GO111MODULE=off"}}}
	}
	return []unit{{dir: p.Root, members: []string{p.Root}, patterns: []string{"./..."}}}
}

// relativeFolder writes a relative path as the go command wants it: one that
// does not begin with a dot is an import path.
func relativeFolder(dir string) string {
	if dir == "." || dir == ".." || strings.HasPrefix(dir, "../") {
		return dir
	}
	return "./" + dir
}

func (u unit) holds(dir string) bool {
	return slices.ContainsFunc(u.members, func(m string) bool { return within(m, dir) }) &&
		!slices.ContainsFunc(u.others, func(m string) bool { return within(m, dir) })
}

func check(name string, u unit, argv []string) adapters.Check {
	return adapters.Check{
		Name: name, Argv: argv, Env: u.env, Dir: u.dir, Stale: adapters.ByContent,
		Install: "install the Go toolchain (https://go.dev/dl) and put its bin folder into PATH",
		Parse:   func(output []byte, exit int) ([]adapters.Problem, error) { return problems(u.dir, output, exit), nil },
	}
}

// vetted returns the folders of the packages that the changed files are in,
// and of those that import one of them.
func vetted(ctx context.Context, s adapters.Snapshot, p adapters.Project, changed []string) ([]string, error) {
	dirs := map[string]bool{}
	for _, file := range changed {
		if filepath.Ext(file) == ".go" {
			dirs[filepath.Dir(file)] = true
		}
	}
	for dir := range maps.Clone(dirs) {
		importers, err := importersOf(ctx, s, dir)
		if err != nil {
			return nil, err
		}
		for _, d := range importers {
			dirs[d] = true
		}
	}
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		ours, err := owns(ctx, s, p, dir)
		if err != nil {
			return nil, err
		}
		if !ours {
			continue
		}
		ok, err := buildable(ctx, s, dir)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, dir)
		}
	}
	return out, nil
}

// importersOf returns the folders of the packages that import the one in dir.
func importersOf(ctx context.Context, s adapters.Snapshot, dir string) ([]string, error) {
	name, err := importPath(ctx, s, dir)
	if err != nil || name == "" {
		return nil, err
	}
	word := path.Base(name)
	if i := strings.LastIndexAny(word, "-."); i >= 0 {
		word = word[i+1:] // Grep finds whole identifiers only
	}
	files, err := s.Grep(ctx, word)
	if err != nil {
		return nil, err
	}
	quoted := []byte(strconv.Quote(name))
	var out []string
	for _, file := range files {
		if filepath.Ext(file) != ".go" || slices.Contains(out, filepath.Dir(file)) {
			continue
		}
		content, err := recipe.ReadOptional(ctx, s, file)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(content, quoted) {
			out = append(out, filepath.Dir(file))
		}
	}
	return out, nil
}

func inProject(p adapters.Project, file string) bool {
	if len(p.Members) == 0 {
		return within(p.Root, file)
	}
	return slices.ContainsFunc(p.Members, func(m string) bool { return within(m, file) })
}

// moduleOf returns the folder of the go.mod that a folder belongs to, and the
// path of its module; both are empty when it is in none.
func moduleOf(ctx context.Context, s adapters.Snapshot, dir string) (root, module string, err error) {
	for d := dir; ; d = filepath.Dir(d) {
		content, err := recipe.ReadOptional(ctx, s, filepath.Join(d, "go.mod"))
		if err != nil {
			return "", "", err
		}
		if content != nil {
			return d, modfile.ModulePath(content), nil
		}
		if d == filepath.Dir(d) {
			return "", "", nil
		}
	}
}

// importPath returns the import path of the package in dir, empty when it is in no module.
func importPath(ctx context.Context, s adapters.Snapshot, dir string) (string, error) {
	root, module, err := moduleOf(ctx, s, dir)
	if err != nil || root == "" {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return "", fmt.Errorf("import path of %s: %w", dir, err)
	}
	return path.Join(module, filepath.ToSlash(rel)), nil
}

// owns reports whether a folder belongs to a module of the project: one below
// it that has a go.mod of its own does not.
func owns(ctx context.Context, s adapters.Snapshot, p adapters.Project, dir string) (bool, error) {
	if !inProject(p, dir) {
		return false, nil
	}
	root, _, err := moduleOf(ctx, s, dir)
	if err != nil {
		return false, err
	}
	if len(p.Members) > 0 {
		return slices.Contains(p.Members, root), nil
	}
	return root == p.Root || p.Marker == "" && !within(p.Root, root), nil
}

// buildable reports whether the go command finds a package in dir: naming one
// whose files are all left out would fail the whole command.
func buildable(ctx context.Context, s adapters.Snapshot, dir string) (bool, error) {
	files, err := packageFiles(ctx, s, dir)
	if err != nil {
		return false, err
	}
	for _, file := range files {
		if in, err := included(ctx, s, file); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// packageFiles returns the Go files of a folder.
func packageFiles(ctx context.Context, s adapters.Snapshot, dir string) ([]string, error) {
	all, err := s.Glob(ctx, "**/*.go")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(f string) bool { return filepath.Dir(f) != dir }), nil
}

// included reports whether a file is part of the build here and now.
func included(ctx context.Context, s adapters.Snapshot, file string) (bool, error) {
	content, _, err := s.Read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	return matches(file, content), nil
}

// matches reports whether a file of this name and content would be built here:
// by the system in its name and by its //go:build line.
func matches(file string, content []byte) bool {
	c := build.Default
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	ok, err := c.MatchFile(filepath.Dir(file), filepath.Base(file))
	return ok || err != nil // a broken head is for the compiler to report
}

// place matches one finding of the compiler, of vet or of the loader.
var place = regexp.MustCompile(`^(?:vet: )?((?:[^\s:][^:]*)\.(?:go|s|c|h|cc|cpp|mod|work)):(\d+)(?::(\d+))?: (.*)$`)

// problems reads what "go build" and "go vet" print: findings with places
// relative to where they ran, "# package" headings, and failures of the go
// command itself without a place.
func problems(dir string, output []byte, exit int) []adapters.Problem {
	var out []adapters.Problem
	var loose []string
	for line := range strings.Lines(string(output)) {
		line = strings.TrimRight(line, "\r\n")
		m := place.FindStringSubmatch(line)
		switch {
		case m != nil:
			file := filepath.FromSlash(m[1])
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			out = append(out, adapters.Problem{Path: file, Line: number(m[2]), Column: number(m[3]), Message: m[4]})
		case strings.HasPrefix(line, "\t") && len(out) > 0:
			// The compiler goes on about the same finding.
			out[len(out)-1].Message += "\n" + strings.TrimSpace(line)
		case line == "", strings.HasPrefix(line, "# "), strings.HasPrefix(line, "go: downloading "),
			strings.HasPrefix(line, "exit status "), strings.HasSuffix(line, ": too many errors"), line == "too many errors":
		default:
			loose = append(loose, line)
		}
	}
	if exit == 0 {
		return nil
	}
	for _, line := range loose {
		out = append(out, adapters.Problem{Message: strings.TrimPrefix(line, "vet: ")})
	}
	if len(out) == 0 {
		out = append(out, adapters.Problem{Message: "the go command failed without a message (exit status " + strconv.Itoa(exit) + ")"})
	}
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
