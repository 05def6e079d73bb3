package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
)

// maxExamined bounds the projects that doctor lists of one engine.
const maxExamined = 50

// examination is doctor's look at one engine.
type examination struct {
	d        *Daemon
	c        serve.Call
	ws       *workbench.Workspace // nil without one
	caller   workbench.Caller
	language adapters.Adapter
	engine   adapters.Engine
	start    bool // to see whether it really runs
	all      bool // for every project, not for the first only
}

// unusable reports whether an engine was found wanting.
func unusable(s api.DoctorServer) bool { return s.State == "missing" || s.State == "broken" }

// run looks the engine up and says how each project is or would be served.
func (x *examination) run(ctx context.Context, projects []adapters.Project) []api.DoctorServer {
	e := x.engine
	s := api.DoctorServer{Engine: e.ID, Language: x.language.Language().Name, State: "unused", Pinned: e.Version, Install: installs(e)}
	if cfg, _ := x.d.o.Config.Get(); cfg.Servers[e.ID].Disabled {
		s.Detail = "servers." + e.ID + ".disabled is set in the configuration"
		return []api.DoctorServer{s}
	}
	if !x.look(&s) || x.ws == nil || len(projects) == 0 {
		return []api.DoctorServer{s}
	}
	if e.Trust && !x.caller.Trusted {
		s.State, s.Detail = "untrusted", "it runs code of the workspace: auractl trust "+x.ws.Root()
		return []api.DoctorServer{s}
	}
	session, err := x.ws.Begin(ctx, x.caller)
	if err != nil {
		s.State, s.Detail = "broken", err.Error()
		return []api.DoctorServer{s}
	}
	defer session.Close()
	var out []api.DoctorServer
	for n, p := range projects {
		if n == maxExamined {
			out[len(out)-1].Detail = fmt.Sprintf("and %d projects more", len(projects)-n)
			break
		}
		one := s
		one.Project = session.Relative(p.Root)
		x.project(ctx, p, &one, x.start && (n == 0 || x.all))
		out = append(out, one)
	}
	return out
}

// installs is the command that installs an engine, or what a person has to do.
func installs(e adapters.Engine) string {
	if e.Recipe.Client == "" {
		return e.Install
	}
	return "auractl install " + e.ID
}

// unversioned is what programs say that were built without a version.
const unversioned = "0.0.0"

// look finds the engine's program and asks for its version.
func (x *examination) look(s *api.DoctorServer) (runs bool) {
	e, tools := x.engine, x.d.tools
	if cmd := x.d.command(e.ID); len(cmd) > 0 {
		s.Path, s.From = cmd[0], "configuration"
	} else {
		path, from, err := tools.find(e.ID, e.Executable(), x.caller.Env["PATH"])
		if err != nil {
			s.State, s.Detail = "missing", err.Error()
			return false
		}
		s.Path, s.From = path, from
	}
	var err error
	if s.Version, err = tools.Version(e.ID, s.Path, x.caller.Env["PATH"]); err != nil {
		s.State, s.Detail = "broken", "found, does not run: "+err.Error()
		return false
	}
	switch {
	case e.Version == "" || s.Version == e.Version:
	case s.Version == unversioned:
		s.Detail = "this build does not say its version; Aura is tested with " + e.Version
	default:
		s.Detail = "Aura is tested with " + e.Version
	}
	return true
}

// project says how one project is served, by its server if start.
func (x *examination) project(ctx context.Context, p adapters.Project, s *api.DoctorServer, start bool) {
	want := supervise.Want{
		View: x.ws.View(), Project: p, Language: x.language.Language(), Engine: x.engine, Env: x.caller.Env, Trusted: x.caller.Trusted,
		Client: x.caller.Name, Partial: true, Waiting: x.caller.Waiting,
	}
	s.State = "ok"
	if start {
		x.d.supervisor.Retry(x.ws.Root(), x.engine.ID) // a person asks, so those that stay down are tried again
		x.c.Progress("starting "+x.engine.ID+" for "+s.Project, 0)
		begin := time.Now()
		lease, err := x.d.supervisor.Lease(ctx, want)
		if err != nil {
			s.State, s.Detail = "broken", "found, does not start: "+err.Error()
			return
		}
		s.StartMs = time.Since(begin).Milliseconds()
		defer lease.Release()
	}
	launch, now, err := x.d.supervisor.Resolve(ctx, want)
	switch {
	case err != nil:
		s.State, s.Detail = "broken", err.Error()
	case now.State == supervise.Failed.String():
		s.State, s.Detail = "broken", now.LastError
	case now.State == supervise.Absent.String():
		s.State = "unused"
		s.Detail = "not started; auractl doctor --all starts it"
	}
	s.Notes = launch.Notes
}

// projectsOf returns the build units of a workspace, by the id of their language.
func projectsOf(ctx context.Context, ws *workbench.Workspace, caller workbench.Caller) (map[string][]adapters.Project, error) {
	s, err := ws.Begin(ctx, caller)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out := map[string][]adapters.Project{}
	for _, lang := range ws.Languages() {
		projects, err := ws.Projects(ctx, s.Snapshot(), lang)
		if err != nil {
			return nil, err
		}
		out[lang.Language().ID] = projects
	}
	return out, nil
}

// restart starts servers of a workspace anew because a person asks for it.
func (d *Daemon) restart(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.RestartQuery)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	engine, err := d.engineNamed(in.Server)
	if err != nil {
		return nil, err
	}
	out := api.Restarted{Servers: []string{}, Warnings: []string{}}
	for _, s := range d.supervisor.Restart(ws.Root(), engine) {
		out.Servers = append(out.Servers, s.Engine+" of "+filepath.ToSlash(s.Root))
	}
	if len(out.Servers) == 0 {
		out.Warnings = append(out.Warnings, "no such server runs in "+ws.Root()+"; it is started when something is asked of it")
	}
	return out, nil
}

// engineNamed returns the id of an engine that a person named; empty stays empty.
func (d *Daemon) engineNamed(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var known []string
	for _, l := range d.languages {
		for _, e := range l.Engines() {
			if strings.EqualFold(e.ID, name) {
				return e.ID, nil
			}
			known = append(known, e.ID)
		}
	}
	out := api.Errorf(api.InvalidArgument, "Aura knows no server %q; it knows %s", name, strings.Join(known, ", "))
	out.Suggestions = api.Nearest(name, known, 3)
	return "", out
}
