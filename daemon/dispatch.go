package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/op"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/transact"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/lspclient/change"
)

// dispatch answers one request of any door.
func (d *Daemon) dispatch(ctx context.Context, c serve.Call) (any, error) {
	answer, err := d.answer(ctx, c)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	return answer, nil
}

func (d *Daemon) answer(ctx context.Context, c serve.Call) (any, error) {
	if m, ok := d.methods[c.Spec.Name]; ok {
		return m(ctx, c)
	}
	h, ok := d.handlers[c.Spec.Name]
	if !ok {
		return nil, api.Errorf(api.UnsupportedOperation, "this daemon does not know %s", c.Spec.Name)
	}
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	caller, err := d.caller(c, ws)
	if err != nil {
		return nil, err
	}
	if h.Plan != nil {
		return d.change(ctx, c, ws, caller, h.Plan)
	}
	return d.query(ctx, c, ws, caller, h.Query)
}

// query answers a reading operation. When a file moved between the text that
// was looked at and what a server was told, it is asked once more.
func (d *Daemon) query(ctx context.Context, c serve.Call, ws *workbench.Workspace, caller workbench.Caller, q op.Query) (any, error) {
	caller.Patience = patience
	answer, partial, err := d.queryOnce(ctx, c, ws, caller, q)
	if moved(err) || partial && err != nil {
		caller.Patience = 0 // what was not found may be in a file that was not read yet
		answer, _, err = d.queryOnce(ctx, c, ws, caller, q)
	}
	return answer, err
}

// patience is how long a query waits for an index that is being made for the
// first time before it answers from what is known, and says so.
const patience = 5 * time.Second

func (d *Daemon) queryOnce(ctx context.Context, c serve.Call, ws *workbench.Workspace, caller workbench.Caller, q op.Query) (answer any, partial bool, err error) {
	s, err := ws.Begin(ctx, caller)
	if err != nil {
		return nil, false, err
	}
	defer s.Close()
	answer, err = q(ctx, s, c.Input)
	return answer, s.Partial(), err
}

// change runs a mutating operation through the pipeline.
func (d *Daemon) change(ctx context.Context, c serve.Call, ws *workbench.Workspace, caller workbench.Caller, plan op.Plan) (any, error) {
	var sessions []*workbench.Session
	defer func() {
		for _, s := range sessions {
			s.Close()
		}
	}()
	return d.pipeline.Run(ctx, transact.Request{
		Operation: c.Spec.Name,
		Mutation:  part[api.Mutation](c.Input),
		View:      ws.View(),
		Client:    c.Client.Name,
		Session:   c.Client.Session,
		Plan: func(ctx context.Context) (*transact.Draft, error) {
			s, err := ws.Begin(ctx, caller)
			if err != nil {
				return nil, err
			}
			sessions = append(sessions, s)
			return d.draft(ctx, s, caller, plan, c.Input)
		},
	})
}

// draft plans on a session's text and says how the plan is checked.
func (d *Daemon) draft(ctx context.Context, s *workbench.Session, caller workbench.Caller, plan op.Plan, input any) (*transact.Draft, error) {
	p, err := plan(ctx, s, input)
	if moved(err) {
		return nil, api.Errorf(api.StaleContent, "a file changed while the change was planned: %v", err)
	}
	if err != nil {
		return nil, err
	}
	if !part[api.Mutation](input).Preview {
		if err := s.Settled(); err != nil {
			return nil, err
		}
	}
	for _, path := range p.Reads {
		// What the plan rests on is read, so that it is in the read set; a file
		// that is gone is in it as gone.
		if _, _, err := s.Snapshot().Read(ctx, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	draft := &transact.Draft{
		Change:      p.Change,
		Snapshot:    s.Snapshot(),
		Summary:     p.Summary,
		NewSymbolID: string(p.NewSymbolID),
		Source:      "server",
		Generated:   s.Workspace().Generated,
		Build: func(ctx context.Context, files []change.File) (validate.Request, error) {
			return d.build(ctx, s, caller, p, files)
		},
	}
	draft.Complete, draft.Warnings = s.Notes()
	if p.Quick != nil {
		draft.Quick = func(ctx context.Context, files []change.File) (transact.Quick, error) {
			q, err := p.Quick(ctx, files)
			if moved(err) {
				err = api.Errorf(api.StaleContent, "a file changed while the plan was checked: %v", err)
			}
			return transact.Quick{Problems: q.Problems, Lost: q.Lost, Skipped: q.Skipped}, err
		}
	}
	return draft, nil
}

// build says which projects have to compile with the planned files.
func (d *Daemon) build(ctx context.Context, s *workbench.Session, caller workbench.Caller, p *op.Draft, files []change.File) (validate.Request, error) {
	if !caller.Trusted {
		return validate.Request{}, api.Errorf(api.WorkspaceUntrusted,
			"a build runs code of %s: run `auractl trust %s` first, or pass validateCompilation false", s.Root(), s.Root())
	}
	planned, err := s.Snapshot().With(p.Change)
	if err != nil {
		return validate.Request{}, err
	}
	units, err := validate.Units(ctx, d.languages, s.Snapshot(), planned, files)
	if err != nil {
		return validate.Request{}, err
	}
	req := validate.Request{Units: units, Current: s.Snapshot(), Planned: planned, Env: d.buildEnv(caller)}
	if p.Old != "" {
		req.Renamed = []validate.Renamed{{Old: p.Old, New: p.New}}
	}
	return req, nil
}

// buildEnv is what a build for a caller runs with.
func (d *Daemon) buildEnv(caller workbench.Caller) []string {
	vars := maps.Clone(caller.Env)
	vars["PATH"] = d.tools.behind(vars["PATH"])
	return environment(vars)
}

// compile runs the checks of a project for what a server leaves to them.
func (d *Daemon) compile(ctx context.Context, c workbench.Compilation) (workbench.Compiled, error) {
	s := c.Session
	if !c.Caller.Trusted {
		return workbench.Compiled{Missing: "its checks run code of the workspace: auractl trust " + s.Root()}, nil
	}
	if c.Caller.Waiting != nil {
		c.Caller.Waiting("compiling " + s.Relative(c.Project.Root))
	}
	cfg, _ := d.o.Config.Get()
	out, err := d.validator.Findings(ctx, validate.Request{
		Root: s.Root(), Units: []validate.Unit{{Project: c.Project, Builder: c.Builder, Changed: []string{c.File}}},
		Current: s.Snapshot(), Planned: s.Snapshot(), Files: c.Unsaved, Env: d.buildEnv(c.Caller),
		Timeout: time.Duration(cfg.Validate.BuildTimeoutSeconds) * time.Second,
	})
	if refused := new(validate.NoShadowError); errors.As(err, &refused) {
		return workbench.Compiled{Missing: "what is not saved cannot be compiled here: " + refused.Reason}, nil
	}
	if err != nil {
		return workbench.Compiled{}, err
	}
	found := workbench.Compiled{Problems: append(out.Existing, out.Warnings...), Missing: out.Skipped}
	if len(out.Commands) > 0 {
		found.By = filepath.Base(strings.Fields(out.Commands[0])[0])
	}
	if out.TimedOut {
		found.Missing = fmt.Sprintf("its checks did not end within %d s (validate.build_timeout_seconds); what they have built is kept, so ask again", cfg.Validate.BuildTimeoutSeconds)
	}
	return found, nil
}

// workspace opens the workspace that a request is about.
func (d *Daemon) workspace(ctx context.Context, c serve.Call) (*workbench.Workspace, error) {
	dir := part[api.Request](c.Input).Workspace
	if dir == "" {
		dir = c.Client.Workspace
	}
	if dir == "" {
		return nil, api.Errorf(api.InvalidArgument, "no workspace: pass workspace with the request or in initialize")
	}
	return d.workspaces.get(ctx, dir)
}

// caller is what servers and waiting depend on of who asks.
func (d *Daemon) caller(c serve.Call, ws *workbench.Workspace) (workbench.Caller, error) {
	trusted := c.Client.Trust
	if !trusted {
		var err error
		if trusted, err = d.trust.Trusts(ws.Root()); err != nil {
			return workbench.Caller{}, err
		}
	}
	return workbench.Caller{
		Name:    c.Client.ID,
		Env:     named(c.Client.Env),
		Trusted: trusted,
		Class:   supervise.Interactive,
		Waiting: func(reason string) { c.Progress(reason, 0) },
	}, nil
}

// part returns the embedded struct of an input that has the type, or its zero value.
func part[T any](input any) T {
	var zero T
	v := reflect.ValueOf(input)
	if v.Kind() != reflect.Struct {
		return zero
	}
	f := v.FieldByName(reflect.TypeFor[T]().Name())
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return zero
	}
	return f.Interface().(T)
}

// named is a client's environment over that of the daemon, for the names that
// every program needs.
func named(client map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"PATH", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			out[name] = v
		}
	}
	maps.Copy(out, client)
	return out
}

// environment is what a build runs with: the daemon's own, with the client's
// named variables over it.
func environment(client map[string]string) []string {
	env := map[string]string{}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "LD_") && !strings.HasPrefix(name, "DYLD_") {
			env[name] = value
		}
	}
	maps.Copy(env, client)
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// kept reports whether a variable of a client's environment makes a difference
// to a server or a build.
func kept(languages []adapters.Adapter) func(name string) bool {
	names := map[string]bool{"PATH": true, "HOME": true}
	for _, l := range languages {
		for _, e := range l.Engines() {
			for _, n := range e.Env {
				names[n] = true
			}
		}
	}
	for _, n := range reach {
		names[n] = true
	}
	return func(name string) bool {
		return names[name] || strings.HasPrefix(strings.ToLower(name), "npm_config_") || strings.HasPrefix(name, "PIP_") || strings.HasPrefix(name, "UV_")
	}
}

// reach are the variables by which package clients and build tools get to their
// registries: proxies, and certificates that a network of its own has.
var reach = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	"CARGO_HOME", "CARGO_HTTP_CAINFO", "CARGO_HTTP_PROXY", "RUSTUP_HOME",
}

// moved reports whether a file was not any more what the request had seen.
func moved(err error) bool {
	return errors.Is(err, supervise.ErrMoved) || errors.Is(err, view.ErrStale)
}

// refusal maps what a layer below returned to the error that doors show.
func refusal(ctx context.Context, err error) error {
	var e *api.Error
	var declined *adapters.Refusal
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &declined):
		return api.Errorf(api.Code(declined.Reason), "%s", declined.Message)
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return api.Errorf(api.Timeout, "the time of the request is over; give it more with --timeout")
	case ctx.Err() != nil:
		return api.Errorf(api.Cancelled, "the request was cancelled; nothing was changed")
	case moved(err):
		return api.Errorf(api.StaleContent, "a file keeps changing while it is asked about; ask again: %v", err)
	case errors.Is(err, view.ErrTooLarge):
		return api.Errorf(api.FileTooLarge, "%v", err)
	case errors.Is(err, view.ErrFolder):
		return api.Errorf(api.InvalidArgument, "%v; name a file that is in it", err)
	case errors.Is(err, view.ErrNotRegular):
		return api.Errorf(api.BinaryFile, "%v", err)
	case errors.Is(err, view.ErrOutside):
		return api.Errorf(api.OutsideWorkspace, "%v", err)
	case errors.Is(err, view.ErrRootGone):
		return api.Errorf(api.FileNotFound, "%v; open the workspace again", err)
	case errors.Is(err, view.ErrNotOpen), errors.Is(err, view.ErrVersion), errors.Is(err, view.ErrPath):
		return api.Errorf(api.InvalidArgument, "%v", err)
	case errors.Is(err, view.ErrOwned):
		return api.Errorf(api.UnsavedBuffer, "%v", err)
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.FileNotFound, "%v", err)
	case errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.PermissionDenied, "%v", err)
	}
	return fmt.Errorf("internal: %w", err)
}
