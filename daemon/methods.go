package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/serve"
	"github.com/auralsp/aura/daemon/supervise"
	"github.com/auralsp/aura/daemon/transact"
	"github.com/auralsp/aura/daemon/workbench"
)

// bind returns the methods that are not operations on code.
func (d *Daemon) bind() map[string]method {
	return map[string]method{
		"undo":             d.undo,
		"history":          d.history,
		"status":           d.status,
		"doctor":           d.doctor,
		"install":          d.install,
		"trust":            d.setTrust,
		"why":              d.why,
		"restart":          d.restart,
		"index":            d.index,
		"capabilities":     d.capabilities,
		"logs":             d.logs,
		"reload":           d.reload,
		"shutdown":         d.shutdownMethod,
		"workspace.open":   d.openWorkspace,
		"workspace.close":  d.closeWorkspace,
		"workspace.list":   d.listWorkspaces,
		"document.open":    d.openDocument,
		"document.change":  d.changeDocument,
		"document.close":   d.closeDocument,
		"events.subscribe": d.subscribe,
	}
}

func (d *Daemon) undo(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.Undo)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return d.pipeline.Undo(ctx, transact.UndoRequest{View: ws.View(), Token: in.UndoToken, Client: c.Client.Name, Session: c.Client.Session})
}

func (d *Daemon) history(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.History)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return d.pipeline.History(ctx, ws.View(), in.Limit)
}

func (d *Daemon) status(ctx context.Context, c serve.Call) (any, error) {
	stats := d.server.Stats()
	cfg, _ := d.o.Config.Get()
	out := api.Status{
		Version: d.o.Version, Build: d.o.Build, PID: os.Getpid(),
		StartedAt:     d.started.UTC().Format(time.RFC3339),
		UptimeSeconds: int64(time.Since(d.started).Seconds()),
		Socket:        d.o.Paths.Socket, LogFile: d.o.Paths.LogFile,
		Clients: stats.Clients, Requests: stats.Requests, Panics: stats.Panics,
		MemoryBytes: residentMemory(),
		Workspaces:  []api.WorkspaceInfo{}, Servers: []api.ServerStatus{}, Warnings: []string{},
		Limits: map[string]int{
			"connections": cfg.Limits.Connections, "queuedRequests": cfg.Limits.QueuedRequests,
			"frameMegabytes": cfg.Limits.FrameMegabytes, "fileMegabytes": cfg.Limits.FileMegabytes,
			"transactionFiles": cfg.Limits.TransactionFiles,
		},
	}
	for _, ws := range d.workspaces.list() {
		info, err := d.describe(ctx, ws)
		if err != nil {
			out.Warnings = append(out.Warnings, ws.Root()+": "+err.Error())
			continue
		}
		out.Workspaces = append(out.Workspaces, info)
		out.Warnings = append(out.Warnings, ws.Health()...)
	}
	memory := d.supervisor.Memory()
	out.Limits["memoryMegabytes"] = int(memory.Limit >> 20)
	if memory.Over != "" {
		out.Warnings = append(out.Warnings, memory.Over)
	}
	for _, s := range d.supervisor.Status() {
		server := serverStatus(s)
		out.ServerMemoryBytes += server.MemoryBytes
		if len(s.Argv) > 0 && filepath.Base(s.Argv[0]) == d.tools.engines[s.Engine].Executable() {
			if v, err := d.tools.Version(s.Engine, s.Argv[0], ""); err == nil {
				server.Version = v // what servers say of themselves may be a page of build information
			}
		}
		out.Servers = append(out.Servers, server)
	}
	if c.Input.(api.StatusQuery).Metrics {
		text, err := d.metrics(stats)
		if err != nil {
			return nil, err
		}
		out.Metrics = text
	}
	return out, nil
}

// residentMemory is the daemon's own resident set, in bytes; 0 where the
// system does not tell.
func residentMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func serverStatus(s supervise.Status) api.ServerStatus {
	out := api.ServerStatus{
		Engine: s.Engine, Language: s.Language, Version: s.Version, State: s.State, Root: s.Root, PID: s.PID,
		Waiting: s.Waiting, Parked: s.Parked, Queue: s.Queued + s.Running, Restarts: max(s.Starts-1, 0), MemoryBytes: s.Memory, LastError: s.LastError,
	}
	if !s.Since.IsZero() {
		out.StartedAt = s.Since.UTC().Format(time.RFC3339)
	}
	if s.LastError != "" && s.Stderr != "" {
		lines := strings.Split(strings.TrimRight(s.Stderr, "\n"), "\n")
		out.Stderr = lines[max(0, len(lines)-20):]
	}
	return out
}

// describe lists a workspace's projects and languages.
func (d *Daemon) describe(ctx context.Context, ws *workbench.Workspace) (api.WorkspaceInfo, error) {
	trusted, err := d.trust.Trusts(ws.Root())
	if err != nil {
		return api.WorkspaceInfo{}, err
	}
	out := api.WorkspaceInfo{Root: ws.Root(), Trusted: trusted, Open: true, Projects: []api.ProjectInfo{}, Languages: []string{}}
	s, err := ws.Begin(ctx, workbench.Caller{})
	if err != nil {
		return out, err
	}
	defer s.Close()
	for name, n := range ws.Samples() {
		if out.Sampled == nil {
			out.Sampled = map[string]api.Sampled{}
		}
		out.Sampled[name] = api.Sampled(n)
	}
	for _, lang := range ws.Languages() {
		projects, err := ws.Projects(ctx, s.Snapshot(), lang)
		if err != nil {
			return out, err
		}
		for _, p := range projects {
			info := api.ProjectInfo{Language: p.Language, Root: s.Relative(p.Root), Marker: s.Relative(p.Marker)}
			if p.Marker == "" {
				info.Marker = ""
			}
			out.Projects = append(out.Projects, info)
			if !slices.Contains(out.Languages, p.Language) {
				out.Languages = append(out.Languages, p.Language)
			}
		}
	}
	return out, nil
}

func (d *Daemon) openWorkspace(ctx context.Context, c serve.Call) (any, error) {
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return d.describe(ctx, ws)
}

func (d *Daemon) closeWorkspace(ctx context.Context, c serve.Call) (any, error) {
	dir := part[api.Request](c.Input).Workspace
	if dir == "" {
		dir = c.Client.Workspace
	}
	open, err := d.workspaces.close(ctx, dir)
	if err != nil {
		return nil, err
	}
	out := api.Done{Success: true}
	if !open {
		out.Warnings = []string{dir + " was not open"}
	}
	return out, nil
}

func (d *Daemon) listWorkspaces(ctx context.Context, _ serve.Call) (any, error) {
	out := api.Workspaces{Workspaces: []api.WorkspaceInfo{}}
	for _, ws := range d.workspaces.list() {
		info, err := d.describe(ctx, ws)
		if err != nil {
			return nil, err
		}
		out.Workspaces = append(out.Workspaces, info)
	}
	return out, nil
}

func (d *Daemon) openDocument(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.DocumentOpen)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return done(ws.OpenBuffer(ctx, c.Client.ID, in.FilePath, in.Version, []byte(in.Text)))
}

func (d *Daemon) changeDocument(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.DocumentChange)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return done(ws.ChangeBuffer(ctx, c.Client.ID, in.FilePath, in.Version, []byte(in.Text)))
}

func (d *Daemon) closeDocument(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.DocumentClose)
	ws, err := d.workspace(ctx, c)
	if err != nil {
		return nil, err
	}
	return done(ws.CloseBuffer(ctx, c.Client.ID, in.FilePath))
}

func done(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return api.Done{Success: true}, nil
}

func (d *Daemon) subscribe(_ context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.Subscribe)
	if len(in.Events) == 0 {
		in.Events = []string{"progress", "diagnostics", "index", "server"}
	}
	d.events.subscribe(c.Client.ID, subscription{kinds: in.Events, notify: c.Notify})
	return api.Subscribed{Events: in.Events}, nil
}

func (d *Daemon) setTrust(_ context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.TrustQuery)
	out := api.Trusted{Warnings: []string{}}
	var err error
	if in.List {
		out.Workspaces, err = d.trust.List()
		return out, err
	}
	dir := in.Path
	if dir == "" {
		dir = in.Workspace
	}
	if dir == "" {
		dir = c.Client.Workspace
	}
	if _, err := canonical(dir); err != nil {
		return nil, err
	}
	out.Trusted = !in.Revoke
	if out.Root, out.Changed, err = d.trust.Set(dir, out.Trusted); err != nil {
		return nil, err
	}
	// The configuration may trust it all the same.
	trusted, err := d.trust.Trusts(out.Root)
	if err == nil {
		d.supervisor.Retrust(out.Root, trusted)
	}
	return out, err
}

func (d *Daemon) install(ctx context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.InstallQuery)
	out := api.Installed{Success: true, Servers: []api.InstalledServer{}}
	var known []string
	wanted := func(id string) bool {
		return len(in.Servers) == 0 || slices.ContainsFunc(in.Servers, func(s string) bool { return strings.EqualFold(s, id) })
	}
	for _, l := range d.languages {
		for _, e := range l.Engines() {
			known = append(known, e.ID)
			if !wanted(e.ID) {
				continue
			}
			c.Progress("installing "+e.ID+" "+e.Version, 0)
			got := d.tools.Install(ctx, e, environment(named(c.Client.Env)), in.Force)
			out.Success = out.Success && got.State != "failed"
			out.Servers = append(out.Servers, got)
		}
	}
	for _, s := range in.Servers {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, s) }) {
			e := api.Errorf(api.InvalidArgument, "Aura knows no server %q; it knows %s", s, strings.Join(known, ", "))
			e.Suggestions = api.Nearest(s, known, 3)
			return nil, e
		}
	}
	return out, nil
}

func (d *Daemon) reload(context.Context, serve.Call) (any, error) {
	changed, err := d.Reload()
	if err != nil {
		return nil, api.Errorf(api.InvalidArgument, "the configuration stays as it was: %v", err)
	}
	out := api.Done{Success: true}
	if len(changed) > 0 {
		out.Warnings = []string{"changed: " + strings.Join(changed, ", ")}
	}
	return out, nil
}

// Reload reads the configuration again, whole or not at all, and returns the
// keys that changed.
func (d *Daemon) Reload() ([]string, error) {
	changed, err := d.o.Config.Reload()
	if err != nil {
		return nil, err
	}
	cfg, _ := d.o.Config.Get()
	return changed, d.o.Level.UnmarshalText([]byte(cfg.Daemon.LogLevel))
}

func (d *Daemon) shutdownMethod(_ context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.ShutdownQuery)
	out := api.Stopping{PID: os.Getpid(), Stopping: true}
	if stats := d.server.Stats(); in.IfIdle && (stats.Clients > 1 || stats.Running > 1) {
		out.Stopping = false
		out.Reason = strconv.Itoa(stats.Clients-1) + " other clients are connected"
		return out, nil
	}
	d.stop()
	return out, nil
}

func (d *Daemon) logs(_ context.Context, c serve.Call) (any, error) {
	in := c.Input.(api.LogsQuery)
	out := api.Logs{Lines: []string{}}
	switch {
	case in.Trace && in.Server == "":
		return nil, api.Errorf(api.InvalidArgument, "a transcript is of one engine: name it with server")
	case in.Trace:
		return d.transcripts.last(in.Server, in.Lines)
	case in.Server != "":
		for _, s := range d.supervisor.Status() {
			if strings.EqualFold(s.Engine, in.Server) {
				out.Lines = append(out.Lines, strings.Split(strings.TrimRight(s.Stderr, "\n"), "\n")...)
			}
		}
		out.Lines = out.Lines[max(0, len(out.Lines)-in.Lines):]
		return out, nil
	}
	least := slices.Index(logLevels, in.Level)
	out, err := lastLines(d.o.Paths.LogFile, in.Lines, func(line string) bool {
		return least <= 0 || slices.Index(logLevels, levelOf(line)) >= least
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Errorf(api.FileNotFound, "the daemon writes no log file: %v", err)
	}
	return out, err
}

// lastLines returns the end of a file, of the lines that are wanted; nil wants all.
func lastLines(path string, n int, wanted func(line string) bool) (api.Logs, error) {
	out := api.Logs{File: path, Lines: []string{}}
	f, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" && (wanted == nil || wanted(line)) {
			out.Lines = append(out.Lines, line)
		}
		if len(out.Lines) > 2*n || err != nil {
			out.Lines = slices.Delete(out.Lines, 0, max(0, len(out.Lines)-n))
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// logLevels are in order: the first is the least.
var logLevels = []string{"debug", "info", "warn", "error"}

// levelOf reads the level of a line of the log, text or JSON.
func levelOf(line string) string {
	for _, mark := range []string{`"level":"`, "level="} {
		if _, rest, ok := strings.Cut(line, mark); ok {
			end := strings.IndexAny(rest, `" `)
			if end < 0 {
				end = len(rest)
			}
			return strings.ToLower(rest[:end])
		}
	}
	return "error" // a stack trace or another program's words
}
