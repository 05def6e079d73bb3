// Package e2e proves the built programs from the outside: it builds aurad and
// auractl, gives each test a home, a runtime folder and a workspace of its own,
// and looks only at what a user could see: output, exit codes, the tree, the
// process table.
//
// It has no code besides its tests, so that nothing can import it. Truth comes
// from the go command and from a bare gopls that the tests drive by themselves.
// It starts no goroutines outside tests.
package e2e
