package view

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Snapshot is the text of a workspace at one sequence number, and over it the
// planned text of With. What it has read once stays as it was; a file that has
// changed since its sequence number is an error, never another text.
//
// It is safe for concurrent use and holds no resources.
type Snapshot struct {
	v       *View
	seq     uint64
	reads   *reads
	lacks   Lacks
	planned map[string][]byte // nil content: there will be no file
}

// Lacks returns what tells of a path that its file certainly does not hold a
// word, as of the snapshot or later; nil when nothing is known.
type Lacks func(word string) func(path string) bool

// reads is shared by a Snapshot and those that With makes of it.
type reads struct {
	mu    sync.Mutex // guards docs
	docs  map[string]Doc
	words map[string][]string // results of Grep over the text without plans
}

// Snapshot returns the text at seq, which Barrier returned.
func (v *View) Snapshot(seq uint64) *Snapshot {
	return &Snapshot{v: v, seq: seq, reads: &reads{docs: map[string]Doc{}, words: map[string][]string{}}}
}

// Searching returns the snapshot with a faster Grep: files are not read that
// lack the word.
func (s *Snapshot) Searching(lacks Lacks) *Snapshot {
	next := *s
	next.lacks = lacks
	return &next
}

// Seq returns the sequence number.
func (s *Snapshot) Seq() uint64 { return s.seq }

// Root returns the workspace's folder.
func (s *Snapshot) Root() string { return s.v.root }

// Read returns the content of an absolute path and, unless it is planned,
// records it in the read set. Errors are those of View.Read, and ErrStale.
func (s *Snapshot) Read(ctx context.Context, path string) ([]byte, text.Hash, error) {
	if content, ok := s.planned[path]; ok {
		if content == nil {
			return nil, text.Hash{}, missing(path)
		}
		return content, text.Sum(content), nil
	}
	d, err := s.doc(ctx, path)
	return d.Content, d.Hash, err
}

// doc returns the text below the plans.
func (s *Snapshot) doc(ctx context.Context, path string) (Doc, error) {
	s.reads.mu.Lock()
	d, ok := s.reads.docs[path]
	s.reads.mu.Unlock()
	if ok {
		return d, nil
	}
	d, err := s.v.Read(ctx, path)
	if err != nil {
		return Doc{}, err
	}
	if d.Seq > s.seq {
		return Doc{}, &StaleError{path}
	}
	s.reads.mu.Lock()
	defer s.reads.mu.Unlock()
	if first, ok := s.reads.docs[path]; ok {
		return first, nil
	}
	s.reads.docs[path] = d
	return d, nil
}

// Doc returns what Read does with the owner and the real path of the text.
func (s *Snapshot) Doc(ctx context.Context, path string) (Doc, error) {
	if content, ok := s.planned[path]; ok {
		if content == nil {
			return Doc{}, missing(path)
		}
		return Doc{Path: path, Content: content, Hash: text.Sum(content), Seq: s.seq}, nil
	}
	return s.doc(ctx, path)
}

// ReadSet returns the hashes of what was read so far below the plans, by path.
func (s *Snapshot) ReadSet() map[string]text.Hash {
	s.reads.mu.Lock()
	defer s.reads.mu.Unlock()
	out := make(map[string]text.Hash, len(s.reads.docs))
	for path, d := range s.reads.docs {
		out[path] = d.Hash
	}
	return out
}

// With returns the snapshot after a change, which is resolved on its text.
func (s *Snapshot) With(set change.Set) (*Snapshot, error) {
	files, err := set.Resolve(func(path string) ([]byte, error) {
		content, _, err := s.Read(context.Background(), path)
		return content, err
	})
	if err != nil {
		return nil, err
	}
	next := &Snapshot{v: s.v, seq: s.seq, reads: s.reads, lacks: s.lacks, planned: maps.Clone(s.planned)}
	if next.planned == nil {
		next.planned = make(map[string][]byte, len(files))
	}
	for _, f := range files {
		if f.Kind == change.Delete || f.Kind == change.Rename {
			next.planned[f.Path] = nil
		}
		if f.Kind != change.Delete {
			next.planned[f.Target()] = append([]byte{}, f.After...)
		}
	}
	return next, nil
}

// Planned returns the planned text by path; nil for a file that is to go.
func (s *Snapshot) Planned() map[string][]byte { return maps.Clone(s.planned) }

// Files returns the sorted absolute paths of the workspace's files. Ignored,
// vendored, unreadable and too large ones are left out, and symbolic links.
func (s *Snapshot) Files(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list := s.v.listed()
	if len(s.planned) == 0 {
		return slices.Clone(list), nil
	}
	out := make([]string, 0, len(list)+len(s.planned))
	for _, path := range list {
		if _, ok := s.planned[path]; !ok {
			out = append(out, path)
		}
	}
	for path, content := range s.planned {
		if content != nil && s.v.holds(path) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Listed reports whether Files holds a path on disk.
func (s *Snapshot) Listed(path string) bool { return s.v.Listed(path) }

// Listed reports whether a path is one of the workspace's files, as the log last
// told of them.
func (v *View) Listed(path string) bool {
	_, found := slices.BinarySearch(v.listed(), path)
	return found
}

// listed returns the sorted paths of the listed files; it must not be changed.
func (v *View) listed() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.list != nil {
		return v.list
	}
	list := make([]string, 0, len(v.files))
	for path, f := range v.files {
		if f.indexed && (f.plain() && f.real == path || v.buffers[path] != nil) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	v.list = list
	return list
}

// Glob returns the files whose path relative to the root matches a doublestar
// pattern, such as "**/*.x" or "docs/{a,b}.md".
func (s *Snapshot) Glob(ctx context.Context, pattern string) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, doublestar.ErrBadPattern
	}
	files, err := s.Files(ctx)
	if err != nil {
		return nil, err
	}
	// Most patterns end in a plain name or extension, which is compared faster.
	last := path.Base(pattern)
	suffix := last[strings.LastIndexAny(last, `*?[]{}\`)+1:]
	if strings.ContainsAny(pattern, `{\`) {
		suffix = ""
	}
	out := files[:0]
	skip := len(s.v.root)
	if s.v.root != "/" {
		skip++
	}
	for _, file := range files {
		if strings.HasSuffix(file, suffix) && doublestar.MatchUnvalidated(pattern, filepath.ToSlash(file[skip:])) {
			out = append(out, file)
		}
	}
	return out, nil
}

// Grep returns the files that contain word as a whole identifier, in order of
// path, and records them in the read set. Binary files are left out.
func (s *Snapshot) Grep(ctx context.Context, word string) ([]string, error) {
	s.reads.mu.Lock()
	found, ok := s.reads.words[word]
	s.reads.mu.Unlock()
	if !ok {
		var err error
		if found, err = s.grep(ctx, word); err != nil {
			return nil, err
		}
		s.reads.mu.Lock()
		s.reads.words[word] = found
		s.reads.mu.Unlock()
	}
	out := make([]string, 0, len(found)+len(s.planned))
	for _, path := range found {
		if _, ok := s.planned[path]; !ok {
			out = append(out, path)
		}
	}
	for path, content := range s.planned {
		if content != nil && s.v.holds(path) && text.NextWord(content, word, 0) >= 0 {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out, nil
}

// grep looks below the plans.
func (s *Snapshot) grep(ctx context.Context, word string) ([]string, error) {
	var lacks func(path string) bool
	if s.lacks != nil {
		lacks = s.lacks(word)
	}
	candidates, err := s.v.scan(ctx, word, lacks)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range candidates {
		d, err := s.doc(ctx, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if text.NextWord(d.Content, word, 0) >= 0 {
			out = append(out, path)
		}
	}
	return out, nil
}
