package adapters

// Reason says why a recipe declines; it is spelled as the stable code under
// which every door answers it.
type Reason string

// The reasons of a Refusal.
const (
	InvalidName      Reason = "INVALID_NAME"          // not a name of the language
	NameConflict     Reason = "NAME_CONFLICT"         // the name would mean something else somewhere
	InvalidArgument  Reason = "INVALID_ARGUMENT"      // the request makes no sense as it stands
	Unsupported      Reason = "UNSUPPORTED_OPERATION" // not for this kind of symbol
	OutsideWorkspace Reason = "OUTSIDE_WORKSPACE"     // a file that is not the workspace's would have to change
)

// Refusal is the error of a recipe that declines before anything is written.
// The message says why, where, and what to do instead.
type Refusal struct {
	Reason  Reason
	Message string
	Places  []Place // what stands in the way
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// ServerRefusal is found by errors.As in what Server.Call returns when the
// server itself answered with an error, which says nothing against the server.
type ServerRefusal interface {
	error
	// Refusal returns the server's code (JSON-RPC) and message.
	Refusal() (code int, message string)
}
