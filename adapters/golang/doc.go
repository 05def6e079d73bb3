// Package golang is the Go language: its syntax by go/parser, its modules, its
// build and vet, the gopls server with its quirks, and the recipes that make a
// rename whole where gopls leaves a part behind.
//
// It owns facts about Go and gopls and nothing else. It must not know the
// daemon or processes, and of the disk only the scratch folder of a launch and
// where the go command is; all text comes from a Bench or Snapshot. It starts
// no goroutines.
package golang
