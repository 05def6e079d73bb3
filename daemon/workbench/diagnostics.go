package workbench

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/text"
)

// Diagnostics returns what the project's server finds in a file, and the
// language's own checks where the server leaves something to them.
func (b *Bench) Diagnostics(ctx context.Context, path string) ([]api.Diagnostic, error) {
	if b.planned {
		return nil, errPlanned
	}
	l, err := b.session.lease(ctx, b.lang, b.project, adapters.Diagnose)
	if err != nil {
		return nil, err
	}
	if l.engine.OpenAsked && b.session.Inside(path) {
		// Some servers say nothing of what is wrong in a file that is closed.
		if err := l.Open(ctx, []string{path}); err != nil {
			return nil, err
		}
	}
	got, err := l.Lease.Diagnostics(ctx, path)
	if err != nil {
		return nil, err
	}
	if got.Dropped > 0 {
		b.Incomplete(fmt.Sprintf("%d diagnostics of %s could not be read", got.Dropped, b.session.Relative(path)))
	}
	f, err := l.file(ctx, path)
	if err != nil {
		return nil, err
	}
	out := make([]api.Diagnostic, 0, len(got.Items))
	for i := range got.Items {
		d, err := diagnostic(b.session.Relative(path), f, l.Encoding(), &got.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	if l.engine.Overlooks == "" {
		return out, nil
	}
	more, err := b.compiled(ctx, path, l.engine)
	if err != nil {
		return nil, err
	}
	return joined(out, more), nil
}

// diagnostic converts one finding; its strings are copied, as those of a
// message keep the whole message alive.
func diagnostic(file string, f *text.File, enc text.Encoding, d *protocol.Diagnostic) (api.Diagnostic, error) {
	start, err := f.OffsetClamped(textPosition(d.Range.Start), enc)
	if err != nil {
		return api.Diagnostic{}, fmt.Errorf("%s: a diagnostic names a bad place: %w", file, err)
	}
	end, err := f.OffsetClamped(textPosition(d.Range.End), enc)
	if err != nil {
		return api.Diagnostic{}, fmt.Errorf("%s: a diagnostic names a bad place: %w", file, err)
	}
	from, to := f.PointOf(start), f.PointOf(end)
	out := api.Diagnostic{
		Problem: api.Problem{
			File: file, Line: from.Line, Column: from.Column,
			Code: diagnosticCode(d), Message: diagnosticMessage(d), Severity: severity(d),
		},
		EndLine: to.Line, EndColumn: to.Column,
	}
	if source, ok := d.Source.Get(); ok {
		out.Origin = strings.Clone(source)
	}
	return out, nil
}

func severity(d *protocol.Diagnostic) string {
	switch d.Severity {
	case protocol.DiagnosticSeverityWarning:
		return "warning"
	case protocol.DiagnosticSeverityInformation:
		return "information"
	case protocol.DiagnosticSeverityHint:
		return "hint"
	default: // a server that gives none leaves it to the client
		return "error"
	}
}

func diagnosticCode(d *protocol.Diagnostic) string {
	switch c := d.Code.(type) {
	case protocol.String:
		return strings.Clone(string(c))
	case protocol.Integer:
		return strconv.Itoa(int(c))
	}
	return ""
}

func diagnosticMessage(d *protocol.Diagnostic) string {
	switch m := d.Message.(type) {
	case protocol.String:
		return strings.Clone(string(m))
	case *protocol.MarkupContent:
		return strings.Clone(m.Value)
	}
	return ""
}
