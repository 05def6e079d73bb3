// Package supervise owns the language servers: one instance for each
// combination of project, engine, command, settings and named environment, its
// process, its connection, its queue, its restarts, and what it was told of the
// text of its workspace.
//
// Others use a server through a Lease only. A lease waits until the server can
// be believed, and each Call first tells the server what the view knows, so
// that an answer is never older than the question.
//
// It must not know operations, nor any language or server by name: what is
// particular to one is in its adapters.Engine and adapters.Driver.
//
// Goroutines: an instance has one that owns its life (started by the Supervisor,
// awaited by Close) and, while a process runs, those of lspclient and proc.
// Requests run on the goroutine of their caller.
package supervise
