package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt trusts the pages of its file: one that is damaged can have it go round
// in circles, or panic on a goroutine where nobody catches it. So the pages are
// looked at before it opens the file. The checksums of values are another matter.

// What is known of bbolt's file format, version 2.
const (
	pageHeader   = 16
	branchFlag   = 0x01
	leafFlag     = 0x02
	freelistFlag = 0x10
	bucketFlag   = 0x01
	boltMagic    = 0xED0CDAED
	elementSize  = 16 // of branch and leaf elements, and of a bucket's header
	manyIDs      = 0xFFFF
)

var errPages = errors.New("its pages make no sense")

// pages walks the pages of one database.
type pages struct {
	f       io.ReaderAt
	size    uint64 // of a page
	limit   uint64 // pages from here on were never used
	seen    []bool
	buckets int
	page    []byte // the last one that was read into it
}

// checkPages looks at every page that is reachable from the newest root. A
// file of no bytes is a new one.
func checkPages(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return nil
	}
	meta, err := newestMeta(f, os.Getpagesize())
	if err != nil {
		return err
	}
	p := &pages{f: f, size: uint64(os.Getpagesize()), limit: meta.limit}
	if meta.limit*p.size > uint64(info.Size()) || meta.limit < 4 {
		return fmt.Errorf("%w: it was cut off", errPages)
	}
	p.seen = make([]bool, meta.limit)
	p.seen[0], p.seen[1] = true, true
	if err := p.tree(meta.root, true); err != nil {
		return err
	}
	return p.free(meta.freelist)
}

type meta struct{ root, freelist, limit, tx uint64 }

// newestMeta returns the valid meta page of the later transaction.
func newestMeta(f io.ReaderAt, pageSize int) (meta, error) {
	var best meta
	found := false
	for i := range 2 {
		b := make([]byte, pageHeader+64)
		if _, err := f.ReadAt(b, int64(i*pageSize)); err != nil {
			continue
		}
		b = b[pageHeader:]
		h := fnv.New64a()
		_, _ = h.Write(b[:56])
		if binary.NativeEndian.Uint32(b) != boltMagic || binary.NativeEndian.Uint32(b[8:]) != uint32(pageSize) ||
			binary.NativeEndian.Uint64(b[56:]) != h.Sum64() {
			continue
		}
		m := meta{
			root: binary.NativeEndian.Uint64(b[16:]), freelist: binary.NativeEndian.Uint64(b[32:]),
			limit: binary.NativeEndian.Uint64(b[40:]), tx: binary.NativeEndian.Uint64(b[48:]),
		}
		if !found || m.tx > best.tx {
			best, found = m, true
		}
	}
	if !found {
		return best, fmt.Errorf("%w: it has no valid head", errPages)
	}
	return best, nil
}

// load reads a page with those that belong to it, and marks them. What it
// returns may be overwritten by the next call, unless it is to be kept.
func (p *pages) load(id uint64, keep bool) ([]byte, error) {
	if id >= p.limit || p.seen[id] {
		return nil, fmt.Errorf("%w: page %d is used twice or beyond the end", errPages, id)
	}
	if p.page == nil || keep {
		p.page = make([]byte, p.size)
	}
	head := p.page
	if keep {
		p.page = nil
	}
	if _, err := p.f.ReadAt(head, int64(id*p.size)); err != nil {
		return nil, err
	}
	overflow := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head) != id || overflow >= p.limit-id {
		return nil, fmt.Errorf("%w: page %d has another number or size", errPages, id)
	}
	for n := id; n <= id+overflow; n++ {
		if p.seen[n] {
			return nil, fmt.Errorf("%w: page %d is used twice", errPages, n)
		}
		p.seen[n] = true
	}
	if overflow == 0 {
		return head, nil
	}
	all := make([]byte, (overflow+1)*p.size)
	copy(all, head)
	_, err := p.f.ReadAt(all[p.size:], int64((id+1)*p.size))
	return all, err
}

// tree looks at a bucket's pages. A bucket of the root may hold buckets.
func (p *pages) tree(root uint64, buckets bool) error {
	type step struct {
		id    uint64
		depth int
	}
	todo := []step{{root, 0}}
	leaves := -1
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		b, err := p.load(at.id, buckets)
		if err != nil {
			return err
		}
		switch flags := binary.NativeEndian.Uint16(b[8:]); flags {
		case leafFlag:
			if leaves >= 0 && leaves != at.depth {
				return fmt.Errorf("%w: the tree is not even", errPages)
			}
			leaves = at.depth
			if err := p.leaf(b, buckets); err != nil {
				return err
			}
		case branchFlag:
			count := int(binary.NativeEndian.Uint16(b[10:]))
			if count == 0 || pageHeader+count*elementSize > len(b) {
				return fmt.Errorf("%w: a branch has %d parts", errPages, count)
			}
			for i := range count {
				e := b[pageHeader+i*elementSize:]
				start := uint64(pageHeader+i*elementSize) + uint64(binary.NativeEndian.Uint32(e))
				if start+uint64(binary.NativeEndian.Uint32(e[4:])) > uint64(len(b)) {
					return fmt.Errorf("%w: a key lies outside its page", errPages)
				}
				todo = append(todo, step{binary.NativeEndian.Uint64(e[8:]), at.depth + 1})
			}
		default:
			return fmt.Errorf("%w: page %d is of kind %d", errPages, at.id, flags)
		}
	}
	return nil
}

// leaf looks at the elements of a leaf.
func (p *pages) leaf(b []byte, buckets bool) error {
	count := int(binary.NativeEndian.Uint16(b[10:]))
	if pageHeader+count*elementSize > len(b) {
		return fmt.Errorf("%w: a leaf has %d parts", errPages, count)
	}
	for i := range count {
		e := b[pageHeader+i*elementSize:]
		flags, pos := binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:])
		keySize, size := uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
		start := uint64(pageHeader+i*elementSize) + uint64(pos)
		if start+keySize+size > uint64(len(b)) {
			return fmt.Errorf("%w: a value lies outside its page", errPages)
		}
		if flags&bucketFlag == 0 {
			if buckets {
				return fmt.Errorf("%w: a value stands among buckets", errPages)
			}
			continue
		}
		if p.buckets++; !buckets || size < elementSize || p.buckets > 16 {
			return fmt.Errorf("%w: a bucket where none belongs", errPages)
		}
		value := b[start+keySize : start+keySize+size]
		if id := binary.NativeEndian.Uint64(value); id != 0 {
			if err := p.tree(id, false); err != nil {
				return err
			}
			continue
		}
		inline := value[elementSize:]
		if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != leafFlag {
			return fmt.Errorf("%w: a small bucket is no leaf", errPages)
		}
		if err := p.leaf(inline, false); err != nil {
			return err
		}
	}
	return nil
}

// free looks at the list of free pages: none of them may be in use.
func (p *pages) free(id uint64) error {
	b, err := p.load(id, true)
	if err != nil {
		return err
	}
	if binary.NativeEndian.Uint16(b[8:]) != freelistFlag {
		return fmt.Errorf("%w: there is no list of free pages", errPages)
	}
	count := uint64(binary.NativeEndian.Uint16(b[10:]))
	ids := b[pageHeader:]
	if count == manyIDs {
		count = binary.NativeEndian.Uint64(ids)
		ids = ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return fmt.Errorf("%w: the list of free pages is too long", errPages)
	}
	for i := range count {
		n := binary.NativeEndian.Uint64(ids[8*i:])
		if n >= p.limit || p.seen[n] {
			return fmt.Errorf("%w: page %d is free and in use", errPages, n)
		}
		p.seen[n] = true
	}
	return nil
}
