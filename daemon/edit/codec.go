package edit

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// A txID names a transaction and its staging folders: 8 random bytes and 8
// bytes of a keyed hash over them (see identity.mint).
type txID [16]byte

func (id txID) String() string { return fmt.Sprintf("%x", id[:]) }

func (id txID) zero() bool { return id == txID{} }

// opKind says what an op does to the one path it is about.
type opKind uint8

const (
	opModify opKind = iota // content to content
	opCreate               // nothing to content
	opRemove               // content to nothing
)

// op is what a transaction does to one path. Every plan comes down to a set of
// them with distinct paths: a rename is a remove and a create.
type op struct {
	kind opKind
	path string // below the root, with "/", without symbolic links
	// base and post are the hashes of the content before and after; zero
	// where there is no file.
	base, post text.Hash
	ino        uint64 // of the file that is replaced or removed
	mode       uint32 // permission bits after; of a remove, before
	baseSize   int64  // bytes before and after
	postSize   int64
	stage      uint32 // index into the transaction's stages
	slot       uint32 // name of the slot in that folder, unique in the transaction
}

// held returns how many bytes the slot holds once the op is applied.
func (o *op) held() int64 { return o.baseSize }

// fileRecord is one change as the plan had it, for answers and the history.
type fileRecord struct {
	kind    change.Kind
	path    string // below the root as the plan named it
	newPath string
}

// intent is the payload of an INTENT record.
type intent struct {
	time      int64 // Unix, nanoseconds
	operation string
	client    string
	session   string
	key       string
	undoes    txID     // the transaction that this one takes back
	stages    []string // staging folders below the root
	files     []fileRecord
	ops       []op
	mkdirs    []string // folders in the order they are made
	rmdirs    []string // folders in the order they are removed
	summary   string
}

// commitment is the payload of a COMMITTED record.
type commitment struct {
	time   int64
	token  Token
	bytes  int64 // held in the slots for an undo
	answer []byte
}

// conflict is a path that a rollback had to leave, in a CONFLICT record.
type conflict struct {
	path   string // below the root
	kept   string // below the root: the other version; empty when there is none
	reason string
}

// errPayload says that a payload is not what its record's type promises.
var errPayload = errors.New("malformed record")

// encoder appends values to a buffer.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) raw(p []byte)    { e.b = append(e.b, p...) }
func (e *encoder) bytes(p []byte)  { e.uint(uint64(len(p))); e.raw(p) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) strings(s ...string) {
	for _, v := range s {
		e.string(v)
	}
}

// decoder reads them again; after the first error every value is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b, d.err = nil, errPayload
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) raw(p []byte) {
	if len(d.b) < len(p) {
		d.fail()
		return
	}
	d.b = d.b[copy(p, d.b):]
}

func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) string() string { return string(d.bytes()) }

// count reads the length of a list whose entries take at least size bytes, so
// that a damaged length cannot make us allocate more than the record holds.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) end() error {
	if d.err == nil && len(d.b) != 0 {
		d.fail()
	}
	return d.err
}

func (n *intent) encode() []byte {
	size := 256
	for i := range n.ops {
		size += 3*len(n.ops[i].path) + 96
	}
	e := &encoder{b: make([]byte, 0, size)}
	e.int(n.time)
	e.strings(n.operation, n.client, n.session, n.key)
	e.raw(n.undoes[:])
	e.uint(uint64(len(n.stages)))
	e.strings(n.stages...)
	e.uint(uint64(len(n.files)))
	for _, f := range n.files {
		e.uint(uint64(f.kind))
		e.strings(f.path, f.newPath)
	}
	e.uint(uint64(len(n.ops)))
	for i := range n.ops {
		o := &n.ops[i]
		e.uint(uint64(o.kind))
		e.string(o.path)
		e.raw(o.base[:])
		e.raw(o.post[:])
		e.uint(o.ino)
		e.uint(uint64(o.mode))
		e.int(o.baseSize)
		e.int(o.postSize)
		e.uint(uint64(o.stage))
		e.uint(uint64(o.slot))
	}
	for _, dirs := range [][]string{n.mkdirs, n.rmdirs} {
		e.uint(uint64(len(dirs)))
		e.strings(dirs...)
	}
	if n.summary != "" { // the first journals have none
		e.string(n.summary)
	}
	return e.b
}

func decodeIntent(payload []byte) (*intent, error) {
	d := &decoder{b: payload}
	n := &intent{time: d.int()}
	n.operation, n.client, n.session, n.key = d.string(), d.string(), d.string(), d.string()
	d.raw(n.undoes[:])
	for range d.count(1) {
		n.stages = append(n.stages, d.string())
	}
	for range d.count(3) {
		kind := d.uint()
		f := fileRecord{kind: change.Kind(kind), path: d.string(), newPath: d.string()}
		if kind > uint64(change.Delete) {
			d.fail()
		}
		n.files = append(n.files, f)
	}
	for range d.count(2*len(text.Hash{}) + 8) {
		kind := d.uint()
		o := op{kind: opKind(kind), path: d.string()}
		d.raw(o.base[:])
		d.raw(o.post[:])
		o.ino, o.mode = d.uint(), uint32(d.uint())
		o.baseSize, o.postSize = d.int(), d.int()
		o.stage, o.slot = uint32(d.uint()), uint32(d.uint())
		if kind > uint64(opRemove) || int(o.stage) >= len(n.stages) || !localPath(o.path) {
			d.fail()
		}
		n.ops = append(n.ops, o)
	}
	for _, dirs := range []*[]string{&n.mkdirs, &n.rmdirs} {
		for range d.count(1) {
			dir := d.string()
			if !localPath(dir) {
				d.fail()
			}
			*dirs = append(*dirs, dir)
		}
	}
	if len(d.b) > 0 {
		n.summary = d.string()
	}
	for _, s := range n.stages {
		if !localPath(s) {
			d.fail()
		}
	}
	return n, d.end()
}

func (c *commitment) encode() []byte {
	e := &encoder{}
	e.int(c.time)
	e.raw(c.token[:])
	e.int(c.bytes)
	e.bytes(c.answer)
	return e.b
}

func decodeCommitment(payload []byte) (*commitment, error) {
	d := &decoder{b: payload}
	c := &commitment{time: d.int()}
	d.raw(c.token[:])
	c.bytes = d.int()
	c.answer = d.bytes()
	return c, d.end()
}

func encodeConflicts(list []conflict) []byte {
	e := &encoder{}
	e.uint(uint64(len(list)))
	for _, c := range list {
		e.strings(c.path, c.kept, c.reason)
	}
	return e.b
}

func decodeConflicts(payload []byte) ([]conflict, error) {
	d := &decoder{b: payload}
	var list []conflict
	for range d.count(3) {
		list = append(list, conflict{path: d.string(), kept: d.string(), reason: d.string()})
	}
	return list, d.end()
}
