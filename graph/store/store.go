// Package store keeps the records of a workspace's files in one bbolt file in
// the user's cache folder, so that a start reads only what changed since.
//
// It owns that file: its schema, its lock, what happens when it is damaged,
// foreign or cannot be written. What it gives back is exactly what it was given
// for that path, or nothing; whether that still fits the file is its caller's to
// judge, by stamp or hash. Losing the file costs time and nothing else, so every
// fault ends with an empty or missing file and a note in words.
//
// Open begins one goroutine, the only one that touches the file; Close ends it.
// It knows neither languages nor LSP.
package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"
)

// Options are the settings of a Store.
type Options struct {
	// Dir is the folder of all stores; it is made with mode 0700.
	Dir string
	// Root is the workspace's absolute folder; paths are relative to it.
	Root string
	Log  *slog.Logger
	// LockWait is how long another process may hold the file (default 1 s).
	LockWait time.Duration
	// MaxBytes bounds the file (default 4 GiB).
	MaxBytes int64
	// Delay is how long changes are gathered before they are written (default 300 ms).
	Delay time.Duration
}

// Hash identifies a file's content.
type Hash = [sha256.Size]byte

// Entry is what is kept of one file.
type Entry struct {
	Hash   Hash
	Stamp  string // tells by a look that the content is still that of Hash; opaque, empty for none
	Maker  string // what the record was made by and for; opaque
	Record string
}

// Store keeps entries by path. Its methods are safe for concurrent use and,
// but for Entries, Flush and Close, never wait for the disk.
type Store struct {
	o      Options
	path   string
	stop   context.CancelFunc
	done   chan struct{}
	loaded chan struct{}
	wake   chan struct{} // one token: there is something to do

	mu      sync.Mutex // guards what follows
	entries map[string]Entry
	pending map[string]change
	bytes   int           // of the pending records
	reset   bool          // the file is to be made anew
	refused bool          // there is no file that could take anything
	idle    chan struct{} // closed when nothing is pending
	status  Status
}

// change is what is to be written of one path.
type change struct {
	entry Entry
	stamp bool // only the stamp
	gone  bool
}

// Status tells how a Store fares.
type Status struct {
	File    string
	Saving  bool     // the file takes what it is given
	Bytes   int64    // size of the file
	Loaded  int      // entries that were there at the start
	Pending int      // paths that are not written yet
	Written int      // paths that were written
	Notes   []string // what the user should know, in words
}

// Open begins to read the store of a workspace. It does not fail: a store that
// cannot be used is empty, forgets what it is given, and says so in its Status.
func Open(o Options) *Store {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LockWait <= 0 {
		o.LockWait = time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 30
	}
	if o.Delay <= 0 {
		o.Delay = 300 * time.Millisecond
	}
	sum := sha256.Sum256([]byte(o.Root))
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{
		o: o, path: filepath.Join(o.Dir, hex.EncodeToString(sum[:12])+".db"), stop: stop,
		done: make(chan struct{}), loaded: make(chan struct{}), wake: make(chan struct{}, 1),
		pending: map[string]change{}, idle: make(chan struct{}),
	}
	s.status.File = s.path
	close(s.idle)
	go s.run(ctx)
	return s
}

// Close writes what is pending and ends the store.
func (s *Store) Close() {
	s.stop()
	<-s.done
}

// Entries waits until the file is read and returns what it held, by path
// relative to the root. The map is the caller's; a second call returns nothing.
func (s *Store) Entries(ctx context.Context) (map[string]Entry, error) {
	select {
	case <-s.loaded:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.entries
	s.entries = nil
	return out, nil
}

// Put keeps an entry under a path relative to the root.
func (s *Store) Put(path string, e Entry) { s.change(path, change{entry: e}) }

// Stamp keeps a stamp for a path whose entry has the same hash already.
func (s *Store) Stamp(path string, hash Hash, stamp string) {
	s.change(path, change{entry: Entry{Hash: hash, Stamp: stamp}, stamp: true})
}

// Delete forgets a path.
func (s *Store) Delete(path string) { s.change(path, change{gone: true}) }

// maxKey is the longest path that is kept, in bytes.
const maxKey = 16 << 10

func (s *Store) change(path string, c change) {
	if path == "" || len(path) > maxKey {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused {
		return
	}
	before, known := s.pending[path]
	if c.stamp && known && !before.stamp {
		if before.gone || before.entry.Hash != c.entry.Hash {
			return
		}
		before.entry.Stamp = c.entry.Stamp
		c = before
	}
	if len(s.pending) == 0 {
		s.idle = make(chan struct{})
	}
	s.bytes += len(c.entry.Record) - len(before.entry.Record)
	s.pending[path] = c
	s.signal()
}

// signal wakes run; it never blocks.
func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Reset forgets everything that was kept and makes the file anew.
func (s *Store) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	s.reset, s.refused = true, false
	s.idle = make(chan struct{})
	s.signal()
}

// drop gives up what is pending; mu is held.
func (s *Store) drop() {
	clear(s.pending)
	s.bytes = 0
	s.settled()
}

// settled tells those who wait that nothing is pending; mu is held.
func (s *Store) settled() {
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

// Flush waits until everything that was given is written, or given up.
func (s *Store) Flush(ctx context.Context) error {
	for {
		s.mu.Lock()
		idle, pending := s.idle, len(s.pending) > 0 || s.reset
		s.mu.Unlock()
		if !pending {
			return nil
		}
		select {
		case <-idle:
		case <-s.done:
			return errClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errClosed = errors.New("the store is closed")

// Status returns how the store fares.
func (s *Store) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Pending = len(s.pending)
	out.Notes = append([]string(nil), s.status.Notes...)
	return out
}

// note tells the user something.
func (s *Store) note(text string) {
	s.o.Log.Warn("saved index", "root", s.o.Root, "note", text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Notes = append(s.status.Notes, text)
}
