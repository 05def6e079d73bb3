// Package op binds each operation's Spec to the handler that answers or plans
// it: one file an operation or family. A handler only reads and plans; what a
// mutating one plans is data, written by the pipeline above.
//
// It must not know sockets, disk or transactions, and starts no goroutines
// but those of an errgroup that it waits for.
package op

import (
	"context"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/resolve"
	"github.com/auralsp/aura/daemon/workbench"
	"github.com/auralsp/aura/graph"
	"github.com/auralsp/aura/lspclient/change"
)

// Query answers a reading operation. The answer is of the Spec's Output type.
type Query func(ctx context.Context, s *workbench.Session, in any) (any, error)

// Plan plans a mutating operation.
type Plan func(ctx context.Context, s *workbench.Session, in any) (*Draft, error)

// Draft is a planned change, with what the pipeline needs to check and to
// report it.
type Draft struct {
	Change      change.Set
	Reads       []string // absolute paths that the plan rests on, besides the edited ones
	NewSymbolID graph.ID
	Old, New    string // names, so that a message of a build that only says the new name is not new
	Summary     string // in words, for the history
	Quick       func(ctx context.Context, files []change.File) (Quick, error)
}

// Quick is what the check of planned text in a server's memory found.
type Quick struct {
	Problems []api.Problem // diagnostics that the text before did not have
	Lost     []api.Location
	Skipped  string // why the check could not be made; the build decides
}

// Handler is what a Spec is bound to: one of Query and Plan is set.
type Handler struct {
	Query Query
	Plan  Plan
}

// Handlers returns every operation's handler by its Spec's name.
func Handlers() map[string]Handler {
	return map[string]Handler{
		"definition":      {Query: places("definition", definition)},
		"type_definition": {Query: places("type_definition", typeDefinition)},
		"references":      {Query: places("references", references)},
		"usages":          {Query: places("usages", usages)},
		"callers":         {Query: symbols("callers", callers)},
		"callees":         {Query: symbols("callees", callees)},
		"implementations": {Query: symbols("implementations", implementations)},
		"derived_types":   {Query: symbols("derived_types", derivedTypes)},
		"supertypes":      {Query: symbols("supertypes", supertypes)},
		"outline":         {Query: outline},
		"symbol":          {Query: symbol},
		"diagnostics":     {Query: diagnostics},

		"list_types":        {Query: listTypes},
		"type_members":      {Query: typeMembers},
		"by_attribute":      {Query: byAttribute},
		"extension_methods": {Query: extensionMethods},
		"by_signature":      {Query: bySignature},

		"search":         {Query: searchCode},
		"semantic_query": {Query: semanticQuery},

		"rename": {Plan: rename},
	}
}

// candidates lists several matches of a reading operation.
func candidates(ctx context.Context, s *workbench.Session, matches []resolve.Match) ([]api.Candidate, error) {
	if len(matches) < 2 {
		return nil, nil
	}
	return resolve.Candidates(ctx, s, matches)
}
