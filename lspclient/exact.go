package lspclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// carriesEdits reports whether the answer to a method holds text that is to be
// written to files.
func carriesEdits(method string) bool {
	switch method {
	case "textDocument/rename", "textDocument/codeAction", "codeAction/resolve",
		"textDocument/formatting", "textDocument/rangeFormatting", "textDocument/onTypeFormatting",
		"workspace/executeCommand", "workspace/willRenameFiles", "workspace/willCreateFiles", "workspace/willDeleteFiles":
		return true
	}
	return false
}

// callExact is Call for answers with edits. The decoder replaces what is no
// character by U+FFFD; in an edit that would change the user's text unseen.
func (c *Client) callExact(ctx context.Context, method string, params, result any) error {
	var raw json.RawMessage
	if err := c.conn.Call(ctx, method, params, &raw); err != nil {
		return err
	}
	if err := exact(raw); err != nil {
		return &DecodeError{Method: method, Err: err}
	}
	if err := Unmarshal(raw, result); err != nil {
		return &DecodeError{Method: method, Err: err}
	}
	return nil
}

// exact returns an error when a string of a JSON text holds invalid UTF-8 or
// half a surrogate pair.
func exact(raw []byte) error {
	if !utf8.Valid(raw) {
		return fmt.Errorf("answer: %w", ErrNotUTF8)
	}
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 || at+1 >= len(raw) {
			return nil
		}
		raw = raw[at:]
		unit, ok := surrogate(raw)
		switch {
		case !ok:
			raw = raw[2:]
		case unit >= 0xDC00:
			return fmt.Errorf("answer: half a surrogate pair %.6s: %w", raw, ErrNotUTF8)
		default:
			low, ok := surrogate(raw[6:])
			if !ok || low < 0xDC00 {
				return fmt.Errorf("answer: half a surrogate pair %.6s: %w", raw, ErrNotUTF8)
			}
			raw = raw[12:]
		}
	}
}

// surrogate reads an escape like \ud83d at the start of b.
func surrogate(b []byte) (unit uint64, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit, err == nil && unit >= 0xD800 && unit <= 0xDFFF
}
