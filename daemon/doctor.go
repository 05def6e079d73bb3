package daemon

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
)

// doctor looks at what Aura stands on, and starts each server that the
// workspace needs, to see whether it really runs.
func (d *Daemon) doctor(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.DoctorQuery)
	out := api.Doctor{Success: true, Version: d.o.Version, Checks: []api.DoctorCheck{}, Servers: []api.DoctorServer{}}
	check := func(name, state, detail, fix string) {
		out.Checks = append(out.Checks, api.DoctorCheck{Name: name, State: state, Detail: detail, Fix: fix})
		out.Success = out.Success && state != "fail"
	}
	check("daemon", "ok", "version "+d.o.Version+", socket "+d.o.Paths.Socket, "")
	if _, err := os.Stat(d.o.Paths.ConfigFile); err == nil {
		check("configuration", "ok", d.o.Paths.ConfigFile, "")
	} else {
		check("configuration", "ok", "defaults; "+d.o.Paths.ConfigFile+" does not exist", "")
	}
	if ok, why := d.validator.Possible(ctx); ok {
		check("shadow builds", "ok", "a build sees a change before your files do", "")
	} else {
		check("shadow builds", "warn", "builds run in place and are rolled back when they fail: "+why, "")
	}

	dir := in.Workspace
	if dir == "" {
		dir = c.Client.Workspace
	}
	var ws *workbench.Workspace
	if dir != "" {
		var err error
		if ws, err = d.workspaces.get(ctx, dir); err != nil {
			check("workspace", "warn", err.Error(), "")
		}
	}
	caller := workbench.Caller{Env: named(c.Client.Env)}
	used := map[string]adapters.Project{}
	if ws != nil {
		var err error
		if caller, err = d.caller(c, ws); err != nil {
			return nil, err
		}
		info, err := d.describe(ctx, ws)
		if err != nil {
			return nil, err
		}
		out.Workspace, out.Trusted = ws.Root(), caller.Trusted
		if out.Trusted {
			check("trust", "ok", "servers and builds may run this workspace's code", "")
		} else {
			check("trust", "warn", "this workspace is not trusted: servers are restricted and builds are refused", "auractl trust "+ws.Root())
		}
		for _, h := range ws.Health() {
			check("watching", "warn", h, "")
		}
		for _, p := range info.Projects {
			if _, ok := used[p.Language]; !ok {
				used[p.Language] = adapters.Project{Language: p.Language, Root: ws.Absolute(p.Root)}
			}
		}
		if err := d.journal(ctx, ws.Root(), &out, check); err != nil {
			return nil, err
		}
	}
	for _, l := range d.languages {
		project, needed := used[l.Language().ID]
		if why := l.Syntax().Missing; why != "" {
			check(l.Language().Name, "warn", "its files cannot be read by this build: "+why, "install Aura from a build with a C compiler")
			continue
		}
		for _, e := range l.Engines() {
			s := d.examine(ctx, ws, caller, l, e, project, needed && !in.NoStart, c)
			out.Servers = append(out.Servers, s)
			if needed && (s.State == "missing" || s.State == "broken") {
				out.Success = false
			}
		}
	}
	return out, nil
}

// journal reports on the workspace's transactions.
func (d *Daemon) journal(ctx context.Context, root string, out *api.Doctor, check func(name, state, detail, fix string)) error {
	report, err := d.engine.Doctor(ctx, root)
	if err != nil {
		return err
	}
	if report.Locked != "" {
		check("journal", "fail", report.Locked, strings.Join(report.Steps, "; "))
	} else {
		check("journal", "ok", strconv.Itoa(report.Transactions)+" changes can be undone", "")
	}
	for _, c := range report.Conflicts {
		detail := c.Reason
		if c.Kept != "" {
			detail += "; the other version is " + c.Kept
		}
		out.Conflicts = append(out.Conflicts, api.DoctorProblem{File: c.Path, Detail: detail})
		out.Success = false
	}
	return nil
}

// examine looks one engine up and, when start is true, starts it.
func (d *Daemon) examine(ctx context.Context, ws *workbench.Workspace, caller workbench.Caller, l adapters.Adapter, e adapters.Engine,
	p adapters.Project, start bool, c serve.Call,
) api.DoctorServer {
	s := api.DoctorServer{Engine: e.ID, Language: l.Language().Name, State: "ok", Pinned: e.Version, Install: "auractl install " + e.ID}
	if e.Recipe.Client == "" {
		s.Install = e.Install
	}
	if cmd := d.command(e.ID); len(cmd) > 0 {
		s.Path, s.From = cmd[0], "configuration"
	} else {
		path, from, err := d.tools.find(e.ID, e.Executable())
		if err != nil {
			s.State, s.Detail = "missing", err.Error()
			return s
		}
		s.Path, s.From = path, from
	}
	var err error
	if s.Version, err = d.tools.Version(e.ID, s.Path); err != nil {
		s.State, s.Detail = "broken", "found, does not run: "+err.Error()
		return s
	}
	if e.Version != "" && s.Version != e.Version {
		s.Detail = "Aura is tested with " + e.Version
	}
	if !start || ws == nil {
		if ws == nil || p.Root == "" {
			s.State = "unused"
		}
		return s
	}
	if e.Trust && !caller.Trusted {
		s.State, s.Detail = "untrusted", "it runs code of the workspace: auractl trust "+ws.Root()
		return s
	}
	c.Progress("starting "+e.ID, 0)
	begin := time.Now()
	session, err := ws.Begin(ctx, caller)
	if err != nil {
		s.State, s.Detail = "broken", err.Error()
		return s
	}
	defer session.Close()
	lease, err := d.supervisor.Lease(ctx, supervise.Want{
		View: ws.View(), Project: p, Language: l.Language(), Engine: e, Env: caller.Env, Trusted: caller.Trusted,
		Client: caller.Name, Partial: true, Waiting: caller.Waiting,
	})
	if err != nil {
		s.State, s.Detail = "broken", "found, does not start: "+err.Error()
		return s
	}
	defer lease.Release()
	s.StartMs = time.Since(begin).Milliseconds()
	return s
}

// why explains how a file is served.
func (d *Daemon) why(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.WhyQuery)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	caller, err := d.caller(c, ws)
	if err != nil {
		return nil, err
	}
	s, err := ws.Begin(ctx, caller)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	path := s.Absolute(in.FilePath)
	doc, err := ws.View().Read(ctx, path)
	if err != nil {
		return nil, err
	}
	out := api.Why{File: s.Relative(path), Owner: doc.Owner, Trusted: caller.Trusted, Engines: []api.WhyEngine{}, Notes: []string{}}
	listed, err := s.Snapshot().Files(ctx)
	if err != nil {
		return nil, err
	}
	if _, found := slices.BinarySearch(listed, path); !found {
		out.Ignored = "left out by an ignore file or by Aura's own excludes"
		out.Notes = append(out.Notes, "it is not indexed; servers may read it all the same")
	}
	lang, ok := ws.Language(path)
	if !ok {
		out.Notes = append(out.Notes, "no language of Aura has files of this extension")
		return out, nil
	}
	out.Language, out.Generated = lang.Language().ID, ws.Generated(path, doc.Content)
	bench, err := s.BenchFor(ctx, path)
	if err != nil {
		return nil, err
	}
	p := bench.Project()
	out.Project, out.Marker = s.Relative(p.Root), p.Marker
	if p.Marker == "" {
		out.Notes = append(out.Notes, "none of "+strings.Join(lang.Language().Markers, ", ")+" was found above it: it belongs to a loose folder")
	} else {
		out.Marker = s.Relative(p.Marker)
	}
	running := d.supervisor.Status()
	for _, e := range lang.Engines() {
		w := api.WhyEngine{Engine: e.ID, Roles: roles(e.Roles), State: "absent"}
		if cmd := d.command(e.ID); len(cmd) > 0 {
			w.Path, w.Reason = cmd[0], "named by the configuration"
		} else if path, from, err := d.tools.find(e.ID, e.Executable()); err == nil {
			w.Path, w.Reason = path, "found in "+from
		} else {
			w.State, w.Reason = "missing", err.Error()+"; auractl install "+e.ID
		}
		if i := slices.IndexFunc(running, func(r supervise.Status) bool { return r.Engine == e.ID && r.Root == p.Root }); i >= 0 {
			w.State = running[i].State
		}
		out.Engines = append(out.Engines, w)
	}
	return out, nil
}

func roles(r adapters.Role) []string {
	names := []string{"navigate", "rename", "hierarchy", "actions", "diagnose", "format", "refactor"}
	out := []string{}
	for i, n := range names {
		if r&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// capabilities prints what fills each cell.
func (d *Daemon) capabilities(_ context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.CapabilitiesQuery)
	out := api.Capabilities{Languages: []string{}, Capabilities: []api.Capability{}, Warnings: []string{}}
	for _, l := range d.languages {
		lang := l.Language()
		if in.Language != "" && !strings.EqualFold(in.Language, lang.ID) && !strings.EqualFold(in.Language, lang.Name) {
			continue
		}
		out.Languages = append(out.Languages, lang.Name)
		engine := ""
		if engines := l.Engines(); len(engines) > 0 {
			engine = engines[0].ID
		}
		add := func(operation string, how adapters.How, note string) {
			cell := api.Capability{Operation: operation, Language: lang.Name, How: how.String(), Note: note}
			if how == adapters.ByServer {
				cell.Engine = engine
			}
			out.Capabilities = append(out.Capabilities, cell)
		}
		r := l.Recipes()
		for _, cell := range []struct {
			name string
			find adapters.Find[adapters.Target]
		}{
			{"definition", r.Definition}, {"type_definition", r.TypeDefinition}, {"references", r.References}, {"usages", r.References},
			{"callers", r.Callers}, {"callees", r.Callees}, {"implementations", r.Implementations},
			{"derived_types", r.Derived}, {"supertypes", r.Supertypes},
		} {
			add(cell.name, cell.find.How, cell.find.Note)
		}
		add("outline", adapters.ByAura, "from syntax")
		add("symbol", adapters.ByAura, "from syntax, counts from the server")
		add("diagnostics", adapters.ByServer, "")
		add("rename", r.Rename.How, r.Rename.Note)
	}
	if len(out.Languages) == 0 {
		return nil, api.Errorf(api.InvalidArgument, "Aura has no adapter for %q", in.Language)
	}
	return out, nil
}
