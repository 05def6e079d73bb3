package supervise

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/lspclient"
)

// errDeadline is the cause of a request that the supervisor gave up.
var errDeadline = errors.New("deadline of the request passed")

// watch looks at one request until it ends: it cancels the request at its
// deadline and decides then whether the server is slow or stuck.
type watch struct {
	g        *generation
	patience *patience
	cancel   context.CancelCauseFunc
	expired  chan struct{} // closed with verdict set

	mu      sync.Mutex // guards the rest
	timer   *time.Timer
	over    bool
	since   time.Duration // observed time at which what follows was taken: about half the limit
	cpu     time.Duration
	cpuOK   bool
	read    int64 // bytes
	verdict verdict
}

// verdict is what a passed deadline says of the server.
type verdict uint8

const (
	slow  verdict = iota // it computes, or answers others
	idle                 // it wrote something but uses no processor time
	stuck                // no output and no processor time: killed
)

// watchRequest starts the watch; done must be called when the request has
// ended. It fails when the generation has ended.
func (g *generation) watchRequest(limit time.Duration, cancel context.CancelCauseFunc) (w *watch, done func(), ok bool) {
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return nil, nil, false
	}
	g.work.Add(1)
	g.mu.Unlock()
	w = &watch{g: g, patience: newPatience(limit, time.Now()), cancel: cancel, expired: make(chan struct{})}
	w.mu.Lock()
	w.timer = time.AfterFunc(w.patience.next(), w.look)
	w.mu.Unlock()
	return w, func() {
		w.mu.Lock()
		w.over = true
		stopped := w.timer.Stop()
		w.mu.Unlock()
		if stopped {
			g.work.Done()
		}
	}, true
}

func (w *watch) look() {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		w.g.work.Done()
		return
	}
	expired := w.patience.look(time.Now())
	if !expired {
		if w.since == 0 && w.patience.spent >= w.patience.limit/2 {
			cpu, _, err := w.g.process.CPU()
			w.cpu, w.cpuOK, w.since = cpu, err == nil, w.patience.spent
			w.read = w.g.stream.read.Load()
		}
		w.timer.Reset(w.patience.next())
		w.mu.Unlock()
		return
	}
	w.over = true
	w.verdict = w.judge()
	v := w.verdict
	close(w.expired)
	w.mu.Unlock()
	defer w.g.work.Done()
	// The request ends by its deadline and not by the death that it causes, and
	// nothing is sent to the dying in between.
	if v == stuck {
		w.g.doom("stopped answering")
	}
	w.cancel(errDeadline)
	switch v {
	case stuck:
		w.g.process.Kill()
	case idle:
		w.g.probe(w.patience.limit)
	}
}

// judge compares what the server used and wrote in the second half of the
// time, so that what it did before it got stuck does not count. Less than half
// a percent of a processor is what an idle runtime uses.
func (w *watch) judge() verdict {
	silent := w.g.stream.read.Load() == w.read
	busy := true // where the system does not say
	if cpu, _, err := w.g.process.CPU(); err == nil && w.cpuOK {
		busy = cpu-w.cpu > max(20*time.Millisecond, (w.patience.spent-w.since)/200)
	}
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	if silent {
		w.g.silent += w.patience.limit
	} else {
		w.g.silent = 0
	}
	switch {
	case silent && !busy, silent && w.g.silent >= w.g.i.limits.Busy:
		return stuck
	case !busy:
		return idle
	}
	return slow
}

// probe asks the server something cheap and kills it when even that gets no answer.
func (g *generation) probe(limit time.Duration) {
	defer func() {
		if p := recover(); p != nil {
			_ = g.i.panicked("the probe of "+g.i.engine.ID, p, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), min(limit, 10*time.Second))
	defer cancel()
	if err := g.ping(ctx); err != nil && ctx.Err() != nil {
		g.kill("does not answer even a probe")
	}
}

// cheap is the driver's request with a known answer; without one its method is empty.
func (g *generation) cheap() adapters.Message {
	return ask(g, func(d adapters.Driver) (m adapters.Message) {
		m.Method, m.Params = d.Probe()
		return m
	})
}

// ping asks the driver's probe. A refusal is an answer, too.
func (g *generation) ping(ctx context.Context) error {
	probe := g.cheap()
	if probe.Method == "" {
		return nil
	}
	err := g.client.Call(ctx, probe.Method, probe.Params, nil)
	var refused *lspclient.CallError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// restart gives the request its whole time again.
func (w *watch) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.patience.restart(time.Now())
	w.since = 0
}
