package workbench

import "sync"

// sampleEvery is of how many answers of servers one is compared with what the
// symbol graph would have said: so few that one answer in a hundred is no later.
const sampleEvery = 512

// Sampled counts how the symbol graph agreed with servers about one operation.
type Sampled struct {
	Compared int // answers
	Agreed   int // of those, with the same places
	Missed   int // places that only the server gave
	Extra    int // places that only the graph gave
}

// samples are a workspace's comparisons since it was opened.
type samples struct {
	mu    sync.Mutex // guards what follows
	asked int
	by    map[string]Sampled
}

// Due reports whether this answer of a server is one to compare; the first is.
func (w *Workspace) Due() bool {
	w.samples.mu.Lock()
	defer w.samples.mu.Unlock()
	w.samples.asked++
	return w.samples.asked%sampleEvery == 1
}

// Compared counts one comparison.
func (w *Workspace) Compared(operation string, missed, extra int) {
	w.samples.mu.Lock()
	defer w.samples.mu.Unlock()
	if w.samples.by == nil {
		w.samples.by = map[string]Sampled{}
	}
	n := w.samples.by[operation]
	n.Compared++
	n.Missed += missed
	n.Extra += extra
	if missed == 0 && extra == 0 {
		n.Agreed++
	}
	w.samples.by[operation] = n
}

// Samples returns the comparisons by operation.
func (w *Workspace) Samples() map[string]Sampled {
	w.samples.mu.Lock()
	defer w.samples.mu.Unlock()
	out := make(map[string]Sampled, len(w.samples.by))
	for name, n := range w.samples.by {
		out[name] = n
	}
	return out
}
