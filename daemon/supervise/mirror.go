package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient"
)

// mirror is what one process was told of the view: everything up to cursor.
// Files that a client has open, or that a recipe asked to open, are documents
// of the server; changes of all others are told as changes on disk.
type mirror struct {
	g     *generation
	again atomic.Bool // which files are documents has to be looked at anew

	mu     sync.Mutex // held while the server is told, so that its order is the log's
	cursor uint64
}

func newMirror(g *generation, seq uint64) *mirror { return &mirror{g: g, cursor: seq} }

// replay opens in a new process what had been open in the last.
func (m *mirror) replay(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.replayLocked(ctx)
}

func (m *mirror) replayLocked(ctx context.Context) error {
	i := m.g.i
	paths := i.openPaths()
	for _, d := range i.view.Buffers() {
		paths = append(paths, d.Path)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if err := m.document(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// sync tells the server everything that the view knows, at least up to seq,
// and returns up to where that is.
func (m *mirror) sync(ctx context.Context, seq uint64) (now uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.g.i.view
	for v.Seq() < seq {
		if _, err := v.Wait(ctx, v.Seq()); err != nil {
			return m.cursor, err
		}
	}
	if m.again.Swap(false) {
		if err := m.replayLocked(ctx); err != nil {
			m.again.Store(true)
			return m.cursor, err
		}
	}
	if v.Seq() == m.cursor {
		return m.cursor, nil
	}
	entries, now, reset := v.Since(m.cursor)
	if reset {
		// So much has changed that the log does not reach back: only a new
		// process knows what is there.
		m.g.i.log.Info("server is started anew because it missed too many changes")
		m.g.i.renew()
		return m.cursor, errGone
	}
	if err := m.tell(ctx, entries); err != nil {
		return m.cursor, err // told again from the same place: every message may be repeated
	}
	m.cursor = now
	// The driver has to have seen what was sent before its belief counts.
	return now, m.g.client.Barrier(ctx)
}

// tell sends what the entries add up to.
func (m *mirror) tell(ctx context.Context, entries []view.Entry) error {
	type net struct {
		first, last view.Kind
		disk        bool
		document    bool
	}
	byPath := make(map[string]*net)
	var order []string
	for _, e := range entries {
		n := byPath[e.Path]
		if n == nil {
			n = &net{first: e.Kind}
			byPath[e.Path] = n
			order = append(order, e.Path)
		}
		n.last = e.Kind
		n.disk = n.disk || e.Owner == ""
		n.document = n.document || e.Owner != ""
	}
	opened := m.g.i.openPaths()
	var changes []adapters.FileChange
	for _, path := range order {
		n := byPath[path]
		_, isOpen := m.g.client.Document(path)
		if n.document || isOpen || slices.Contains(opened, path) {
			if err := m.document(ctx, path); err != nil {
				return err
			}
			_, isOpen = m.g.client.Document(path)
		}
		if n.disk {
			deleted := n.last == view.Deleted
			changes = append(changes, adapters.FileChange{
				Path: path, Open: isOpen, Deleted: deleted,
				Created: !deleted && n.first == view.Created,
			})
		}
	}
	return m.send(ctx, changes)
}

// send passes changes on disk to the server as its driver says.
func (m *mirror) send(ctx context.Context, changes []adapters.FileChange) error {
	if len(changes) == 0 {
		return nil
	}
	if m.rereads() {
		m.fill(ctx, changes)
	}
	messages := ask(m.g, func(d adapters.Driver) []adapters.Message { return d.Mirror(changes) })
	for _, msg := range messages {
		if err := m.g.client.Notify(ctx, msg.Method, msg.Params); err != nil {
			return err
		}
	}
	return nil
}

// maxFilled bounds the text of one batch of changes, in bytes.
const maxFilled = 64 << 20

// rereads reports whether the server reads files late.
func (m *mirror) rereads() bool {
	_, ok := m.g.driver.(adapters.Rereader)
	return ok
}

// fill gives the changes the text that the view has.
func (m *mirror) fill(ctx context.Context, changes []adapters.FileChange) {
	total := 0
	for n := range changes {
		c := &changes[n]
		if c.Deleted || c.Open || !m.g.i.ours(c.Path) {
			continue
		}
		doc, err := m.g.i.view.Read(ctx, c.Path)
		if total += len(doc.Content); err == nil && total <= maxFilled {
			c.Content = doc.Content
		}
	}
}

// document opens, changes or closes one document as the view and the requests
// to have it open say.
func (m *mirror) document(ctx context.Context, path string) error {
	i, client := m.g.i, m.g.client
	have, isOpen := client.Document(path)
	doc, err := i.view.Read(ctx, path)
	want := err == nil && i.ours(path) && (doc.Owner != "" || slices.Contains(i.openPaths(), path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if ctx.Err() != nil {
			return err
		}
		i.log.Warn("document cannot be read for the server", "path", path, "error", err)
	}
	if want && i.poison.condemned(path, doc.Hash, time.Now()) {
		want = false
		i.log.Warn("document is kept from the server, which has crashed on it", "path", path)
	}
	switch {
	case want && !isOpen:
		err = client.DidOpen(ctx, path, i.languageID(path), doc.Content)
	case want && string(have.Text) != string(doc.Content):
		_, err = client.DidChange(ctx, path, doc.Content)
	case !want && isOpen:
		if err := client.DidClose(ctx, path); err != nil {
			return err
		}
		if _, keeps := m.g.driver.(adapters.Resender); keeps || m.rereads() {
			return m.send(ctx, []adapters.FileChange{{Path: path, Deleted: errors.Is(err, fs.ErrNotExist)}})
		}
		return nil
	default:
		return nil
	}
	if errors.Is(err, lspclient.ErrNotUTF8) {
		i.log.Warn("document is not UTF-8 and stays closed", "path", path)
		if isOpen {
			return client.DidClose(ctx, path)
		}
		return nil
	}
	if err == nil {
		i.poison.opened(path, doc.Hash)
	}
	return err
}

// open opens documents for recipes, from the view. The least recently asked
// for are closed when they become too many.
func (m *mirror) open(ctx context.Context, paths []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.g.i
	for _, path := range paths {
		doc, err := i.view.Read(ctx, path)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		if i.poison.condemned(path, doc.Hash, time.Now()) {
			return api.Errorf(api.ServerCrashed, "%s has ended each time %s was opened; it is tried again when the file changes or after %s",
				i.engine.ID, path, words(sentence))
		}
	}
	// Those that are pushed out by the others are closed first.
	for _, path := range append(i.keepOpen(paths), paths...) {
		if err := m.document(ctx, path); err != nil {
			return err
		}
	}
	return m.g.client.Barrier(ctx)
}

// has reports whether the server has the documents open. It gets their current
// text before each request.
func (m *mirror) has(paths []string) bool {
	for _, path := range paths {
		if _, open := m.g.client.Document(path); !open {
			return false
		}
	}
	return true
}

// openPaths returns the documents that recipes asked to have open.
func (i *instance) openPaths() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.opened)
}

// keepOpen moves paths to the young end of the open documents and returns what
// that pushes out.
func (i *instance) keepOpen(paths []string) (out []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, path := range paths {
		i.opened = slices.DeleteFunc(i.opened, func(p string) bool { return p == path })
		i.opened = append(i.opened, path)
	}
	if n := len(i.opened) - max(i.limits.Open, len(paths)); n > 0 {
		out = slices.Clone(i.opened[:n])
		i.opened = slices.Delete(i.opened, 0, n)
	}
	return out
}

// usedOpen makes documents that are kept open the youngest.
func (i *instance) usedOpen(paths []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, path := range paths {
		if at := slices.Index(i.opened, path); at >= 0 {
			i.opened = append(slices.Delete(i.opened, at, at+1), path)
		}
	}
}

// ours reports whether a file is of the instance's language and project.
func (i *instance) ours(path string) bool {
	if i.languageID(path) == "" {
		return false
	}
	project := i.unit()
	return slices.ContainsFunc(append([]string{project.Root}, project.Members...), func(root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// languageID returns LSP's name of the file's language; empty when the file is
// none of the instance's language.
func (i *instance) languageID(path string) string {
	l, ext := i.want.Language, filepath.Ext(path)
	if id := l.LanguageID[ext]; id != "" {
		return id
	}
	if slices.Contains(l.Extensions, ext) {
		return l.ID
	}
	return ""
}
