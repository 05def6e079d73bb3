package lspclient_test

import (
	"errors"
	"strconv"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestL04_EditsThatAreNotUnicode(t *testing.T) {
	cases := map[string]bool{ // JSON of the new text, and whether it is taken
		`"plain"`: true, `"🙂"`: true, `"\ud83d\ude42"`: true, `"\uD83D\uDE42"`: true, `"a\u0000b"`: true, `"\\ud800"`: true, `"\\\\ud800"`: true,
		`"\ufffd"`: true, `"\u2028"`: true, `""`: true,
		`"\ud800"`: false, `"\ude42"`: false, `"\ude42\ude42"`: false, `"\ud83d\ud83d\ude42"`: false, `"\ud83d\n"`: false, `"\\\ud800"`: false, `"\ud83dx"`: false,
		"\"\xff\"": false, "\"\xed\xa0\x80\"": false,
	}
	for text, ok := range cases {
		raw := `{"changes":{"file:///a":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":` + text + `}]}}`
		// The config of the fake is JSON itself, so that the bytes go the raw way.
		body := `{"jsonrpc":"2.0","id":2,"result":` + raw + `}`
		frame := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
		client, _ := start(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/rename", Do: lsptest.Raw, Text: frame}}}, lspclient.Options{})
		var edit protocol.WorkspaceEdit
		err := client.Call(testContext(t), "textDocument/rename", at("/a", 0, 0), &edit)
		if ok && (err != nil || len(edit.Changes) != 1) || !ok && !errors.Is(err, lspclient.ErrNotUTF8) {
			t.Errorf("%s: error is %v", text, err)
		}
	}
}
