package daemon

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
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
	if built, err := d.validator.Built(ctx); err != nil {
		check("what builds keep", "warn", err.Error(), "")
	} else {
		r := d.retention()
		check("what builds keep", "ok", fmt.Sprintf("%d MB of %d projects in %s; at most %d MB, each for %d days after its last use (validate.keep_megabytes, keep_days)",
			built.Bytes/1_000_000, built.Folders, built.Dir, r.Bytes/1_000_000, int(r.Age.Hours()/24)), "")
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
	projects := map[string][]adapters.Project{}
	if ws != nil {
		var err error
		if caller, err = d.caller(c, ws); err != nil {
			return nil, err
		}
		if projects, err = projectsOf(ctx, ws, caller); err != nil {
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
		if err := d.journal(ctx, ws.Root(), &out, check); err != nil {
			return nil, err
		}
	}
	for _, l := range d.languages {
		if why := l.Syntax().Missing; why != "" {
			if ws != nil && len(projects[l.Language().ID]) == 0 {
				continue
			}
			check(l.Language().Name, "warn", "its files cannot be read by this build: "+why, "install Aura from a build with a C compiler")
			continue
		}
		used := projects[l.Language().ID]
		if len(l.Engines()) == 0 && len(used) > 0 {
			check(l.Language().Name, "ok", "read by its grammar; Aura knows no server of it", "")
		}
		first := len(out.Servers)
		served, ill := false, false // by an engine so far: what follows only replaces it
		for _, e := range l.Engines() {
			x := examination{d: d, c: c, ws: ws, caller: caller, language: l, engine: e, start: !in.NoStart && !served, all: in.All}
			found := x.run(ctx, used)
			out.Servers = append(out.Servers, found...)
			served = served || len(used) > 0 && !slices.ContainsFunc(found, unusable)
			ill = ill || slices.ContainsFunc(found, unusable)
		}
		if len(used) > 0 && ill && !served {
			out.Success = false
		}
		for i := range out.Servers[first:] {
			if s := &out.Servers[first+i]; served && s.State == "missing" {
				s.State, s.Detail = "unused", "another server of "+l.Language().Name+" is there"
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
		detail := strconv.Itoa(report.Transactions) + " changes can be undone"
		if report.Transactions == 1 {
			detail = "1 change can be undone"
		}
		check("journal", "ok", detail, "")
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
		if engine == "" {
			add("symbol", adapters.ByAura, "from syntax")
			add("diagnostics", adapters.Refused, r.References.Note)
		} else {
			add("symbol", adapters.ByAura, "from syntax, counts from the server")
			add("diagnostics", adapters.ByServer, "")
		}
		for _, name := range []string{"list_types", "type_members", "by_attribute", "by_signature"} {
			add(name, adapters.ByAura, "from the graph, without a server")
		}
		if lang.Extends != nil {
			add("extension_methods", adapters.ByAura, "from the graph, without a server")
		} else {
			add("extension_methods", adapters.Refused, "nothing extends a type from outside of it")
		}
		add("rename", r.Rename.How, r.Rename.Note)
	}
	if len(out.Languages) == 0 {
		return nil, api.Errorf(api.InvalidArgument, "Aura has no adapter for %q", in.Language)
	}
	return out, nil
}
