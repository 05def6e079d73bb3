package daemon

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/workbench"
)

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
	out.Project = s.Relative(p.Root)
	if p.Marker != "" {
		out.Marker = s.Relative(p.Marker)
	}
	out.Reason = reasonOf(s, lang.Language(), p, path)
	others, err := ws.Projects(ctx, s.Snapshot(), lang)
	if err != nil {
		return nil, err
	}
	if n := len(others); n > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("the workspace has %d projects of this language; auractl doctor lists them", n))
	}
	for _, e := range lang.Engines() {
		out.Engines = append(out.Engines, d.whyEngine(ctx, ws, caller, lang.Language(), e, p))
	}
	return out, nil
}

// reasonOf says why a file belongs to its project.
func reasonOf(s *workbench.Session, l adapters.Language, p adapters.Project, path string) string {
	if p.Marker == "" {
		return "none of " + strings.Join(l.Markers, ", ") + " was found above it: it belongs to a loose folder"
	}
	for _, m := range p.Members {
		if rel, err := filepath.Rel(m, path); err == nil && filepath.IsLocal(rel) && m != p.Root {
			return fmt.Sprintf("%s has %d members, one of them %s, which holds the file", s.Relative(p.Marker), len(p.Members), s.Relative(m))
		}
	}
	return s.Relative(p.Marker) + " is the nearest above it that makes a project"
}

// whyEngine says what one engine does, or would do, for a project.
func (d *Daemon) whyEngine(ctx context.Context, ws *workbench.Workspace, caller workbench.Caller, l adapters.Language, e adapters.Engine, p adapters.Project) api.WhyEngine {
	w := api.WhyEngine{Engine: e.ID, Roles: roles(e.Roles), State: supervise.Absent.String()}
	if cmd := d.command(e.ID); len(cmd) > 0 {
		w.Path, w.Reason = cmd[0], "named by the configuration"
	} else if path, from, err := d.tools.find(e.ID, e.Executable(), caller.Env["PATH"]); err == nil {
		w.Path, w.Reason = path, "found in "+from
	} else {
		w.State, w.Reason = "missing", err.Error()+"; to install it: "+installs(e)
		return w
	}
	launch, now, err := d.supervisor.Resolve(ctx, supervise.Want{
		View: ws.View(), Project: p, Language: l, Engine: e, Env: caller.Env, Trusted: caller.Trusted,
	})
	if err != nil {
		w.State, w.Reason = "broken", err.Error()
		return w
	}
	if e.Trust && !caller.Trusted {
		w.State, w.Reason = "untrusted", "it runs code of the workspace: auractl trust "+ws.Root()
	} else {
		w.State, w.PID, w.Waiting = now.State, now.PID, now.Waiting
	}
	if now.Parked != "" {
		w.Notes = append(w.Notes, "it was stopped: "+now.Parked)
	}
	if v, err := d.tools.Version(e.ID, w.Path, caller.Env["PATH"]); err == nil {
		w.Version = v
	} else {
		w.Notes = append(w.Notes, "it does not say its version: "+err.Error())
	}
	w.Argv, w.Root, w.Notes = launch.Argv, launch.Root, append(w.Notes, launch.Notes...)
	if len(launch.Named) > 0 {
		w.Env = make(map[string]string, len(launch.Named))
		for name, value := range launch.Named {
			w.Env[name] = masked(name, value)
		}
	}
	return w
}

// secret are names of variables whose value must not stand in an answer that
// people pass on.
var secret = regexp.MustCompile(`(?i)token|secret|password|passwd|credential|endpoints|_key$|_auth$`)

// masked hides what may be a secret in a variable.
func masked(name, value string) string {
	if value == "" {
		return ""
	}
	if secret.MatchString(name) {
		return "(set)"
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		u.User = url.User("…")
		if out, err := url.PathUnescape(u.String()); err == nil {
			return out
		}
		return "(set)"
	}
	return value
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
