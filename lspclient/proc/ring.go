package proc

import (
	"io"
	"sync"
)

// ring keeps the last bytes that were written to it.
type ring struct {
	mu    sync.Mutex // guards the rest
	buf   []byte
	size  int
	next  int // where the next byte goes once buf is full
	total int64
}

func newRing(size int) *ring { return &ring{size: size} }

// Write never fails.
func (r *ring) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(b)
	r.total += int64(n)
	if len(b) > r.size {
		b = b[len(b)-r.size:]
	}
	if room := r.size - len(r.buf); room > 0 {
		k := min(room, len(b))
		r.buf = append(r.buf, b[:k]...)
		b = b[k:]
	}
	for len(b) > 0 {
		k := copy(r.buf[r.next:], b)
		r.next = (r.next + k) % r.size
		b = b[k:]
	}
	return n, nil
}

// tail returns the last n bytes, oldest first.
func (r *ring) tail(n int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]byte, 0, len(r.buf))
	out = append(out, r.buf[r.next:]...)
	out = append(out, r.buf[:r.next]...)
	if len(out) > n {
		out = out[len(out)-n:]
	}
	return out
}

// drain copies until the end of src, whatever comes.
func (r *ring) drain(src io.Reader) {
	buf := make([]byte, 16<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			_, _ = r.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}
