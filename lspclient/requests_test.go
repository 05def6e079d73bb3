package lspclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

const edit = `{"changes":{"file:///a":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"newText":"x"}]}}`

func TestL09_UnsolicitedApplyEdit(t *testing.T) {
	client, server := start(t, lsptest.Config{}, lspclient.Options{})
	ctx := testContext(t)
	refused := func(when string) {
		t.Helper()
		got := server.Ask(ctx, "workspace/applyEdit", json.RawMessage(`{"edit":`+edit+`}`))
		if want := `{"applied":false,"failureReason":"no command is in progress"}`; string(got) != want {
			t.Errorf("%s the server was answered %s", when, got)
		}
	}
	refused("before a command")
	var applied protocol.ApplyWorkspaceEditResult
	edits, err := client.Command(ctx, "fake.applyEdit", []any{json.RawMessage(edit)}, &applied)
	if err != nil {
		t.Fatal(err)
	}
	if !applied.Applied {
		t.Error("the command's edit was not answered as applied")
	}
	if len(edits) != 1 || len(edits[0].Changes) != 1 {
		t.Errorf("captured %+v", edits)
	}
	refused("after a command")
	edits, err = client.Command(ctx, "fake.applyEdit", []any{json.RawMessage(`{"changes":5}`)}, &applied)
	if err != nil || applied.Applied || len(edits) != 0 {
		t.Errorf("an undecodable edit: %v, applied %v, captured %d", err, applied.Applied, len(edits))
	}
	if _, err := client.Command(ctx, "unknown", nil, nil); err == nil {
		t.Error("an unknown command has no error")
	}
	refused("after a command that failed")
}

func TestCommandsRunAlone(t *testing.T) {
	client, _ := start(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "workspace/executeCommand", Do: lsptest.Silent, Times: 1},
	}}, lspclient.Options{})
	first, cancel := context.WithCancel(testContext(t))
	done := make(chan error, 1)
	entered := make(chan struct{})
	go func() {
		_, err := client.Edits(first, func(ctx context.Context) error {
			close(entered)
			return client.Call(ctx, "workspace/executeCommand", json.RawMessage(`{"command":"x"}`), nil)
		})
		done <- err
	}()
	<-entered
	short, cancelShort := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancelShort()
	if _, err := client.Command(short, "fake.applyEdit", []any{json.RawMessage(edit)}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second command while one runs: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first command returns %v", err)
	}
	if edits, err := client.Command(testContext(t), "fake.applyEdit", []any{json.RawMessage(edit)}, nil); err != nil || len(edits) != 1 {
		t.Errorf("the next command: %d edits, %v", len(edits), err)
	}
}

func TestEveryQuestionIsAnswered(t *testing.T) {
	_, server := start(t, lsptest.Config{}, lspclient.Options{Root: "/ws", Folders: []string{"/ws/a", "/ws/b"}})
	cases := map[string]string{
		"workspace/workspaceFolders":       `[{"uri":"file:///ws/a","name":"a"},{"uri":"file:///ws/b","name":"b"}]`,
		"window/workDoneProgress/create":   `null`,
		"window/showMessageRequest":        `null`,
		"window/showDocument":              `{"success":false}`,
		"_typescript.rename":               `null`,
		"workspace/codeLens/refresh":       `null`,
		"workspace/semanticTokens/refresh": `null`,
		"workspace/inlayHint/refresh":      `null`,
		"workspace/inlineValue/refresh":    `null`,
		"workspace/diagnostic/refresh":     `null`,
		"workspace/foldingRange/refresh":   `null`,
		"workspace/configuration":          `[]`,
		"client/registerCapability":        `null`,
		"client/unregisterCapability":      `null`,
	}
	ctx := testContext(t)
	for method, want := range cases {
		params := json.RawMessage(`{"items":[],"registrations":[],"unregisterations":[]}`)
		if got := string(server.Ask(ctx, method, params)); got != want {
			t.Errorf("%s: answered %s, want %s", method, got, want)
		}
	}
	// A failed question has no result.
	for _, method := range []string{"workspace/unheardOf", "client/unheardOf"} {
		if got := server.Ask(ctx, method, nil); got != nil {
			t.Errorf("%s: answered %s", method, got)
		}
	}
	for _, method := range []string{"workspace/configuration", "client/registerCapability", "client/unregisterCapability"} {
		if got := server.Ask(ctx, method, json.RawMessage(`[1]`)); got != nil {
			t.Errorf("%s with wrong params: answered %s", method, got)
		}
	}
}

func TestRegistrations(t *testing.T) {
	client, server := start(t, lsptest.Config{}, lspclient.Options{})
	ctx := testContext(t)
	register := func(id, method, options string) {
		t.Helper()
		entry := fmt.Sprintf(`{"registrations":[{"id":%q,"method":%q,"registerOptions":%s}]}`, id, method, options)
		if got := server.Ask(ctx, "client/registerCapability", json.RawMessage(entry)); string(got) != "null" {
			t.Fatalf("answered %s", got)
		}
	}
	list := func() (s []string) {
		for _, r := range client.Registrations("m") {
			s = append(s, r.ID+string(r.Options))
		}
		return s
	}
	if client.Supports("textDocument/diagnostic") {
		t.Error("pull diagnostics are supported from the start")
	}
	register("d", "textDocument/diagnostic", `{}`)
	if !client.Supports("textDocument/diagnostic") {
		t.Error("a registered method is not supported")
	}
	register("w", "m", `{"a":1}`)
	register("w", "m", `{"b":2}`)
	register("w", "m", `{"b":2}`)
	register("v", "m", `null`)
	if diff := cmp.Diff([]string{`w{"a":1}`, `w{"b":2}`, `vnull`}, list()); diff != "" {
		t.Errorf("the same id twice adds (-want +got):\n%s", diff)
	}
	// The protocol's spelling, and the right one.
	server.Ask(ctx, "client/unregisterCapability", json.RawMessage(`{"unregisterations":[{"id":"w","method":"m"}]}`))
	server.Ask(ctx, "client/unregisterCapability", json.RawMessage(`{"unregistrations":[{"id":"v","method":"m"}]}`))
	if got := list(); len(got) != 0 {
		t.Errorf("left after unregistering: %q", got)
	}
}

func TestProgress(t *testing.T) {
	client, server := start(t, lsptest.Config{}, lspclient.Options{})
	ctx := testContext(t)
	if err := client.Call(ctx, "fake/state", nil, nil); err != nil {
		t.Fatal(err)
	}
	_, base := client.Progress()
	steps := []struct {
		params string
		want   []lspclient.Progress
	}{
		{`{"token":"a","value":{"kind":"begin","title":"Load"}}`, []lspclient.Progress{{Token: `"a"`, Title: "Load", Percentage: -1}}},
		{`{"token":7,"value":{"kind":"begin","title":"Index","message":"m","percentage":5}}`, []lspclient.Progress{{Token: `"a"`, Title: "Load", Percentage: -1}, {Token: "7", Title: "Index", Message: "m", Percentage: 5}}},
		{`{"token":"a","value":{"kind":"report","message":"half","percentage":50.5}}`, []lspclient.Progress{{Token: `"a"`, Title: "Load", Message: "half", Percentage: 50}, {Token: "7", Title: "Index", Message: "m", Percentage: 5}}},
		{`{"token":"unknown","value":{"kind":"report"}}`, []lspclient.Progress{{Token: `"a"`, Title: "Load", Message: "half", Percentage: 50}, {Token: "7", Title: "Index", Message: "m", Percentage: 5}}},
		{`{"token":"a","value":{"kind":"begin","title":"Again"}}`, []lspclient.Progress{{Token: "7", Title: "Index", Message: "m", Percentage: 5}, {Token: `"a"`, Title: "Again", Percentage: -1}}},
		{`{"token":7,"value":[1,2]}`, []lspclient.Progress{{Token: "7", Title: "Index", Message: "m", Percentage: 5}, {Token: `"a"`, Title: "Again", Percentage: -1}}},
		{`{"token":7,"value":{"kind":"end"}}`, []lspclient.Progress{{Token: `"a"`, Title: "Again", Percentage: -1}}},
		{`{"token":"a","value":{"kind":"end"}}`, nil},
	}
	for i, step := range steps {
		server.Notify("$/progress", json.RawMessage(step.params))
		if err := client.Call(ctx, "fake/state", nil, nil); err != nil {
			t.Fatal(err)
		}
		open, moves := client.Progress()
		if diff := cmp.Diff(step.want, open); diff != "" && len(step.want)+len(open) > 0 {
			t.Errorf("after %s (-want +got):\n%s", step.params, diff)
		}
		if want := base + uint64(i+1); moves != want {
			t.Errorf("after %s: %d moves, want %d", step.params, moves, want)
		}
	}
}

func TestL12_RetryableRefusals(t *testing.T) {
	for code, want := range map[int]bool{-32801: true, -32802: true, -32800: false, -32803: false, -32603: false, 0: false} {
		client, _ := start(t, lsptest.Config{Faults: []lsptest.Fault{{On: "textDocument/hover", Do: lsptest.Refuse, Code: code, Text: "no"}}}, lspclient.Options{})
		err := client.Call(testContext(t), "textDocument/hover", at("/a", 0, 0), nil)
		var refused *lspclient.CallError
		if !errors.As(err, &refused) || int(refused.Code) != code || !strings.Contains(err.Error(), "no") {
			t.Errorf("code %d: error is %v", code, err)
		}
		if got := lspclient.Retryable(err); got != want {
			t.Errorf("code %d: retryable is %v", code, got)
		}
	}
}

func TestEventsShowEverything(t *testing.T) {
	var got []string
	client, _ := start(t, lsptest.Config{}, lspclient.Options{OnEvent: func(e lspclient.Event) {
		got = append(got, fmt.Sprintf("%d %s", e.Kind, e.Method))
	}})
	if err := client.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil { // no event comes after it
		t.Fatal(err)
	}
	if len(got) < 3 {
		t.Fatalf("events are %q", got)
	}
	if diff := cmp.Diff([]string{"4 initialize", "3 initialized", "0 initialized"}, got[:3]); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
