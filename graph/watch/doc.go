// Package watch owns the knowledge that something below a folder has changed:
// it turns a file system's notifications into settled batches of paths, and is
// the only importer of fsnotify.
//
// It reads names and inodes, never contents, and knows nothing of languages,
// servers or the graph. Batches say where to look, not what happened: a batch
// may name a path that is as it was, but none that changed is missing from it.
//
// Goroutines: Start begins one that drains the one fsnotify instance of the
// daemon and never blocks; each Root has one that follows its directories,
// settles batches and polls what cannot be watched. Many folders at once are
// looked at by short-lived workers that this one waits for. Close waits for all.
//
// What notifications miss, and so this package does too: writes through a memory
// map, and what is mounted or unmounted below a root. Folders on network file
// systems, and those for which the kernel has no watch left, are polled by
// themselves; Status says which and why.
package watch
