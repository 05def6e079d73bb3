package view

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// pending is what the watcher told and nobody has looked at yet.
type pending struct {
	list  []string            // of a single batch, until another comes
	paths map[string]struct{} // of several
	full  bool                // these are all there is
}

func (p *pending) add(paths []string) {
	switch {
	case p.paths == nil && p.list == nil:
		p.list = paths
		return
	case p.paths == nil:
		p.paths = make(map[string]struct{}, len(p.list)+len(paths))
	}
	for _, list := range [][]string{p.list, paths} {
		for _, path := range list {
			p.paths[path] = struct{}{}
		}
	}
	p.list = nil
}

// deliver takes a batch on the watcher's goroutine.
func (v *View) deliver(b watch.Batch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gone = b.Lost
	if b.Full || b.Lost {
		v.pending = pending{full: b.Full}
	}
	v.pending.add(b.Paths)
	v.signal()
}

// take returns what is pending, in order of path.
func (v *View) take() (paths []string, full, gone bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pending
	v.pending = pending{}
	paths = p.list
	if paths == nil {
		paths = slices.Collect(maps.Keys(p.paths))
	}
	slices.Sort(paths)
	return paths, p.full, v.gone
}

// begin takes the watcher's first list as the state at sequence number 0.
func (v *View) begin(ctx context.Context) error {
	paths, _, _ := v.take()
	each(ctx, paths, func(path string) {
		f := v.make(path, true)
		f.io.Lock()
		defer v.unlock(f)
		stamp, err := watch.Lstat(path)
		next := fact{seen: true, covered: true, indexed: f.indexed, real: path, exists: true, stamp: stamp}
		if err == nil && stamp.Mode&fs.ModeSymlink != 0 {
			if next.stamp, err = watch.Stat(path); err == nil {
				next.real, err = filepath.EvalSymlinks(path)
			}
		}
		switch {
		case err != nil || !next.stamp.Mode.IsRegular():
			return // gone, of which the watcher will tell, or no text
		case next.stamp.Size > v.opts.MaxFile:
			next.err = &TooLargeError{path, next.stamp.Size, v.opts.MaxFile}
		case next.stamp.Racy(time.Now()):
			// Its stamp will not show the next change, so its hash must.
			next.racy = true
			if f.indexed {
				v.load(path, &next)
			}
		}
		v.mu.Lock()
		f.fact = next
		v.alias(f)
		v.mu.Unlock()
	})
	return ctx.Err()
}

// apply looks at everything that is pending and logs what changed. Changed rules
// of what to ignore make the watcher list everything anew.
func (v *View) apply(ctx context.Context) error {
	v.applying.Lock()
	defer v.applying.Unlock()
	paths, full, gone := v.take()
	if gone {
		return fmt.Errorf("%s: %w", v.root, ErrRootGone)
	}
	if len(paths) == 0 && !full {
		return nil
	}
	if err := v.checkRoot(); err != nil {
		v.watched.Refresh() // a Full batch follows when it is back
		return err
	}
	if full && v.rules.outdated(paths) || !full && slices.ContainsFunc(paths, isRules) {
		v.refresh()
	}
	if full {
		v.relist()
		paths = v.andKnown(paths)
	}
	each(ctx, v.andRelated(paths, full), v.verify)
	if ctx.Err() != nil {
		v.putBack(paths, full)
	}
	return ctx.Err()
}

// refresh has the watcher list everything anew, by the rules of now.
func (v *View) refresh() {
	v.rules.forget()
	v.mu.Lock()
	v.relists++
	v.mu.Unlock()
	v.watched.Refresh()
}

// putBack makes paths pending again after a look that was broken off.
func (v *View) putBack(paths []string, full bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending.full = v.pending.full || full
	v.pending.add(paths)
	v.signal()
}

// signal wakes run; it never blocks.
func (v *View) signal() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// verify looks at one path that the watcher told of.
func (v *View) verify(path string) {
	v.make(path, true)
	f := v.lock(path)
	defer v.unlock(f)
	if !f.covered {
		// It was first read when its folder seemed to be left out.
		indexed := !v.rules.unlisted(path)
		v.mu.Lock()
		f.covered, f.indexed = true, indexed
		if f.exists && v.buffers[path] == nil {
			f.seq = v.log.append(Entry{Path: path, Kind: Created, Hash: f.hash})
		}
		v.list = nil
		v.mu.Unlock()
	}
	v.look(f, false)
}

// andKnown adds the known files that the watcher tells of.
func (v *View) andKnown(paths []string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for path, f := range v.files {
		if f.covered {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// andRelated adds the links that lead to one of the paths, and the known files
// below those that are, or were, folders. In a full list these are contained.
func (v *View) andRelated(paths []string, full bool) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var more []string
	folders := map[string]bool{}
	for _, p := range paths {
		more = append(more, v.aliases[p]...)
		if !full && v.below[p] > 0 {
			folders[p] = true
		}
	}
	if len(folders) > 0 {
		for path := range v.files {
			for dir := filepath.Dir(path); len(dir) > len(v.root); dir = filepath.Dir(dir) {
				if folders[dir] {
					more = append(more, path)
					break
				}
			}
		}
	}
	if len(more) == 0 {
		return paths
	}
	more = append(more, paths...)
	slices.Sort(more)
	return slices.Compact(more)
}

// relist decides anew which files are listed.
func (v *View) relist() {
	v.mu.Lock()
	var files []*file
	for _, f := range v.files {
		files = append(files, f)
	}
	v.mu.Unlock()
	covers := map[string]bool{} // by folder
	for _, f := range files {
		dir := filepath.Dir(f.path)
		inside, known := covers[dir]
		if !known {
			inside = v.coversDir(dir)
			covers[dir] = inside
		}
		covered := inside && !isLitter(filepath.Base(f.path))
		indexed := covered && !v.rules.unlisted(f.path)
		f.io.Lock()
		v.mu.Lock()
		if f.indexed != indexed && f.exists && v.buffers[f.path] == nil {
			// Who keeps an index has to look at it again.
			v.log.append(Entry{Path: f.path, Kind: Changed, Hash: f.hash})
		}
		f.covered, f.indexed = covered, indexed
		v.list = nil
		v.mu.Unlock()
		f.io.Unlock()
	}
}

// Wrote takes over what our own transaction put on disk and returns the number
// of the last entry. What the watcher tells of it later has the same hashes
// and is dropped.
func (v *View) Wrote(ctx context.Context, files []change.File) uint64 {
	for _, c := range files {
		switch c.Kind {
		case change.Delete:
			v.wrote(c.Path, nil, false)
		case change.Rename:
			v.wrote(c.Path, nil, false)
			v.wrote(c.NewPath, c.After, true)
		default:
			v.wrote(c.Path, c.After, true)
		}
	}
	return v.Seq()
}

func (v *View) wrote(path string, after []byte, exists bool) {
	f := v.lock(path)
	defer v.unlock(f)
	v.mu.Lock()
	defer v.mu.Unlock()
	was := f.fact
	v.cache.remove(f)
	// Without a stamp the next look reads the file and compares the hash: it may
	// have been changed again already.
	f.seen, f.exists, f.stamp, f.racy, f.err = true, exists, watch.Stamp{}, true, nil
	f.hashed, f.hash = exists, text.Hash{}
	if exists {
		f.hash = text.Sum(after)
	} else {
		f.err = missing(path)
	}
	v.list = nil
	if v.buffers[path] == nil {
		v.record(f, was)
	}
	v.doubt(path)
}

// each calls do for every path, from several goroutines when there are many,
// and returns when all calls have. It stops early when ctx ends.
func each(ctx context.Context, paths []string, do func(path string)) {
	workers := min(runtime.GOMAXPROCS(0), len(paths)/16)
	if workers < 2 {
		for _, p := range paths {
			if ctx.Err() != nil {
				return
			}
			do(p)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(paths) {
					return
				}
				do(paths[i])
			}
		})
	}
	wg.Wait()
}
