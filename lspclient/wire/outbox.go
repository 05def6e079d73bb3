package wire

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// Bounds of what waits to be written.
const (
	maxOutbox = 64 << 20
	// What a call that must not wait may add on top: answers to the peer.
	maxAnswers = 16 << 20
	// A write larger than this could make progress and still miss the deadline.
	writeChunk = 64 << 10
)

// outbox holds frames between callers and the writer.
type outbox struct {
	// now writes what the peer takes at once and returns how much that was; nil
	// where writing may block.
	now func([]byte) int

	mu     sync.Mutex
	frames [][]byte
	bytes  int
	direct bool // a caller is in now: the writer has to wait
	closed bool
	ready  *sync.Cond    // frames arrived, or closed
	room   chan struct{} // closed and replaced whenever the writer takes frames
}

func newOutbox(now func([]byte) int) *outbox {
	b := &outbox{now: now, room: make(chan struct{})}
	b.ready = sync.NewCond(&b.mu)
	return b
}

// push queues a frame for the writer, waiting for room until ctx ends. It
// reports false when the outbox is closed.
func (b *outbox) push(ctx context.Context, frame []byte) (open bool, err error) {
	for {
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			return false, nil
		}
		if b.bytes == 0 || b.bytes+len(frame) <= maxOutbox {
			b.send(frame)
			b.mu.Unlock()
			return true, nil
		}
		room := b.room
		b.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return true, context.Cause(ctx)
		}
	}
}

// force queues a frame without waiting and reports false when there is no room.
func (b *outbox) force(frame []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return true
	}
	if b.bytes > 0 && b.bytes+len(frame) > maxOutbox+maxAnswers {
		return false
	}
	b.add(frame)
	return true
}

// send writes a frame that nothing is ahead of by itself, which spares the way
// over the writer; what the peer does not take at once is left to the writer.
// mu is held.
func (b *outbox) send(frame []byte) {
	if b.now == nil || b.bytes > 0 || b.direct {
		b.add(frame)
		return
	}
	b.direct = true
	b.mu.Unlock()
	n := b.now(frame)
	b.mu.Lock()
	b.direct = false
	if n < len(frame) && !b.closed {
		b.frames = slices.Insert(b.frames, 0, frame[n:])
		b.bytes += len(frame) - n
	}
	if len(b.frames) > 0 || b.closed {
		b.ready.Signal()
	}
}

func (b *outbox) add(frame []byte) {
	b.frames = append(b.frames, frame)
	b.bytes += len(frame)
	b.ready.Signal()
}

// take waits for frames and returns all of them; nil means closed. spare is
// reused for the next frames.
func (b *outbox) take(spare [][]byte) [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.direct || len(b.frames) == 0 && !b.closed {
		b.ready.Wait()
	}
	if b.closed {
		return nil
	}
	frames := b.frames
	b.frames = spare[:0]
	return frames
}

// wrote gives back the room of n bytes.
func (b *outbox) wrote(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return // and so is room
	}
	b.bytes -= n
	close(b.room)
	b.room = make(chan struct{})
}

func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	b.frames = nil
	close(b.room)
	b.ready.Broadcast()
}

// drain writes frames to w until the outbox is closed or a write fails. Small
// frames go out together. stuck is called when a write makes no progress for timeout.
func (b *outbox) drain(w io.Writer, timeout time.Duration, stuck func()) error {
	watch := time.AfterFunc(timeout, stuck)
	watch.Stop()
	defer watch.Stop()
	write := func(p []byte) error {
		for len(p) > 0 {
			n := min(len(p), writeChunk)
			watch.Reset(timeout)
			n, err := w.Write(p[:n])
			watch.Stop()
			if err != nil {
				return err
			}
			p = p[n:]
		}
		return nil
	}
	var spare [][]byte
	buf := make([]byte, 0, writeChunk)
	for {
		frames := b.take(spare)
		if frames == nil {
			return nil
		}
		taken := 0
		for i, frame := range frames {
			taken += len(frame)
			if len(buf)+len(frame) > writeChunk && len(buf) > 0 {
				if err := write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
			if len(frame) > writeChunk {
				if err := write(frame); err != nil {
					return err
				}
			} else {
				buf = append(buf, frame...)
			}
			frames[i] = nil
		}
		if err := write(buf); err != nil {
			return err
		}
		buf = buf[:0]
		b.wrote(taken)
		spare = frames
	}
}
