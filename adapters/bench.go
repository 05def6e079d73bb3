package adapters

import (
	"context"

	"go.lsp.dev/protocol"

	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/graph/syntax"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Bench is all that a recipe may touch; there is one per operation and project.
// A recipe never reads the disk by itself, so that With can show it text that
// is not there yet.
type Bench interface {
	Snapshot() Snapshot
	// Server leases a ready server for the role at the snapshot's sequence
	// number. Errors are typed: server unavailable, crashed, timed out.
	Server(ctx context.Context, r Role) (Server, error)
	// Tree parses a file of the snapshot; its symbols carry their ids.
	Tree(ctx context.Context, path string) (*syntax.Tree, error)
	Graph() graph.Reader
	Project() Project
	// Root returns the workspace's absolute folder: edits stay below it.
	Root() string
	// Incomplete sets complete: false on the answer, for the reason.
	Incomplete(reason string)
	// Warn adds a note to the answer.
	Warn(note string)
	// With returns the same bench after these changes.
	With(change.Set) (Bench, error)
}

// Trial is found by assertion on a Bench that can show a change to a server
// before anything is written.
type Trial interface {
	// Try returns the errors that a change would bring into the files that it
	// changes and those of also. With oldName read as newName, errors that only
	// say the one for the other are the same. ok is false when no server could be
	// shown the change.
	Try(ctx context.Context, set change.Set, also []string, oldName, newName string) (found []Problem, ok bool, err error)
}

// Server is a leased language server.
type Server interface {
	Engine() string
	// Call asks a read-only request. ContentModified is asked again, a crash once.
	Call(ctx context.Context, method string, params, result any) error
	// Command runs an executeCommand alone and captures the edits it pushes.
	Command(ctx context.Context, name string, args []any, result any) ([]protocol.WorkspaceEdit, error)
	// Open opens documents that the server must have open to answer about them.
	Open(ctx context.Context, paths []string) error
	// Normalise turns the server's edit into a change.Set with the bytes that
	// the server had. A path outside the workspace is an error.
	Normalise(protocol.WorkspaceEdit) (change.Set, error)
	// Position converts a byte offset of a file of the snapshot.
	Position(ctx context.Context, path string, offset int) (protocol.TextDocumentPositionParams, error)
	// Place converts a location in an answer. Files outside the workspace are read where that is allowed.
	Place(ctx context.Context, loc protocol.Location) (Place, error)
}

// Place is a range of a file in bytes, with the content it counts in.
type Place struct {
	Path string
	Span graph.Span
	File *text.File
}

// How says what fills a cell of the capability table.
type How uint8

// The ways to fill a cell.
const (
	Absent   How = iota // the generic recipe if there is one, else unsupported
	ByServer            // the language server does it
	ByAura              // Aura computes it
	Refused             // not for this language; Note names what to use instead
)

// String returns the word that the capability table prints.
func (h How) String() string {
	return [...]string{"absent", "server", "aura", "refused"}[h]
}

// Cell is a refactoring of one language.
type Cell[I any] struct {
	How  How
	Note string
	Plan func(context.Context, Bench, I) (Draft, error)
}

// Find is a question of one language.
type Find[I any] struct {
	How  How
	Note string
	Run  func(context.Context, Bench, I) (Found, error)
}

// Target is a symbol to ask about, at the place to ask at.
type Target struct {
	Symbol graph.Symbol // one declaration; Path and NameSpan are where servers are asked
	Depth  int          // call hierarchy levels, at least 1
	// Transitive follows hierarchies to the end.
	Transitive bool
}

// Recipes are the operations of a language, one field each.
type Recipes struct {
	Definition      Find[Target]
	TypeDefinition  Find[Target]
	References      Find[Target] // the declaration included and marked
	Implementations Find[Target]
	Derived         Find[Target]
	Supertypes      Find[Target]
	Callers         Find[Target]
	Callees         Find[Target]
	Rename          Cell[Rename]
}

// Rename is the resolved intent of a rename: symbols with places, never names to look up.
type Rename struct {
	Symbol       graph.Symbol   // the chosen declaration
	Declarations []graph.Symbol // all of its declarations, Symbol among them
	NewName      string
	Comments     bool // whole words in comments of the files that refer to the symbol
	Strings      bool // and in string literals
	Overloads    bool
	BackingField bool
	File         bool // a file named after the type follows
}

// Draft is what a recipe plans.
type Draft struct {
	Change   change.Set
	Reads    []string // absolute paths whose content the plan rests on, besides the edited ones
	NewID    graph.ID
	Old, New Marks
	Warnings []string
}

// Marks is a symbol's place, for the check that no reference was lost: the
// references of Old before the change must be those of New after it.
type Marks struct {
	Path   string // absolute; for New the path after the change
	Offset int    // bytes; for New into the changed content
}

// Found is the answer to a question.
type Found struct {
	Hits     []Hit
	Warnings []string
	Source   string // of an answer without hits, as that of a Hit
}

// Hit is one place of an answer.
type Hit struct {
	Place         Place
	IsDeclaration bool
	Usage         string        // call, read, write, import, type; empty when unknown
	Symbol        *graph.Symbol // for answers that are symbols
	Depth         int           // callers, callees
	From          graph.ID      // callers, callees: the symbol of the level above
	Ranges        []Place       // callers, callees: the calls
	Body          graph.Span    // definition: the whole declaration
	Source        string        // server, graph, syntax, text; empty means server
}
