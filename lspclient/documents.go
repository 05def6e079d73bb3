package lspclient

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"go.lsp.dev/protocol"
)

// Document is a document that the server was told to open, with the bytes that
// the server has. Text must not be changed.
type Document struct {
	Path       string
	LanguageID string
	Version    int32
	Text       []byte
}

// documents is the mirror: what the server was told, in order.
type documents struct {
	send turn       // held while a change is sent, so that wire order is version order; before mu
	mu   sync.Mutex // guards the fields below
	open map[string]Document
	// version is shared by all documents, so that it also rises when one is
	// closed and opened again: a late diagnostic of the first cannot pass for new.
	version int32
	kind    protocol.TextDocumentSyncKind
	save    bool
	mute    bool // the server wants no open and close
}

func (d *documents) init() { d.open, d.send = map[string]Document{}, newTurn() }

// sync reads the server's textDocumentSync: a number, or an object.
func (d *documents) sync(raw json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kind = protocol.TextDocumentSyncKindFull
	var kind float64
	if json.Unmarshal(raw, &kind) == nil && len(raw) > 0 {
		d.kind, d.save = protocol.TextDocumentSyncKind(kind), true
		return
	}
	var options struct {
		OpenClose *bool           `json:"openClose"`
		Change    *float64        `json:"change"`
		Save      json.RawMessage `json:"save"`
	}
	if json.Unmarshal(raw, &options) != nil {
		return
	}
	if options.Change != nil {
		d.kind = protocol.TextDocumentSyncKind(*options.Change)
	}
	d.mute = options.OpenClose != nil && !*options.OpenClose
	d.save = len(options.Save) > 0 && string(options.Save) != "false" && string(options.Save) != "null"
}

// Document returns the document as the server has it.
func (c *Client) Document(path string) (doc Document, open bool) {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	doc, open = c.docs.open[path]
	return doc, open
}

// Text returns the bytes and the version that the server has of a document.
func (c *Client) Text(path string) (text []byte, version int32, open bool) {
	doc, open := c.Document(path)
	return doc.Text, doc.Version, open
}

// Documents returns all open documents in order of path.
func (c *Client) Documents() []Document {
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	list := make([]Document, 0, len(c.docs.open))
	for _, d := range c.docs.open {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Document) int {
		switch {
		case a.Path < b.Path:
			return -1
		case a.Path > b.Path:
			return 1
		}
		return 0
	})
	return list
}

// DidOpen tells the server that a document is open with this text. ErrOpen is
// returned when it is open already, ErrNotUTF8 when it cannot be sent unchanged.
func (c *Client) DidOpen(ctx context.Context, path, languageID string, text []byte) error {
	if err := c.take(ctx, c.docs.send, "open "+path); err != nil {
		return err
	}
	defer c.docs.send.give()
	if _, open := c.Document(path); open {
		return fmt.Errorf("open %s: %w", path, ErrOpen)
	}
	if !utf8.Valid(text) || !utf8.ValidString(path) {
		return fmt.Errorf("open %q: %w", path, ErrNotUTF8)
	}
	doc := Document{Path: path, LanguageID: languageID, Version: c.docs.nextVersion(), Text: slices.Clone(text)}
	if !c.docs.mute {
		err := c.conn.Notify(ctx, "textDocument/didOpen", &protocol.DidOpenTextDocumentParams{
			TextDocument: protocol.TextDocumentItem{
				URI: URI(path), LanguageID: protocol.LanguageKind(languageID), Version: doc.Version, Text: string(doc.Text),
			},
		})
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
	}
	c.docs.put(doc)
	if c.docs.mute || !c.options.ResendOpened {
		return nil
	}
	doc.Version = c.docs.nextVersion()
	err := c.conn.Notify(ctx, "textDocument/didChange", &protocol.DidChangeTextDocumentParams{
		TextDocument: protocol.VersionedTextDocumentIdentifier{
			TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: URI(path)}, Version: doc.Version,
		},
		ContentChanges: []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: string(doc.Text)}},
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	c.docs.put(doc)
	return nil
}

// DidChange tells the server the new text of an open document; an equal text is
// not sent. It returns the version that the server has then.
func (c *Client) DidChange(ctx context.Context, path string, text []byte) (version int32, err error) {
	if err := c.take(ctx, c.docs.send, "change "+path); err != nil {
		return 0, err
	}
	defer c.docs.send.give()
	doc, open := c.Document(path)
	if !open {
		return 0, fmt.Errorf("change %s: %w", path, ErrNotOpen)
	}
	if string(doc.Text) == string(text) {
		return doc.Version, nil
	}
	if !utf8.Valid(text) {
		return 0, fmt.Errorf("change %s: %w", path, ErrNotUTF8)
	}
	old := doc.Text
	doc.Version, doc.Text = c.docs.nextVersion(), slices.Clone(text)
	if c.docs.kind != protocol.TextDocumentSyncKindNone {
		err := c.conn.Notify(ctx, "textDocument/didChange", &protocol.DidChangeTextDocumentParams{
			TextDocument: protocol.VersionedTextDocumentIdentifier{
				TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: URI(path)}, Version: doc.Version,
			},
			ContentChanges: c.docs.changes(old, doc.Text, c.encoding),
		})
		if err != nil {
			return 0, fmt.Errorf("change %s: %w", path, err)
		}
	}
	c.docs.put(doc)
	return doc.Version, nil
}

// DidSave tells the server that an open document was written to disk, when it
// asks to be told.
func (c *Client) DidSave(ctx context.Context, path string) error {
	if err := c.take(ctx, c.docs.send, "save "+path); err != nil {
		return err
	}
	defer c.docs.send.give()
	doc, open := c.Document(path)
	if !open {
		return fmt.Errorf("save %s: %w", path, ErrNotOpen)
	}
	if !c.docs.save && len(c.Registrations("textDocument/didSave")) == 0 {
		return nil
	}
	content := string(doc.Text)
	err := c.conn.Notify(ctx, "textDocument/didSave", &protocol.DidSaveTextDocumentParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: URI(path)}, Text: &content,
	})
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// DidClose tells the server that a document is closed: its text is the disk's again.
func (c *Client) DidClose(ctx context.Context, path string) error {
	if err := c.take(ctx, c.docs.send, "close "+path); err != nil {
		return err
	}
	defer c.docs.send.give()
	if _, open := c.Document(path); !open {
		return fmt.Errorf("close %s: %w", path, ErrNotOpen)
	}
	if !c.docs.mute {
		err := c.conn.Notify(ctx, "textDocument/didClose", &protocol.DidCloseTextDocumentParams{
			TextDocument: protocol.TextDocumentIdentifier{URI: URI(path)},
		})
		if err != nil {
			return fmt.Errorf("close %s: %w", path, err)
		}
	}
	c.docs.mu.Lock()
	defer c.docs.mu.Unlock()
	delete(c.docs.open, path)
	return nil
}

func (d *documents) put(doc Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[doc.Path] = doc
}

func (d *documents) nextVersion() int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	return d.version
}
