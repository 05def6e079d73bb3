package workbench

import (
	"context"
	"errors"

	"github.com/auralsp/aura/graph/index"
	"github.com/auralsp/aura/graph/ingest"
	"github.com/auralsp/aura/graph/store"
)

// Indexed is what the index holds and how it is kept.
type Indexed struct {
	Files, Symbols int
	Pending        int              // files that are not looked at yet
	Failed         map[string]error // by absolute path
	Saved          *store.Status    // nil when nothing is kept
}

// Indexed returns the state of the index.
func (w *Workspace) Indexed() Indexed {
	out := Indexed{Files: w.index.Files(), Symbols: w.index.Len(), Pending: w.ingest.Pending(), Failed: w.index.Failed()}
	if w.store != nil {
		st := w.store.Status()
		out.Saved = &st
	}
	return out
}

// sources returns every file that the session's index is made of.
func (s *Session) sources(ctx context.Context) ([]index.Source, error) {
	files, err := s.snap.Files(ctx)
	if err != nil {
		return nil, err
	}
	s.ws.mu.Lock()
	defer s.ws.mu.Unlock()
	return s.ws.sourcesLocked(ctx, s.snap, files)
}

// Reindex reads and parses every file anew and saves the result in place of
// what was saved. Until a file had its turn, answers are of what was known of it.
func (s *Session) Reindex(ctx context.Context) error {
	sources, err := s.sources(ctx)
	if err != nil {
		return err
	}
	s.ws.ingest.Anew(sources)
	s.mark = s.ws.ingest.Mark()
	if err := (reader{s}).ready(ctx); err != nil {
		return err
	}
	if s.ws.store == nil {
		return nil
	}
	return s.ws.store.Flush(ctx)
}

// VerifyIndex compares the index with a new reading of every file.
func (s *Session) VerifyIndex(ctx context.Context) ([]ingest.Difference, error) {
	sources, err := s.sources(ctx)
	if err != nil {
		return nil, err
	}
	if err := (reader{s}).ready(ctx); err != nil {
		return nil, err
	}
	found, err := s.ws.ingest.Verify(ctx, sources, s.far("checking"))
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		err = ingest.ErrClosed
	}
	return found, err
}
