package view

import (
	"errors"
	"fmt"
	"io/fs"
)

// Errors of a View. Those that are types unwrap to one of these.
var (
	// ErrTooLarge says that a file is larger than Options.MaxFile.
	ErrTooLarge = errors.New("file is too large")
	// ErrNotRegular says that a path leads to a folder, pipe, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrFolder is an ErrNotRegular: the path leads to a folder.
	ErrFolder = fmt.Errorf("a folder, and %w", ErrNotRegular)
	// ErrOutside says that a path lies outside the workspace where that is not allowed.
	ErrOutside = errors.New("path is outside the workspace")
	// ErrPath says that a path is not absolute and clean.
	ErrPath = errors.New("path is not absolute and clean")
	// ErrRootGone says that the workspace's folder is gone, or that another
	// folder stands in its place, which is not read.
	ErrRootGone = errors.New("the folder of the workspace is gone or was replaced")
	// ErrOwned says that another client has the document open with other text.
	ErrOwned = errors.New("document is open in another client")
	// ErrNotOpen says that the client does not have the document open.
	ErrNotOpen = errors.New("document is not open")
	// ErrVersion says that a document's version does not rise.
	ErrVersion = errors.New("document version does not rise")
	// ErrStale says that a file changed after the Snapshot that was to read it.
	ErrStale = errors.New("file changed since the snapshot")
	// ErrClosed says that the View is closed.
	ErrClosed = errors.New("view is closed")
)

// notRegular is ErrNotRegular, or ErrFolder, of what a path leads to.
func notRegular(path string, mode fs.FileMode) error {
	if mode.IsDir() {
		return fmt.Errorf("%s is %w", path, ErrFolder)
	}
	return fmt.Errorf("%s: %w", path, ErrNotRegular)
}

// TooLargeError is ErrTooLarge with the sizes in bytes.
type TooLargeError struct {
	Path        string
	Size, Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, the limit is %d", e.Path, e.Size, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// OwnedError is ErrOwned with the client that owns the text.
type OwnedError struct{ Path, Owner string }

func (e *OwnedError) Error() string {
	return fmt.Sprintf("%s is open in %s with other text: save or close it there first", e.Path, e.Owner)
}

// Unwrap returns ErrOwned.
func (e *OwnedError) Unwrap() error { return ErrOwned }

// StaleError is ErrStale with the path.
type StaleError struct{ Path string }

func (e *StaleError) Error() string { return e.Path + " changed since the snapshot" }

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }
