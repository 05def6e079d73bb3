package lspclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/lspclient"
	"github.com/auralsp/aura/lspclient/lsptest"
)

func TestDiagnostics(t *testing.T) {
	dir := write(t, map[string]string{"a.fake": "ERROR\n", "b.fake": "fine\n"})
	a, b := filepath.Join(dir, "a.fake"), filepath.Join(dir, "b.fake")
	client, _ := start(t, lsptest.Config{}, lspclient.Options{Root: dir})
	ctx := testContext(t)

	seen, err := client.AwaitDiagnostics(ctx, a, func(d lspclient.Diagnostics) bool { return d.Seq > 0 })
	if err != nil || len(seen.Items) != 1 || seen.Version != 0 {
		t.Fatalf("of the file on disk: %+v, %v", seen, err)
	}
	if d := client.Diagnostics(b); d.Seq != 0 || d.Path != b {
		t.Errorf("of a file without any: %+v", d)
	}
	if err := client.DidOpen(ctx, a, "fake", []byte("ERROR ERROR\n")); err != nil {
		t.Fatal(err)
	}
	version, err := client.DidChange(ctx, a, []byte("use Nothing\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.AwaitDiagnostics(ctx, a, func(d lspclient.Diagnostics) bool { return d.Version >= version })
	if err != nil || len(got.Items) != 1 || got.Seq <= seen.Seq {
		t.Fatalf("of the changed document: %+v, %v", got, err)
	}
	list, now := client.DiagnosticsSince(seen.Seq)
	if len(list) != 1 || list[0].Path != a || now != got.Seq {
		t.Errorf("since %d: %+v, %d", seen.Seq, list, now)
	}
	if list, _ := client.DiagnosticsSince(now); len(list) != 0 {
		t.Errorf("since now: %+v", list)
	}
	// An empty list replaces, and counts as an answer.
	if version, err = client.DidChange(ctx, a, []byte("fine\n")); err != nil {
		t.Fatal(err)
	}
	got, err = client.AwaitDiagnostics(ctx, a, func(d lspclient.Diagnostics) bool { return d.Version >= version })
	if err != nil || len(got.Items) != 0 {
		t.Errorf("of the repaired document: %+v, %v", got, err)
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := client.AwaitDiagnostics(short, b, func(lspclient.Diagnostics) bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for nothing: %v", err)
	}
}

func TestOddDiagnostics(t *testing.T) {
	const good = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"m","code":7,"data":{"keep":"<me>"}}`
	client, server := start(t, lsptest.Config{}, lspclient.Options{})
	publish := func(params string) {
		t.Helper()
		server.Notify("textDocument/publishDiagnostics", json.RawMessage(params))
		if err := client.Call(testContext(t), "fake/state", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	publish(`{"uri":"file:///a","version":1.7976931348623157e308,"diagnostics":[` + good + `,{"range":{"start":{"line":-1,"character":1.7976931348623157e308},"end":{}},"message":"m"},5]}`)
	d := client.Diagnostics("/a")
	if len(d.Items) != 1 || d.Dropped != 2 {
		t.Fatalf("kept %d, dropped %d", len(d.Items), d.Dropped)
	}
	if got := string(d.Items[0].Data); got != `{"keep":"<me>"}` {
		t.Errorf("data came back as %s", got)
	}
	before := client.Diagnostics("/a").Seq
	for _, params := range []string{
		`null`, `[]`, `{"uri":5}`, `{"uri":"untitled:1","diagnostics":[]}`, `{"uri":"file:///../a","diagnostics":[]}`,
		`{"uri":"file:///a","diagnostics":"none"}`, `{"diagnostics":[]}`,
	} {
		publish(params)
	}
	if d := client.Diagnostics("/a"); d.Seq != before {
		t.Errorf("an undecodable publication replaced the last good one: %+v", d)
	}
	if client.Err() != nil {
		t.Error(client.Err())
	}
}

func TestPullDiagnostics(t *testing.T) {
	t.Run("unsupported", func(t *testing.T) {
		client, _ := start(t, lsptest.Config{}, lspclient.Options{})
		if _, err := client.PullDiagnostics(testContext(t), "/a"); !errors.Is(err, lspclient.ErrCapability) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("open document", func(t *testing.T) {
		client, _ := start(t, lsptest.Config{Pull: true}, lspclient.Options{})
		ctx := testContext(t)
		if err := client.DidOpen(ctx, "/a", "fake", []byte("ERROR")); err != nil {
			t.Fatal(err)
		}
		d, err := client.PullDiagnostics(ctx, "/a")
		if err != nil || len(d.Items) != 1 || d.Version == 0 || d.Path != "/a" {
			t.Errorf("pulled %+v, %v", d, err)
		}
	})
	for report, want := range map[string]int{
		`{"kind":"","items":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"m"}]}`: 1,
		`{"kind":"full","items":[]}`: 0, `null`: -1, `{}`: -1, `{"kind":"unchanged","resultId":"1"}`: -1, `[]`: -1,
	} {
		config := answer("textDocument/diagnostic", report)
		config.Pull = true
		client, _ := start(t, config, lspclient.Options{})
		d, err := client.PullDiagnostics(testContext(t), "/a")
		var bad *lspclient.DecodeError
		if want >= 0 && (err != nil || len(d.Items) != want) || want < 0 && !errors.As(err, &bad) {
			t.Errorf("%s: %+v, %v", report, d, err)
		}
	}
}

func TestShutdown(t *testing.T) {
	cases := []struct {
		name   string
		faults []lsptest.Fault
		err    error // nil: none
	}{
		{"polite", nil, nil},
		{"refuses", []lsptest.Fault{{On: "shutdown", Do: lsptest.Refuse, Code: -32603}}, &lspclient.CallError{Code: -32603}},
		{"ignores shutdown", []lsptest.Fault{{On: "shutdown", Do: lsptest.Silent}}, context.DeadlineExceeded},
		{"ignores exit", []lsptest.Fault{{On: "exit", Do: lsptest.Silent}}, context.DeadlineExceeded},
		{"dies of it", []lsptest.Fault{{On: "shutdown", Do: lsptest.Crash}}, io.EOF},
		{"stops reading", []lsptest.Fault{{On: "shutdown", Do: lsptest.StopReading}}, context.DeadlineExceeded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client, _ := start(t, lsptest.Config{Faults: c.faults}, lspclient.Options{})
			limit := 5 * time.Second
			if errors.Is(c.err, context.DeadlineExceeded) {
				limit = 50 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			began := time.Now()
			if err := client.Shutdown(ctx); c.err == nil && err != nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("error is %v, want %v", err, c.err)
			}
			if took := time.Since(began); took > limit+2*time.Second {
				t.Errorf("took %v", took)
			}
			if client.Err() == nil {
				t.Error("the connection lives")
			}
		})
	}
}

func TestL15_ManyFilesOfDiagnostics(t *testing.T) {
	const n = 20_000
	client, _ := start(t, lsptest.Config{Faults: []lsptest.Fault{
		{On: "textDocument/hover", Do: lsptest.Overwhelm, Count: n, Times: 1},
		{On: "textDocument/hover", Do: lsptest.Progress, Count: n},
	}}, lspclient.Options{})
	for range 2 {
		if err := client.Call(testContext(t), "textDocument/hover", at("/a", 0, 0), nil); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := client.DiagnosticsSince(0); len(list) != n {
		t.Errorf("diagnostics of %d files, want %d", len(list), n)
	}
	var got []string
	for _, i := range []int{0, n - 1} {
		got = append(got, fmt.Sprint(client.Diagnostics(fmt.Sprintf("/flood/%d", i)).Seq))
	}
	if diff := cmp.Diff([]string{"1", fmt.Sprint(n)}, got); diff != "" {
		t.Errorf("sequence of the first and the last (-want +got):\n%s", diff)
	}
}
