package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// VectorFile keeps the vectors of one model by the hash of their text, so that a
// text is sent once. It is a cache: what cannot be read or written is made anew.
type VectorFile struct {
	mu    sync.Mutex // guards what follows
	f     *os.File
	limit int64
	size  int64 // of what is whole
	width int   // numbers of a vector; 0 while there is none
	at    map[Hash]int64
}

// vectorMagic begins the file; the width of its vectors follows.
const vectorMagic = "aura vectors 1\n"

// headSize is where the first vector stands: behind magic and width.
const headSize = int64(len(vectorMagic)) + 4

// OpenVectorFile opens or makes the file of a model below dir. Above limit bytes it
// begins anew.
func OpenVectorFile(dir, url, model string, limit int64) (*VectorFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%08x%08x", hash(url), hash(model))
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	v := &VectorFile{f: f, limit: limit, at: map[Hash]int64{}}
	v.read()
	return v, nil
}

// Close closes the file.
func (v *VectorFile) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.f.Close()
}

// record is a hash, a vector and the checksum of both.
func (v *VectorFile) record() int64 { return int64(len(Hash{}) + v.width + crc32.Size) }

// read finds out which vectors the file holds, up to the first that is damaged.
func (v *VectorFile) read() {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(io.NewSectionReader(v.f, 0, headSize), head); err != nil || !bytes.HasPrefix(head, []byte(vectorMagic)) {
		return
	}
	v.width = int(binary.LittleEndian.Uint32(head[len(vectorMagic):]))
	const most = 1 << 16
	if v.width == 0 || v.width > most {
		v.width = 0
		return
	}
	v.size = headSize
	b := make([]byte, v.record())
	in := io.NewSectionReader(v.f, headSize, v.limit)
	for {
		if _, err := io.ReadFull(in, b); err != nil || !whole(b) {
			return
		}
		v.at[Hash(b[:len(Hash{})])] = v.size
		v.size += v.record()
	}
}

func whole(record []byte) bool {
	end := len(record) - crc32.Size
	return crc32.Checksum(record[:end], castagnoli) == binary.LittleEndian.Uint32(record[end:])
}

// get returns the vector of a text, nil when it is not kept.
func (v *VectorFile) get(h Hash) []int8 {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.at[h]
	if !ok {
		return nil
	}
	b := make([]byte, v.record())
	if _, err := v.f.ReadAt(b, at); err != nil || !whole(b) || Hash(b[:len(h)]) != h {
		delete(v.at, h)
		return nil
	}
	out := make([]int8, v.width)
	for i := range out {
		out[i] = int8(b[len(h)+i])
	}
	return out
}

// put keeps the vector of a text, if it can be written.
func (v *VectorFile) put(h Hash, vector []int8) {
	if v == nil || len(vector) == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.width != len(vector) || v.size+v.record() > v.limit {
		if v.begin(len(vector)) != nil {
			return
		}
	}
	b := make([]byte, 0, v.record())
	b = append(b, h[:]...)
	for _, x := range vector {
		b = append(b, byte(x))
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := v.f.WriteAt(b, v.size); err != nil {
		return // what was written of it is no whole record, and is written over
	}
	v.at[h] = v.size
	v.size += int64(len(b))
}

// begin empties the file for vectors of a width; mu is held.
func (v *VectorFile) begin(width int) error {
	clear(v.at)
	v.width, v.size = 0, 0
	head := binary.LittleEndian.AppendUint32([]byte(vectorMagic), uint32(width))
	_, err := v.f.WriteAt(head, 0)
	if err = errors.Join(v.f.Truncate(headSize), err); err != nil {
		return err
	}
	v.width, v.size = width, headSize
	return nil
}
