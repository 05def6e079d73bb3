package change

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/auralsp/aura/lspclient/text"
)

// Resolve carries the steps out on a virtual tree over read and returns what
// they come to: one File per changed file, in order of Path. Files that end as
// they began are left out.
//
// No path stands in two Files, neither as Path nor as NewPath, so that the
// Files can be applied in any order. A move is a Rename only when nothing was
// at the new path before and nothing is at the old one after; otherwise (a swap
// of two files, a rename onto an existing one) each path's content changes in
// place, by an Edit, a Create or a Delete.
//
// Errors are ErrExists, ErrMissing, ErrPath, ErrConflict, text.ErrOverlap,
// text.ErrBounds and text.ErrInside, or an error of read, each wrapped with the path.
func (s Set) Resolve(read ReadFunc) ([]File, error) {
	t := tree{read: read, before: map[string]*file{}, now: map[string]*file{}}
	for i, op := range s.Ops {
		if err := t.do(op); err != nil {
			return nil, fmt.Errorf("step %d, %s %s: %w", i+1, op.Kind, op.Path, err)
		}
	}
	if err := t.nested(); err != nil {
		return nil, err
	}
	return t.files(), nil
}

// tree is the virtual tree of one Resolve.
type tree struct {
	read   ReadFunc
	before map[string]*file // as read gave it, nil for no file
	now    map[string]*file // after the steps so far, nil for no file
}

// file is a content on its way through the steps. It is replaced, never
// changed, because before and now share it.
type file struct {
	origin  string // path it had before the first step, empty for a created file
	content []byte
	first   []byte      // content before its first edit; nil when there was none
	pieces  []piece     // content as parts of first; nil when there was no edit
	once    []text.Edit // the edits, sorted, when there was one step of them
}

func (t *tree) at(path string) (*file, error) {
	if f, ok := t.now[path]; ok {
		return f, nil
	}
	content, err := t.read(path)
	var f *file
	switch {
	case err == nil:
		f = &file{origin: path, content: content}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	t.before[path], t.now[path] = f, f
	return f, nil
}

func (t *tree) do(op Op) error {
	if err := checkPath(op.Path); err != nil {
		return err
	}
	f, err := t.at(op.Path)
	if err != nil {
		return err
	}
	switch op.Kind {
	case Edit:
		if f == nil {
			return ErrMissing
		}
		edited, err := f.edit(op.Edits)
		if err != nil {
			return err
		}
		t.now[op.Path] = edited
	case Create:
		if f != nil && !op.Overwrite {
			if op.IgnoreExisting {
				return nil
			}
			return ErrExists
		}
		t.now[op.Path] = &file{content: op.Content}
	case Rename:
		return t.rename(op, f)
	case Delete:
		if f == nil && !op.IgnoreMissing {
			return ErrMissing
		}
		t.now[op.Path] = nil
	default:
		return fmt.Errorf("unknown kind %d", op.Kind)
	}
	return nil
}

func (t *tree) rename(op Op, f *file) error {
	if err := checkPath(op.NewPath); err != nil {
		return err
	}
	if f == nil {
		return ErrMissing
	}
	if op.Path == op.NewPath {
		return nil
	}
	target, err := t.at(op.NewPath)
	if err != nil {
		return fmt.Errorf("%s: %w", op.NewPath, err)
	}
	if target != nil && !op.Overwrite {
		if op.IgnoreExisting {
			return nil
		}
		return fmt.Errorf("%s: %w", op.NewPath, ErrExists)
	}
	t.now[op.Path], t.now[op.NewPath] = nil, f
	return nil
}

// nested refuses a file below a path that is a file itself.
func (t *tree) nested() error {
	for path, f := range t.now {
		if f == nil {
			continue
		}
		for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if t.now[dir] != nil {
				return fmt.Errorf("%s: its folder %s is a file: %w", path, dir, ErrConflict)
			}
		}
	}
	return nil
}

func (t *tree) files() []File {
	var out []File
	moved := map[string]bool{} // both ends of the Renames
	for path, f := range t.now {
		if f == nil || f.origin == "" || f.origin == path || t.before[path] != nil || t.now[f.origin] != nil {
			continue
		}
		moved[path], moved[f.origin] = true, true
		out = append(out, File{
			Kind: Rename, Path: f.origin, NewPath: path,
			Before: t.before[f.origin].content, After: f.content, Edits: f.edits(),
		})
	}
	for path, f := range t.now {
		was := t.before[path]
		if moved[path] {
			continue
		}
		switch {
		case was == nil && f == nil:
		case was == nil:
			out = append(out, File{Kind: Create, Path: path, After: f.content})
		case f == nil:
			out = append(out, File{Kind: Delete, Path: path, Before: was.content})
		case bytes.Equal(was.content, f.content):
		case f.origin == path:
			out = append(out, File{Kind: Edit, Path: path, Before: was.content, After: f.content, Edits: f.edits()})
		default:
			out = append(out, File{
				Kind: Edit, Path: path, Before: was.content, After: f.content,
				Edits: replaced(was.content, f.content),
			})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// FromEdits returns the set that edits one file.
func FromEdits(path string, edits []text.Edit) Set {
	if len(edits) == 0 {
		return Set{}
	}
	return Set{Ops: []Op{{Kind: Edit, Path: path, Edits: edits}}}
}

// FromFiles returns a set that resolves to files, which must be as Resolve
// gives them: no path in two of them.
func FromFiles(files []File) Set {
	var s Set
	for _, f := range files {
		switch f.Kind {
		case Edit:
			s.Ops = append(s.Ops, Op{Kind: Edit, Path: f.Path, Edits: f.Edits})
		case Create:
			s.Ops = append(s.Ops, Op{Kind: Create, Path: f.Path, Content: f.After})
		case Delete:
			s.Ops = append(s.Ops, Op{Kind: Delete, Path: f.Path})
		case Rename:
			if len(f.Edits) > 0 {
				s.Ops = append(s.Ops, Op{Kind: Edit, Path: f.Path, Edits: f.Edits})
			}
			s.Ops = append(s.Ops, Op{Kind: Rename, Path: f.Path, NewPath: f.NewPath})
		}
	}
	return s
}

// Paths returns the absolute paths that the steps name, sorted, each once.
func (s Set) Paths() []string {
	seen := map[string]bool{}
	for _, op := range s.Ops {
		seen[op.Path] = true
		if op.Kind == Rename {
			seen[op.NewPath] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
