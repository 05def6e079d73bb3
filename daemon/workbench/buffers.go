package workbench

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/auralsp/aura/daemon/api"
)

// Absolute makes a path of a request absolute.
func (w *Workspace) Absolute(path string) string {
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.root, path)
	}
	return filepath.Clean(path)
}

// confined is Absolute for a file that must lie in the workspace.
func (w *Workspace) confined(path string) (string, error) {
	abs := w.Absolute(path)
	if !inside(w.root, abs) {
		return "", api.Errorf(api.OutsideWorkspace, "%s is outside the workspace %s", path, w.root)
	}
	return abs, nil
}

// OpenBuffer takes a client's unsaved text of a file.
func (w *Workspace) OpenBuffer(_ context.Context, client, path string, version int, text []byte) error {
	abs, err := w.confined(path)
	if err != nil {
		return err
	}
	return w.view.OpenBuffer(client, abs, version, text)
}

// ChangeBuffer takes a client's new unsaved text of a file.
func (w *Workspace) ChangeBuffer(_ context.Context, client, path string, version int, text []byte) error {
	abs, err := w.confined(path)
	if err != nil {
		return err
	}
	return w.view.ChangeBuffer(client, abs, version, text)
}

// CloseBuffer lets the file count as it is on disk again.
func (w *Workspace) CloseBuffer(_ context.Context, client, path string) error {
	abs, err := w.confined(path)
	if err != nil {
		return err
	}
	return w.view.CloseBuffer(client, abs)
}

// Generated reports whether a tool writes the file again.
func (w *Workspace) Generated(path string, content []byte) bool {
	lang, ok := w.Language(path)
	if !ok || lang.Language().Generated == nil {
		return false
	}
	return lang.Language().Generated(content)
}

// Lost reports whether the workspace's folder is gone or was replaced.
func (w *Workspace) Lost() bool { return w.view.Watching().Lost }

// Health says in words what keeps the workspace from being followed in full.
func (w *Workspace) Health() []string {
	st := w.view.Watching()
	var out []string
	if st.Polled > 0 {
		which := fmt.Sprintf("%d of %d folders of %s, %s among them, are", st.Polled, st.Dirs, w.root, st.PolledFrom)
		if st.Polled == st.Dirs {
			which = "all folders of " + w.root + " are"
		}
		out = append(out, fmt.Sprintf("%s polled, which makes each request slower: %s", which, st.Reason))
	}
	if st.Skipped > 0 {
		why := "cannot be read"
		if st.TooMany {
			why = "are too many: open a smaller folder, or leave some out by an ignore file"
		}
		out = append(out, fmt.Sprintf("%d folders of %s and what is in them are not seen, because they %s", st.Skipped, w.root, why))
	}
	if w.store != nil {
		out = append(out, w.store.Status().Notes...)
	}
	if n := len(w.index.Failed()); n > 0 {
		out = append(out, fmt.Sprintf("%d files of %s could not be indexed", n, w.root))
	}
	return out
}
