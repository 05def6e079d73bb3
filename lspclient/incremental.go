package lspclient

import (
	"bytes"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient/text"
)

// minIncremental is the size in bytes below which the whole text is sent: it
// cannot be misunderstood, and costs nothing.
const minIncremental = 64 << 10

// changes returns the content changes from old to now.
func (d *documents) changes(old, now []byte, enc text.Encoding) []protocol.TextDocumentContentChangeEvent {
	if d.kind == protocol.TextDocumentSyncKindIncremental && len(old) >= minIncremental {
		if part, ok := difference(old, now, enc); ok {
			return []protocol.TextDocumentContentChangeEvent{part}
		}
	}
	return []protocol.TextDocumentContentChangeEvent{
		&protocol.TextDocumentContentChangeWholeDocument{Text: string(now)},
	}
}

// difference returns the one replacement that makes now of old. It declines a
// text whose lines servers count in different ways.
func difference(old, now []byte, enc text.Encoding) (*protocol.TextDocumentContentChangePartial, bool) {
	if !plainLines(old) {
		return nil, false
	}
	start := 0
	for n := min(len(old), len(now)); start < n && old[start] == now[start]; {
		start++
	}
	tail := 0
	for n := min(len(old), len(now)) - start; tail < n && old[len(old)-1-tail] == now[len(now)-1-tail]; {
		tail++
	}
	for start > 0 && !boundary(old, start) {
		start--
	}
	end := len(old) - tail
	for end < len(old) && !boundary(old, end) {
		end++
	}
	f := text.NewFile(old)
	from, err := f.Position(start, enc)
	if err != nil {
		return nil, false
	}
	to, err := f.Position(end, enc)
	if err != nil {
		return nil, false
	}
	return &protocol.TextDocumentContentChangePartial{
		Range: protocol.Range{
			Start: protocol.Position{Line: from.Line, Character: from.Character},
			End:   protocol.Position{Line: to.Line, Character: to.Character},
		},
		Text: string(now[start : len(now)-(len(old)-end)]),
	}, true
}

// boundary reports whether offset n is neither inside a character nor a CRLF.
func boundary(b []byte, n int) bool {
	if n == len(b) {
		return true
	}
	return utf8.RuneStart(b[n]) && (b[n] != '\n' || b[n-1] != '\r')
}

// plainLines reports whether all readers agree where the lines of b end: some
// end them at a lone CR, at form feeds or at Unicode's separators, others not.
func plainLines(b []byte) bool {
	if bytes.ContainsAny(b, "\v\f\u0085\u2028\u2029") {
		return false
	}
	return bytes.Count(b, []byte("\r")) == bytes.Count(b, []byte("\r\n"))
}
