package lspclient_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// TestResendOpened: a server that reads the disk when a document is opened is
// told the text once more, before anything is asked about it.
func TestResendOpened(t *testing.T) {
	client, server := start(t, lsptest.Config{}, lspclient.Options{ResendOpened: true})
	ctx := testContext(t)
	const path = "/ws/a.fake"
	if err := client.DidOpen(ctx, path, "fake", []byte("unsaved\n")); err != nil {
		t.Fatal(err)
	}
	if err := client.Call(ctx, "workspace/symbol", map[string]string{"query": "x"}, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range server.Received() {
		if m.Method == "" {
			continue // an answer
		}
		var p struct {
			TextDocument   struct{ Version int32 }
			ContentChanges []struct {
				Text  string
				Range *struct{}
			}
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(m.Method, err)
		}
		line := m.Method
		for _, c := range p.ContentChanges {
			if c.Range != nil {
				t.Error("the text that the server has is not known, so that a part of it cannot be changed")
			}
			line += " " + c.Text
		}
		got = append(got, line)
	}
	want := []string{"initialize", "initialized", "textDocument/didOpen", "textDocument/didChange unsaved\n", "workspace/symbol"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	doc, open := client.Document(path)
	if !open || string(doc.Text) != "unsaved\n" || doc.Version != 2 {
		t.Errorf("the mirror holds %+v", doc)
	}
}
