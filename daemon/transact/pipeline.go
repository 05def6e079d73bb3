package transact

import (
	"context"
	"log/slog"
	"time"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/edit"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/daemon/view"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// Options are the settings of a Pipeline.
type Options struct {
	Edit     *edit.Engine
	Validate *validate.Validator
	Timeout  time.Duration // of the checks of one edit; 0 means validate.DefaultTimeout
	Log      *slog.Logger  // nil discards
	// Owner names, for people, the client to whom a buffer belongs; nil takes
	// the view's own word.
	Owner func(owner string) string
}

// Pipeline runs changes. It may be used by many goroutines.
type Pipeline struct {
	edit     *edit.Engine
	validate *validate.Validator
	timeout  time.Duration
	log      *slog.Logger
	gates    *gates
	owner    func(string) string
}

// New makes a Pipeline.
func New(o Options) *Pipeline {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Owner == nil {
		o.Owner = func(owner string) string { return owner }
	}
	return &Pipeline{edit: o.Edit, validate: o.Validate, timeout: o.Timeout, log: o.Log, gates: newGates(), owner: o.Owner}
}

// Request is a change to be made.
type Request struct {
	Operation string // as answers name it: "rename"
	Mutation  api.Mutation
	View      *view.View
	Client    string // who asks, for the history
	Session   string
	// Plan plans the change on the text as it is. When a file moved meanwhile
	// it is called once more.
	Plan func(ctx context.Context) (*Draft, error)
	// Progress is told what the change waits for; nil is nobody.
	Progress func(what string)
}

// Snapshot is the text that a plan rests on; every read is in its read set.
type Snapshot interface {
	Read(ctx context.Context, path string) ([]byte, text.Hash, error)
	// ReadSet returns the hashes of what was read, by absolute path; the zero
	// hash stands for a file that was not there.
	ReadSet() map[string]text.Hash
}

// Draft is a planned change and how it is checked.
type Draft struct {
	Change   change.Set
	Snapshot Snapshot
	// Quick checks the planned text in a server's memory; nil means that the
	// language cannot.
	Quick func(ctx context.Context, files []change.File) (Quick, error)
	// Build says what has to compile: the request for the validator, without
	// the parts that the pipeline knows (Root, Files, Timeout). Its error is a
	// refusal, say of an untrusted workspace. Nil means that nothing can be built.
	Build func(ctx context.Context, files []change.File) (validate.Request, error)
	// Generated reports whether a tool writes the file again; nil means never.
	Generated func(path string, content []byte) bool

	Summary     string // in words, for the history: "Order → Purchase"
	NewSymbolID string
	Source      string // server, graph, syntax, text or mixed
	Complete    bool
	Warnings    []string
}

// Quick is what the check of planned text in a server's memory found.
type Quick struct {
	Problems []api.Problem  // errors that the text before did not have
	Lost     []api.Location // references that the change would lose
	Skipped  string         // why the check could not be made; the build decides
}
