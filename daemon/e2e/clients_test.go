package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// TestNobodySeesPlannedText has a second client ask throughout many previews,
// whose text is in the server but never on disk. What it is told must be what
// is on disk.
func TestNobodySeesPlannedText(t *testing.T) {
	dir := module(t, cobra)
	w := newWorld(t, dir)
	var truth api.Places
	w.must(t, "aura_references", map[string]any{"symbolName": "Command", "symbolKind": "type", "limit": all}, &truth)
	before := snapshot(t, dir)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var renamer sync.WaitGroup
	var failed error
	previews := 0
	renamer.Go(func() {
		defer cancel()
		for i := range 6 {
			// The second kind would break code if anybody compiled it.
			symbol := []string{`"symbolName":"Command","symbolKind":"type"`, `"symbolName":"Command.Execute"`}[i%2]
			r, err := w.command(context.Background(), "", "call", "aura_rename_symbol", fmt.Sprintf(`{%s,"newName":"Planned","preview":true}`, symbol))
			if err != nil || r.exit != 0 {
				failed = fmt.Errorf("preview %d: exit %d, %w\n%s%s", i, r.exit, err, r.stdout, r.stderr)
				return
			}
			previews++
		}
	})

	c := w.dial(t)
	ask := func(method string, params map[string]any, out any) *api.Error {
		params["workspace"] = dir
		return c.do(method, params, out)
	}
	asked := 0
	for ctx.Err() == nil && !t.Failed() {
		var refs api.Places
		if e := ask("aura_references", map[string]any{"symbolName": "Command", "symbolKind": "type", "limit": all}, &refs); e != nil {
			t.Errorf("references: %v", e)
		} else if refs.Total != truth.Total {
			t.Errorf("%d references, on disk there are %d (warnings %q)", refs.Total, truth.Total, refs.Warnings)
		}
		if e := ask("aura_definition", map[string]any{"symbolName": "Planned"}, nil); e == nil || e.Code != api.SymbolNotFound {
			t.Errorf("the planned name is known: %v", e)
		}
		var diagnostics api.Diagnostics
		if e := ask("aura_diagnostics", map[string]any{"minSeverity": "error"}, &diagnostics); e != nil {
			t.Errorf("diagnostics: %v", e)
		} else if len(diagnostics.Diagnostics) != 0 {
			t.Errorf("diagnostics of text that is not on disk: %+v", diagnostics.Diagnostics[0])
		}
		asked++
	}
	renamer.Wait()
	if failed != nil {
		t.Error(failed)
	}
	if asked < previews {
		t.Errorf("asked %d times during %d previews: that proves little", asked, previews)
	}
	t.Logf("asked %d times during %d previews", asked, previews)
	unchanged(t, dir, before)
}

// TestE16_TwoAtOnce runs two renames that touch the same files. Each must be
// done as a whole or refused, and what remains must build.
func TestE16_TwoAtOnce(t *testing.T) {
	dir := module(t, cobra)
	w := newWorld(t, dir)
	before := snapshot(t, dir)
	orders := []string{
		`{"symbolName":"Command","symbolKind":"type","newName":"Instruction"}`,
		`{"symbolName":"PositionalArgs","newName":"PlacedArgs"}`,
	}
	results := make([]result, len(orders))
	failures := make([]error, len(orders))
	var both sync.WaitGroup
	for i, params := range orders {
		both.Go(func() {
			results[i], failures[i] = w.command(context.Background(), "", "call", "aura_rename_symbol", params)
		})
	}
	both.Wait()
	var undos []string
	for i, r := range results {
		if failures[i] != nil {
			t.Fatal(failures[i])
		}
		var done api.EditResult
		refusal, err := r.answer(&done)
		switch {
		case err != nil:
			t.Errorf("%s: %v\n%s%s", orders[i], err, r.stdout, r.stderr)
		case refusal != nil && refusal.Code != api.StaleContent:
			t.Errorf("%s: %v", orders[i], refusal)
		case refusal == nil:
			undos = append(undos, done.UndoToken)
		}
	}
	if len(undos) == 0 {
		t.Error("both were refused")
	}
	builds(t, dir)

	// Newest first, as history lists them.
	var history api.Transactions
	w.must(t, "aura_history", map[string]any{}, &history)
	if len(history.Transactions) != len(undos) {
		t.Errorf("%d transactions, %d renames succeeded", len(history.Transactions), len(undos))
	}
	for _, tx := range history.Transactions {
		w.must(t, "aura_undo", map[string]any{"undoToken": tx.UndoToken}, nil)
	}
	unchanged(t, dir, before)
}

// TestE12_ChangedBetweenPlanAndCommit keeps changing a file that a rename
// touches. It must see that, and never undo the other's work.
func TestE12_ChangedBetweenPlanAndCommit(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	path := filepath.Join(dir, "draft.go")
	original := read(t, path)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var writer sync.WaitGroup
	var failed error
	last := 0
	writer.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// As an editor saves: a new file in place of the old.
				last++
				text := fmt.Sprintf("%s\n// save %d\n", original, last)
				if failed = os.WriteFile(path+".new", []byte(text), 0o644); failed == nil {
					failed = os.Rename(path+".new", path)
				}
				if failed != nil {
					return
				}
			}
		}
	})
	got := w.call(t, "aura_rename_symbol", rename("Order", "Purchase"), nil)
	cancel()
	writer.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	refused(t, got, api.StaleContent)
	if text := read(t, path); text != fmt.Sprintf("%s\n// save %d\n", original, last) {
		t.Errorf("the last save is lost:\n%s", text)
	}
	if text := read(t, filepath.Join(dir, "order.go")); strings.Contains(text, "Purchase") {
		t.Error("half of the rename was written")
	}
	builds(t, dir)
}

// TestS03_StaleSocket starts where a killed daemon left its socket.
func TestS03_StaleSocket(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	first := w.status(t).PID
	w.kill(t, first)
	if _, err := os.Stat(w.socket()); err != nil {
		t.Fatalf("the killed daemon left no socket: %v", err)
	}
	if second := w.status(t).PID; second == first || second == 0 {
		t.Errorf("pid %d after %d was killed", second, first)
	}

	// One that nobody ever listened on, or listens on no more.
	w.stop(t)
	if err := os.MkdirAll(filepath.Dir(w.socket()), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.socket(), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	w.status(t)
}

// TestSecondDaemon starts aurad where one runs.
func TestSecondDaemon(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	first := w.status(t).PID
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(w.bin, "aurad"))
	cmd.Env, cmd.Dir = w.env, dir
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("a second daemon ended with %v:\n%s", err, out)
	}
	if !strings.Contains(string(out), fmt.Sprint(first)) {
		t.Errorf("it does not say which daemon runs (pid %d):\n%s", first, out)
	}
	if now := w.status(t).PID; now != first {
		t.Errorf("the first daemon (pid %d) was replaced by %d", first, now)
	}
}

// TestManyStartTheDaemonAtOnce has several commands find no daemon in the same moment.
func TestManyStartTheDaemonAtOnce(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	w.stop(t)
	var all sync.WaitGroup
	results := make([]result, 8)
	failures := make([]error, len(results))
	for i := range results {
		all.Go(func() { results[i], failures[i] = w.command(context.Background(), "", "call", "daemon.status", "{}") })
	}
	all.Wait()
	pids := map[int]bool{}
	for i, r := range results {
		var s api.Status
		if refusal, err := r.answer(&s); err != nil || refusal != nil || failures[i] != nil {
			t.Fatalf("%v %v %v\n%s", refusal, err, failures[i], r.stderr)
		}
		pids[s.PID] = true
	}
	if len(pids) != 1 {
		t.Errorf("daemons %v", pids)
	}
	until(t, 10*time.Second, "one daemon runs", func() bool {
		running := 0
		for _, line := range w.processes() {
			if strings.Contains(line, "aurad") {
				running++
			}
		}
		return running == 1
	})
}
