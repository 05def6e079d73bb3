// Package golang is the Go language: its syntax by go/parser, its modules, its
// build and vet, the gopls server with its quirks, and the recipes that make a
// rename whole where gopls leaves a part behind.
//
// It owns facts about Go and gopls and nothing else: no process, no disk, no
// daemon, and it starts no goroutines.
package golang
