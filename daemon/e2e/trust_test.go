package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// TestTrustRetiresTheServersOfBefore grants and revokes trust while servers run:
// none of the other kind stays beside those that are asked from then on.
func TestTrustRetiresTheServersOfBefore(t *testing.T) {
	dir := files(t, shop)
	w := newStranger(t, dir)
	ask := func() int {
		t.Helper()
		w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
		return w.serverPID(t)
	}
	gone := func(pid int) func() bool {
		return func() bool {
			for _, s := range w.status(t).Servers {
				if s.PID == pid {
					return false
				}
			}
			return true
		}
	}
	restricted := ask()
	w.ok(t, "trust", dir)
	until(t, 20*time.Second, "the restricted server has ended", gone(restricted))
	trusting := ask()
	if trusting == restricted {
		t.Errorf("process %d serves with and without trust", trusting)
	}
	w.ok(t, "trust", "--revoke", dir)
	until(t, 20*time.Second, "the server that trusts has ended", gone(trusting))
	if again := ask(); again == trusting {
		t.Errorf("process %d goes on after the trust was revoked", again)
	}
}

// TestTranscript has what is said to the server written down, as who looks for a
// fault of it does.
func TestTranscript(t *testing.T) {
	dir := files(t, shop)
	w := newWorld(t, dir)
	logs := func(want string) (lines []string) {
		t.Helper()
		r := w.aura(t, "call", "daemon.logs", `{"server":"gopls","trace":true,"lines":1000}`)
		var out api.Logs
		refusal, err := r.answer(&out)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			refused(t, refusal, api.FileNotFound)
			return nil
		}
		if refusal != nil {
			t.Fatal(refusal)
		}
		if info, err := os.Stat(out.File); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the transcript is %v, %v; want it private", info, err)
		}
		return out.Lines
	}
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	logs("nothing yet")

	write(t, filepath.Join(w.dir, "config", "aura", "config.toml"), "[servers.gopls]\ntrace = true\n")
	if err := os.Chmod(filepath.Join(w.dir, "config", "aura", "config.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.stop(t) // the next daemon reads it
	w.must(t, "aura_references", map[string]any{"symbolName": "Order"}, nil)
	asked, answered := 0, 0
	for _, l := range logs("") {
		var line struct {
			From    string
			Message struct {
				Method string
				Result json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%v in %s", err, l)
		}
		if line.From == "client" && line.Message.Method == "textDocument/references" {
			asked++
		}
		if line.From == "server" && line.Message.Result != nil {
			answered++
		}
	}
	if asked == 0 || answered < 2 {
		t.Errorf("the transcript holds %d questions for references and %d answers", asked, answered)
	}
}
