// Package view owns the current text of a workspace: what is on disk, over it
// the unsaved buffers of clients, over that the planned text of a Snapshot; and
// the log of its changes, which everything else follows with a cursor.
//
// It only reads. It knows nothing of servers, languages or the plans' meaning.
// Freshness comes from the watcher's barrier for what nobody asked for by name,
// and from a stat at each Read for what somebody did; both are checked by
// content hash, never by time.
//
// Goroutines: Open begins one that applies what the watcher tells while nobody
// waits for it; Close waits for that. Reading many files at once is done by
// short-lived workers that the call waits for.
package view
