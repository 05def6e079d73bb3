package view

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/auralsp/aura/lspclient/text"
)

// buffer is a document that clients have open. The first holder owns the text;
// the others opened it with the same text and follow.
type buffer struct {
	path    string
	holders []*holder
	seq     uint64 // entry that brought the text
}

type holder struct {
	client  string
	version int
	text    []byte
	hash    text.Hash
}

// doc returns the current text of an open document; mu is held. f may be nil.
func (v *View) doc(b *buffer, f *file) Doc {
	h := b.holders[0]
	d := Doc{Path: b.path, Content: h.text, Hash: h.hash, Seq: b.seq, Owner: h.client, Version: h.version, Dirty: true}
	if f != nil {
		d.Real = f.real
		d.Dirty = !f.exists || !f.hashed || f.hash != h.hash
	}
	return d
}

// OpenBuffer lays a client's text over the disk. A second client may open the
// document with the same text; with another it gets an OwnedError.
func (v *View) OpenBuffer(client, path string, version int, content []byte) error {
	return v.change(client, path, content, func(b *buffer, h *holder) error {
		if i := slices.IndexFunc(b.holders, func(o *holder) bool { return o.client == client }); i >= 0 {
			return v.replace(b, i, version, h)
		}
		h.version = version
		b.holders = append(b.holders, h)
		return nil
	})
}

// ChangeBuffer replaces the text of a document that the client has open. Only
// its owner may give it another text than the owner's.
func (v *View) ChangeBuffer(client, path string, version int, content []byte) error {
	return v.change(client, path, content, func(b *buffer, h *holder) error {
		i := slices.IndexFunc(b.holders, func(o *holder) bool { return o.client == client })
		if i < 0 {
			return fmt.Errorf("%s: %w", path, ErrNotOpen)
		}
		return v.replace(b, i, version, h)
	})
}

func (v *View) replace(b *buffer, i, version int, h *holder) error {
	if version <= b.holders[i].version {
		return fmt.Errorf("%s: version %d after %d: %w", b.path, version, b.holders[i].version, ErrVersion)
	}
	h.version = version
	b.holders[i] = h
	return nil
}

// change runs put with the document's buffer, which may be new, and logs what
// that does to its text.
func (v *View) change(client, path string, content []byte, put func(*buffer, *holder) error) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%q: %w", path, ErrPath)
	}
	if !v.holds(path) || path == v.root {
		return fmt.Errorf("%s: %w", path, ErrOutside)
	}
	if int64(len(content)) > v.opts.MaxFile {
		return &TooLargeError{path, int64(len(content)), v.opts.MaxFile}
	}
	f := v.lock(path)
	defer v.unlock(f)
	v.look(f, false)
	v.hashNow(f)
	h := &holder{client: client, text: slices.Clone(content), hash: text.Sum(content)}
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.buffers[path]
	before := v.effective(f)
	if b == nil {
		b = &buffer{path: path, seq: f.seq}
	} else if o := b.holders[0]; o.client != client && o.hash != h.hash {
		return &OwnedError{path, o.client}
	}
	if err := put(b, h); err != nil {
		return err
	}
	v.buffers[path] = b
	v.logBuffer(f, before)
	return nil
}

// CloseBuffer takes the client's text away. What is below comes to light: the
// text of the next client that has the document open, or the disk's.
func (v *View) CloseBuffer(client, path string) error {
	f := v.lock(path)
	defer v.unlock(f)
	v.look(f, false)
	v.hashNow(f)
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.buffers[path]
	if b == nil {
		return fmt.Errorf("%s: %w", path, ErrNotOpen)
	}
	i := slices.IndexFunc(b.holders, func(h *holder) bool { return h.client == client })
	if i < 0 {
		return fmt.Errorf("%s: %w", path, ErrNotOpen)
	}
	before := v.effective(f)
	b.holders = slices.Delete(b.holders, i, i+1)
	if len(b.holders) == 0 {
		delete(v.buffers, path)
	}
	v.logBuffer(f, before)
	return nil
}

// CloseClient closes every document of a client that went away.
func (v *View) CloseClient(client string) {
	v.mu.Lock()
	var paths []string
	for path, b := range v.buffers {
		if slices.ContainsFunc(b.holders, func(h *holder) bool { return h.client == client }) {
			paths = append(paths, path)
		}
	}
	v.mu.Unlock()
	slices.Sort(paths)
	for _, path := range paths {
		_ = v.CloseBuffer(client, path) // an error says that it is closed already
	}
}

// Buffers returns the open documents in order of path.
func (v *View) Buffers() []Doc {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []Doc
	for path, b := range v.buffers {
		out = append(out, v.doc(b, v.files[path]))
	}
	slices.SortFunc(out, func(a, b Doc) int { return compare(a.Path, b.Path) })
	return out
}

// state is the text of a path as everybody sees it.
type state struct {
	exists bool
	hash   text.Hash
	owner  string
}

// effective returns the state of f's path; mu is held.
func (v *View) effective(f *file) state {
	if b := v.buffers[f.path]; b != nil {
		return state{true, b.holders[0].hash, b.holders[0].client}
	}
	return state{f.exists, f.hash, ""}
}

// logBuffer logs the step from before to now; mu is held.
func (v *View) logBuffer(f *file, before state) {
	after := v.effective(f)
	if after == before {
		return
	}
	e := Entry{Path: f.path, Kind: Changed, Hash: after.hash, Owner: after.owner}
	switch {
	case !before.exists:
		e.Kind = Created
	case !after.exists:
		e.Kind = Deleted
	}
	seq := v.log.append(e)
	v.list = nil
	if before.exists == after.exists && before.hash == after.hash {
		return // the same text in other hands
	}
	f.seq = seq
	if b := v.buffers[f.path]; b != nil {
		b.seq = seq
	}
}

// hashNow finds out the hash of a file on disk whose text was not read yet;
// f.io is held.
func (v *View) hashNow(f *file) {
	if f.exists && !f.hashed && f.err == nil {
		v.look(f, true)
	}
}
