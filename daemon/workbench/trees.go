package workbench

import (
	"container/list"
	"sync"

	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// maxTrees bounds the sources whose trees are kept, in bytes. A tree takes
// several times its source; those of a module of ordinary size fit.
const maxTrees = 4 << 20

// trees keeps parsed files by path, as long as content and place are the same.
// A question about a popular name looks into every file that uses it.
type trees struct {
	mu    sync.Mutex // guards what follows
	byKey map[string]*list.Element
	order list.List // of *parsed, the latest used first
	bytes int
}

// parsed is one file's tree.
type parsed struct {
	path  string
	hash  text.Hash
	place syntax.Place
	tree  *syntax.Tree
	bytes int
}

func (t *trees) get(path string, hash text.Hash, place syntax.Place) *syntax.Tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byKey[path]
	if e == nil {
		return nil
	}
	p := e.Value.(*parsed)
	if p.hash != hash || p.place != place {
		return nil
	}
	t.order.MoveToFront(e)
	return p.tree
}

func (t *trees) put(p *parsed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.bytes > maxTrees {
		return
	}
	if t.byKey == nil {
		t.byKey = map[string]*list.Element{}
	}
	if e := t.byKey[p.path]; e != nil {
		t.drop(e)
	}
	t.byKey[p.path] = t.order.PushFront(p)
	t.bytes += p.bytes
	for t.bytes > maxTrees {
		t.drop(t.order.Back())
	}
}

// drop removes one tree; the caller holds mu.
func (t *trees) drop(e *list.Element) {
	p := t.order.Remove(e).(*parsed)
	delete(t.byKey, p.path)
	t.bytes -= p.bytes
}
