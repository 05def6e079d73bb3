package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/auralsp/aura/daemon/api"
)

func (a *app) viewStatus(p *page, r api.Status) {
	if r.Metrics != "" {
		p.WriteString(r.Metrics)
		return
	}
	p.line("%s %s, process %d, up %s", a.paint.bold("aurad"), escape(r.Version), r.PID, (time.Duration(r.UptimeSeconds) * time.Second).String())
	p.line("  socket   %s", escape(r.Socket))
	if r.LogFile != "" {
		p.line("  log      %s", escape(r.LogFile))
	}
	p.line("  memory   %s", size(r.MemoryBytes))
	if limit := int64(r.Limits["memoryMegabytes"]) << 20; limit > 0 && r.ServerMemoryBytes > 0 {
		p.line("  servers  %s of at most %s", size(r.ServerMemoryBytes), size(limit))
	}
	p.line("  clients  %d now, %s", r.Clients, plural(int(r.Requests), "request"))
	if r.Panics > 0 {
		p.line("  %s", a.paint.red(plural(int(r.Panics), "request")+" failed by a defect; auractl logs"))
	}
	if len(r.Workspaces) > 0 {
		p.line("")
		t := newTable(a.paint, "WORKSPACE", "TRUSTED", "LANGUAGES", "PROJECTS")
		for _, w := range r.Workspaces {
			t.add(escape(w.Root), yes(w.Trusted), escape(strings.Join(w.Languages, ", ")), strconv.Itoa(len(w.Projects)))
		}
		t.print(p)
		for _, w := range r.Workspaces {
			for _, name := range slices.Sorted(maps.Keys(w.Sampled)) {
				n := w.Sampled[name]
				p.line("  symbol graph against server in %s, %s: %d of %d answers alike, %d missed, %d extra", escape(w.Root), escape(name), n.Agreed, n.Compared, n.Missed, n.Extra)
			}
		}
	}
	if len(r.Servers) > 0 {
		p.line("")
		t := newTable(a.paint, "SERVER", "STATE", "VERSION", "PID", "MEMORY", "QUEUE", "RESTARTS", "ROOT")
		for _, s := range r.Servers {
			pid := "-"
			if s.PID > 0 {
				pid = strconv.Itoa(s.PID)
			}
			t.add(escape(s.Engine), a.state(s.State), cmpOr(escape(s.Version), "-"), pid, size(s.MemoryBytes), strconv.Itoa(s.Queue), strconv.Itoa(s.Restarts), escape(s.Root))
		}
		t.print(p)
		for _, s := range r.Servers {
			if s.Waiting != "" {
				p.line("%s waits: %s", escape(s.Engine), escape(s.Waiting))
			}
			if s.Parked != "" {
				p.line("%s was stopped: %s", escape(s.Engine), escape(s.Parked))
			}
			if s.LastError != "" {
				p.line("%s: %s", escape(s.Engine), a.paint.red(escape(s.LastError)))
			}
			for _, l := range s.Stderr {
				p.line("  %s", a.paint.dim(escape(l)))
			}
		}
	}
	p.notes = append(p.notes, warnings(r.Warnings)...)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// state paints the state of a server or a check.
func (a *app) state(s string) string {
	switch s {
	case "ready", "ok", "installed", "present":
		return a.paint.green(s)
	case "failed", "crashed", "fail", "broken", "missing":
		return a.paint.red(s)
	}
	return a.paint.yellow(escape(s))
}

func size(n int64) string {
	switch {
	case n <= 0:
		return "-"
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}

func (a *app) viewDoctor(p *page, r api.Doctor) {
	p.line("%s %s", a.paint.bold("Aura"), escape(r.Version))
	if r.Workspace != "" {
		trust := a.paint.yellow("not trusted") + "; auractl trust " + quote(a.shown(r.Workspace))
		if r.Trusted {
			trust = a.paint.green("trusted")
		}
		p.line("workspace %s: %s", escape(r.Workspace), trust)
	}
	if len(r.Checks) > 0 {
		p.line("")
		t := newTable(a.paint)
		for _, c := range r.Checks {
			t.add(a.state(c.State), escape(c.Name), escape(c.Detail))
		}
		t.print(p)
	}
	if len(r.Servers) > 0 {
		p.line("")
		t := newTable(a.paint, "SERVER", "LANGUAGE", "STATE", "VERSION", "STARTS", "PROJECT", "FOUND")
		for _, s := range r.Servers {
			starts := "-"
			if s.StartMs > 0 {
				starts = (time.Duration(s.StartMs) * time.Millisecond).String()
			}
			found := escape(s.Path)
			if s.From != "" {
				found += a.paint.dim(" (" + escape(s.From) + ")")
			}
			t.add(escape(s.Engine), escape(s.Language), a.state(s.State), cmpOr(escape(s.Version), "-"), starts, cmpOr(escape(s.Project), "-"), cmpOr(found, "-"))
		}
		t.print(p)
		said := map[string]bool{} // the same is true of most projects
		for _, s := range r.Servers {
			for _, note := range append([]string{s.Detail}, s.Notes...) {
				if line := escape(s.Engine) + ": " + escape(note); note != "" && !said[line] {
					said[line] = true
					p.line("%s", line)
				}
			}
		}
	}
	var fixes []string
	for _, c := range r.Checks {
		if c.Fix != "" && c.State != "ok" {
			fixes = append(fixes, escape(c.Fix))
		}
	}
	for _, s := range r.Servers {
		if s.Install != "" && (s.State == "missing" || s.State == "broken" || s.State == "outdated") {
			fixes = append(fixes, escape(s.Install))
		}
	}
	if len(fixes) > 0 {
		p.line("\n%s", a.paint.bold("To mend it:"))
		for _, f := range slices.Compact(fixes) {
			p.line("  %s", f)
		}
	}
	if len(r.Conflicts) > 0 {
		p.line("\n%s", a.paint.bold("Files that a person must look at:"))
		for _, c := range r.Conflicts {
			p.line("  %s: %s", a.shown(c.File), escape(c.Detail))
		}
	}
}

func (a *app) viewInstalled(p *page, r api.Installed) {
	t := newTable(a.paint, "SERVER", "STATE", "VERSION", "WHERE")
	for _, s := range r.Servers {
		t.add(escape(s.Engine), a.state(s.State), cmpOr(escape(s.Version), "-"), cmpOr(escape(s.Path), "-"))
	}
	t.print(p)
	for _, s := range r.Servers {
		if s.Error != "" {
			p.line("%s: %s", escape(s.Engine), a.paint.red(escape(s.Error)))
		}
		for _, l := range lines(s.Output) {
			p.line("  %s", a.paint.dim(escape(l)))
		}
	}
}

func (a *app) viewTrusted(p *page, r api.Trusted) {
	for _, w := range r.Workspaces {
		p.line("%s", escape(w))
	}
	if r.Root != "" {
		state := "is not trusted"
		if r.Trusted {
			state = "is trusted"
		}
		if r.Changed {
			state = strings.Replace(state, "is", "is now", 1)
			state = strings.Replace(state, "is now not", "is no longer", 1)
		}
		p.line("%s %s", escape(r.Root), state)
	} else if len(r.Workspaces) == 0 {
		p.notes = append(p.notes, "no workspace is trusted")
	}
	p.notes = append(p.notes, warnings(r.Warnings)...)
}

func (a *app) viewWhy(p *page, r api.Why) {
	p.line("%s", a.paint.bold(a.shown(r.File)))
	t := newTable(a.paint)
	t.add("  language", cmpOr(escape(r.Language), "none"))
	if r.Project != "" {
		t.add("  project", strings.TrimSpace(escape(r.Project)+" "+escape(r.Marker)))
	}
	if r.Reason != "" {
		t.add("  because", escape(r.Reason))
	}
	t.add("  trusted", yes(r.Trusted))
	if r.Ignored != "" {
		t.add("  ignored", escape(r.Ignored))
	}
	if r.Generated {
		t.add("  generated", "yes: a tool writes it again")
	}
	if r.Owner != "" {
		t.add("  buffer", "unsaved changes in "+escape(r.Owner))
	}
	t.print(p)
	for _, e := range r.Engines {
		p.line("  %s %s: %s", escape(e.Engine), a.state(e.State), escape(strings.Join(e.Roles, ", ")))
		if e.Path != "" {
			p.line("      %s", strings.TrimSpace(escape(e.Path)+" "+escape(e.Version)))
		}
		if e.Reason != "" {
			p.line("      %s", escape(e.Reason))
		}
		if e.PID > 0 {
			p.line("      process %d in %s", e.PID, escape(e.Root))
		}
		if e.Waiting != "" {
			p.line("      waits: %s", escape(e.Waiting))
		}
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			p.line("      %s=%s", escape(name), escape(e.Env[name]))
		}
		for _, n := range e.Notes {
			p.line("      %s", escape(n))
		}
	}
	for _, n := range r.Notes {
		p.line("  %s", escape(n))
	}
}

func (a *app) viewCapabilities(p *page, r api.Capabilities) {
	t := newTable(a.paint, "OPERATION", "LANGUAGE", "HOW", "ENGINE", "NOTE")
	for _, c := range r.Capabilities {
		how := escape(c.How)
		switch c.How {
		case "server", "aura":
			how = a.paint.green(how)
		case "refused":
			how = a.paint.yellow(how)
		}
		t.add(escape(c.Operation), escape(c.Language), how, cmpOr(escape(c.Engine), "-"), escape(c.Note))
	}
	t.print(p)
	p.notes = append(p.notes, warnings(r.Warnings)...)
}

func (a *app) viewRestarted(p *page, r api.Restarted) {
	for _, s := range r.Servers {
		p.line("%s is started anew", escape(s))
	}
	p.notes = append(p.notes, warnings(r.Warnings)...)
}

func (a *app) viewDone(p *page, r api.Done) {
	if r.Success {
		p.line("done")
	}
	p.notes = append(p.notes, warnings(r.Warnings)...)
}
