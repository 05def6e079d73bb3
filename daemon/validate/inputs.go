package validate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Bounds of what is read to know a project's inputs by content.
const (
	maxInputs = 50_000  // files; a larger project is built each time
	maxHashed = 4 << 20 // bytes; a larger file is known by its size and times
)

// errTooMany says that a tree has more than maxInputs files.
var errTooMany = errors.New("too many files")

// inputs knows the content of the files below some folders, without reading
// one again whose size, times and inode are as they were.
type inputs struct {
	mu   sync.Mutex           // guards the rest
	seen map[string]identity  // by absolute path
	huge map[string]time.Time // roots of trees with too many files, and when that was found
}

func newInputs() *inputs {
	return &inputs{seen: make(map[string]identity), huge: make(map[string]time.Time)}
}

// identity is a file's content as last read, and how it looked then.
type identity struct {
	stamp stamp
	hash  text.Hash
}

// state is the content of a set of files at one time.
type state map[string]text.Hash

// read returns the state of the regular files and links below the folders, and
// when one of them or a folder changed last. Folders of version control are
// not inputs.
func (in *inputs) read(ctx context.Context, folders []string) (st state, changed time.Time, err error) {
	if in.large(folders) {
		return nil, changed, errTooMany
	}
	st = make(state)
	note := func(info fs.FileInfo) stamp {
		s := stampOf(info)
		if at := time.Unix(0, s.ctime); at.After(changed) { // mtime can be set to anything
			changed = at
		}
		return s
	}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist): // gone since it was listed
				return nil
			case err != nil:
				return err
			case d.IsDir() && path != folder && versionControl(d.Name()):
				return fs.SkipDir
			case len(st) >= maxInputs:
				in.tooLarge(folders)
				return errTooMany
			}
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			now := note(info)
			switch {
			case d.Type()&fs.ModeSymlink != 0:
				target, err := os.Readlink(path)
				st[path] = text.Sum([]byte("link " + target))
				return err
			case !d.Type().IsRegular():
				return nil
			}
			h, err := in.hash(path, now)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			st[path] = h
			return err
		})
		if err != nil {
			return nil, changed, err
		}
	}
	in.forget(st, folders)
	return st, changed, nil
}

// large reports whether the folders were found too large a short while ago.
func (in *inputs) large(folders []string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return time.Since(in.huge[folders[0]]) < 10*time.Minute
}

func (in *inputs) tooLarge(folders []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.huge[folders[0]] = time.Now()
}

func versionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".aura":
		return true
	}
	return false
}

func (in *inputs) hash(path string, now stamp) (text.Hash, error) {
	in.mu.Lock()
	known, ok := in.seen[path]
	in.mu.Unlock()
	if ok && known.stamp == now {
		return known.hash, nil
	}
	h, err := hashFile(path, now)
	if err != nil {
		return h, err
	}
	// A file that was written within the resolution of its times may be written
	// once more without a trace: it is read again the next time.
	if now.settled() {
		in.mu.Lock()
		in.seen[path] = identity{now, h}
		in.mu.Unlock()
	}
	return h, nil
}

func hashFile(path string, s stamp) (text.Hash, error) {
	if s.size > maxHashed {
		return text.Sum(s.bytes()), nil
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) { // the build cannot read it either
		return text.Sum(s.bytes()), nil
	}
	return text.Sum(content), err
}

// forget drops what is known of files below the folders that are gone.
func (in *inputs) forget(keep state, folders []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	maps.DeleteFunc(in.seen, func(path string, _ identity) bool {
		_, ok := keep[path]
		return !ok && slices.ContainsFunc(folders, func(dir string) bool { return within(dir, path) })
	})
}

// after returns the state once the files are changed.
func (st state) after(files []change.File) state {
	next := maps.Clone(st)
	for _, f := range files {
		if f.Kind == change.Delete || f.Kind == change.Rename {
			delete(next, f.Path)
		}
	}
	for _, f := range files {
		if f.Kind != change.Delete {
			next[f.Target()] = text.Sum(f.After)
		}
	}
	return next
}

// sum adds the state to h, in order of path.
func (st state) sum(h hash.Hash) {
	for _, path := range slices.Sorted(maps.Keys(st)) {
		part := st[path]
		field(h, path)
		h.Write(part[:])
	}
}

// field adds a string to h so that no two lists of strings add alike.
func field(h hash.Hash, s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// key identifies one check of one state by everything that decides its result
// and that can be known: the content of the files, the command, its program and
// its environment.
type key [sha256.Size]byte

func keyOf(st state, c command) key {
	h := sha256.New()
	field(h, c.dir)
	for _, arg := range c.argv {
		field(h, arg)
	}
	if info, err := os.Stat(c.argv[0]); err == nil {
		h.Write(stampOf(info).bytes())
	}
	field(h, "environment")
	for _, kv := range slices.Sorted(slices.Values(c.env)) {
		field(h, kv)
	}
	field(h, "files")
	st.sum(h)
	return key(h.Sum(nil))
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
