package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// schema is the version of the buckets and of the form of their values.
const schema = 1

// keepFor is how long the store of a workspace that nobody opens is kept.
const keepFor = 60 * 24 * time.Hour

// The buckets. A stamp is written more often than a record.
const (
	bucketMeta    = "meta"    // "schema" and "root"
	bucketRecords = "records" // path to checksum, hash, maker and record
	bucketStamps  = "stamps"  // path to checksum, hash and stamp
)

// file is the open database.
type file struct {
	db   *bolt.DB
	lock *os.File // that of db, by which another process is kept away
}

// Reasons for not using a file.
var (
	errHeld  = errors.New("another process holds it")
	errNewer = errors.New("it is of a newer Aura")
	errOther = errors.New("it is of another workspace")

	errCurrent = errors.New("nothing to migrate") // so that nothing is written
)

// open opens the file and reads it. A file that cannot be used is moved aside
// and made anew, or left alone; then there is nil.
func (s *Store) open() (*file, map[string]Entry) {
	if err := s.folder(); err != nil {
		s.note(fmt.Sprintf("the index is kept in memory only: %v", err))
		s.refuse()
		return nil, nil
	}
	for again := false; ; again = true {
		db, entries, err := s.attach()
		switch {
		case err == nil:
			now := time.Now()
			_ = os.Chtimes(s.path, now, now) // it is in use
			s.mu.Lock()
			s.status.Saving = true
			s.mu.Unlock()
			s.measure()
			return db, entries
		case errors.Is(err, errHeld):
			s.note(fmt.Sprintf("the index is kept in memory only: another process holds %s", s.path))
			s.refuse()
			return nil, nil
		case !again && (errors.Is(err, errDamaged) || errors.Is(err, errNewer) || errors.Is(err, errOther)):
			s.note(s.aside(err) + " and is made anew")
		default:
			s.note(fmt.Sprintf("the index is kept in memory only: %s cannot be used: %v", s.path, err))
			s.refuse()
			return nil, nil
		}
	}
}

// aside moves the file out of the way and says so.
func (s *Store) aside(why error) string {
	to := strings.TrimSuffix(s.path, ".db") + ".damaged"
	if err := os.Rename(s.path, to); err != nil {
		return fmt.Sprintf("the saved index %s cannot be used (%v) nor moved (%v)", s.path, why, err)
	}
	return fmt.Sprintf("the saved index of %s cannot be used (%v); it was moved to %s", s.o.Root, why, to)
}

// folder makes the folder of the stores, and refuses one that others can change.
func (s *Store) folder() error {
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(s.o.Dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", s.o.Dir)
	case ok && int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", s.o.Dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others; chmod 700 it", s.o.Dir)
	}
	s.sweep()
	return nil
}

// sweep removes stores that nobody used for long.
func (s *Store) sweep() {
	list, err := os.ReadDir(s.o.Dir)
	if err != nil {
		return
	}
	for _, e := range list {
		info, err := e.Info()
		ext := filepath.Ext(e.Name())
		if err != nil || !info.Mode().IsRegular() || ext != ".db" && ext != ".damaged" || time.Since(info.ModTime()) < keepFor {
			continue
		}
		if name := filepath.Join(s.o.Dir, e.Name()); name != s.path {
			_ = os.Remove(name)
		}
	}
}

// attach locks, checks, opens and reads the file.
func (s *Store) attach() (out *file, entries map[string]Entry, err error) {
	out = &file{}
	err = guard(func() error {
		var err error
		out.db, err = bolt.Open(s.path, 0o600, &bolt.Options{
			FreelistType: bolt.FreelistMapType, MaxSize: int(s.o.MaxBytes), NoStatistics: true,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				var err error
				out.lock, err = s.locked(name, flag, mode)
				return out.lock, err
			},
		})
		return err
	})
	if err == nil {
		if err = guard(func() error { return out.db.Update(s.migrate) }); errors.Is(err, errCurrent) {
			err = nil
		}
	}
	if err == nil {
		entries, err = out.read()
	}
	switch {
	case err == nil:
		return out, entries, nil
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrInvalidMapping):
		err = fmt.Errorf("%w: %v", errDamaged, err)
	}
	if out.db != nil && !errors.Is(err, errDamaged) {
		_ = guard(out.db.Close)
	}
	if out.lock != nil {
		_ = out.lock.Close()
	}
	return nil, nil, err
}

// locked opens the file, locks it, and looks at its pages before bbolt does.
func (s *Store) locked(name string, flag int, mode os.FileMode) (*os.File, error) {
	until := time.Now().Add(s.o.LockWait)
	for {
		f, err := os.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
		if err != nil {
			return nil, err
		}
		err = s.claim(f, name)
		if err == nil {
			return f, nil
		}
		_ = f.Close()
		if !errors.Is(err, errHeld) || time.Now().After(until) {
			return nil, err
		}
		<-time.After(20 * time.Millisecond)
	}
}

// claim takes the lock of f, if that still is the file of the name.
func (s *Store) claim(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is not a regular file", errDamaged)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errHeld
	}
	there, err := os.Stat(name)
	if err != nil || !os.SameFile(info, there) {
		return errHeld // it was moved while we waited
	}
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := checkPages(f); err != nil {
		return fmt.Errorf("%w: %v", errDamaged, err)
	}
	return nil
}

// migrate brings the buckets up to the schema.
func (s *Store) migrate(tx *bolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists([]byte(bucketMeta))
	if err != nil {
		return err
	}
	have := uint64(0)
	if v := meta.Get([]byte("schema")); v != nil {
		have, _ = binary.Uvarint(v)
	}
	if root := meta.Get([]byte("root")); have > 0 && string(root) != s.o.Root {
		return errOther
	}
	steps := []func(*bolt.Tx) error{first}
	if int(have) > len(steps) {
		return errNewer
	}
	if int(have) == len(steps) {
		return errCurrent
	}
	for _, step := range steps[have:] {
		if err := step(tx); err != nil {
			return err
		}
	}
	if err := meta.Put([]byte("root"), []byte(s.o.Root)); err != nil {
		return err
	}
	return meta.Put([]byte("schema"), binary.AppendUvarint(nil, schema))
}

// first makes the buckets of schema 1.
func first(tx *bolt.Tx) error {
	for _, name := range []string{bucketRecords, bucketStamps} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// read returns everything that the file holds.
func (d *file) read() (map[string]Entry, error) {
	out := map[string]Entry{}
	err := guard(func() error {
		return d.db.View(func(tx *bolt.Tx) error {
			records, stamps := tx.Bucket([]byte(bucketRecords)), tx.Bucket([]byte(bucketStamps))
			if records == nil || stamps == nil {
				return fmt.Errorf("%w: a bucket is missing", errDamaged)
			}
			// Both are in order of path, so that one way through them is enough.
			c := stamps.Cursor()
			sk, sv := c.First()
			return records.ForEach(func(k, v []byte) error {
				e, err := recordOf(k, v)
				if err != nil {
					return err
				}
				for sk != nil && bytes.Compare(sk, k) < 0 {
					sk, sv = c.Next()
				}
				if bytes.Equal(sk, k) {
					hash, stamp, err := stampOf(sk, sv)
					if err != nil {
						return err
					}
					if e.Hash == hash {
						e.Stamp = stamp
					}
				}
				out[string(k)] = e
				return nil
			})
		})
	})
	return out, err
}

// write puts a batch into the file, all or nothing.
func (d *file) write(batch []keyed) error {
	return guard(func() error {
		return d.db.Update(func(tx *bolt.Tx) error {
			records, stamps := tx.Bucket([]byte(bucketRecords)), tx.Bucket([]byte(bucketStamps))
			for _, c := range batch {
				k := []byte(c.path)
				if c.gone {
					if err := errors.Join(records.Delete(k), stamps.Delete(k)); err != nil {
						return err
					}
					continue
				}
				if !c.stamp {
					if err := records.Put(k, recordValue(k, c.entry)); err != nil {
						return err
					}
				}
				if err := stamps.Put(k, stampValue(k, c.entry)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// Every value begins with the checksum of its key and the rest, so that nothing
// can be taken for the value of another path.

func recordValue(key []byte, e Entry) []byte {
	v := make([]byte, 4, 4+len(e.Hash)+3+len(e.Maker)+len(e.Record))
	v = append(v, e.Hash[:]...)
	v = binary.AppendUvarint(v, uint64(len(e.Maker)))
	v = append(v, e.Maker...)
	v = append(v, e.Record...)
	return seal(key, v)
}

func recordOf(key, value []byte) (Entry, error) {
	rest, ok := unseal(key, value)
	var e Entry
	if !ok || len(rest) < len(e.Hash) {
		return e, fmt.Errorf("%w: the checksum of %q is wrong", errDamaged, key)
	}
	copy(e.Hash[:], rest)
	rest = rest[len(e.Hash):]
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)-size) {
		return e, fmt.Errorf("%w: the value of %q is too short", errDamaged, key)
	}
	rest = rest[size:]
	e.Maker, e.Record = string(rest[:n]), string(rest[n:])
	return e, nil
}

func stampValue(key []byte, e Entry) []byte {
	v := make([]byte, 4, 4+len(e.Hash)+len(e.Stamp))
	v = append(v, e.Hash[:]...)
	v = append(v, e.Stamp...)
	return seal(key, v)
}

func stampOf(key, value []byte) (hash Hash, stamp string, err error) {
	rest, ok := unseal(key, value)
	if !ok || len(rest) < len(hash) {
		return hash, "", fmt.Errorf("%w: the checksum of %q is wrong", errDamaged, key)
	}
	copy(hash[:], rest)
	return hash, string(rest[len(hash):]), nil
}

func checksum(key, rest []byte) uint32 {
	t := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Update(0, t, key), t, rest)
}

func seal(key, v []byte) []byte {
	binary.LittleEndian.PutUint32(v, checksum(key, v[4:]))
	return v
}

func unseal(key, v []byte) ([]byte, bool) {
	if len(v) < 4 || binary.LittleEndian.Uint32(v) != checksum(key, v[4:]) {
		return nil, false
	}
	return v[4:], true
}
