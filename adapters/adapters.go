// Package adapters is the interface of a language: plain types and interfaces
// that each folder below it fills for one language, and that the rest of Aura
// uses without knowing which language it serves.
//
// It owns no goroutine, process or file and must not know the daemon.
package adapters

import (
	"context"
	"path"
	"slices"
	"time"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/text"
)

// Adapter is one language. What only some languages have is found by
// assertion: Builder, Tester, Namer.
type Adapter interface {
	Language() Language
	// Projects returns the build units that hold dir or lie below it, read only through s.
	Projects(ctx context.Context, s Snapshot, dir string) ([]Project, error)
	// Engines returns the servers of the language, in order of preference for each role.
	Engines() []Engine
	// Syntax returns how files of the language are parsed.
	Syntax() *syntax.Spec
	// Recipes returns the operations that the language fills; the capability table prints from it.
	Recipes() Recipes
}

// Language is what Aura must know of a language before it looks at a file.
type Language struct {
	ID         string            // "go": in symbol ids, answers and settings
	Name       string            // "Go": for people
	Extensions []string          // ".go", with the dot
	LanguageID map[string]string // extension to LSP's languageId
	Markers    []string          // names of files that mark a root, or patterns of path.Match: "go.work", "*.sln"; earlier wins
	TestFile   func(path string) bool
	Generated  func(content []byte) bool // code that a tool writes again
	Separator  string                    // between the parts of a qualified name
	// Overloads says that types may have several methods of one name, so that one
	// with other parameters does not hide that of a base.
	Overloads bool
	// Structural reports whether types implement a type by having its methods,
	// without naming it. nil where they always name it.
	Structural func(graph.Symbol) bool
	// Extends returns the type that a function or method extends from outside of
	// it, as written, and how; empty when it extends none. nil where the language
	// has no such thing.
	Extends func(graph.Symbol) (typ string, via Extension)
	// Trust lists the files whose change lapses trust, as they can run code.
	Trust []string
}

// Extension says how a function or method extends a type.
type Extension string

// The ways to extend a type.
const (
	ByExtension      Extension = "extension"      // called like a method, declared elsewhere
	ByImplementation Extension = "impl"           // of a trait, for the type
	ByMethod         Extension = "method"         // declared beside the type
	ByFirstParameter Extension = "firstParameter" // a function that takes the type first
)

// Marks returns the rank of the marker that a file name is, 0 for the first, or
// -1 when it is none.
func (l Language) Marks(name string) int {
	return slices.IndexFunc(l.Markers, func(m string) bool {
		ok, err := path.Match(m, name)
		return ok && err == nil
	})
}

// Project is a build unit: a Go module or workspace, a crate, a tsconfig, …
type Project struct {
	Language string
	Root     string   // absolute folder
	Marker   string   // absolute file that made it a project; empty for a loose folder
	Members  []string // absolute roots of the members of a workspace
}

// Builder makes the commands that decide whether a project compiles.
type Builder interface {
	// Checks returns the commands in order: build first, then vet. changed are
	// absolute paths of the files that a plan touches.
	Checks(ctx context.Context, s Snapshot, p Project, changed []string) ([]Check, error)
}

// Namer refuses names that are not legal in the language before any server is asked.
type Namer interface {
	// CheckName returns nil, or an error whose text says what is wrong with name.
	CheckName(sym graph.Symbol, name string) error
}

// Role is what an engine is used for.
type Role uint8

// The roles of an engine, as bits.
const (
	Navigate Role = 1 << iota
	RenameRole
	Hierarchy
	Actions
	Diagnose
	Format
	Refactor
)

// Engine is one server program of a language.
type Engine struct {
	ID       string // "gopls": in instance keys and cached facts
	Program  string // name of the program where it is not the ID
	Roles    Role   //
	Trust    bool   // runs code of the workspace
	InFlight int    // requests sent at once
	// Ask returns the command that prints the version of the program at bin; nil
	// asks "bin version", then "bin --version".
	Ask func(bin string) []string
	// OpenAsked opens the documents that requests name and keeps the latest of
	// them open: some servers answer only about those, others keep what they
	// have worked out only for them.
	OpenAsked bool
	// Overlooks says what the server's diagnostics leave to the language's
	// compiler, in words for people; the checks of the Builder find the rest.
	Overlooks string
	Env       []string                                    // names of variables that make two instances differ
	Version   string                                      // pinned version that Install gives
	Install   string                                      // command that a person can run
	Recipe    Install                                     // the same for auractl install
	Launch    func(context.Context, Site) (Launch, error) // binary, arguments, settings; starts nothing
	New       func(Launch) Driver                         // quirks and readiness of one process
	Deadline  map[string]time.Duration                    // per method; "" is the default, "restore" of taking its text back after a turn
}

// Executable returns the name of the engine's program.
func (e Engine) Executable() string {
	if e.Program != "" {
		return e.Program
	}
	return e.ID
}

// Install is how the pinned version is put into Aura's data folder.
type Install struct {
	Client string   // program that installs: "go", "npm", …
	Args   []string // with {dir} standing for the tool folder
	Env    []string // "GOBIN={dir}/bin"
	Binary string   // path of the result below {dir}; empty where the client chooses the place, one that PATH names
}

// Site is where a server is to run.
type Site struct {
	Root    string                                // absolute folder of the project
	Marker  string                                // of the project
	Members []string                              // of the project
	Trusted bool                                  // the user trusts the workspace
	Env     map[string]string                     // the client's values of the names in Engine.Env, PATH and HOME
	Command []string                              // from the user's configuration, replaces the look-up
	Look    func(name string) (string, error)     // finds a program: configuration, PATH, tool folder
	Scratch string                                // a private folder for generated configuration
	Version func(bin string) (string, error)      // asks a program for its version
	Read    func(path string) ([]byte, error)     // reads a file of the project
	Setting func(key string) (value any, ok bool) // the user's settings for the engine
}

// Launch is a resolved command.
type Launch struct {
	Argv     []string          // absolute program first
	Dir      string            //
	Env      []string          // complete environment of the child
	Root     string            //
	Settings any               // initializationOptions
	Named    map[string]string // declared variables as resolved; part of the instance key
	Notes    []string          // for people: what was chosen for this project, and why
	// Beside are files and folders that the server reads and of which no log
	// tells, as they are ignored or outside of the workspace: installed packages,
	// an environment that may be made. When one changes, appears or goes, the
	// server is started anew before the next answer. Only what the server itself
	// does not write may be named.
	Beside []string
}

// State says how far a server's answers can be believed.
type State uint8

// The states of a Driver.
const (
	Loading  State = iota // answers may lack places
	Ready                 // answers are whole
	Broken                // it runs, but cannot load the project; Waiting says why
	Lost                  // it runs, but what answered for it has ended: it is killed, which is a crash; Waiting says what ended
	Outdated              // it cannot be told of what has changed: it is stopped and started anew
)

// Readiness is what a Driver concludes from the events it has seen.
type Readiness struct {
	State    State
	Waiting  string    // in words, for people: "loading packages"
	Progress uint64    // grows while loading moves: go on waiting
	Deadline time.Time // of the wait; zero means the supervisor's default
}

// Event is something that happened to a server, in order.
type Event struct {
	Time   time.Time
	Kind   EventKind
	Method string // Notification, Request (from the server), Sent
	Params []byte // JSON, valid during the call only
	Err    error
}

// EventKind says what an Event tells of.
type EventKind uint8

// The kinds of an Event.
const (
	Initialized  EventKind = iota // the handshake is done
	Notification                  // from the server
	Request                       // from the server
	Sent                          // a notification to the server
	Replied                       // a response arrived; Method is the request's
	Tick                          // time passed
)

// Message is a notification to send to a server.
type Message struct {
	Method string
	Params any
}

// FileChange is one file that differs from what the server was told last.
type FileChange struct {
	Path    string
	Open    bool // the server has it open as a document
	Created bool
	Deleted bool
	// Content is the text of a file that is there and not open, for a Driver
	// that is a Rereader; nil when it cannot be read or there is too much of it.
	Content []byte
}

// Overlay says what planned text a server can be given in a turn.
type Overlay uint8

// The abilities of an Overlay, as bits.
const (
	Edits   Overlay = 1 << iota // of files that are there
	Creates                     // files that no disk holds yet
	Moves                       // files that get another name are shown where they are: it means nothing to the code
)

// Driver holds the quirks of one running server. It is called on the
// instance's own loop: it never blocks and calls nobody.
type Driver interface {
	// Configure answers one item of workspace/configuration.
	Configure(section, scope string) any
	// Observe takes what happened and says how far answers can be believed now.
	Observe(Event) Readiness
	// Mirror says how this server is told of files that changed on disk.
	Mirror([]FileChange) []Message
	// Overlay says what planned text the server can be given.
	Overlay() Overlay
	// Probe returns a cheap request with a known answer, to tell a slow server from a stuck one.
	Probe() (method string, params any)
}

// Puller is found by assertion on a Driver whose server does not answer
// textDocument/diagnostic, but can be asked for the diagnostics of a file in
// words of its own: what is pushed may come late, and silence says nothing.
type Puller interface {
	// Pull returns the requests that together answer for a file that is open.
	Pull(path string) []Message
	// Pulled reads the result of one of them.
	Pulled(result []byte) ([]protocol.Diagnostic, error)
}

// Resender is found by assertion on a Driver whose server takes the text of a
// document that it opens from the disk, whatever didOpen says, and keeps the
// last text of one that is closed: the first is sent again as a change, and
// behind the second the file is told to have changed.
type Resender interface{ ResendOpened() }

// Rereader is found by assertion on a Driver whose server reads a file that it
// is told of some time later, and answers from the old text until then: changes
// carry the text, and a document that is closed is told as a change.
type Rereader interface{ RereadsLate() }

// Snapshot is the text of a workspace at one sequence number: disk, over it
// the buffers of clients, over it the earlier steps of this plan.
type Snapshot interface {
	Seq() uint64
	// Read returns the content of an absolute path and records it in the read
	// set; the error is fs.ErrNotExist when there is no such file.
	Read(ctx context.Context, path string) ([]byte, text.Hash, error)
	// Glob returns absolute paths of files of the workspace that match a
	// doublestar pattern relative to its root; ignored files are left out.
	Glob(ctx context.Context, pattern string) ([]string, error)
	// Grep returns absolute paths of the files that contain word as a whole identifier.
	Grep(ctx context.Context, word string) ([]string, error)
}

// Stale says by what a build decides that something must be built again.
type Stale uint8

// The kinds of a Stale.
const (
	ByContent Stale = iota
	ByMTime
)

// KeptFolder stands at the end of arguments of a Check for the folder where it keeps
// what it built.
const KeptFolder = "{kept}"

// Check is one command of a build.
type Check struct {
	Name   string // "go build"
	Argv   []string
	Place  []string // Argv where it runs on the real tree, and must not write what the user builds; nil: Argv
	All    []string // the same without a limit on errors, run when Argv finds some; nil when it has none
	Env    []string // added to the environment
	Dir    string   // absolute
	Stale  Stale
	Writes []string // folders that it writes, absolute; redirected in a shadow tree
	// Kept names variables that are set to a folder of Aura's own, where the
	// check keeps what it built; KeptFolder in the arguments stands for it, too.
	// What is built of planned text is dropped there when Stale is ByMTime.
	Kept []string
	// Install is the command that installs the program, for people.
	Install string
	// Parse reads the command's output and exit status. A failure that names no
	// place gives one Problem with an empty Path.
	Parse func(output []byte, exit int) ([]Problem, error)
}

// UnableError is what Parse returns when a check could not judge anything, since
// something that it needs is missing: it is skipped for the reason.
type UnableError struct{ Reason string }

// Error implements error.
func (e *UnableError) Error() string { return e.Reason }

// Problem is one error or warning of a build.
type Problem struct {
	Path    string // absolute
	Line    int    // 1-based
	Column  int    // 1-based, UTF-8 bytes; 0 when unknown
	Code    string
	Message string
	Warning bool
}
