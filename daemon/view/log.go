package view

import (
	"context"

	"github.com/auralsp/aura/lspclient/text"
)

// Kind says what happened to a path.
type Kind uint8

// The kinds of an Entry.
const (
	Changed Kind = iota // its text or its owner
	Created
	Deleted
)

// String returns the kind in words.
func (k Kind) String() string { return [...]string{"changed", "created", "deleted"}[k] }

// Entry is one step of the log of text.
type Entry struct {
	Seq  uint64
	Path string // absolute
	Kind Kind
	// Hash is that of the text from here on. It is zero for a Deleted file and
	// for one whose text is not read: ignored or too large.
	Hash text.Hash
	// Owner is the client whose buffer the text is, empty for the disk's.
	Owner string
}

// journal keeps the latest entries. Its user guards it.
type journal struct {
	seq     uint64
	entries []Entry // the last len(entries) ones up to seq
	keep    int
	reset   uint64        // cursors below this have missed something
	grown   chan struct{} // closed at the next entry
}

func newJournal(keep int) journal { return journal{keep: keep, grown: make(chan struct{})} }

func (j *journal) append(e Entry) uint64 {
	j.seq++
	e.Seq = j.seq
	j.entries = append(j.entries, e)
	if len(j.entries) >= 2*j.keep {
		j.entries = append([]Entry(nil), j.entries[len(j.entries)-j.keep:]...)
		j.reset = j.entries[0].Seq - 1
	}
	j.wake()
	return j.seq
}

func (j *journal) wake() {
	close(j.grown)
	j.grown = make(chan struct{})
}

// Seq returns the number of the latest entry, 0 when there is none.
func (v *View) Seq() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.log.seq
}

// Since returns the entries after a cursor and the cursor to go on from. With
// reset the cursor was too old: entries are missing, and whoever follows has to
// start over from all files at now.
func (v *View) Since(cursor uint64) (entries []Entry, now uint64, reset bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	j := &v.log
	if cursor < j.reset || cursor > j.seq {
		return nil, j.seq, true
	}
	n := int(j.seq - cursor)
	return append([]Entry(nil), j.entries[len(j.entries)-n:]...), j.seq, false
}

// Wait blocks until there is an entry after the cursor and returns the latest
// entry's number.
func (v *View) Wait(ctx context.Context, after uint64) (uint64, error) {
	for {
		v.mu.Lock()
		seq, grown := v.log.seq, v.log.grown
		v.mu.Unlock()
		if seq > after {
			return seq, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return seq, ctx.Err()
		case <-v.ctx.Done():
			return seq, ErrClosed
		}
	}
}
