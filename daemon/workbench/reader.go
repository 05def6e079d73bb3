package workbench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/auralsp/aura/graph"
)

// reader is the index for one session: it waits until the index has seen what
// the session sees. Who asks about one file waits for that file alone.
type reader struct{ s *Session }

var _ graph.Reader = reader{}

// ready waits for the whole index and tells the client how far it is.
func (r reader) ready(ctx context.Context) error {
	return r.s.ws.ingest.Wait(ctx, r.s.mark, r.s.far("indexing"))
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
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.ByName(ctx, name)
}

// ByID implements graph.Reader.
func (r reader) ByID(ctx context.Context, id graph.ID) ([]graph.Symbol, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.ByID(ctx, id)
}

// InFile implements graph.Reader.
func (r reader) InFile(ctx context.Context, path string) ([]graph.Symbol, error) {
	if err := r.s.ws.ingest.First(ctx, path); err != nil {
		return nil, err
	}
	return r.s.ws.index.InFile(ctx, path)
}

// ByBase implements graph.Reader.
func (r reader) ByBase(ctx context.Context, name string) ([]graph.Symbol, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.ByBase(ctx, name)
}

// Each implements graph.Reader.
func (r reader) Each(ctx context.Context, keep graph.Keep, yield func(graph.Symbol) bool) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	return r.s.ws.index.Each(ctx, keep, yield)
}

// Names implements graph.Reader.
func (r reader) Names(ctx context.Context, name string, limit int) ([]string, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.Names(ctx, name, limit)
}
