// Package proc owns child processes: their start in a process group of their
// own with a parent-death signal, their standard streams, the tail of what they
// write to standard error, the ladder that stops them, what they use, and a
// ledger of what is running so that a later daemon finds the orphans of a
// killed one.
//
// It knows nothing of LSP, of languages or of the daemon.
//
// Goroutines: a Spawner has one, locked to its thread, because Linux sends the
// parent-death signal when the thread that started the child ends and not when
// the process does (golang/go#27505). A Process has two: one drains standard
// error, one waits for the exit; both have ended when Gone is closed.
//
// While children run, one small shell process stands guard: it kills what they
// have started when this process is killed.
//
// Linux is the promise. Elsewhere a child has its own process group and a
// ledger entry, and is expected to end at the end of its standard input.
package proc
