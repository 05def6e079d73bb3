package workbench

import (
	"context"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient/change"
)

var _ adapters.Trial = (*Bench)(nil)

// Try shows a change to the project's server in a turn and returns the errors
// that it would bring into the files that change and those of also; ok is
// false when the server could not be shown it.
func (b *Bench) Try(ctx context.Context, set change.Set, also []string, oldName, newName string) (found []adapters.Problem, ok bool, err error) {
	read := func(path string) ([]byte, error) {
		content, _, err := b.snap.Read(ctx, path)
		return content, err
	}
	files, err := set.Resolve(read)
	if err != nil {
		return nil, false, err
	}
	changed := map[string]bool{}
	for _, f := range files {
		changed[f.Path] = true
	}
	for _, path := range also {
		if changed[path] {
			continue
		}
		changed[path] = true
		content, err := read(path)
		if err != nil {
			return nil, false, err
		}
		files = append(files, change.File{Kind: change.Edit, Path: path, Before: content, After: content})
	}
	checked, err := b.Check(ctx, files, Renaming{OldName: oldName, NewName: newName})
	if err != nil || checked.Skipped != "" {
		return nil, false, err
	}
	for _, p := range checked.Problems {
		found = append(found, adapters.Problem{Path: b.session.Absolute(p.File), Line: p.Line, Column: p.Column, Code: p.Code, Message: p.Message})
	}
	return found, true, nil
}
