package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// lease implements adapters.Server over a supervised instance.
type lease struct {
	*supervise.Lease
	session *Session
	engine  adapters.Engine

	mu   sync.Mutex           // guards base
	base map[string]text.Hash // what positions in requests count in
}

var _ adapters.Server = (*lease)(nil)

// lease returns the request's lease of the project's engine for a role; one
// request asks each engine through one lease.
func (s *Session) lease(ctx context.Context, lang adapters.Adapter, p adapters.Project, r adapters.Role) (*lease, error) {
	engines := enginesFor(lang, r)
	if len(engines) == 0 {
		return nil, api.Errorf(api.UnsupportedOperation, "no server of %s does this; outline, symbol and list_types need none", lang.Language().Name)
	}
	var missing error
	for _, e := range engines {
		l, err := s.leaseEngine(ctx, lang, p, e)
		if !supervise.Missing(err) {
			return l, err
		}
		// The one that is preferred is the one to install.
		missing = cmp.Or(missing, err)
	}
	return nil, missing
}

// leaseEngine leases one engine for a project.
func (s *Session) leaseEngine(ctx context.Context, lang adapters.Adapter, p adapters.Project, engine adapters.Engine) (*lease, error) {
	key := engine.ID + "\x00" + p.Root
	s.mu.Lock()
	l, why := s.leases[key], s.unserved[lang.Language().ID]
	s.mu.Unlock()
	if why != nil {
		return nil, why
	}
	if l != nil {
		return l, nil
	}
	if engine.Trust && !s.caller.Trusted {
		return nil, api.Errorf(api.WorkspaceUntrusted, "servers of %s run code of %s while they load the project: run `auractl trust %s` first",
			lang.Language().Name, s.Root(), s.Root())
	}
	got, err := s.ws.opts.Supervisor.Lease(ctx, supervise.Want{
		View:     s.ws.view,
		Project:  p,
		Language: lang.Language(),
		Engine:   engine,
		Env:      s.caller.Env,
		Trusted:  s.caller.Trusted,
		Class:    s.caller.Class,
		Client:   s.caller.Name,
		Seq:      s.snap.Seq(),
		Within:   s.within,
		Waiting:  s.caller.Waiting,
	})
	if err != nil {
		return nil, err
	}
	l = &lease{Lease: got, session: s, engine: engine, base: map[string]text.Hash{}}
	s.mu.Lock()
	s.leases[key] = l
	s.mu.Unlock()
	return l, nil
}

// enginesFor returns the engines of a language that have the role, the
// preferred one first.
func enginesFor(lang adapters.Adapter, r adapters.Role) []adapters.Engine {
	return slices.DeleteFunc(slices.Clone(lang.Engines()), func(e adapters.Engine) bool { return e.Roles&r != r })
}

// Call asks a read-only request. It is not sent when a file that one of the
// request's session's positions counts in has changed: supervise.ErrMoved.
func (l *lease) Call(ctx context.Context, method string, params, result any) error {
	l.mu.Lock()
	base := maps.Clone(l.base)
	l.mu.Unlock()
	return refusedBy(l.CallOn(ctx, base, method, params, result))
}

// refused makes a server's own error known to recipes.
type refused struct{ *lspclient.CallError }

// Refusal returns the server's code and message.
func (r refused) Refusal() (int, string) { return int(r.Code), r.Message }

// Unwrap returns the error as the client gave it.
func (r refused) Unwrap() error { return r.CallError }

func refusedBy(err error) error {
	var call *lspclient.CallError
	if errors.As(err, &call) {
		return refused{call}
	}
	return err
}

// Position converts a byte offset of a file. The request that carries it is
// sent only if the server has the same text then.
func (l *lease) Position(ctx context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error) {
	f, hash, err := l.session.file(ctx, path)
	if err != nil {
		return protocol.TextDocumentPositionParams{}, err
	}
	l.mu.Lock()
	_, asked := l.base[path]
	l.base[path] = hash
	l.mu.Unlock()
	if l.engine.OpenAsked && !asked && l.session.Inside(path) {
		if err := l.Open(ctx, []string{path}); err != nil {
			return protocol.TextDocumentPositionParams{}, err
		}
	}
	pos, err := f.Position(offset, l.Encoding())
	if err != nil {
		return protocol.TextDocumentPositionParams{}, fmt.Errorf("%s: %w", path, err)
	}
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: lspclient.URI(path)},
		Position:     protocol.Position{Line: pos.Line, Character: pos.Character},
	}, nil
}

// Place converts a location in an answer.
func (l *lease) Place(ctx context.Context, loc protocol.Location) (adapters.Place, error) {
	path, err := lspclient.Path(loc.URI)
	if err != nil {
		return adapters.Place{}, fmt.Errorf("%s names a place that is not a file: %w", l.Engine(), err)
	}
	f, err := l.file(ctx, path)
	if err != nil {
		return adapters.Place{}, err
	}
	start, err := f.OffsetClamped(textPosition(loc.Range.Start), l.Encoding())
	if err != nil {
		return adapters.Place{}, fmt.Errorf("%s: %s names a bad place: %w", path, l.Engine(), err)
	}
	end, err := f.OffsetClamped(textPosition(loc.Range.End), l.Encoding())
	if err != nil {
		return adapters.Place{}, fmt.Errorf("%s: %s names a bad place: %w", path, l.Engine(), err)
	}
	return adapters.Place{Path: path, Span: graph.Span{Start: start, End: end}, File: f}, nil
}

func textPosition(p protocol.Position) text.Position {
	return text.Position{Line: p.Line, Character: p.Character}
}

// file is the text that the server had at the last call.
func (l *lease) file(ctx context.Context, path string) (*text.File, error) {
	content, err := l.Text(ctx, path)
	if err != nil {
		return nil, err
	}
	return l.session.indexed(path, content), nil
}

// indexed reuses the line index of a content that the session has seen.
func (s *Session) indexed(path string, content []byte) *text.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && string(f.Content()) == string(content) {
		return f
	}
	f := s.ws.lined(path, content)
	s.files[path] = f
	delete(s.hashes, path)
	return f
}

// Normalise turns the server's edit into a change.Set with the bytes that the
// server had.
func (l *lease) Normalise(edit protocol.WorkspaceEdit) (change.Set, error) {
	return normalise{
		root:     l.session.ws.root,
		engine:   l.Engine(),
		encoding: l.Encoding(),
		file:     func(path string) (*text.File, error) { return l.file(context.Background(), path) },
	}.set(edit)
}

// confine refuses a path outside the workspace.
func confine(root, engine, path string) error {
	if inside(root, path) {
		return nil
	}
	return api.Errorf(api.OutsideWorkspace, "%s wants to change %s, which is outside the workspace; nothing was written",
		engine, filepath.ToSlash(path))
}
