package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

// submit puts a request into the connection's queue, or refuses it.
func (c *conn) submit(m message, reply, answer func([]byte)) {
	refuse := func(err error) {
		e, _ := refusal(err, "")
		if len(m.ID) == 0 {
			c.log.Debug("notification refused", "method", *m.Method, "error", e)
			reply(nil)
			return
		}
		reply(errorMessage(m.ID, numberOf(e.Code), e))
	}
	spec, err := api.Find(*m.Method, m.Params)
	if err != nil {
		refuse(err)
		return
	}
	f := &flight{
		id:     fmt.Sprintf("%s-%d", c.identity().ID, c.s.stats.requests.Load()),
		spec:   spec,
		params: m.Params,
		askers: []asker{{id: m.ID, reply: answer}},
	}
	if !spec.Mutating && !spec.Ordered && spec.Tier == api.Observe && len(m.ID) > 0 {
		f.key = spec.Name + "\x00" + string(m.Params)
	}
	f.ctx, f.cancel = context.WithCancel(c.ctx)
	room, now := c.queue.add(f, c.out.crowded)
	if now {
		c.start(f)
		return
	}
	if !room {
		f.cancel()
		c.s.stats.overloaded.Add(1)
		refuse(api.Errorf(api.Overloaded, "%d requests of this connection wait already; send more when they are answered", c.queue.limit))
		return
	}
}

// schedule starts requests in order until the connection ends, then answers
// what did not start.
func (c *conn) schedule() {
	for {
		f := c.queue.next(c.ctx, c.out.crowded, c.out.space)
		if f == nil {
			return
		}
		if f.spec.Ordered {
			c.execute(f)
			continue
		}
		c.start(f)
	}
}

// idleWorkers is how many goroutines of a connection wait for its next
// request: a new one would first have to grow its stack.
const idleWorkers = 2

// start runs a request on an idle worker or a new one.
func (c *conn) start(f *flight) {
	select {
	case c.jobs <- f:
	default:
		c.wg.Go(func() { c.work(f) })
	}
}

// work runs a request, and further ones while few workers are idle.
func (c *conn) work(f *flight) {
	for {
		c.execute(f)
		select {
		case c.idle <- struct{}{}:
		default:
			return
		}
		select {
		case f = <-c.jobs:
			<-c.idle
		case <-c.ctx.Done():
			return
		}
	}
}

// execute runs one request and answers all who asked it.
func (c *conn) execute(f *flight) {
	start := time.Now()
	result, err := c.call(f)
	var text []byte
	if err == nil {
		if text, err = encode(result); err != nil {
			err = fmt.Errorf("encode the answer: %w", err)
		}
	}
	f.cancel()
	askers := c.queue.done(f)
	if err == nil {
		for _, a := range askers {
			a.answer(resultMessage(a.id, text))
		}
		c.log.Debug("answered", "req", f.id, "op", f.spec.Name, "took", time.Since(start), "bytes", len(text))
		return
	}
	e, internal := refusal(err, f.id)
	for _, a := range askers {
		a.answer(errorMessage(a.id, numberOf(e.Code), e))
	}
	if internal {
		c.log.Error("request failed", "req", f.id, "op", f.spec.Name, "error", err)
		return
	}
	c.log.Debug("refused", "req", f.id, "op", f.spec.Name, "took", time.Since(start), "code", e.Code)
}

func (a asker) answer(message []byte) {
	if len(a.id) == 0 {
		message = nil
	}
	a.reply(message)
}

// call reads the parameters, checks the tier and asks Dispatch. A panic ends
// this request only.
func (c *conn) call(f *flight) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, c.panicked(f, p, debug.Stack())
		}
	}()
	in, err := api.Decode(f.spec, f.params)
	if err != nil {
		return nil, err
	}
	if init, ok := in.(api.Initialize); ok {
		return c.initialize(f.ctx, init)
	}
	client := c.identity()
	if needs := f.spec.Needs(in); needs > client.Tier {
		return nil, api.Errorf(api.TierDenied, "%s needs the tier %s and this client has %s; %s", f.spec.Name, needs, client.Tier, grant(f.spec, needs))
	}
	return c.s.opts.Dispatch(f.ctx, Call{
		ID: f.id, Spec: f.spec, Input: in, Params: f.params, Client: client,
		Log: c.log.With("req", f.id, "op", f.spec.Name), conn: c, flight: f,
	})
}

// grant names the command that does what was denied.
func grant(spec api.Spec, needs api.Tier) string {
	words := ""
	for _, w := range spec.Words() {
		words += " " + w
	}
	if needs == api.AdminTier {
		return "a person grants it by running auractl" + words
	}
	return fmt.Sprintf("connect with tier %s, or run auractl%s", needs, words)
}

// panicked keeps the stack, which holds no text of the user, in a private file.
func (c *conn) panicked(f *flight, value any, stack []byte) error {
	c.s.stats.panics.Add(1)
	id := f.id + "-" + rand.Text()[:8]
	file := ""
	if dir := c.s.opts.CrashDir; dir != "" {
		file = filepath.Join(dir, "crash-"+id+".txt")
		text := fmt.Sprintf("%s in %s (request %s)\n\n%s", kind(value), f.spec.Name, f.id, stack)
		if err := os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(file, []byte(text), 0o600)
			if err != nil {
				c.log.Error("crash file", "error", err)
			}
		}
	}
	c.log.Error("panic", "req", f.id, "op", f.spec.Name, "crash", id, "file", file, "panic", kind(value))
	return &api.Error{
		Code:    api.Internal,
		Message: fmt.Sprintf("%s failed by a defect of Aura (crash %s); please report it with %s", f.spec.Name, id, orLog(file)),
		Details: map[string]string{"crash": id, "file": file},
	}
}

// kind describes a panic. Errors of the runtime hold no text of the user; other
// values may, and only their type is told.
func kind(value any) string {
	if e, ok := value.(interface{ RuntimeError() }); ok {
		return fmt.Sprint(e)
	}
	return fmt.Sprintf("panic with %T", value)
}

func orLog(file string) string {
	if file == "" {
		return "auractl logs"
	}
	return file
}

// initialize sets the defaults of the connection. A second one changes them.
func (c *conn) initialize(ctx context.Context, in api.Initialize) (any, error) {
	for name, dir := range map[string]string{"workspace": in.Workspace, "folder": in.Folder} {
		if dir != "" && !filepath.IsAbs(dir) {
			return nil, api.Errorf(api.InvalidArgument, "%s must be an absolute path, not %q", name, dir)
		}
	}
	if in.Workspace == "" && in.Folder != "" {
		in.Workspace = in.Folder
		if find := c.s.opts.Root; find != nil {
			root, err := find(ctx, in.Folder)
			if err != nil {
				return nil, err
			}
			in.Workspace = root
		}
	}
	tier := api.Observe
	for t := api.Observe; t <= api.AdminTier; t++ {
		if t.String() == in.Tier {
			tier = t
		}
	}
	if in.Trust && tier < api.AdminTier {
		return nil, api.Errorf(api.TierDenied, "trust needs the tier admin; run auractl trust DIR")
	}
	env := map[string]string{}
	if keep := c.s.opts.Keep; keep != nil {
		env = maps.Clone(in.Environment)
		maps.DeleteFunc(env, func(name, _ string) bool { return !keep(name) })
	}
	c.mu.Lock()
	if in.Client.Name != "" {
		c.client.Name = in.Client.Name
	}
	c.client.Version = in.Client.Version
	c.client.Workspace = in.Workspace
	if in.Session != "" {
		c.client.Session = in.Session
	}
	c.client.Tier, c.client.Trust, c.client.Env = tier, in.Trust, env
	c.wantsProgress = in.Progress
	client := c.client
	c.mu.Unlock()
	c.log.Debug("client", "name", client.Name, "version", client.Version, "tier", in.Tier, "session", client.Session, "pid", client.PID)
	return api.Initialized{
		ProtocolVersion: api.ProtocolVersion, Server: c.s.opts.Name, Build: c.s.opts.Build, Catalogue: c.s.catalogue(),
		PID: os.Getpid(), Session: client.Session, Tier: tier.String(), Workspace: in.Workspace,
	}, nil
}

// progress tells those who wait for a flight what it waits for.
func (c *conn) progress(f *flight, message string, percent float64) {
	c.mu.Lock()
	wants := c.wantsProgress
	c.mu.Unlock()
	if !wants {
		return
	}
	for _, id := range c.queue.asked(f) {
		c.notify("progress "+string(id), api.ProgressMethod, api.Progress{ID: json.RawMessage(id), Message: message, Percent: percent})
	}
}
