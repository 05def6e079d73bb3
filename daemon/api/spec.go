// Package api is the contract of Aura: requests, answers, error codes and the
// Specs from which socket methods, commands, schemas and the reference derive.
//
// It holds data and no logic beyond reading it, imports nothing of ours and
// starts no goroutines.
package api

import "strings"

// ProtocolVersion is what initialize answers; contracts only grow within it.
const ProtocolVersion = 1

// Tier is what a client must be granted to use an operation.
type Tier uint8

// The tiers, each including those before it.
const (
	Observe Tier = iota
	PreviewTier
	ApplyTier
	AdminTier
)

// String returns the tier's name as configuration writes it.
func (t Tier) String() string {
	return [...]string{"observe", "preview", "apply", "admin"}[t]
}

// Spec declares one operation. Everything that lists operations is made from it.
type Spec struct {
	Name       string   // the value of the broad tool's operation field, and the command in kebab case: "type_definition"
	Tool       string   // the broad tool that carries it: "code.navigate"; empty for a method of its own
	Method     string   // the narrow method: "aura_rename_symbol"; empty means "aura_" + Name
	Aliases    []string // further method names
	Command    []string // words of the command; nil means Name in kebab case
	Group      string   // heading in the help: "Navigate"
	Summary    string   // one line
	Long       string   // paragraphs of help; may be empty
	Example    string   // command lines
	Positional []string // JSON names of the fields that the command takes as arguments, in order
	Input      any      // zero value of the input type
	Output     any      // zero value of the answer type
	Mutating   bool     // plans a change that the pipeline writes
	Tier       Tier     // needed to call it; of a mutating operation without preview
	NoServer   bool     // answers without a workspace
	Ordered    bool     // is done before the connection's next request starts
	Hidden     bool     // has no command of its own
}

// Methods returns every name under which the operation can be called on its
// own, the main one first.
func (s Spec) Methods() []string {
	method := s.Method
	if method == "" {
		method = "aura_" + s.Name
	}
	return append([]string{method}, s.Aliases...)
}

// Words returns the words of the operation's command.
func (s Spec) Words() []string {
	if s.Command != nil {
		return s.Command
	}
	return []string{strings.ReplaceAll(s.Name, "_", "-")}
}

// Needs returns the tier that a request of the operation needs; in is what
// Decode returned. A preview of a change writes nothing and needs less.
func (s Spec) Needs(in any) Tier {
	if p, ok := in.(interface{ previews() bool }); ok && s.Tier == ApplyTier && p.previews() {
		return PreviewTier
	}
	return s.Tier
}
