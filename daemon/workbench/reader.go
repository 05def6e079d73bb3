package workbench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/lspclient/text"
)

// reader is the index for one session: it waits until the index has seen what
// the session sees. Who asks about one file waits for that file alone. What it
// gives is of the content that the session reads of the same file, or the
// session ends with view.ErrStale.
type reader struct{ s *Session }

var _ graph.Reader = reader{}

// ready waits for the whole index and tells the client how far it is.
func (r reader) ready(ctx context.Context) error {
	return r.s.ws.ingest.Wait(ctx, r.s.mark, r.s.far("indexing"))
}

// nearly waits for the whole index as long as the caller has patience for that.
// A file that is not read yet may declare any name, which the answer then says.
func (r reader) nearly(ctx context.Context) (whole bool, err error) {
	if r.s.caller.Patience <= 0 {
		return true, r.ready(ctx)
	}
	short, end := context.WithTimeout(ctx, r.s.caller.Patience)
	defer end()
	err = r.ready(short)
	if err == nil || ctx.Err() != nil || short.Err() == nil {
		return true, err
	}
	return false, nil
}

// indexed is the index, which tells the session of what content its answers are.
func (r reader) indexed() graph.Reader { return r.s.ws.index.Reading(r.s.saw) }

// list asks a question of the whole index, or of what is known of it where that
// answers anything.
func (r reader) list(ctx context.Context, question func() ([]graph.Symbol, error)) ([]graph.Symbol, error) {
	whole, err := r.nearly(ctx)
	if err != nil {
		return nil, err
	}
	found, err := question()
	if err != nil || whole {
		return found, err
	}
	if len(found) > 0 {
		r.s.unread()
		return found, nil
	}
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return question()
}

// saw notes of which content of a file the index spoke.
func (s *Session) saw(path string, hash index.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.hashes[path]; ok && have != text.Hash(hash) {
		return &view.StaleError{Path: path}
	}
	s.told[path] = text.Hash(hash)
	return nil
}

// unread notes that the index did not know all files yet.
func (s *Session) unread() {
	s.mu.Lock()
	s.partial = true
	s.mu.Unlock()
	done, total := s.ws.ingest.Progress(s.mark)
	s.Incomplete(fmt.Sprintf("the index is still being made, %s of %s files are read: others may hold more; ask again later", grouped(done), grouped(total)))
}

// Partial reports whether something was answered before the index knew all files.
func (s *Session) Partial() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partial
}

// far tells the client how much of something is done; nil when it does not listen.
func (s *Session) far(doing string) func(done, total int) {
	waiting := s.caller.Waiting
	if waiting == nil {
		return nil
	}
	return func(done, total int) {
		waiting(fmt.Sprintf("%s %s of %s files", doing, grouped(done), grouped(total)))
	}
}

// grouped writes a number as people read it.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// ByName implements graph.Reader.
func (r reader) ByName(ctx context.Context, name string) ([]graph.Symbol, error) {
	return r.list(ctx, func() ([]graph.Symbol, error) { return r.indexed().ByName(ctx, name) })
}

// ByID implements graph.Reader.
func (r reader) ByID(ctx context.Context, id graph.ID) ([]graph.Symbol, error) {
	return r.list(ctx, func() ([]graph.Symbol, error) { return r.indexed().ByID(ctx, id) })
}

// InFile implements graph.Reader.
func (r reader) InFile(ctx context.Context, path string) ([]graph.Symbol, error) {
	if err := r.s.ws.ingest.First(ctx, path); err != nil {
		return nil, err
	}
	return r.indexed().InFile(ctx, path)
}

// ByBase implements graph.Reader.
func (r reader) ByBase(ctx context.Context, name string) ([]graph.Symbol, error) {
	return r.list(ctx, func() ([]graph.Symbol, error) { return r.indexed().ByBase(ctx, name) })
}

// Each implements graph.Reader.
func (r reader) Each(ctx context.Context, keep graph.Keep, yield func(graph.Symbol) bool) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	return r.indexed().Each(ctx, keep, yield)
}

// Names implements graph.Reader.
func (r reader) Names(ctx context.Context, name string, limit int) ([]string, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.Names(ctx, name, limit)
}
