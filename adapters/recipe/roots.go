package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
)

// Markers returns the files of the workspace that are named by one of the
// patterns ("Cargo.toml", "*.csproj"), and those with a plain name in the
// folders from dir up to the workspace's, which an ignore file may hide; in
// order, absolute.
func Markers(ctx context.Context, s adapters.Snapshot, dir string, patterns ...string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		found, err := s.Glob(ctx, "**/"+p)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		if strings.ContainsAny(p, "*?[{") {
			continue
		}
		for d, top := dir, Top(s, dir); ; d = filepath.Dir(d) {
			path := filepath.Join(d, p)
			content, err := ReadOptional(ctx, s, path)
			if err != nil {
				return nil, err
			}
			if content != nil {
				out = append(out, path)
			}
			if d == top || d == filepath.Dir(d) {
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Top returns the workspace's folder when the snapshot tells and holds dir, else dir.
func Top(s adapters.Snapshot, dir string) string {
	if r, ok := s.(interface{ Root() string }); ok && Inside(r.Root(), dir) {
		return r.Root()
	}
	return dir
}

// ReadOptional reads a file that may be missing or out of reach; nil without an
// error means so. The content of an empty file is not nil.
func ReadOptional(ctx context.Context, s adapters.Snapshot, path string) ([]byte, error) {
	content, _, err := s.Read(ctx, path)
	switch {
	case err == nil && content == nil:
		return []byte{}, nil
	case err == nil:
		return content, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return nil, nil // unreadable: server and build will say so
}

// Order puts the innermost project that holds dir first, then those below dir,
// nearest first, and drops the others and those below a folder of one of the names.
func Order(projects []adapters.Project, dir string, skip ...string) []adapters.Project {
	var holding, below []adapters.Project
	for _, p := range projects {
		switch {
		case Inside(p.Root, dir):
			holding = append(holding, p)
		case Inside(dir, p.Root) && !through(dir, p.Root, skip):
			below = append(below, p)
		}
	}
	slices.SortStableFunc(holding, func(a, b adapters.Project) int { return len(b.Root) - len(a.Root) })
	slices.SortStableFunc(below, func(a, b adapters.Project) int {
		if d := strings.Count(a.Root, string(filepath.Separator)) - strings.Count(b.Root, string(filepath.Separator)); d != 0 {
			return d
		}
		return strings.Compare(a.Root, b.Root)
	})
	return append(holding[:min(1, len(holding))], below...)
}

// through reports whether a folder below dir is one of the names or lies in one.
func through(dir, below string, names []string) bool {
	rel, err := filepath.Rel(dir, below)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool { return slices.Contains(names, part) })
}

// Loose returns the project of files that belong to none: the workspace's
// folder, or dir; ok is false when no file below dir has one of the extensions.
func Loose(ctx context.Context, s adapters.Snapshot, dir, language string, extensions []string) (p adapters.Project, ok bool, err error) {
	for _, ext := range extensions {
		files, err := s.Glob(ctx, "**/*"+ext)
		if err != nil {
			return p, false, err
		}
		if slices.ContainsFunc(files, func(f string) bool { return Inside(dir, f) }) {
			return adapters.Project{Language: language, Root: Top(s, dir)}, true, nil
		}
	}
	return p, false, nil
}
