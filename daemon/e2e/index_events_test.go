package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// A client that asked for it hears when the index is done: at first, and after a
// restart.
func TestTheIndexTellsWhenItIsDone(t *testing.T) {
	w := indexed(t)
	for _, when := range []string{"first", "restarted"} {
		w.status(t)
		c := w.dial(t)
		if err := c.do("events.subscribe", map[string]any{"events": []string{"index"}}, nil); err != nil {
			t.Fatal(err)
		}
		id := c.post("index", map[string]any{"workspace": w.ws})
		if err := c.net.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		answered, done := false, false
		for (!answered || !done) && c.read.Scan() {
			var line struct {
				ID     int
				Method string
				Params struct {
					Kind, Workspace string
					Data            api.IndexProgress
				}
			}
			if err := json.Unmarshal(c.read.Bytes(), &line); err != nil {
				t.Fatalf("%v in %s", err, c.read.Bytes())
			}
			answered = answered || line.ID == id && line.Method == ""
			if line.Method == api.EventMethod && line.Params.Kind == "index" && line.Params.Workspace == w.ws {
				done = line.Params.Data.Pending == 0
			}
		}
		if !answered || !done {
			t.Fatalf("%s: answered %v, told that it is done %v: %v", when, answered, done, c.read.Err())
		}
		w.stop(t)
	}
}
