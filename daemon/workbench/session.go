package workbench

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/ingest"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Caller is who asks, as far as servers and waiting depend on it.
type Caller struct {
	Name    string              // for fairness between clients
	Env     map[string]string   // the client's values of the names that engines declare
	Trusted bool                // the user trusts the workspace
	Class   supervise.Class     // interactive or batch
	Waiting func(reason string) // told in words what is being waited for; may be nil
	// Patience is how long a question to the index waits until it knows all
	// files, before what it knows is the answer; 0 waits for all.
	Patience time.Duration
}

// Session is one request's sight of a workspace: one snapshot, the leases it
// took and the notes it gathered. Close returns the leases.
type Session struct {
	ws     *Workspace
	caller Caller
	snap   *view.Snapshot
	mark   ingest.Mark // until then the index is not as new as snap

	mu         sync.Mutex // guards what follows
	leases     map[string]*lease
	trees      map[string]*syntax.Tree
	files      map[string]*text.File
	hashes     map[string]text.Hash // of the contents of files that the snapshot gave
	told       map[string]text.Hash // of the contents of which the index spoke
	partial    bool                 // the index did not know all files
	incomplete []string
	warnings   []string
	within     time.Duration         // longest wait for a server that is not ready; 0 is any
	unserved   map[string]*api.Error // by language: why no server is asked any more
}

// Begin takes a snapshot of what is on disk now and has the index catch up with
// it; the session's Reader waits for that.
func (w *Workspace) Begin(ctx context.Context, c Caller) (*Session, error) {
	seq, err := w.view.Barrier(ctx)
	if err != nil {
		return nil, err
	}
	snap := w.view.Snapshot(seq)
	mark, err := w.catchUp(ctx, snap)
	if err != nil {
		return nil, err
	}
	s := &Session{
		ws: w, caller: c, snap: snap.Searching(w.ingest.Lacks), mark: mark,
		leases: map[string]*lease{},
		trees:  map[string]*syntax.Tree{},
		files:  map[string]*text.File{},
		hashes: map[string]text.Hash{},

		told:     map[string]text.Hash{},
		unserved: map[string]*api.Error{},
	}
	if w.view.Watching().TooMany {
		s.Incomplete(w.root + " has more folders than are followed: open a smaller folder, or leave some out by an ignore file")
	}
	return s, nil
}

// Within bounds how long the session waits for each server that is not ready.
func (s *Session) Within(d time.Duration) { s.within = max(d, time.Nanosecond) }

// Unserved notes that no server of a language is asked any more in this
// session, and why: what it could not answer once it is not waited for again.
func (s *Session) Unserved(language string, why *api.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unserved[language] = why
}

// Refused returns the code of what kept the session from asking a server, or
// the empty string.
func (s *Session) Refused() api.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, why := range s.unserved {
		return why.Code
	}
	return ""
}

// Close returns the leases.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		l.Release()
	}
	clear(s.leases)
}

// Workspace returns the workspace that the session sees.
func (s *Session) Workspace() *Workspace { return s.ws }

// Root returns the workspace's absolute folder.
func (s *Session) Root() string { return s.ws.root }

// Snapshot returns the text that the session sees.
func (s *Session) Snapshot() *view.Snapshot { return s.snap }

// Absolute makes a path of a request absolute.
func (s *Session) Absolute(path string) string { return s.ws.Absolute(path) }

// Inside reports whether an absolute path lies in the workspace.
func (s *Session) Inside(path string) bool { return inside(s.ws.root, path) }

// Relative returns a path as answers print it: relative to the workspace with
// "/", absolute outside it.
func (s *Session) Relative(path string) string {
	if !s.Inside(path) {
		return path
	}
	rel, err := filepath.Rel(s.ws.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func inside(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// File returns a file's content with its line index.
func (s *Session) File(ctx context.Context, path string) (*text.File, error) {
	f, _, err := s.file(ctx, path)
	return f, err
}

// file returns a file of the snapshot with the hash of its content.
func (s *Session) file(ctx context.Context, path string) (*text.File, text.Hash, error) {
	s.mu.Lock()
	f, hash := s.files[path], s.hashes[path]
	s.mu.Unlock()
	if f != nil && hash != (text.Hash{}) {
		return f, hash, nil
	}
	content, hash, err := s.snap.Read(ctx, path)
	if err != nil {
		return nil, hash, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if of, ok := s.told[path]; ok && of != hash {
		return nil, hash, &view.StaleError{Path: path}
	}
	if f == nil || string(f.Content()) != string(content) {
		f = s.ws.lined(path, content)
	}
	s.files[path], s.hashes[path] = f, hash
	return f, hash, nil
}

// Tree returns a file's syntax; its symbols carry their ids.
func (s *Session) Tree(ctx context.Context, path string) (*syntax.Tree, error) {
	s.mu.Lock()
	t := s.trees[path]
	s.mu.Unlock()
	if t != nil {
		return t, nil
	}
	f, hash, err := s.file(ctx, path)
	if err != nil {
		return nil, err
	}
	t, err = s.ws.parse(ctx, s.snap, path, f.Content(), hash)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.trees[path] = t
	s.mu.Unlock()
	return t, nil
}

// Reader answers about the workspace's symbols, once the index is as new as the
// session's text.
func (s *Session) Reader() graph.Reader { return reader{s} }

// Incomplete notes that the answer may lack places, and why.
func (s *Session) Incomplete(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.incomplete, reason) {
		s.incomplete = append(s.incomplete, reason)
	}
}

// Warn adds a note to the answer.
func (s *Session) Warn(note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.warnings, note) {
		s.warnings = append(s.warnings, note)
	}
}

// Notes returns whether the answer is whole, and the notes on it.
func (s *Session) Notes() (complete bool, warnings []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reasons := slices.Clone(s.incomplete)
	for _, l := range s.leases {
		// A server may have begun to load again since it was leased.
		if whole, why := l.Complete(); !whole && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return len(reasons) == 0, append(reasons, s.warnings...)
}

// Settled is an error when a server that was asked had not loaded the project
// within its time. An answer may say so; a change must not rest on it.
func (s *Session) Settled() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		if err := l.Settled(); err != nil {
			return err
		}
	}
	return nil
}

// BenchFor returns the bench of the project that holds a file.
func (s *Session) BenchFor(ctx context.Context, path string) (*Bench, error) {
	lang, ok := s.ws.Language(path)
	if !ok {
		return nil, unsupported(path)
	}
	project, err := s.ws.project(ctx, s.snap, lang, path)
	if err != nil {
		return nil, err
	}
	return &Bench{session: s, lang: lang, project: project, snap: s.snap}, nil
}

// Bench implements adapters.Bench for one project.
type Bench struct {
	session *Session
	lang    adapters.Adapter
	project adapters.Project
	snap    *view.Snapshot
	planned bool // snap holds changes that no server knows
}

var _ adapters.Bench = (*Bench)(nil)

// Snapshot returns the bench's text.
func (b *Bench) Snapshot() adapters.Snapshot { return b.snap }

// Adapter returns the bench's language.
func (b *Bench) Adapter() adapters.Adapter { return b.lang }

// Project returns the build unit.
func (b *Bench) Project() adapters.Project { return b.project }

// Root returns the workspace's absolute folder.
func (b *Bench) Root() string { return b.session.ws.root }

// Graph answers about the workspace's symbols.
func (b *Bench) Graph() graph.Reader { return b.session.Reader() }

// Incomplete notes that the answer may lack places, and why.
func (b *Bench) Incomplete(reason string) { b.session.Incomplete(reason) }

// Warn adds a note to the answer.
func (b *Bench) Warn(note string) { b.session.Warn(note) }

// Tree returns a file's syntax; its symbols carry their ids.
func (b *Bench) Tree(ctx context.Context, path string) (*syntax.Tree, error) {
	if !b.planned {
		return b.session.Tree(ctx, path)
	}
	content, hash, err := b.snap.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	return b.session.ws.parse(ctx, b.snap, path, content, hash)
}

// With returns the same bench after these changes. Servers know nothing of them.
func (b *Bench) With(set change.Set) (adapters.Bench, error) {
	snap, err := b.snap.With(set)
	if err != nil {
		return nil, err
	}
	after := *b
	after.snap, after.planned = snap, true
	return &after, nil
}

// errPlanned says that a shared server cannot answer about planned text outside a turn.
var errPlanned = errors.New("a server cannot be asked about text that is only planned")

// Server leases the engine of a role, ready and at the snapshot's sequence number.
func (b *Bench) Server(ctx context.Context, r adapters.Role) (adapters.Server, error) {
	if b.planned {
		return nil, errPlanned
	}
	return b.session.lease(ctx, b.lang, b.project, r)
}
