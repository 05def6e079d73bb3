package lspclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
	"github.com/auralsp/aura/lspclient/text"
)

var update = flag.Bool("update", false, "write golden files")

func TestInitializeParams(t *testing.T) {
	_, server := start(t, lsptest.Config{}, lspclient.Options{
		ProcessID: 4711, Root: "/ws/é", Folders: []string{"/ws/é", "/ws/b"}, Version: "1.2.3",
		Settings: map[string]any{"env": map[string]string{"A": "<&>"}},
	})
	var got bytes.Buffer
	if err := json.Indent(&got, server.Received()[0].Params, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	golden := filepath.Join("testdata", "initialize.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("initialize params (-want +got); -update writes them:\n%s", diff)
	}
}

func TestCapabilitiesCanBeAdjusted(t *testing.T) {
	_, server := start(t, lsptest.Config{}, lspclient.Options{Capabilities: func(c *protocol.ClientCapabilities) {
		c.TextDocument.Diagnostic = nil
	}})
	var p protocol.InitializeParams
	if err := lspclient.Unmarshal(server.Received()[0].Params, &p); err != nil {
		t.Fatal(err)
	}
	if p.Capabilities.TextDocument.Diagnostic != nil {
		t.Error("the pull capability is announced still")
	}
	if lspclient.Capabilities().TextDocument.Diagnostic == nil {
		t.Error("an adjustment leaks into the next client")
	}
}

// TestRealAnnouncements reads what real servers answered to initialize.
func TestRealAnnouncements(t *testing.T) {
	files, err := filepath.Glob("testdata/capabilities/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d recorded answers, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			client, _ := start(t, answer("initialize", string(raw)), lspclient.Options{})
			for _, method := range []string{"textDocument/definition", "textDocument/references", "textDocument/rename"} {
				if !client.Supports(method) {
					t.Errorf("%s is not supported", method)
				}
			}
			want := text.UTF16
			if strings.Contains(file, "rust-analyzer") {
				want = text.UTF8
			}
			if got := client.Encoding(); got != want {
				t.Errorf("encoding is %v, want %v", got, want)
			}
			if client.Capabilities().RenameProvider == nil {
				t.Error("the typed capabilities hold no rename")
			}
		})
	}
}

// answer scripts one answer.
func answer(method, result string) lsptest.Config {
	return lsptest.Config{Faults: []lsptest.Fault{{On: method, Do: lsptest.AnswerWith, JSON: json.RawMessage(result)}}}
}

func TestP02_CrashBeforeTheInitializeReply(t *testing.T) {
	_, conn := lsptest.Start(t, lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Crash}}})
	_, err := lspclient.Start(testContext(t), conn, lspclient.Options{})
	var ended *lspclient.EndedError
	if !errors.As(err, &ended) || !errors.Is(err, io.EOF) {
		t.Errorf("error is %v, want an EndedError of io.EOF", err)
	}
}

func TestSilentServerIsLeftByTheContext(t *testing.T) {
	_, conn := lsptest.Start(t, lsptest.Config{Faults: []lsptest.Fault{{On: "initialize", Do: lsptest.Silent}}})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := lspclient.Start(ctx, conn, lspclient.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

func TestL24_HandshakeLies(t *testing.T) {
	fails := map[string]string{
		"null":                 `null`,
		"a string":             `"hello"`,
		"an array":             `[]`,
		"no capabilities":      `{}`,
		"null capabilities":    `{"capabilities":null}`,
		"capabilities a list":  `{"capabilities":[1]}`,
		"unknown encoding":     `{"capabilities":{"positionEncoding":"utf-7"}}`,
		"encoding is a number": `{"capabilities":{"positionEncoding":8}}`,
	}
	for name, result := range fails {
		t.Run(name, func(t *testing.T) {
			_, conn := lsptest.Start(t, answer("initialize", result))
			_, err := lspclient.Start(testContext(t), conn, lspclient.Options{})
			var bad *lspclient.DecodeError
			if !errors.As(err, &bad) || bad.Method != "initialize" {
				t.Errorf("error is %v, want a DecodeError", err)
			}
		})
	}
	t.Run("odd members do no harm", func(t *testing.T) {
		client, _ := start(t, answer("initialize", `{"capabilities":{
			"renameProvider":{"prepareProvider":"yes"},"hoverProvider":"maybe","definitionProvider":true,"referencesProvider":null,
			"textDocumentSync":"full","executeCommandProvider":7,"unknownProvider":{"a":[]},"implementationProvider":false},
			"serverInfo":{"name":"odd"}}`), lspclient.Options{})
		supported := map[string]bool{
			"textDocument/definition": true, "textDocument/references": false, "textDocument/implementation": false,
			"textDocument/hover": false, "fake/unknown": false,
		}
		for method, want := range supported {
			if got := client.Supports(method); got != want {
				t.Errorf("Supports(%s) is %v", method, got)
			}
		}
		if got := client.ServerInfo().Name; got != "odd" {
			t.Errorf("server's name is %q", got)
		}
	})
	t.Run("server info is a string", func(t *testing.T) {
		client, _ := start(t, answer("initialize", `{"capabilities":{},"serverInfo":"x"}`), lspclient.Options{})
		if got := client.ServerInfo(); got != (lspclient.ServerInfo{}) {
			t.Errorf("server info is %+v", got)
		}
	})
}

func TestL24_AnswersOfTheWrongType(t *testing.T) {
	for _, result := range []string{`null`, `5`, `"x"`, `[]`, `[null]`, `{}`, `[{}]`, `{"uri":1}`, `[{"uri":"file:///a","range":null}]`, `[[[[]]]]`} {
		client, _ := start(t, answer("textDocument/references", result), lspclient.Options{})
		var locations []protocol.Location
		err := client.Call(testContext(t), "textDocument/references", at("/a", 0, 0), &locations)
		var bad *lspclient.DecodeError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%s: error is %v, want none or a DecodeError", result, err)
		}
		if client.Err() != nil {
			t.Errorf("%s ended the connection: %v", result, client.Err())
		}
	}
}

// TestL08_AsksDuringInitialize covers servers that ask before they answer.
func TestL08_AsksDuringInitialize(t *testing.T) {
	client, server := start(t, lsptest.Config{Section: "s", Faults: []lsptest.Fault{{
		On: "initialize", Do: lsptest.Ask, Text: "workspace/configuration", JSON: json.RawMessage(`{"items":[{"section":"a"},{"section":"b"}]}`),
	}}}, lspclient.Options{Configure: func(section, _ string) any { return section }})
	if client.Err() != nil {
		t.Fatal(client.Err())
	}
	if got := server.Received(); got[1].Method != "" {
		t.Errorf("the second message is %q, want the answer", got[1].Method)
	}
}
