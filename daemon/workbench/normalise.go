package workbench

import (
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// normalise turns a server's workspace edit into a change.Set. A server is
// untrusted input: each path is confined, each range checked against the text
// the server had, and an edit that wants a person's consent is refused.
type normalise struct {
	root     string
	engine   string
	encoding text.Encoding
	file     func(path string) (*text.File, error)
	edit     protocol.WorkspaceEdit
	ops      []change.Op
}

func (n normalise) set(edit protocol.WorkspaceEdit) (change.Set, error) {
	n.edit = edit
	if len(edit.DocumentChanges) > 0 {
		for _, c := range edit.DocumentChanges {
			if err := n.document(c); err != nil {
				return change.Set{}, err
			}
		}
		return change.Set{Ops: n.ops}, nil
	}
	byPath := map[string][]protocol.TextEdit{}
	for u, edits := range edit.Changes {
		path, err := n.path(string(u))
		if err != nil {
			return change.Set{}, err
		}
		byPath[path] = append(byPath[path], edits...)
	}
	paths := make([]string, 0, len(byPath))
	for p := range byPath {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		ranges := make([]text.RangeEdit, 0, len(byPath[p]))
		for _, e := range byPath[p] {
			ranges = append(ranges, rangeEdit(e))
		}
		if err := n.edits(p, ranges); err != nil {
			return change.Set{}, err
		}
	}
	return change.Set{Ops: n.ops}, nil
}

func (n *normalise) document(c protocol.DocumentChange) error {
	switch c := c.(type) {
	case *protocol.TextDocumentEdit:
		path, err := n.path(string(c.TextDocument.URI))
		if err != nil {
			return err
		}
		ranges := make([]text.RangeEdit, 0, len(c.Edits))
		for _, e := range c.Edits {
			r, err := n.element(path, e)
			if err != nil {
				return err
			}
			ranges = append(ranges, r)
		}
		return n.edits(path, ranges)
	case *protocol.CreateFile:
		path, err := n.path(string(c.URI))
		if err != nil {
			return err
		}
		op := change.Op{Kind: change.Create, Path: path}
		if o := c.Options; o != nil {
			op.Overwrite, op.IgnoreExisting = isTrue(o.Overwrite), isTrue(o.IgnoreIfExists)
		}
		return n.resource(op, c.AnnotationID)
	case *protocol.RenameFile:
		from, err := n.path(string(c.OldURI))
		if err != nil {
			return err
		}
		to, err := n.path(string(c.NewURI))
		if err != nil {
			return err
		}
		op := change.Op{Kind: change.Rename, Path: from, NewPath: to}
		if o := c.Options; o != nil {
			op.Overwrite, op.IgnoreExisting = isTrue(o.Overwrite), isTrue(o.IgnoreIfExists)
		}
		return n.resource(op, c.AnnotationID)
	case *protocol.DeleteFile:
		path, err := n.path(string(c.URI))
		if err != nil {
			return err
		}
		op := change.Op{Kind: change.Delete, Path: path}
		if o := c.Options; o != nil {
			op.IgnoreMissing = isTrue(o.IgnoreIfNotExists)
		}
		return n.resource(op, c.AnnotationID)
	}
	return fmt.Errorf("%s sent a change of an unknown kind (%T)", n.engine, c)
}

func (n *normalise) element(path string, e protocol.TextDocumentEditElement) (text.RangeEdit, error) {
	switch e := e.(type) {
	case *protocol.TextEdit:
		return rangeEdit(*e), nil
	case *protocol.AnnotatedTextEdit:
		if err := n.consent(e.AnnotationID, path); err != nil {
			return text.RangeEdit{}, err
		}
		return rangeEdit(e.TextEdit), nil
	}
	return text.RangeEdit{}, fmt.Errorf("%s sent an edit of an unknown kind (%T)", n.engine, e)
}

func (n *normalise) resource(op change.Op, annotation protocol.ChangeAnnotationIdentifier) error {
	if err := n.consent(annotation, op.Path); err != nil {
		return err
	}
	n.ops = append(n.ops, op)
	return nil
}

// consent refuses an edit whose annotation needs a person's confirmation.
func (n *normalise) consent(id protocol.ChangeAnnotationIdentifier, path string) error {
	a, ok := n.edit.ChangeAnnotations[id]
	if !ok || !isTrue(a.NeedsConfirmation) {
		return nil
	}
	return api.Errorf(api.NameConflict, "%s marks the change of %s as one to confirm: %s", n.engine, path, a.Label)
}

func (n *normalise) edits(path string, ranges []text.RangeEdit) error {
	if len(ranges) == 0 {
		return nil
	}
	f, err := n.before(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	edits, err := text.FromLSP(f, ranges, n.encoding, true)
	if err != nil {
		return fmt.Errorf("%s: %s sent an edit that does not fit: %w", path, n.engine, err)
	}
	if strings.Contains(string(f.Content()), "\r\n") {
		for i := range edits {
			edits[i].New = withCRLF(edits[i].New)
		}
	}
	n.ops = append(n.ops, change.Op{Kind: change.Edit, Path: path, Edits: edits})
	return nil
}

// before is the text that an edit's ranges count in: a file that an earlier
// step makes is empty, one that it moves has the text of where it came from.
func (n *normalise) before(path string) (*text.File, error) {
	for _, op := range slices.Backward(n.ops) {
		switch {
		case op.Kind == change.Create && op.Path == path:
			return text.NewFile(op.Content), nil
		case op.Kind == change.Rename && op.NewPath == path:
			return n.file(op.Path)
		}
	}
	return n.file(path)
}

// withCRLF gives new text the line endings of the file around it: servers
// write LF whatever the file has.
func withCRLF(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func (n *normalise) path(u string) (string, error) {
	path, err := lspclient.Path(u)
	if err != nil {
		return "", fmt.Errorf("%s names something that is not a file: %w", n.engine, err)
	}
	return path, confine(n.root, n.engine, path)
}

func rangeEdit(e protocol.TextEdit) text.RangeEdit {
	return text.RangeEdit{
		Range: text.Range{Start: textPosition(e.Range.Start), End: textPosition(e.Range.End)},
		New:   strings.Clone(e.NewText),
	}
}

func isTrue(b *bool) bool { return b != nil && *b }
