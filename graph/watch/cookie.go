package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// cookie is a file that is written to on purpose: when its notification comes
// out of the kernel's queue, those of all earlier changes have come out too.
//
// The file is unlinked as soon as it is watched, so that nobody can take it
// away and nothing is left behind. One write is in flight at a time, which
// makes a notification's meaning certain; whoever asks meanwhile shares the next.
type cookie struct {
	fs     *fsnotify.Watcher
	prefix string // what the paths of cookies begin with

	mu       sync.Mutex // guards what follows; taken by drain, so nothing slow is done under it
	file     *os.File
	path     string
	serial   int
	inflight *round
	next     *round
}

// round is one write and those who wait for it.
type round struct {
	done   chan struct{}
	lost   chan struct{} // closed when its notification may never come
	gaveUp bool          // lost is closed; guarded by cookie.mu
}

func newRound() *round {
	return &round{done: make(chan struct{}), lost: make(chan struct{})}
}

func (r *round) giveUp() {
	if !r.gaveUp {
		r.gaveUp = true
		close(r.lost)
	}
}

func newCookie(dir string, instance *fsnotify.Watcher) (*cookie, error) {
	if dir == "" {
		return nil, errors.New("no folder for the barrier's file")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &cookie{fs: instance, prefix: filepath.Join(filepath.Clean(dir), ".barrier-")}
	return c, c.renew()
}

// renew takes a new file. Late notifications of the old one have another path.
func (c *cookie) renew() error {
	file, err := os.CreateTemp(filepath.Dir(c.prefix), filepath.Base(c.prefix)+fmt.Sprintf("%d-*", c.serial))
	if err != nil {
		return err
	}
	err = c.fs.Add(file.Name())
	if err := errors.Join(err, os.Remove(file.Name())); err != nil {
		return errors.Join(err, file.Close())
	}
	if c.file != nil {
		// Closing the last file of an unlinked inode ends its watch.
		if err := c.file.Close(); err != nil {
			return err
		}
	}
	c.serial++
	c.file, c.path = file, file.Name()
	return nil
}

func (c *cookie) isMine(path string) bool { return strings.HasPrefix(path, c.prefix) }

// seen is called by drain for a notification of the cookie at path.
func (c *cookie) seen(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path != c.path || c.inflight == nil {
		return
	}
	close(c.inflight.done)
	c.inflight = nil
	if r := c.next; r != nil {
		c.next = nil
		_ = c.start(r) // who waits for r hears of it by r.lost
	}
}

// drop is called by drain when notifications were lost: the cookie's may be among them.
func (c *cookie) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflight != nil {
		c.inflight.giveUp()
	}
}

// start puts r in flight; mu is held.
func (c *cookie) start(r *round) error {
	c.inflight = r
	if _, err := c.file.WriteAt([]byte{0}, 0); err != nil {
		r.giveUp()
		return err
	}
	return nil
}

// join returns the first round that starts after the call.
func (c *cookie) join() (*round, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = newRound()
	}
	r := c.next
	switch {
	case c.inflight == nil:
	case c.inflight.gaveUp:
		if err := c.renew(); err != nil {
			return nil, err
		}
	default:
		return r, nil
	}
	c.next = nil
	return r, c.start(r)
}

// wait returns when the notifications of everything that happened before the
// call have been handed to the roots.
func (c *cookie) wait(ctx context.Context) error {
	for {
		r, err := c.join()
		if err != nil {
			return fmt.Errorf("watch: barrier: %w", err)
		}
		select {
		case <-r.done:
			return nil
		case <-r.lost:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *cookie) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.Close()
}
