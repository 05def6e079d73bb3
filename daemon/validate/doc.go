// Package validate decides whether a change compiles: it runs the checks of a
// language for the projects of the changed files, compares the errors with
// those that were there before, and reports the new ones.
//
// It owns the processes of those checks, the shadow (a private view of the
// workspace in which a plan's files are already in place while the real tree
// keeps its bytes) and the cache of results by content. It must not know any
// language by name, nor who writes files.
//
// Goroutines: those of one call, which the call waits for. A check runs in a
// session of its own, without terminal and standard input, and is ended with
// all that it started when its time is up, when the context is cancelled, or
// when this process dies.
package validate
