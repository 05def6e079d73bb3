package recipe

import (
	"net/url"
	"path/filepath"

	"github.com/auralsp/aura/adapters"
)

// Watched is LSP's notification that files changed on disk.
const Watched = "workspace/didChangeWatchedFiles"

// LSP's kinds of a change on disk.
const (
	FileCreated = iota + 1
	FileChanged
	FileDeleted
)

// FileEvent is one file of FileEvents.
type FileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// FileEvents are the params of Watched.
type FileEvents struct {
	Changes []FileEvent `json:"changes"`
}

// EventOf says of a file what LSP does.
func EventOf(c adapters.FileChange) FileEvent {
	e := FileEvent{URI: FileURI(c.Path), Type: FileChanged}
	switch {
	case c.Deleted:
		e.Type = FileDeleted
	case c.Created:
		e.Type = FileCreated
	}
	return e
}

// FileURI returns the URI of an absolute path.
func FileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// Tell makes the notification of the events; nothing of none.
func Tell(events []FileEvent) []adapters.Message {
	if len(events) == 0 {
		return nil
	}
	return []adapters.Message{{Method: Watched, Params: FileEvents{events}}}
}
