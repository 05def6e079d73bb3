package view

import (
	"github.com/auralsp/aura/graph/watch"
	"github.com/auralsp/aura/lspclient/text"
)

// Looked is what the last look at a file on disk found.
type Looked struct {
	// Stamp proves, when it is equal at another time, that the content is the
	// same; the zero Stamp where no stamp would.
	Stamp  watch.Stamp
	Hash   text.Hash // of the content, if Hashed
	Hashed bool
}

// Looked returns what is known of a listed file without looking again. It is
// right as of the last Barrier. It returns false for a file of which the watcher
// does not tell, one that is not there or has no text, and one whose text is a
// client's buffer.
func (v *View) Looked(path string) (Looked, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[path]
	if f == nil || !f.seen || !f.covered || !f.exists || f.err != nil || f.real != path || v.buffers[path] != nil {
		return Looked{}, false
	}
	out := Looked{Hash: f.hash, Hashed: f.hashed}
	if !f.racy {
		out.Stamp = f.stamp
	}
	return out, true
}
