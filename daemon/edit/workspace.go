package edit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

const (
	identityName = "identity"
	lockName     = "lock"
	// stagingGit and stagingFallback hold the staging folders.
	stagingGit      = ".git/aura"
	stagingFallback = ".aura"
)

// workspace is one root with its journal.
type workspace struct {
	e      *Engine
	root   string // canonical
	dir    Dir
	id     Info
	home   Dir // its folder in the user's state
	where  string
	lock   io.Closer
	secret []byte
	// plain says that the file system cannot exchange two names.
	plain atomic.Bool
	// staging is held while the folders of the staging folders come or go;
	// durable has those whose own names are known to be on the disk.
	staging sync.Mutex
	durable map[string]bool

	mu      sync.Mutex // guards what follows, and the journal
	log     *journal
	entries []*entry // as they began
	byID    map[txID]*entry
	locked  error // the journal cannot be trusted: nothing is written
}

// entry is a transaction of the journal.
type entry struct {
	id        txID
	intentOff int64
	endOff    int64 // of the COMMITTED or CONFLICT record, 0 before
	size      int64 // of its records
	state     entryState
	time      time.Time // of the end
	operation string
	client    string
	session   string
	key       string
	token     Token
	undoes    txID
	undoneBy  *entry
	stages    []string
	bytes     int64 // in its slots
	busy      bool  // an undo of it is under way
	intent    *intent
	conflicts []conflict
}

type entryState uint8

const (
	stateOpen entryState = iota
	stateCommitted
	stateConflict
)

// holds reports whether the entry's slots are an undo store, or copies that
// its conflicts left.
func (n *entry) holds() bool {
	return n.state == stateConflict || n.state == stateOpen || n.state == stateCommitted && n.undoneBy == nil
}

// identity is what the state folder knows of the workspace. Path, inode and
// owner are for people; the secret marks our own staging folders.
type identity struct {
	Version int    `json:"version"`
	Path    string `json:"path"`
	Inode   uint64 `json:"inode"`
	UID     int    `json:"uid"`
	Secret  string `json:"secret"`
}

// mint returns a new transaction id, of which own will know that it is ours.
func (w *workspace) mint() txID {
	var id txID
	rand.Read(id[:8]) // never fails (crypto/rand)
	w.seal(&id)
	return id
}

func (w *workspace) seal(id *txID) {
	mac := hmac.New(sha256.New, w.secret)
	mac.Write(id[:8])
	copy(id[8:], mac.Sum(nil))
}

// own reports whether a staging folder's name was minted here.
func (w *workspace) own(name string) (txID, bool) {
	var id txID
	b, err := hex.DecodeString(name)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	copy(id[:8], b)
	w.seal(&id)
	return id, hmac.Equal(id[:], b)
}

// workspaceKey names the folder of a root in the user's state: a new folder at
// the same path is another workspace.
func workspaceKey(root string, id Info) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", root, id.Ino))
	return hex.EncodeToString(sum[:12])
}

// open opens the root, takes its lock, reads its journal and takes back what
// did not end. A journal that cannot be trusted leaves the workspace locked,
// which is no error here.
func (w *workspace) open(ctx context.Context) (err error) {
	w.durable = map[string]bool{}
	if w.dir, err = w.e.fs.OpenRoot(w.root); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.id, err = w.dir.Stat(); err != nil {
		return err
	}
	w.where = filepath.Join(w.e.state, workspaceKey(w.root, w.id))
	if w.home, err = ensureDir(w.e.fs, w.where); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if w.locked = w.guard(); w.locked != nil {
		return nil
	}
	if w.lock, err = w.takeLock(ctx); err != nil {
		return err
	}
	if err := w.loadIdentity(); err != nil {
		return err
	}
	switch err := w.loadJournal(); {
	case errors.Is(err, errDamaged), errors.Is(err, errVersion), errors.Is(err, errPayload), errors.Is(err, errOwner):
		w.locked = err
		w.e.log.Error("journal cannot be trusted", slog.String("root", w.root), slog.Any("err", err))
		return nil
	case err != nil:
		return err
	}
	return w.takeBack(ctx)
}

// errOwner says that a file of the state belongs to someone else.
var errOwner = errors.New("belongs to another user")

// guard makes sure that nobody else can write the journal.
func (w *workspace) guard() error {
	info, err := w.home.Stat()
	if err != nil {
		return err
	}
	if info.UID != uint32(os.Geteuid()) {
		return fmt.Errorf("%s %w (uid %d)", w.where, errOwner, info.UID)
	}
	if info.Mode&0o077 != 0 {
		return w.home.Chmod(0o700)
	}
	return nil
}

// takeLock takes the workspace's lock between processes. A daemon that is just
// ending is waited for.
func (w *workspace) takeLock(ctx context.Context) (io.Closer, error) {
	limit := time.NewTimer(w.e.lockWait)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		l, err := w.home.Lock(lockName)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limit.C:
			return nil, api.Errorf(api.Overloaded,
				"another Aura daemon works on %s: stop it with `auractl stop`, or use its socket", w.root)
		case <-tick.C:
		}
	}
}

func (w *workspace) loadIdentity() error {
	b, err := readAll(w.home, identityName, 1<<16)
	var id identity
	if err == nil && json.Unmarshal(b, &id) == nil {
		if secret, err := hex.DecodeString(id.Secret); err == nil && len(secret) == sha256.Size {
			w.secret = secret
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.secret = make([]byte, sha256.Size)
	rand.Read(w.secret)
	b, err = json.MarshalIndent(identity{
		Version: journalVersion, Path: w.root, Inode: w.id.Ino, UID: os.Geteuid(), Secret: hex.EncodeToString(w.secret),
	}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(w.home, identityName, append(b, '\n'))
}

// loadJournal reads the journal, or makes the first one.
func (w *workspace) loadJournal() error {
	w.entries, w.byID = nil, map[txID]*entry{}
	info, err := w.home.Lstat(journalName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.log, err = createJournal(w.home, w.e.growth, func(func(*rawRecord, error) bool) {}, nil)
		return err
	case err != nil:
		return err
	case info.UID != uint32(os.Geteuid()):
		return fmt.Errorf("%s %w (uid %d)", filepath.Join(w.where, journalName), errOwner, info.UID)
	case info.Type != RegularFile:
		return fmt.Errorf("%w: it is not a regular file", errDamaged)
	}
	log, err := openJournal(w.home, w.e.growth, w.learn)
	if err != nil {
		return err
	}
	w.log = log
	for _, n := range w.entries {
		if n.state == stateOpen {
			log.open++
		}
	}
	if info.Mode&0o077 != 0 {
		return log.file.Chmod(0o600)
	}
	return nil
}

// learn takes one record of the journal into the index.
func (w *workspace) learn(r *rawRecord) error {
	n := w.byID[r.tx]
	if (r.kind == recIntent) != (n == nil) {
		return fmt.Errorf("%w at byte %d: record %d of transaction %s is out of place", errDamaged, r.off, r.kind, r.tx)
	}
	switch r.kind {
	case recIntent:
		in, err := decodeIntent(r.payload)
		if err != nil {
			return fmt.Errorf("%w at byte %d", err, r.off)
		}
		w.add(newEntry(r, in))
		return nil
	case recCommitted:
		c, err := decodeCommitment(r.payload)
		if err != nil {
			return fmt.Errorf("%w at byte %d", err, r.off)
		}
		w.committed(n, r, c)
	case recConflict:
		list, err := decodeConflicts(r.payload)
		if err != nil {
			return fmt.Errorf("%w at byte %d", err, r.off)
		}
		n.state, n.endOff, n.conflicts, n.intent = stateConflict, r.off, list, nil
		n.size += r.size()
	case recAborted, recDropped:
		w.forget(n)
	}
	return nil
}

func newEntry(r *rawRecord, in *intent) *entry {
	return &entry{
		id: r.tx, intentOff: r.off, size: r.size(), time: time.Unix(0, in.time),
		operation: in.operation, client: in.client, session: in.session, key: in.key,
		undoes: in.undoes, stages: in.stages, intent: in,
	}
}

func (w *workspace) add(n *entry) {
	w.entries = append(w.entries, n)
	w.byID[n.id] = n
}

// committed notes that the entry's COMMITTED record is r.
func (w *workspace) committed(n *entry, r *rawRecord, c *commitment) {
	n.state, n.endOff, n.intent = stateCommitted, r.off, nil
	n.size += r.size()
	n.time, n.token, n.bytes = time.Unix(0, c.time), c.token, c.bytes
	if undone := w.byID[n.undoes]; undone != nil {
		undone.undoneBy = n
	}
}

func (w *workspace) close() {
	for _, c := range []io.Closer{w.lock, w.home, w.dir} {
		if c != nil {
			c.Close()
		}
	}
	if w.log != nil {
		w.log.close()
	}
}

// same reports whether the root's path still leads to the opened folder.
func (w *workspace) same() bool {
	d, err := w.e.fs.OpenRoot(w.root)
	if err != nil {
		return false
	}
	defer d.Close()
	info, err := d.Stat()
	return err == nil && info.Dev == w.id.Dev && info.Ino == w.id.Ino
}

// ensureDir opens the folder at an absolute path and makes what is missing,
// for the user alone and durably.
func ensureDir(fsys FS, abs string) (Dir, error) {
	d, err := fsys.OpenRoot(abs)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(abs) == abs {
		return d, err
	}
	parent, err := ensureDir(fsys, filepath.Dir(abs))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return ensureIn(parent, filepath.Base(abs))
}

// ensureIn opens the folder called name and makes it when it is missing.
func ensureIn(parent Dir, name string) (Dir, error) {
	if err := parent.Mkdir(name, 0o700); err == nil {
		if err := parent.Sync(); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return parent.Open(name)
}

// readAll reads a file of at most limit bytes.
func readAll(d Dir, name string, limit int64) ([]byte, error) {
	f, err := d.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s is over %d bytes", name, limit)
	}
	return b, err
}

// replaceFile puts a file in place, whole or not at all.
func replaceFile(d Dir, name string, content []byte) error {
	next := path.Base(name) + ".next"
	if err := d.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := d.Create(next, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	f.Close()
	if err == nil {
		err = d.Rename(next, d, name, Replace)
	}
	if err == nil {
		err = d.Sync()
	}
	return err
}
