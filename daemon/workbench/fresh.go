package workbench

import (
	"context"
	"errors"
	"io/fs"

	"github.com/auralsp/aura/lspclient/text"
)

// Newer reports whether a file of the workspace is no longer what an answer
// says of it: by its stamp, and by its content where the stamp is in doubt.
func (s *Session) Newer(ctx context.Context, path string, said *text.File) bool {
	if !s.Inside(path) || said == nil {
		return false
	}
	now, err := s.ws.view.Read(ctx, path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return now.Hash != text.Sum(said.Content())
}
