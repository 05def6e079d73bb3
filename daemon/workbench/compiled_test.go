package workbench

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
)

// TestJoined counts what server and compiler both find once, and two findings
// of one of them twice.
func TestJoined(t *testing.T) {
	at := func(line, column int, code, message, severity, origin string) api.Diagnostic {
		return api.Diagnostic{Problem: api.Problem{Line: line, Column: column, Code: code, Message: message, Severity: severity}, Origin: origin}
	}
	server := []api.Diagnostic{
		at(4, 23, "E0308", "expected String, found u32", "error", "server"),
		at(9, 1, "inactive", "not compiled", "hint", "server"),
	}
	check := []api.Diagnostic{
		at(4, 21, "E0308", "mismatched types", "error", "check"),
		at(4, 40, "E0308", "mismatched types", "error", "check"),
		at(4, 2, "E0308", "mismatched types", "warning", "check"),
		at(5, 5, "E0425", "cannot find `nowhere`", "error", "check"),
		at(9, 1, "", "not compiled", "hint", "check"),
	}
	want := append(append([]api.Diagnostic{}, server...), check[1], check[2], check[3])
	if diff := cmp.Diff(want, joined(server, check)); diff != "" {
		t.Error(diff)
	}
}
