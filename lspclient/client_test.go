package lspclient_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

// at makes the params of a request about a place.
func at(path string, line, character uint32) protocol.TextDocumentPositionParams {
	return protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: lspclient.URI(path)},
		Position:     protocol.Position{Line: line, Character: character},
	}
}

func TestSession(t *testing.T) {
	dir := write(t, map[string]string{"a.fake": "func Foo\n", "b.fake": "use Foo\n"})
	a, b := filepath.Join(dir, "a.fake"), filepath.Join(dir, "b.fake")
	client, server := start(t, lsptest.Config{}, lspclient.Options{Root: dir, ProcessID: 1})
	ctx := testContext(t)

	if got := client.ServerInfo(); got != (lspclient.ServerInfo{Name: "fake", Version: "1"}) {
		t.Errorf("server info is %+v", got)
	}
	if client.Encoding() != text.UTF16 {
		t.Errorf("encoding is %v", client.Encoding())
	}
	if err := client.DidOpen(ctx, b, "fake", []byte("use Foo // buffer Foo\n")); err != nil {
		t.Fatal(err)
	}
	var refs []protocol.Location
	params := &protocol.ReferenceParams{TextDocumentPositionParams: at(a, 0, 6), Context: protocol.ReferenceContext{IncludeDeclaration: true}}
	if err := client.Call(ctx, "textDocument/references", params, &refs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range refs {
		path, err := lspclient.Path(r.URI)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.Base(path)+":"+string(rune('0'+r.Range.Start.Character)))
	}
	if diff := cmp.Diff([]string{"a.fake:5", "b.fake:4", "b.fake:B"}, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	var edit protocol.WorkspaceEdit
	rename := &protocol.RenameParams{TextDocumentPositionParams: at(a, 0, 6), NewName: "Bar"}
	if err := client.Call(ctx, "textDocument/rename", rename, &edit); err != nil {
		t.Fatal(err)
	}
	if len(edit.DocumentChanges) != 2 {
		t.Errorf("rename changes %d documents, want 2", len(edit.DocumentChanges))
	}
	if err := client.Shutdown(ctx); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	var methods []string
	for _, r := range server.Received() {
		if r.Method != "" {
			methods = append(methods, r.Method)
		}
	}
	want := []string{
		"initialize", "initialized", "textDocument/didOpen", "textDocument/references",
		"textDocument/rename", "shutdown", "exit",
	}
	if diff := cmp.Diff(want, methods); diff != "" {
		t.Errorf("server received (-want +got):\n%s", diff)
	}
}

func TestConfigurationAnswersAsManyAsAsked(t *testing.T) {
	ask := json.RawMessage(`{"items":[{"section":"a"},{"section":"b","scopeUri":"file:///x%20y"},{},{"section":"a","scopeUri":"untitled:1"}]}`)
	client, server := start(t, lsptest.Config{}, lspclient.Options{Configure: func(section, scope string) any {
		if section == "" {
			return nil
		}
		return section + "@" + scope
	}})
	got := server.Ask(testContext(t), "workspace/configuration", ask)
	if want := `["a@","b@/x y",null,"a@"]`; string(got) != want {
		t.Errorf("answered %s, want %s", got, want)
	}
	if err := client.Err(); err != nil {
		t.Error(err)
	}
}

func TestConfigurationOfNobody(t *testing.T) {
	_, server := start(t, lsptest.Config{}, lspclient.Options{})
	got := server.Ask(testContext(t), "workspace/configuration", json.RawMessage(`{"items":[{"section":"a"},{}]}`))
	if string(got) != "[null,null]" {
		t.Errorf("answered %s", got)
	}
}
