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
	var tell func(done, total int)
	if waiting := r.s.caller.Waiting; waiting != nil {
		tell = func(done, total int) {
			waiting(fmt.Sprintf("indexing %s of %s files", grouped(done), grouped(total)))
		}
	}
	return r.s.ws.ingest.Wait(ctx, r.s.mark, tell)
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

// Names implements graph.Reader.
func (r reader) Names(ctx context.Context, name string, limit int) ([]string, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	return r.s.ws.index.Names(ctx, name, limit)
}
