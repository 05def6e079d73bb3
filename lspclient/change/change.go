// Package change owns change.Set, the one form in which a plan says what is to
// happen to files: ordered creates, renames, deletes and byte edits.
//
// It is pure data and pure functions: no disk, no daemon, no goroutines.
package change

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/auralsp/aura/lspclient/text"
)

// Kind says what an Op does.
type Kind uint8

// The kinds of an Op.
const (
	Edit   Kind = iota // replace bytes of an existing file
	Create             // make a new file that holds Content
	Rename             // move a file from Path to NewPath
	Delete             // remove a file
)

// String returns the kind as operations answer it.
func (k Kind) String() string {
	return [...]string{"modify", "create", "rename", "delete"}[k]
}

// Op is one step of a Set. Paths are absolute, cleaned and decoded.
type Op struct {
	Kind    Kind
	Path    string
	NewPath string      // Rename: where to
	Edits   []text.Edit // Edit: byte offsets into the file as the steps before left it
	Content []byte      // Create: the bytes of the new file
	// Overwrite lets Create and Rename replace a file that exists.
	Overwrite bool
	// IgnoreMissing lets Delete pass over a file that does not exist, and
	// IgnoreExisting lets Create and Rename do nothing when the target does.
	IgnoreMissing, IgnoreExisting bool
}

// Set is an ordered list of steps. The zero value changes nothing.
type Set struct {
	Ops []Op
}

// Empty reports whether the set has no steps.
func (s Set) Empty() bool { return len(s.Ops) == 0 }

// Append returns the steps of s followed by those of next: next's offsets are
// into the files as s left them.
func (s Set) Append(next Set) Set {
	return Set{Ops: append(s.Ops[:len(s.Ops):len(s.Ops)], next.Ops...)}
}

// Errors of Resolve and Merge, wrapped with the path.
var (
	// ErrExists says that a Create or Rename would replace a file.
	ErrExists = errors.New("file exists already")
	// ErrMissing says that a step needs a file that does not exist.
	ErrMissing = errors.New("no such file")
	// ErrPath says that a step's path is not absolute and clean.
	ErrPath = errors.New("path is not absolute and clean")
	// ErrConflict says that two sets ask for different things of one file.
	ErrConflict = errors.New("changes conflict")
)

// File is what a resolved Set does to one file. Paths are absolute.
type File struct {
	Kind    Kind        // Edit, Create, Rename (with or without edits) or Delete
	Path    string      // where the file is now; for Create, where it will be
	NewPath string      // Rename: where it will be
	Before  []byte      // content now; nil for Create
	After   []byte      // content then; nil for Delete
	Edits   []text.Edit // from Before to After, sorted; empty for Create and Delete
}

// Target returns where the file is after the change.
func (f File) Target() string {
	if f.Kind == Rename {
		return f.NewPath
	}
	return f.Path
}

// ReadFunc returns the current content of an absolute path, or an error that
// is fs.ErrNotExist when there is no such file.
type ReadFunc func(path string) ([]byte, error)

func checkPath(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%q: %w", path, ErrPath)
	}
	return nil
}
