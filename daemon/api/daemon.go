package api

// None is the input of methods that take no fields of their own.
type None struct {
	Request
}

// StatusQuery is the input of status.
type StatusQuery struct {
	Request
	Metrics bool `json:"metrics,omitempty" doc:"answer with the daemon's metrics as Prometheus text"`
}

// Status is the answer of status.
type Status struct {
	Version       string `json:"version"`
	Build         string `json:"build"`
	PID           int    `json:"pid"`
	StartedAt     string `json:"startedAt"` // RFC 3339
	UptimeSeconds int64  `json:"uptimeSeconds"`
	Socket        string `json:"socket"`
	LogFile       string `json:"logFile,omitempty"`
	Clients       int    `json:"clients"`
	Requests      int64  `json:"requests"` // since the start
	Panics        int64  `json:"panics"`
	MemoryBytes   int64  `json:"memoryBytes"` // of the daemon itself, resident
	// ServerMemoryBytes is what all servers use with all that they have started,
	// shared pages divided; limits.memoryMegabytes is what they may use.
	ServerMemoryBytes int64           `json:"serverMemoryBytes"`
	Workspaces        []WorkspaceInfo `json:"workspaces"`
	Servers           []ServerStatus  `json:"servers"`
	Limits            map[string]int  `json:"limits"`
	Metrics           string          `json:"metrics,omitempty"`
	Warnings          []string        `json:"warnings"`
}

// ServerStatus describes one running, or failed, language server.
type ServerStatus struct {
	Engine      string   `json:"engine"`
	Language    string   `json:"language"`
	Version     string   `json:"version,omitempty"`
	State       string   `json:"state"` // absent, starting, initializing, warming, ready, draining, crashed, backoff, failed
	Root        string   `json:"root"`
	PID         int      `json:"pid,omitempty"`
	Waiting     string   `json:"waiting,omitempty"` // in words, while it loads
	Parked      string   `json:"parked,omitempty"`  // why it was stopped while nobody used it; it comes back when asked
	Queue       int      `json:"queue"`
	Restarts    int      `json:"restarts"`
	MemoryBytes int64    `json:"memoryBytes,omitempty"` // of it and all that it started
	StartedAt   string   `json:"startedAt,omitempty"`   // RFC 3339
	LastError   string   `json:"lastError,omitempty"`
	Stderr      []string `json:"stderr,omitempty"` // the last lines, when it failed
}

// DoctorQuery is the input of doctor.
type DoctorQuery struct {
	Request
	NoStart bool `json:"noStart,omitempty" doc:"only look servers up, start none"`
	All     bool `json:"all,omitempty" doc:"start the server of every project, not only of the first of each language"`
}

// Doctor is the answer of doctor.
type Doctor struct {
	Success   bool            `json:"success"` // nothing failed
	Version   string          `json:"version"`
	Workspace string          `json:"workspace,omitempty"`
	Trusted   bool            `json:"trusted"`
	Checks    []DoctorCheck   `json:"checks"`
	Servers   []DoctorServer  `json:"servers"`
	Conflicts []DoctorProblem `json:"conflicts,omitempty"` // changes that recovery left for a person
}

// DoctorCheck is one thing that doctor looked at.
type DoctorCheck struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // the command that mends it
}

// DoctorServer is what doctor found of one engine.
type DoctorServer struct {
	Engine   string `json:"engine"`
	Language string `json:"language"`
	Project  string `json:"project,omitempty"` // root of the build unit, relative to the workspace; empty when there is none
	State    string `json:"state"`             // ok, missing, broken (found, does not run), outdated, untrusted, unused
	Path     string `json:"path,omitempty"`
	From     string `json:"from,omitempty"` // configuration, workspace, PATH, tools
	Version  string `json:"version,omitempty"`
	Pinned   string `json:"pinned,omitempty"` // the version that install gives
	Detail   string `json:"detail,omitempty"`
	Install  string `json:"install,omitempty"` // the command that installs it
	StartMs  int64  `json:"startMs,omitempty"` // how long it took to start
	// Notes say what was chosen for the project, and why: an interpreter, a compiler.
	Notes []string `json:"notes,omitempty"`
}

// DoctorProblem is one thing that a person has to decide.
type DoctorProblem struct {
	File   string `json:"file"`
	Detail string `json:"detail"`
}

// InstallQuery is the input of install.
type InstallQuery struct {
	Request
	Servers []string `json:"servers,omitempty" doc:"engines to install; without any, those that the workspace's languages need"`
	Force   bool     `json:"force,omitempty" doc:"install again what is there"`
}

// Installed is the answer of install.
type Installed struct {
	Success bool              `json:"success"`
	Servers []InstalledServer `json:"servers"`
}

// InstalledServer is the outcome for one engine.
type InstalledServer struct {
	Engine  string `json:"engine"`
	Version string `json:"version"`
	Path    string `json:"path,omitempty"`
	State   string `json:"state"` // installed, present, failed
	Error   string `json:"error,omitempty"`
	Output  string `json:"output,omitempty"` // the end of the installer's output, when it failed
}

// TrustQuery is the input of trust.
type TrustQuery struct {
	Request
	Path   string `json:"path,omitempty" doc:"folder of the workspace; default the current one" cli:"path"`
	Revoke bool   `json:"revoke,omitempty" doc:"trust it no more"`
	List   bool   `json:"list,omitempty" doc:"list trusted workspaces"`
}

// Trusted is the answer of trust.
type Trusted struct {
	Root       string   `json:"root,omitempty"`
	Trusted    bool     `json:"trusted"`
	Changed    bool     `json:"changed"`
	Workspaces []string `json:"workspaces,omitempty"` // list
	Warnings   []string `json:"warnings"`
}

// LogsQuery is the input of logs.
type LogsQuery struct {
	Request
	Lines  int    `json:"lines" default:"100" min:"1" doc:"last lines to answer with"`
	Level  string `json:"level" default:"debug" enum:"debug|info|warn|error" doc:"least level"`
	Server string `json:"server,omitempty" doc:"standard error of this engine instead of the daemon's log"`
	Trace  bool   `json:"trace,omitempty" doc:"with server: the latest transcript of what Aura and the engine said to each other; needs trace = true below [servers.NAME]"`
}

// Logs is the answer of logs, oldest first.
type Logs struct {
	File  string   `json:"file,omitempty"`
	Lines []string `json:"lines"`
}

// WhyQuery is the input of why.
type WhyQuery struct {
	Request
	FilePath string `json:"filePath" required:"true" doc:"file to explain" cli:"path"`
}

// Why is the answer of why: how a file is served.
type Why struct {
	File      string      `json:"file"`
	Language  string      `json:"language,omitempty"`
	Project   string      `json:"project,omitempty"` // root of the build unit
	Marker    string      `json:"marker,omitempty"`
	Reason    string      `json:"reason,omitempty"`  // why this is its project
	Ignored   string      `json:"ignored,omitempty"` // the rule that keeps it out
	Generated bool        `json:"generated,omitempty"`
	Owner     string      `json:"owner,omitempty"` // the client whose buffer counts
	Trusted   bool        `json:"trusted"`
	Engines   []WhyEngine `json:"engines"`
	Notes     []string    `json:"notes"`
}

// WhyEngine says what one engine does for a file.
type WhyEngine struct {
	Engine string   `json:"engine"`
	Roles  []string `json:"roles"`
	State  string   `json:"state"`
	Path   string   `json:"path,omitempty"`
	Reason string   `json:"reason,omitempty"` // why this program
	// Version is what the program at Path says of itself.
	Version string   `json:"version,omitempty"`
	Argv    []string `json:"argv,omitempty"`
	Root    string   `json:"root,omitempty"` // that the server is given
	PID     int      `json:"pid,omitempty"`
	Waiting string   `json:"waiting,omitempty"`
	// Env are the variables by which this server differs from others of the
	// project, as resolved; what may be a secret is masked.
	Env   map[string]string `json:"env,omitempty"`
	Notes []string          `json:"notes,omitempty"` // what was chosen for the project, and why
}

// RestartQuery is the input of restart.
type RestartQuery struct {
	Request
	Server string `json:"server,omitempty" doc:"engine to start anew; all of the workspace without one"`
}

// Restarted is the answer of restart.
type Restarted struct {
	Servers  []string `json:"servers"` // engine and root of each server that is started anew
	Warnings []string `json:"warnings"`
}

// CapabilitiesQuery is the input of capabilities.
type CapabilitiesQuery struct {
	Request
	Language string `json:"language,omitempty" doc:"only this language"`
}

// Capability is one cell of the table: an operation in a language.
type Capability struct {
	Operation string `json:"operation"`
	Language  string `json:"language"`
	How       string `json:"how"` // server, aura, refused, absent
	Engine    string `json:"engine,omitempty"`
	Note      string `json:"note,omitempty"`
}

// Capabilities is the answer of capabilities.
type Capabilities struct {
	Languages    []string     `json:"languages"`
	Capabilities []Capability `json:"capabilities"`
	Warnings     []string     `json:"warnings"`
}

// ShutdownQuery is the input of shutdown.
type ShutdownQuery struct {
	Request
	IfIdle bool `json:"ifIdle,omitempty" doc:"only when no other client is connected and nothing runs"`
}

// Stopping is the answer of shutdown.
type Stopping struct {
	Stopping bool   `json:"stopping"`
	Reason   string `json:"reason,omitempty"` // why not
	PID      int    `json:"pid"`
}

func daemonSpecs() []Spec {
	return []Spec{
		{
			Name: "status", Method: "daemon.status", Aliases: []string{"aura_status"}, Group: "Daemon",
			Summary: "What the daemon is doing: workspaces, servers, memory",
			Input:   StatusQuery{}, Output: Status{}, NoServer: true,
		},
		{
			Name: "doctor", Group: "Daemon", Summary: "Which servers are found, whether each really starts, and what mends the rest",
			Input: DoctorQuery{}, Output: Doctor{}, NoServer: true,
		},
		{
			Name: "install", Group: "Daemon", Summary: "Install pinned language servers into Aura's own folder",
			Example:    "auractl install\nauractl install --force",
			Positional: []string{"servers"}, Input: InstallQuery{}, Output: Installed{}, Tier: AdminTier, NoServer: true,
		},
		{
			Name: "trust", Group: "Daemon", Summary: "Let servers and builds run the code of a workspace",
			Example:    "auractl trust .\nauractl trust --list",
			Positional: []string{"path"}, Input: TrustQuery{}, Output: Trusted{}, Tier: AdminTier, NoServer: true, Ordered: true,
		},
		{
			Name: "why", Group: "Daemon", Summary: "How a file is served: language, project, engines",
			Positional: []string{"filePath"}, Input: WhyQuery{}, Output: Why{},
		},
		{
			Name: "restart", Group: "Daemon", Summary: "Start the servers of the workspace anew, also those that stay down",
			Example:    "auractl restart",
			Positional: []string{"server"}, Input: RestartQuery{}, Output: Restarted{}, NoServer: true,
		},
		{
			Name: "capabilities", Group: "Daemon", Summary: "What works in which language, and how",
			Input: CapabilitiesQuery{}, Output: Capabilities{}, NoServer: true,
		},
		{
			Name: "logs", Method: "daemon.logs", Aliases: []string{"aura_logs"}, Group: "Daemon", Summary: "The end of the daemon's log",
			Input: LogsQuery{}, Output: Logs{}, NoServer: true,
		},
		{
			Name: "reload", Method: "daemon.reload", Group: "Daemon", Summary: "Read the configuration again, whole or not at all",
			Input: None{}, Output: Done{}, Tier: AdminTier, NoServer: true, Ordered: true,
		},
		{
			Name: "shutdown", Method: "daemon.shutdown", Command: []string{"stop"}, Group: "Daemon", Summary: "Stop the daemon and its servers",
			Input: ShutdownQuery{}, Output: Stopping{}, Tier: AdminTier, NoServer: true,
		},
	}
}
