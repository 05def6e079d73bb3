package view

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// file is what is known of one path on disk.
type file struct {
	path string
	io   sync.Mutex // serialises looks at the disk; taken before View.mu
	fact            // guarded by View.mu, written only with io held as well

	dead         bool   // left the map: look the path up again
	content      []byte // in the cache, nil when it is not
	older, newer *file  // neighbours in the cache
}

// fact is what the last look at a path found, and what follows from its place.
type fact struct {
	seen    bool   // somebody has looked
	covered bool   // the watcher tells of it, so that Open's list knew it if it was there
	indexed bool   // it belongs to Files, Glob and Grep if it is there
	real    string // without symbolic links, empty when that was not found out
	exists  bool   // there is a regular file
	stamp   watch.Stamp
	racy    bool // an equal stamp proves nothing
	hashed  bool
	hash    text.Hash
	err     error  // why there is no text
	seq     uint64 // entry that brought the text
}

// plain reports whether there is a file of which the text is known, or can be.
func (f *fact) plain() bool { return f.exists && f.err == nil }

// lock returns the file of a path, which is made if need be, with io held.
func (v *View) lock(path string) *file {
	for {
		v.mu.Lock()
		f := v.files[path]
		v.mu.Unlock()
		if f == nil {
			f = v.make(path, v.covers(path))
		}
		f.io.Lock()
		v.mu.Lock()
		dead := f.dead
		v.mu.Unlock()
		if !dead {
			return f
		}
		f.io.Unlock()
	}
}

// make adds a file to the map, unless somebody else has by now.
func (v *View) make(path string, covered bool) *file {
	made := &file{path: path}
	made.covered = covered
	made.indexed = covered && !v.rules.unlisted(path)
	made.err = missing(path)
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.files[path]; f != nil {
		return f
	}
	v.files[path] = made
	v.count(path, 1)
	return made
}

// count keeps the number of what is known in each folder of the workspace, its
// files and the folders that hold any; mu is held.
func (v *View) count(path string, n int) {
	for path != v.root && v.holds(path) {
		dir := parent(path)
		was := v.below[dir]
		if v.below[dir] = was + n; was+n == 0 {
			delete(v.below, dir)
		}
		if was != 0 && was+n != 0 {
			return // the folders above hold this one as before
		}
		path = dir
	}
}

// covers reports whether the watcher tells of a path.
func (v *View) covers(path string) bool {
	return !isLitter(filepath.Base(path)) && v.coversDir(filepath.Dir(path))
}

// coversDir reports whether the watcher tells of the files in a folder.
func (v *View) coversDir(dir string) bool {
	if !v.holds(dir) || v.rules.skipped(dir) {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err != nil || real == dir
}

// unlock ends a look. A file that is not there is forgotten, unless its
// absence is news that only its entry in the map can tell.
func (v *View) unlock(f *file) {
	v.mu.Lock()
	if !f.exists && (f.covered || f.seq == 0) && v.buffers[f.path] == nil {
		f.dead = true
		delete(v.files, f.path)
		v.count(f.path, -1)
		v.cache.remove(f)
	}
	v.mu.Unlock()
	f.io.Unlock()
}

// look brings f up to what is on disk, with f.io held, and logs a change of
// its text. With want it returns the content.
func (v *View) look(f *file, want bool) []byte {
	next := fact{seen: true, covered: f.covered, indexed: f.indexed, real: f.real, seq: f.seq}
	next.stamp, next.err = watch.Lstat(f.path)
	link := next.err == nil && next.stamp.Mode&fs.ModeSymlink != 0
	if link {
		next.stamp, next.err = watch.Stat(f.path)
	}
	same := next.err == nil && f.exists && f.stamp == next.stamp && !f.racy
	if same && (!want || errors.Is(f.err, ErrTooLarge)) {
		return nil
	}
	if same && f.hashed {
		if data := v.cached(f); data != nil {
			return data
		}
	}
	if next.err == nil && (link || next.real == "" || f.stamp.ID != next.stamp.ID) {
		next.real, next.err = filepath.EvalSymlinks(f.path)
	}
	var data []byte
	switch {
	case next.err != nil:
	case !next.stamp.Mode.IsRegular():
		next.err = notRegular(f.path, next.stamp.Mode)
	case next.stamp.Size > v.opts.MaxFile:
		next.exists, next.err = true, &TooLargeError{f.path, next.stamp.Size, v.opts.MaxFile}
	case want || f.hashed || f.indexed:
		data = v.load(f.path, &next)
	default:
		next.exists, next.racy = true, next.stamp.Racy(time.Now())
	}
	v.commit(f, next, data, want)
	return data
}

// cached returns the content of f if it is in the cache, as the youngest.
func (v *View) cached(f *file) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f.content != nil {
		v.cache.use(f)
	}
	return f.content
}

// load reads and hashes a file. A file that changes while it is read is read
// again; its last reading counts as racy, so that nobody relies on it for long.
func (v *View) load(path string, next *fact) []byte {
	const tries = 5
	for try := 1; ; try++ {
		began := time.Now()
		data, before, after, err := readRegular(path, nil, v.opts.MaxFile)
		if err != nil {
			// An unreadable file exists, though its text is not known.
			next.exists = !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrNotRegular)
			next.hashed, next.err = false, err
			return nil
		}
		if before != after && try < tries {
			continue
		}
		next.exists, next.stamp = true, after
		next.hash, next.hashed = text.Sum(data), true
		next.racy = before != after || after.Racy(began)
		return data
	}
}

// commit takes over what was found and logs it if the text is another now.
func (v *View) commit(f *file, next fact, data []byte, keep bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := f.fact
	f.fact = next
	v.cache.remove(f)
	if keep && data != nil {
		v.cache.add(f, data)
	}
	if f.plain() != was.plain() || f.real != was.real {
		v.list = nil
	}
	v.alias(f)
	if v.buffers[f.path] == nil { // else the text is the buffer's
		v.record(f, was)
	}
}

// alias notes that f is a link, so that news of its target are news of it; mu is held.
func (v *View) alias(f *file) {
	if f.exists && f.real != f.path && !slices.Contains(v.aliases[f.real], f.path) {
		v.aliases[f.real] = append(v.aliases[f.real], f.path)
	}
}

// record logs what became of f on disk; mu is held.
func (v *View) record(f *file, was fact) {
	switch {
	case was.exists && !f.exists:
		f.seq = v.log.append(Entry{Path: f.path, Kind: Deleted})
	case !was.exists && !f.exists:
	case !was.exists:
		// A first look at a file of which the watcher does not tell is no news.
		if was.seen || was.covered {
			f.seq = v.log.append(Entry{Path: f.path, Kind: Created, Hash: f.hash})
		}
	case was.hashed && f.hashed && was.hash == f.hash:
	case was.hashed != f.hashed && was.stamp == f.stamp && !was.racy:
		// The hash of an unchanged file was found out.
	case !was.hashed && !f.hashed && was.stamp == f.stamp && !was.racy:
	default:
		f.seq = v.log.append(Entry{Path: f.path, Kind: Changed, Hash: f.hash})
	}
}
