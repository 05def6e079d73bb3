package syntaxtest

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/auralsp/aura/lspclient/text"
)

// Root is the folder of the workspace that Files make.
const Root = "/ws"

// Files are the files of a workspace by their path below Root: a snapshot for
// the tests of what looks for projects. It has every method of adapters.Snapshot.
type Files map[string]string

// Root returns the workspace's folder.
func (Files) Root() string { return Root }

// Seq returns the sequence number of a workspace that does not change.
func (Files) Seq() uint64 { return 1 }

// Read returns a file's content.
func (f Files) Read(_ context.Context, name string) ([]byte, text.Hash, error) {
	content, ok := f[strings.TrimPrefix(name, Root+"/")]
	if !ok || !strings.HasPrefix(name, Root+"/") {
		return nil, text.Hash{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return []byte(content), text.Sum([]byte(content)), nil
}

// Glob knows "**/PATTERN", where PATTERN is one of a file's base name.
func (f Files) Glob(_ context.Context, pattern string) ([]string, error) {
	base, ok := strings.CutPrefix(pattern, "**/")
	if !ok || strings.Contains(base, "/") {
		return nil, fmt.Errorf("the pattern %s is not known here", pattern)
	}
	var out []string
	for name := range f {
		if ok, err := path.Match(base, path.Base(name)); err != nil {
			return nil, err
		} else if ok {
			out = append(out, Root+"/"+name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Grep returns the files that contain a word.
func (f Files) Grep(_ context.Context, word string) ([]string, error) {
	var out []string
	for name, content := range f {
		if len(text.Words([]byte(content), word)) > 0 {
			out = append(out, Root+"/"+name)
		}
	}
	slices.Sort(out)
	return out, nil
}
