// Package lsptest is a language server made for tests: it speaks real frames,
// in process over pipes or as a child process, knows just enough of whole-word
// identifiers to answer definition, references and rename truthfully, and does
// the damage that its Config asks for.
//
// It owns no production code and must not know packages above lspclient. A
// server has a reader, a writer and a worker goroutine, and one more for each
// late answer or question of its own; Server.Close, or Main's exit, waits for
// them.
package lsptest
