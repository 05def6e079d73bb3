package validate

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/auralsp/aura/lspclient/change"
)

// NoShadowError says why a check could not be run in a shadow. The real tree
// was not touched; the check has to run in place.
type NoShadowError struct {
	Reason string // in words, for people
}

// Error returns the reason.
func (e *NoShadowError) Error() string { return "no shadow build: " + e.Reason }

func noShadow(format string, args ...any) error {
	return &NoShadowError{Reason: fmt.Sprintf(format, args...)}
}

// shadow runs commands on a private view of a workspace.
type shadow struct {
	helper []string // argv of a program that calls ShadowMain; empty: none
	mount  string   // private empty folder, the same for all: each run mounts in a name space of its own
	size   int64
}

// order is what a shadow's first process is told through its pipe. The pipe
// stays open: its end means that the parent is gone.
type order struct {
	Root   string // absolute folder that the overlay covers
	Mount  string // absolute, existing, private folder to mount memory on
	Size   int64  // bytes that staged files, temporary files and output may take
	UserNS bool
	Drop   string // absolute folder outside the root whose changes are dropped, too; empty: none
	Files  []staged
	Argv   []string // absolute program first; empty: only show that the shadow works
	Env    []string // TMPDIR is replaced
	Dir    string
}

// staged is one file of a plan, with paths relative to the root.
type staged struct {
	Kind    change.Kind
	Path    string
	NewPath string
	Content []byte
}

// report is what a shadow's first process answers.
type report struct {
	NoShadow string // why there is no shadow; nothing ran
	Missing  string // the command could not be started
	Exit     int
	Full     bool // the memory for changed files ran out
}

// stage turns resolved files into what the shadow is told. A file outside root
// cannot be staged.
func stage(root string, files []change.File) ([]staged, error) {
	out := make([]staged, 0, len(files))
	for _, f := range files {
		s := staged{Kind: f.Kind, Content: f.After}
		var err error
		if s.Path, err = below(root, f.Path); err != nil {
			return nil, err
		}
		if f.Kind == change.Rename {
			if s.NewPath, err = below(root, f.NewPath); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func below(root, path string) (string, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", noShadow("%s is outside %s", path, root)
	}
	return rel, nil
}

// put performs staged files below root. Removals come first, so that two files
// can change places; links are followed only inside root.
func put(root *os.Root, files []staged) error {
	mode := make(map[string]fs.FileMode)
	for _, f := range files {
		if f.Kind != change.Delete && f.Kind != change.Rename {
			continue
		}
		info, err := root.Stat(f.Path)
		if err != nil {
			return err
		}
		mode[f.Path] = info.Mode().Perm()
		if err := root.Remove(f.Path); err != nil {
			return err
		}
	}
	for _, f := range files {
		var err error
		switch f.Kind {
		case change.Edit:
			err = overwrite(root, f.Path, f.Content)
		case change.Create:
			err = create(root, f.Path, f.Content, 0o666)
		case change.Rename:
			err = create(root, f.NewPath, f.Content, mode[f.Path])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func overwrite(root *os.Root, path string, content []byte) error {
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrPermission) { // a read-only file in a folder of ours
		info, statErr := root.Stat(path)
		if statErr != nil {
			return err
		}
		if root.Remove(path) != nil {
			return err
		}
		return create(root, path, content, info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func create(root *os.Root, path string, content []byte, mode fs.FileMode) error {
	if dir := filepath.Dir(path); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

func send(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) }

func receive(r io.Reader, v any) error { return gob.NewDecoder(r).Decode(v) }
