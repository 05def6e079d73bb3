package op

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/text"
)

// maxContext bounds the line of context in bytes; a minified file has lines of megabytes.
const maxContext = 200

// relative returns a path as answers print it: relative to root with "/",
// absolute outside it.
func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}

// location converts a place; context adds the line's text.
func location(root string, p adapters.Place, context bool) api.Location {
	start, end := p.File.PointOf(p.Span.Start), p.File.PointOf(p.Span.End)
	loc := api.Location{
		File: relative(root, p.Path),
		Line: start.Line, Column: start.Column,
		EndLine: end.Line, EndColumn: end.Column,
	}
	if context {
		loc.Context = contextLine(p.File, start.Line)
	}
	return loc
}

func contextLine(f *text.File, line int) string {
	b := bytes.TrimSpace(bytes.TrimPrefix(f.Line(line-1), []byte(text.BOM)))
	if len(b) > maxContext {
		cut := maxContext
		for cut > 0 && !utf8.RuneStart(b[cut]) {
			cut--
		}
		return string(b[:cut]) + "…"
	}
	return string(b)
}

// span converts a range of a file that is named elsewhere.
func span(f *text.File, s graph.Span) api.Range {
	start, end := f.PointOf(s.Start), f.PointOf(s.End)
	return api.Range{Line: start.Line, Column: start.Column, EndLine: end.Line, EndColumn: end.Column}
}

// reference names a symbol in an answer.
func reference(root string, sym graph.Symbol, f *text.File) *api.SymbolRef {
	return &api.SymbolRef{
		SymbolID: string(sym.ID),
		Name:     sym.Name,
		Kind:     string(sym.Kind),
		File:     relative(root, sym.Path),
		Line:     f.PointOf(sym.NameSpan.Start).Line,
	}
}

// entry lists a symbol in an answer.
func entry(root string, sym graph.Symbol, f *text.File) api.SymbolEntry {
	return api.SymbolEntry{
		SymbolID:   string(sym.ID),
		Name:       sym.Name,
		Kind:       string(sym.Kind),
		Container:  sym.Container,
		Signature:  sym.Signature,
		Visibility: sym.Visibility,
		Attributes: sym.Attributes,
		Location:   location(root, adapters.Place{Path: sym.Path, Span: sym.NameSpan, File: f}, true),
	}
}
