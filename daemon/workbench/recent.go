package workbench

import (
	"container/list"
	"sync"

	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// maxRecent bounds the sources of which something is kept, in bytes. A tree
// takes several times its source; those of a module of ordinary size fit.
const maxRecent = 4 << 20

// recent keeps what was made of files by path; the least recently used go
// first. Who gets something compares what it was made of.
type recent[T any] struct {
	mu     sync.Mutex // guards what follows
	byPath map[string]*list.Element
	order  list.List // of *kept[T], the latest used first
	bytes  int
}

type kept[T any] struct {
	path  string
	of    T
	bytes int
}

func (r *recent[T]) get(path string) (of T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byPath[path]
	if e == nil {
		return of, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*kept[T]).of, true
}

// put keeps what was made of a source of this many bytes.
func (r *recent[T]) put(path string, of T, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes > maxRecent {
		return
	}
	if r.byPath == nil {
		r.byPath = map[string]*list.Element{}
	}
	if e := r.byPath[path]; e != nil {
		r.drop(e)
	}
	r.byPath[path] = r.order.PushFront(&kept[T]{path, of, bytes})
	r.bytes += bytes
	for r.bytes > maxRecent {
		r.drop(r.order.Back())
	}
}

// drop removes one; the caller holds mu.
func (r *recent[T]) drop(e *list.Element) {
	k := r.order.Remove(e).(*kept[T])
	delete(r.byPath, k.path)
	r.bytes -= k.bytes
}

// parsed is one file's tree. A question about a popular name looks into every
// file that uses it.
type parsed struct {
	hash  text.Hash
	place syntax.Place
	tree  *syntax.Tree
}

// tree returns the tree of a content at a place, if it was parsed lately.
func (w *Workspace) tree(path string, hash text.Hash, place syntax.Place) *syntax.Tree {
	if p, ok := w.trees.get(path); ok && p.hash == hash && p.place == place {
		return p.tree
	}
	return nil
}

// lined returns the line index of a content of a file.
func (w *Workspace) lined(path string, content []byte) *text.File {
	// Contents of one reading are the same memory, which compares at once.
	if f, ok := w.lines.get(path); ok && string(f.Content()) == string(content) {
		return f
	}
	f := text.NewFile(content)
	w.lines.put(path, f, len(content))
	return f
}
