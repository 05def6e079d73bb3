package api

// Initialize is the input of initialize, which is optional: what it sets are
// defaults for the requests of the connection.
type Initialize struct {
	ProtocolVersion int               `json:"protocolVersion" default:"1" min:"1" doc:"version of this contract that the client speaks"`
	Client          ClientInfo        `json:"client,omitzero" doc:"name and version of the client"`
	Workspace       string            `json:"workspace,omitempty" doc:"absolute folder of the workspace"`
	Folder          string            `json:"folder,omitempty" doc:"absolute folder to find the workspace from, when workspace is absent: the nearest root above it"`
	Session         string            `json:"session,omitempty" doc:"name of the session; survives the connection"`
	Tier            string            `json:"tier" default:"apply" enum:"observe|preview|apply|admin" doc:"what the client limits itself to"`
	Trust           bool              `json:"trust,omitempty" doc:"trust the workspace for this connection"`
	Progress        bool              `json:"progress,omitempty" doc:"send $/progress notifications for requests that take long"`
	Environment     map[string]string `json:"environment,omitempty" doc:"the client's environment; only names that engines declare are kept"`
}

// ClientInfo names a program and its version.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Initialized is the answer of initialize.
type Initialized struct {
	ProtocolVersion int        `json:"protocolVersion"`
	Server          ClientInfo `json:"server"`
	Build           string     `json:"build"`     // of the daemon's program; a client of another build says so
	Catalogue       string     `json:"catalogue"` // hash of the operations and their fields
	PID             int        `json:"pid"`
	Session         string     `json:"session"`
	Tier            string     `json:"tier"`
	Workspace       string     `json:"workspace,omitempty"`
}

// WorkspaceQuery is the input of workspace.open and workspace.close.
type WorkspaceQuery struct {
	Request
}

// WorkspaceInfo describes a workspace that the daemon knows.
type WorkspaceInfo struct {
	Root      string        `json:"root"`
	Trusted   bool          `json:"trusted"`
	Open      bool          `json:"open"`
	Projects  []ProjectInfo `json:"projects"`
	Languages []string      `json:"languages"`
	// Sampled says, by operation, how the symbol graph agreed with servers about
	// the answers that were compared.
	Sampled map[string]Sampled `json:"sampled,omitempty"`
}

// Sampled counts answers of servers that were compared with the symbol graph's.
type Sampled struct {
	Compared int `json:"compared"`
	Agreed   int `json:"agreed"` // the same places
	Missed   int `json:"missed"` // places that only the server gave
	Extra    int `json:"extra"`  // places that only the graph gave
}

// ProjectInfo describes a build unit.
type ProjectInfo struct {
	Language string `json:"language"`
	Root     string `json:"root"`             // relative to the workspace, "." for its root
	Marker   string `json:"marker,omitempty"` // the file that made it a project
}

// Workspaces is the answer of workspace.list.
type Workspaces struct {
	Workspaces []WorkspaceInfo `json:"workspaces"`
}

// DocumentOpen is the input of document.open: the text of an editor's unsaved buffer.
type DocumentOpen struct {
	Request
	FilePath string `json:"filePath" required:"true" doc:"file whose buffer it is" cli:"path"`
	Text     string `json:"text" required:"true" doc:"the whole text of the buffer"`
	Version  int    `json:"version,omitempty" doc:"the client's version of the buffer; must rise"`
}

// DocumentChange is the input of document.change.
type DocumentChange struct {
	Request
	FilePath string `json:"filePath" required:"true" doc:"file whose buffer it is" cli:"path"`
	Text     string `json:"text" required:"true" doc:"the whole new text of the buffer"`
	Version  int    `json:"version,omitempty" doc:"the client's version of the buffer; must rise"`
}

// DocumentClose is the input of document.close: the file counts as it is on disk again.
type DocumentClose struct {
	Request
	FilePath string `json:"filePath" required:"true" doc:"file whose buffer it was" cli:"path"`
}

// Done is the answer of methods that have nothing to tell.
type Done struct {
	Success  bool     `json:"success"`
	Warnings []string `json:"warnings,omitempty"`
}

// Subscribe is the input of events.subscribe.
type Subscribe struct {
	Request
	Events []string `json:"events,omitempty" enum:"progress|diagnostics|index|server" doc:"kinds to send; without any, all"`
}

// Subscribed is the answer of events.subscribe.
type Subscribed struct {
	Events []string `json:"events"`
}

// Methods of notifications that the daemon sends.
const (
	ProgressMethod = "$/progress"
	EventMethod    = "event"
	CancelMethod   = "$/cancelRequest" // from the client
)

// Progress is the parameter of $/progress.
type Progress struct {
	ID      any     `json:"id"` // of the request that takes long
	Message string  `json:"message"`
	Percent float64 `json:"percent,omitempty"` // 0 to 100, 0 when unknown
}

// Event is the parameter of the event notification.
type Event struct {
	Kind      string `json:"kind"` // progress, diagnostics, index, server
	Time      string `json:"time"` // RFC 3339
	Workspace string `json:"workspace,omitempty"`
	Data      any    `json:"data,omitempty"`
}

func connectionSpecs() []Spec {
	spec := func(method, summary string, input, output any) Spec {
		return Spec{
			Name: method, Method: method, Group: "Connection", Summary: summary,
			Input: input, Output: output, Ordered: true, Hidden: true,
		}
	}
	initialize := spec("initialize", "Name the client and set defaults for its connection", Initialize{}, Initialized{})
	initialize.NoServer = true
	list := spec("workspace.list", "Workspaces that the daemon knows", None{}, Workspaces{})
	list.NoServer = true
	subscribe := spec("events.subscribe", "Send progress, diagnostics, index and server events", Subscribe{}, Subscribed{})
	subscribe.NoServer = true
	return []Spec{
		initialize,
		spec("workspace.open", "Open a workspace ahead of its first question", WorkspaceQuery{}, WorkspaceInfo{}),
		spec("workspace.close", "Stop the servers of a workspace", WorkspaceQuery{}, Done{}),
		list,
		spec("document.open", "Announce an unsaved buffer", DocumentOpen{}, Done{}),
		spec("document.change", "Change an unsaved buffer", DocumentChange{}, Done{}),
		spec("document.close", "Forget an unsaved buffer", DocumentClose{}, Done{}),
		subscribe,
	}
}
