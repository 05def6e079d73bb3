package daemon

import (
	"slices"
	"sync"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/supervise"
)

// events passes what happens to the clients that asked to be told.
type events struct {
	mu   sync.Mutex // guards subs
	subs map[string]subscription
}

// subscription is one client's wish.
type subscription struct {
	kinds  []string
	notify func(key, method string, params any)
}

func newEvents() *events { return &events{subs: map[string]subscription{}} }

func (e *events) subscribe(client string, s subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subs[client] = s
}

func (e *events) unsubscribe(client string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.subs, client)
}

// publish sends an event; while a client does not read, the newest of a key
// stands for those before it. It never blocks.
func (e *events) publish(kind, key, workspace string, data any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.subs {
		if slices.Contains(s.kinds, kind) {
			s.notify(key, api.EventMethod, api.Event{
				Kind: kind, Time: time.Now().UTC().Format(time.RFC3339Nano), Workspace: workspace, Data: data,
			})
		}
	}
}

// server is told of each change of a language server's state.
func (e *events) server(s supervise.Status) {
	e.publish("server", "server:"+s.ID, s.Root, serverStatus(s))
}

// index is told how many files of a workspace are still to be indexed.
func (e *events) index(root string, pending int) {
	e.publish("index", "index:"+root, root, api.IndexProgress{Pending: pending})
}
