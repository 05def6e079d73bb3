package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	berrors "go.etcd.io/bbolt/errors"
)

// batchBytes is how much is written in one transaction, about.
const batchBytes = 8 << 20

// closeTime bounds how long Close writes what is pending; a stop must not wait
// for a first index of a large workspace. What is left is read anew next time.
const closeTime = 2 * time.Second

// run opens and reads the file, and then writes what it is given.
func (s *Store) run(ctx context.Context) {
	defer close(s.done)
	db, entries := s.open()
	s.mu.Lock()
	s.entries, s.status.Loaded = entries, len(entries)
	s.mu.Unlock()
	close(s.loaded)
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
		s.mu.Lock()
		hurry := s.bytes > batchBytes || s.reset
		s.mu.Unlock()
		if !hurry {
			timer.Reset(s.o.Delay)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			s.work(&db, time.Now().Add(closeTime))
			s.shut(db)
			s.refuse()
			return
		}
		s.work(&db, time.Time{})
	}
}

// work writes everything that is pending, until a time if that is set.
func (s *Store) work(db **file, until time.Time) {
	s.mu.Lock()
	reset := s.reset
	s.reset = false
	s.mu.Unlock()
	if reset {
		s.shut(*db)
		if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.note(fmt.Sprintf("the saved index %s cannot be removed: %v", s.path, err))
		}
		*db, _ = s.open()
	}
	for {
		batch := s.take()
		if len(batch) == 0 || !until.IsZero() && time.Now().After(until) {
			return
		}
		if *db == nil {
			continue // there is no file
		}
		err := (*db).write(batch)
		s.mu.Lock()
		if err == nil {
			s.status.Written += len(batch)
		}
		s.mu.Unlock()
		if err != nil {
			s.fail(*db, err)
			*db = nil
			continue
		}
		s.measure()
	}
}

// take returns a batch of what is pending, in order of path.
func (s *Store) take() []keyed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		s.settled()
		return nil
	}
	paths := make([]string, 0, len(s.pending))
	for p := range s.pending {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var out []keyed
	for size := 0; len(paths) > 0 && size < batchBytes; paths = paths[1:] {
		c := s.pending[paths[0]]
		delete(s.pending, paths[0])
		s.bytes -= len(c.entry.Record)
		size += len(c.entry.Record) + 200
		out = append(out, keyed{paths[0], c})
	}
	return out
}

type keyed struct {
	path string
	change
}

// fail goes on without the file. What it holds stays true of what it was made
// from, and is judged by that at the next start, unless it is damaged. Who waits
// for a flush hears why: the note is there before the wait ends.
func (s *Store) fail(db *file, err error) {
	switch {
	case errors.Is(err, errDamaged):
		_ = db.lock.Close() // bbolt may hold its own locks for ever
		s.note(s.aside(err) + "; the index is kept in memory only until the daemon starts anew")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, berrors.ErrMaxSizeReached):
		s.shut(db)
		s.note(fmt.Sprintf("there is no space to save the index at %s: it is kept in memory only, and files are read again after a restart; make space and run `auractl index rebuild`", s.path))
	default:
		s.shut(db)
		s.note(fmt.Sprintf("the index cannot be saved at %s and is kept in memory only: %v", s.path, err))
	}
	s.refuse()
}

// refuse gives up what is pending and all that will be given.
func (s *Store) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	s.refused, s.status.Saving = true, false
}

// measure notes the size of the file.
func (s *Store) measure() {
	info, err := os.Stat(s.path)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Bytes = info.Size()
}

// shut closes the file.
func (s *Store) shut(db *file) {
	if db == nil {
		return
	}
	if err := guard(db.db.Close); err != nil {
		s.o.Log.Warn("close the saved index", "file", s.path, "error", err)
	}
}

// errDamaged says that the file is not what this package wrote.
var errDamaged = errors.New("it is damaged")

// guard calls f, which may touch the mapped file: a page that is gone or that
// makes no sense is an error and no crash.
func guard(f func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	return f()
}
