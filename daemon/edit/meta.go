package edit

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/auralsp/aura/lspclient/text"
)

// metadata is what a new content inherits from the file that it replaces.
type metadata struct {
	info  Info
	attrs map[string][]byte
}

// reader reads files to hash them, with one buffer.
type reader struct {
	buf []byte
}

// found is a file as it was read.
type found struct {
	exists bool
	hash   text.Hash
	info   Info
	// content is only kept when it was asked for.
	content []byte
	attrs   map[string][]byte
	// odd says that there is something, but not a regular file of a size that
	// can be edited; hash is zero then.
	odd error
}

var errTooLarge = errors.New("file is too large")

// is reports whether a regular file with that content was found.
func (f *found) is(h text.Hash) bool { return f.exists && f.odd == nil && f.hash == h }

// what says what of a file to keep.
type what uint8

const (
	keepContent what = 1 << iota
	keepAttrs
)

// read reads the entry. Nothing there, and something that is no regular file,
// are answers, not errors.
func (r *reader) read(d Dir, name string, keep what) (found, error) {
	f, err := d.OpenFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{}, nil
	case errors.Is(err, ErrNotRegular):
		return found{exists: true, odd: err}, nil
	case err != nil:
		return found{}, err
	}
	defer f.Close()
	out := found{exists: true}
	if out.info, err = f.Stat(); err != nil {
		return found{}, err
	}
	if out.info.Size > MaxFileSize {
		return found{exists: true, info: out.info, odd: errTooLarge}, nil
	}
	if keep&keepContent != 0 {
		out.content = make([]byte, 0, out.info.Size+1)
	}
	if len(r.buf) == 0 {
		r.buf = make([]byte, 128<<10)
	}
	sum := sha256.New()
	for total := int64(0); ; {
		n, err := f.Read(r.buf)
		total += int64(n)
		sum.Write(r.buf[:n])
		if keep&keepContent != 0 {
			out.content = append(out.content, r.buf[:n]...)
		}
		if err == io.EOF || err == nil && n < len(r.buf) && total >= out.info.Size {
			break // a short read past the known size is the end
		}
		if err != nil {
			return found{}, err
		}
	}
	sum.Sum(out.hash[:0])
	if keep&keepAttrs != 0 {
		if out.attrs, err = f.Attrs(); err != nil {
			return found{}, err
		}
	}
	return out, nil
}

// dress gives a staged file the mode, owner and attributes of another. The
// order matters: an ACL changes the mode, and a change of owner or a write
// clears setuid.
func dress(f File, m *metadata) error {
	names := make([]string, 0, len(m.attrs))
	for name := range m.attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := f.SetAttr(name, m.attrs[name]); err != nil {
			return err
		}
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if now.UID != m.info.UID || now.GID != m.info.GID {
		if err := f.Chown(m.info.UID, m.info.GID); err != nil {
			return err
		}
	}
	return f.Chmod(m.info.Mode)
}

// inherit gives a new file what its folder hands down, as if it had been made
// there and not in the staging folder.
func inherit(f File, folder Info) error {
	if folder.Mode&0o2000 == 0 || folder.GID == uint32(os.Getegid()) {
		return nil
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if now.GID == folder.GID {
		return nil
	}
	return f.Chown(now.UID, folder.GID)
}
